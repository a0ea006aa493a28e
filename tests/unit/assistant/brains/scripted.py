"""Strict doubles around the brain chain: scripted brains, and a house that keeps a ledger."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import cast

from assistant.brains.fallback import FallbackBrain
from assistant.brains.slots import Budget
from assistant.domain.brain import (
    BrainEvent,
    BrainFault,
    BrainTurn,
    FaultKind,
    ReplyText,
    Serving,
    ToolCallsCancelled,
    TurnDone,
    TurnRequest,
)
from assistant.domain.clock import VirtualClock
from assistant.domain.tool_call import Decision, Status, Tier, ToolCall, ToolOutcome
from assistant.speech.catalogue import Catalogue
from assistant.tools.execution.toolbox import Toolbox


@dataclass(frozen=True)
class Answered:
    """A step of a script: go on when this call's result is there."""

    call_id: str


class Hold:
    """A step of a script: never go on."""


@dataclass(frozen=True)
class Passes:
    """A step of a script: wait for this many seconds."""

    clock: VirtualClock
    seconds: float


Step = BrainEvent | Answered | Hold | Passes | Exception


class ScriptedTurn:
    """One attempt of a scripted brain."""

    def __init__(self, request: TurnRequest, script: Sequence[Step]) -> None:
        self.request = request
        self.answers: list[ToolOutcome] = []
        self.closed = False
        self._script = script
        self._came: dict[str, asyncio.Event] = defaultdict(asyncio.Event)

    async def events(self) -> AsyncGenerator[BrainEvent]:
        try:
            for step in self._script:
                match step:
                    case Answered(call_id):
                        await self._came[call_id].wait()
                    case Hold():
                        await asyncio.Event().wait()
                    case Passes(clock, seconds):
                        clock.advance(seconds)
                    case Exception():
                        raise step
                    case _:
                        yield step
        finally:
            self.closed = True

    async def answer(self, outcome: ToolOutcome) -> None:
        self.answers.append(outcome)
        self._came[outcome.id].set()


class ScriptedBrain:
    """Plays one script per attempt; one attempt too many or too few fails the test."""

    def __init__(self, name: str, *scripts: Sequence[Step]) -> None:
        self._name = name
        self._scripts = list(scripts)
        self.turns: list[ScriptedTurn] = []
        self.anticipated = 0

    @property
    def name(self) -> str:
        return self._name

    def add(self, *scripts: Sequence[Step]) -> None:
        self._scripts += scripts

    def anticipate(self) -> None:
        self.anticipated += 1

    def begin(self, request: TurnRequest) -> ScriptedTurn:
        if not self._scripts:
            raise UnexpectedAttempt(self._name)
        turn = ScriptedTurn(request, self._scripts.pop(0))
        self.turns.append(turn)
        return turn

    def assert_consumed(self) -> None:
        assert not self._scripts, f"{len(self._scripts)} scripts of {self._name} were not played"
        assert all(turn.closed for turn in self.turns), f"an attempt of {self._name} is still open"


class UnexpectedAttempt(BaseException):
    """Not an `Exception`, so that the chain does not take it for a broken brain."""


@dataclass
class Deed:
    """A call that was sent and may change something."""

    call: ToolCall
    outcome: ToolOutcome | None = None


@dataclass
class House:
    """Runs calls and keeps the ledger; the name of a call selects its behaviour.

    `read` is answered at once and changes nothing; `slow_read` is answered when the test allows it.
    `light` is sent and done at once. `slow` is sent at once, and done when the test allows it.
    `late` is sent only when the test allows it, unless it was withdrawn. `door` asks the person
    first.
    """

    deeds: list[Deed] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    withdrawn: bool = False
    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def toolbox(self) -> Toolbox:
        """Return the house as the brain chain sees it."""
        return cast("Toolbox", self)

    def mutations(self, turn_id: str) -> tuple[Deed, ...]:
        assert turn_id == "t"
        return tuple(self.deeds)

    def withdraw(self, turn_id: str) -> None:
        assert turn_id == "t"
        self.withdrawn = True

    async def call(self, call: ToolCall) -> ToolOutcome:
        if call.name in ("read", "slow_read"):
            if call.name == "slow_read":
                await self.go_on.wait()
            self.reads.append(call.id)
            return outcome_of(call, tier=Tier.READ)
        if call.name == "door":
            return outcome_of(
                call, decision=Decision.NEEDS_CONFIRMATION, tier=Tier.SECURE, status=Status.NOT_RUN
            )
        if call.name == "late":
            await self.go_on.wait()
            if self.withdrawn:
                return outcome_of(call, status=Status.NOT_RUN, sentence="It was withdrawn.")
        deed = Deed(call)
        self.deeds.append(deed)
        if call.name == "slow":
            await self.go_on.wait()
        deed.outcome = outcome_of(call)
        return deed.outcome


def outcome_of(
    call: ToolCall,
    *,
    decision: Decision = Decision.ALLOWED,
    tier: Tier = Tier.COMFORT,
    status: Status = Status.DONE,
    sentence: str | None = None,
) -> ToolOutcome:
    return ToolOutcome(
        id=call.id,
        server="home_assistant",
        name=call.name,
        arguments=call.arguments,
        decision=decision,
        tier=tier,
        status=status,
        observed=(),
        ms=1.0,
        sentence=sentence or f"The {call.arguments.get('what', 'light')} is on.",
    )


async def play(turn: BrainTurn, house: House) -> list[BrainEvent]:
    """Take a turn's events as the turn's runner does: calls run beside it and are answered once."""
    events: list[BrainEvent] = []

    async def run(call: ToolCall) -> None:
        await turn.answer(await house.call(call))

    async with asyncio.TaskGroup() as calls, aclosing(turn.events()) as stream:
        async for event in stream:
            events.append(event)
            if isinstance(event, ToolCall):
                calls.create_task(run(event))
            assert not isinstance(event, ToolCallsCancelled) or event.ids
    return events


class Spendings:
    """A journal without any costs."""

    def __init__(self) -> None:
        self.usd = 0.0
        self.asked = 0

    async def __call__(self, since: datetime, besides: Collection[str] = ()) -> float:
        self.asked += 1
        return self.usd


# --- A chain of three scripted brains with its surroundings.

LIVE, ONCE, OFFLINE = "gemini-live", "gemini-once", "offline"
REQUEST = TurnRequest("t", "en", "text", "turn on the light", None)
AWAY = "I can't reach Gemini, so I'll answer on my own for now. "
BACK = "Gemini is back. "
DONE: list[Step] = [ReplyText("Fine."), TurnDone()]


@dataclass
class Stage:
    """A chain of three scripted brains with its surroundings."""

    clock: VirtualClock = field(default_factory=VirtualClock)
    live: ScriptedBrain = field(default_factory=lambda: ScriptedBrain(LIVE))
    once: ScriptedBrain = field(default_factory=lambda: ScriptedBrain(ONCE))
    offline: ScriptedBrain = field(default_factory=lambda: ScriptedBrain(OFFLINE))
    house: House = field(default_factory=House)
    spendings: Spendings = field(default_factory=Spendings)

    def __post_init__(self) -> None:
        self.budget = Budget(1.0, self.spendings, self.clock)
        self.ladder = self.of(self.live, self.once, self.offline)

    def of(self, *brains: ScriptedBrain) -> FallbackBrain:
        """Return another chain in the same surroundings."""
        spanish = {"enciende la luz": "es"}
        return FallbackBrain(
            brains, self.house.toolbox, self.budget, Catalogue(), self.clock, spanish.get
        )

    async def run(self, ladder: FallbackBrain | None = None, **request: str) -> list[BrainEvent]:
        """Play one turn to its end."""
        turn = (ladder or self.ladder).begin(replace(REQUEST, **request))  # type: ignore[arg-type]
        return await play(turn, self.house)

    def expect(
        self,
        live: Sequence[Sequence[Step]] = (),
        once: Sequence[Sequence[Step]] = (),
        offline: Sequence[Sequence[Step]] = (),
    ) -> None:
        """Set what the brains will do, attempt by attempt."""
        self.live.add(*live)
        self.once.add(*once)
        self.offline.add(*offline)

    def assert_consumed(self) -> None:
        for brain in (self.live, self.once, self.offline):
            brain.assert_consumed()


def fault(kind: FaultKind = "unreachable", retryable: bool = False) -> BrainFault:
    return BrainFault(kind, f"It is {kind}.", retryable)


def call(call_id: str, name: str, what: str = "light") -> ToolCall:
    return ToolCall(call_id, name, {"what": what})


def said(events: Sequence[BrainEvent]) -> str:
    return "".join(event.delta for event in events if isinstance(event, ReplyText))


def served(events: Sequence[BrainEvent]) -> list[str]:
    return [event.brain for event in events if isinstance(event, Serving)]
