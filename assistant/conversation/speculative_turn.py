"""A brain's turn whose events wait until it is known what was said: a yes, or a new command."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from assistant.domain.brain import (
    Brain,
    BrainEvent,
    BrainFault,
    BrainTurn,
    Heard,
    NotMeant,
    Reached,
    ReplyAudio,
    ReplyText,
    Serving,
    TurnDone,
    TurnRequest,
)
from assistant.domain.tool_call import Status, ToolCall, ToolOutcome
from assistant.domain.turn_audio import TurnAudio
from assistant.tools.execution.requests import lost

if TYPE_CHECKING:
    from assistant.conversation.turn import Turn

_log = logging.getLogger(__name__)
_LEFT = "It was not run, because the turn went on without it."  # for the model
MAX_HELD = 4_000  # events; beyond, the brain waits
_LOCAL = ("offline", "home-assistant")  # they say that they understood nothing before they end
_STREAMS = "gemini-live"  # it says when it has sent everything
_End = BrainFault | NotMeant | TurnDone

Spawn = Callable[[Coroutine[Any, Any, bool]], asyncio.Task[bool]]


class SpeculativeTurn:
    """A BrainTurn around one that is followed at once, so that a new command loses no time."""

    def __init__(self, turn: BrainTurn, spawn: Spawn) -> None:
        """`spawn` starts a task that outlives the turn which asks."""
        self.heard: str | None = None  # the words as a service transcribed them so far
        self.serving = ""  # which brain is at it
        self._turn = turn
        self._waiting: asyncio.Queue[BrainEvent | None] = asyncio.Queue(MAX_HELD)
        self._changed = asyncio.Event()  # set and replaced after every event
        self._piece = asyncio.Event()  # after every piece of the words, and at the end
        self._sent = False  # the service has the whole of the sound
        self._called = False  # it has made a call
        self._acted = False  # it has made one, or a model has begun to answer
        self._ended: _End | None = None
        self._failed = False  # the first attempt; a further one waits until it is wanted
        self._wanted = asyncio.Event()
        self._over = False
        self._following = spawn(self._follow())

    async def events(self, *, further: bool = True) -> AsyncGenerator[BrainEvent]:
        """Yield what has come so far, then what comes; `further`: after a failed attempt too.

        Closing it ends the turn.
        """
        if further:
            self._wanted.set()
        try:
            while (event := await self._waiting.get()) is not None:
                yield event
        finally:
            await self.close()

    async def answer(self, outcome: ToolOutcome) -> None:
        """As in BrainTurn."""
        await self._turn.answer(outcome)

    def drop(self) -> None:
        """End it without waiting for that."""
        self._following.cancel()

    async def close(self) -> None:
        """Nobody wants it any more; a call that nobody has taken is answered as not run, since a
        model that waits for one is mute."""
        self._following.cancel()
        await asyncio.wait([self._following])
        while not self._waiting.empty():
            event = self._waiting.get_nowait()
            if isinstance(event, ToolCall):
                await self._turn.answer(replace(lost(event), status=Status.NOT_RUN, sentence=_LEFT))

    async def sent(self) -> None:
        """Return when a service has the whole of the sound, or none will have it."""
        while not (self._done or self._sent or self.serving not in ("", _STREAMS)):
            await self._changed.wait()

    async def words(self) -> None:
        """Return when it has heard something, or nothing more can come."""
        while not (self._done or self.heard):
            await self._changed.wait()

    async def quiet(self, pause_s: float) -> None:
        """Return when no further piece of the words came for so long, or none can come.

        That the model acts or speaks proves nothing: it goes on while pieces are under way.
        """
        while not self._done:
            piece = self._piece
            try:
                async with asyncio.timeout(pause_s):
                    await piece.wait()
            except TimeoutError:
                return

    async def understood(self) -> bool:
        """Return True if it is something to do or to answer, as far as the brain can tell."""
        while not (self._acted or self._done):
            await self._changed.wait()
        if self._acted or self._failed:
            return True  # whoever failed may do better the next time
        return isinstance(self._ended, TurnDone) and self._ended.understood

    async def commanded(self) -> bool:
        """Return True if it is something to do: it is called for, or a brain on the device,
        which knows nothing but commands and questions, has understood it."""
        while not (self._acted or self._done):
            await self._changed.wait()
        if self._called or self.serving not in _LOCAL:
            return self._called
        return isinstance(self._ended, TurnDone) and self._ended.understood

    @property
    def _done(self) -> bool:
        return self._over or self._failed

    async def _follow(self) -> bool:
        try:
            async with aclosing(self._turn.events()) as events:
                async for event in events:
                    self._note(event)
                    await self._waiting.put(event)
                    if self._failed:
                        await self._wanted.wait()
        except Exception:
            # The edge towards a brain: whatever it raises, the process lives on.
            _log.exception("the brain broke over an answer")
        finally:
            self._over = True
            self._more()
            self._tell()
        await self._waiting.put(None)
        return True

    def _note(self, event: BrainEvent) -> None:
        match event:
            case Heard(text):
                self.heard = text
                self._more()
            case Serving(brain):
                self._failed = bool(self.serving)
                if self._failed:
                    self._more()
                self.serving = brain
            case Reached("upload_done"):
                self._sent = True
            case ToolCall():
                self._called = self._acted = True
            case ReplyText() | ReplyAudio():
                self._acted |= self.serving not in _LOCAL
            case BrainFault() | NotMeant() | TurnDone():
                self._ended = event
        self._tell()

    def _more(self) -> None:
        self._piece.set()
        self._piece = asyncio.Event()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class SpeculativeBrain:
    """A Brain that has begun on its first turn already."""

    def __init__(self, turn: SpeculativeTurn, brain: Brain) -> None:
        """`brain`: for every further turn."""
        self._turn: SpeculativeTurn | None = turn
        self._brain = brain

    @property
    def name(self) -> str:
        """As of the brain."""
        return self._brain.name

    def begin(self, request: TurnRequest) -> BrainTurn:
        """The turn that is under way, the first time."""
        turn, self._turn = self._turn, None
        return turn if turn is not None else self._brain.begin(request)

    def anticipate(self) -> None:
        """It is at work already."""


# The words of an answer, as the service that hears it transcribes them.

# After the end of the answer a service's transcript is waited for so long, and its further pieces.
TRANSCRIPT_S = 2.5
# A further piece of it follows the one before within this time; less will do where this machine
# hears the whole sound too, and both must agree.
PIECES_S = 1.0
PIECES_CHECKED_S = 0.4
PIECES_MOST_S = 4.0
SEND_S = 6.0  # a service that has not the whole sound by then is not waited for


async def transcript_of(held: SpeculativeTurn | None, *, checked: bool) -> str | None:
    """Return what a service has heard; "" for nothing that can be relied on.

    None: no service hears it, or its words came too late. `checked`: this device must agree.
    """
    if held is None:
        return None
    try:
        async with asyncio.timeout(SEND_S):
            await held.sent()
        async with asyncio.timeout(TRANSCRIPT_S):
            await held.words()
    except TimeoutError:
        _log.info("no transcript of the answer came in time")
        return "" if held.heard else None  # words of half the sound may lack the "not"
    try:
        async with asyncio.timeout(PIECES_MOST_S):
            await held.quiet(PIECES_CHECKED_S if checked else PIECES_S)
    except TimeoutError:
        return ""  # it has no end: nobody says yes like that
    # What the device heard itself is no second witness.
    return None if held.serving == "offline" else held.heard


@dataclass(frozen=True, slots=True)
class FollowOnTurn:
    """Words in place of a yes or no, with the brain that is at them: a turn to be."""

    turn: SpeculativeTurn
    audio: TurnAudio
    turn_id: str

    @classmethod
    def begin(
        cls, before: "Turn", audio: TurnAudio, turn_id: str, brain: Brain, spawn: Spawn
    ) -> Self:
        """Have the brain begin on the sound of an answer to a question of that turn."""
        before.hear_answer(audio)
        request = TurnRequest(turn_id, before.language, "voice", None, audio, before.profile)
        return cls(SpeculativeTurn(brain.begin(request), spawn), audio, turn_id)
