"""A ladder of three scripted brains with all around it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from assistant.brains.fallback import FallbackBrain
from assistant.brains.slots import Budget
from assistant.domain.brain import (
    BrainEvent,
    BrainFault,
    FaultKind,
    ReplyText,
    Serving,
    TurnDone,
    TurnRequest,
)
from assistant.domain.call import ToolCall
from assistant.domain.clock import VirtualClock
from assistant.speech.catalogue import Catalogue
from tests.unit.assistant.brains.scripted import (
    House,
    ScriptedBrain,
    Spendings,
    Step,
    play,
)

LIVE, ONCE, OFFLINE = "gemini-live", "gemini-once", "offline"
REQUEST = TurnRequest("t", "en", "text", "turn on the light", None)
AWAY = "I cannot reach Gemini, so I answer by myself for now. "
BACK = "I am back with Gemini. "
DONE: list[Step] = [ReplyText("Fine."), TurnDone()]


@dataclass
class Stage:
    """A ladder of three with all around it."""

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
        """Another ladder in the same place."""
        spanish = {"enciende la luz": "es"}
        return FallbackBrain(
            brains, self.house.toolbox, self.budget, Catalogue(), self.clock, spanish.get
        )

    async def run(self, ladder: FallbackBrain | None = None, **request: str) -> list[BrainEvent]:
        """One turn to its end."""
        turn = (ladder or self.ladder).begin(replace(REQUEST, **request))  # type: ignore[arg-type]
        return await play(turn, self.house)

    def expect(
        self,
        live: Sequence[Sequence[Step]] = (),
        once: Sequence[Sequence[Step]] = (),
        offline: Sequence[Sequence[Step]] = (),
    ) -> None:
        """What the brains will do, attempt by attempt."""
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
