"""What programs begin: a microphone that opens, words said for an answer, a sentence of their own.

A person comes first: nothing of it begins before the conversation rests, and nobody is cut short.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from assistant.conversation.effect_runner import EffectRunner
from assistant.conversation.record import FinishedTurn, record_of
from assistant.conversation.rules.events import Announced, Then, Typed, WakeHeard, Withdrawn
from assistant.conversation.rules.state import MicrophoneState
from assistant.conversation.turn_services import TurnServices
from assistant.domain.brain import ConversationOwner
from assistant.domain.clock import Clock
from assistant.domain.deferred import Deferred
from assistant.domain.rights import Rights
from assistant.speech.output import SpeechOutput
from assistant.speech.sink import Manner
from integrations.web.box import Busy

if TYPE_CHECKING:
    from assistant.conversation.loop import ConversationLoop
    from assistant.tools.execution.toolbox import Toolbox


PATIENCE_S = 30.0  # that a program's sentence waits for the conversation to rest


class ProgramTurns:
    """On the loop's thread, beside the runner."""

    def __init__(
        self,
        conversation: "ConversationLoop",
        effects: EffectRunner,
        mouth: SpeechOutput,
        services: Deferred[TurnServices],
        clock: Clock,
    ) -> None:
        self._conversation = conversation
        self._effects = effects
        self._mouth = mouth
        self._services = services
        self._clock = clock
        self._line = Line(clock)  # of sentences
        self._opening = False  # the tone before a microphone sounds

    def listen(self, word: str, caller: str) -> bool:
        """Play the tone and, if it was heard, listen as after the wake word.

        False where that cannot be: no microphone, muted, or something is under way.
        """
        if not self._may_listen or self._opening:
            return False
        self._opening = True
        self._effects.group.create_task(self._listen(word, caller))
        return True

    async def put(self, text: str, language: str, manner: Manner, then: Then) -> bool:
        """Say it once the conversation rests; returns when it has begun.

        False: everything ends, and it is not said.
        """
        await self._conversation.until(self._may_begin)
        if self._conversation.ending:
            return False
        self._conversation.dispatch(Announced(text, language, manner, then))
        return True

    def withdraw(self, then: Then) -> None:
        """Whoever asked has gone: where it is under way it ends."""
        self._conversation.dispatch(Withdrawn(then))

    async def ask(
        self, text: str, rights: Rights, caller: str, owner: ConversationOwner | None = None
    ) -> FinishedTurn:
        """One typed turn that nobody hears, within these rights. Raises Busy.

        `owner`: whose conversation it is part of; None: the caller's own, whichever its token.

        Once it has begun it outlives whoever waits for it: what it called for is not left half
        done, and its rights hold until its last call is back.
        """
        limits = (await self._services.wait()).limits
        if limits is None:
            raise RuntimeError("this runner was made without anybody who keeps programs' rights")
        if self._conversation.ending:
            raise Busy("The assistant is about to end.")
        owner = owner or ConversationOwner(caller, recalls=rights.recalls)
        typed, begun = Typed(text, caller, owner), asyncio.Event()
        serving = self._effects.group.create_task(self._serve(typed, rights, limits, begun))
        try:
            served = await asyncio.shield(serving)
        except asyncio.CancelledError:
            if not begun.is_set():
                serving.cancel()
            raise
        if isinstance(served, Busy):
            raise served
        return served

    async def _serve(
        self, typed: Typed, rights: Rights, limits: "Toolbox", begun: asyncio.Event
    ) -> FinishedTurn | Busy:
        """Wait for its turn and have it served. A task of the loop's: it must not raise."""
        until_s = self._clock.monotonic() + PATIENCE_S
        try:
            async with self._line.place(PATIENCE_S):
                while not self._may_begin():  # looked at again: a person may be quicker
                    left_s = until_s - self._clock.monotonic()
                    rests = self._conversation.until(self._may_begin)
                    if not await done_within(self._clock, left_s, rests):
                        return Busy("Somebody is talking with the assistant.")
                if self._conversation.ending:
                    return Busy("The assistant is about to end.")
                return await self._one_turn(typed, rights, limits, begun)
        except Busy as busy:
            return busy

    async def _one_turn(
        self, typed: Typed, rights: Rights, limits: "Toolbox", begun: asyncio.Event
    ) -> FinishedTurn:
        self._conversation.dispatch(typed)
        turn = self._effects.turn
        assert turn is not None  # the conversation rested: it has begun
        begun.set()
        limits.restrict(turn.turn_id, rights, typed.caller)  # before its first step
        try:
            await turn.written.wait()
            await turn.calls.over()
        finally:
            limits.release(turn.turn_id)
        assert turn.closing is not None  # it is written down
        return FinishedTurn(record_of(turn, turn.closing), tuple(turn.outcomes))

    async def _listen(self, word: str, caller: str) -> None:
        try:
            heard = await self._mouth.tell_opening()
        finally:
            self._opening = False
        if heard and self._may_listen:
            at_ms = self._conversation.at_ms
            self._conversation.dispatch(
                WakeHeard(word, 1.0, at_ms, at_ms, pressed=True, caller=caller)
            )

    def _may_begin(self) -> bool:
        """Or everything ends."""
        return self._conversation.ending or (self._conversation.resting and not self._opening)

    @property
    def _may_listen(self) -> bool:
        machine = self._conversation.machine
        hears = machine.microphone is MicrophoneState.OPEN and not machine.muted
        return hears and machine.rests and not self._conversation.ending


# A line of programs that want the conversation for themselves: one at a time.


WAITING = 8  # at most, beside the one whose turn it is
_RANK = {"high": 0, "normal": 1, "low": 2}


@dataclass(slots=True, eq=False)
class _Ticket:
    rank: int
    called: asyncio.Event = field(default_factory=asyncio.Event)


class Line:
    """The most important is called first, and of these the one that came first. On the loop."""

    def __init__(self, clock: Clock, most: int = WAITING) -> None:
        self._clock = clock
        self._most = most
        self._waiting: list[_Ticket] = []
        self._served: _Ticket | None = None
        self._closed = False

    @asynccontextmanager
    async def place(
        self, seconds: float, priority: Literal["low", "normal", "high"] = "normal"
    ) -> AsyncIterator[None]:
        """Wait to be called, at most so long, and keep the place until the block is left.

        Raises Busy: too many wait, it was not called in time, or the line is closed.
        """
        if self._closed or self.full:
            raise Busy("Too much waits to be asked or said already.")
        ticket = _Ticket(_RANK[priority])
        self._waiting.append(ticket)
        self._call()
        try:
            if not await done_within(self._clock, seconds, ticket.called.wait()) or self._closed:
                raise Busy("It was not its turn in time.")
            yield
        finally:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
            if self._served is ticket:
                self._served = None
            self._call()

    @property
    def full(self) -> bool:
        """As many wait as may."""
        return len(self._waiting) >= self._most

    def close(self) -> None:
        """Nobody is called any more, and whoever waits is told."""
        self._closed = True
        for ticket in self._waiting:
            ticket.called.set()

    def _call(self) -> None:
        if self._served is None and self._waiting and not self._closed:
            self._served = min(self._waiting, key=lambda ticket: ticket.rank)
            self._waiting.remove(self._served)
            self._served.called.set()


async def done_within(clock: Clock, seconds: float, work: Awaitable[object]) -> bool:
    """Whether it is done in that time; else it is cancelled. What it raises is raised."""
    doing = asyncio.ensure_future(work)
    late = asyncio.ensure_future(clock.sleep(seconds))
    try:
        await asyncio.wait({doing, late}, return_when=asyncio.FIRST_COMPLETED)
        if doing.done():
            doing.result()
        return doing.done()
    finally:
        late.cancel()
        doing.cancel()
