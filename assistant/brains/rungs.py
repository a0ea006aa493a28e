"""What the ladder says by itself: which rung answers and why, and what was done before it broke."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from assistant.brains.breaker import Breaker
from assistant.domain.brain import Brain, BrainFault, ConversationOwner, FaultKind
from assistant.domain.outcome import ToolOutcome
from assistant.speech.catalogue import Catalogue

# Those that speak for Gemini. From one of them to the other little changes for the person.
CLOUD = frozenset({"gemini-live", "gemini-once"})

# The first is told of several: what a person can mend, then what is true of this sentence alone,
# then what passes by itself.
_TELLING: tuple[FaultKind, ...] = (
    "retired",
    "no_consent",
    "sign_in",
    "refused",
    "quota",
    "budget",
    "blocked",
    "house_away",
    "unreachable",
    "timeout",
    "empty",
    "broken",
    "endless",
    "not_understood",
)
_ONE_SENTENCE: frozenset[FaultKind] = frozenset(  # the next one may work
    {"blocked", "house_away", "not_understood"}
)
# Told also where another of Gemini's brains answers: what a person can mend, or may wonder about.
_INSTEAD: frozenset[FaultKind] = frozenset({"retired", "quota", "blocked"})
LOST: frozenset[FaultKind] = frozenset({"unreachable", "timeout"})  # of the connection


@dataclass(frozen=True, slots=True)
class Rung:
    """One brain and whether it may be asked.

    What fails for a program, such as a session beyond the service's limit, may work for people: its
    failures have a breaker of their own, and keep nobody but programs from the brain.
    """

    brain: Brain
    breaker: Breaker  # of people's turns
    programs: Breaker

    @property
    def name(self) -> str:
        """As in `brain.order`."""
        return self.brain.name

    @property
    def cloud(self) -> bool:
        """It costs money and speaks for Gemini."""
        return self.name in CLOUD

    def fault(self, owner: ConversationOwner) -> BrainFault | None:
        """What keeps it from being asked now, in a turn of that owner's."""
        of_program = None if owner.is_people else self.programs.fault
        return self.breaker.fault or of_program

    def failed(self, owner: ConversationOwner, fault: BrainFault) -> None:
        """It has failed once, in a turn of that owner's."""
        (self.breaker if owner.is_people else self.programs).failed(fault)

    def succeeded(self) -> None:
        """It has served a turn, so that it may be asked by anybody."""
        self.breaker.succeeded()
        self.programs.succeeded()


class Deed(Protocol):
    """A call that may have changed something (`assistant.tools.ledger.Mutation`)."""

    @property
    def outcome(self) -> ToolOutcome | None:
        """How it ended; None: it is under way."""
        ...


def most_telling(faults: Sequence[BrainFault]) -> BrainFault | None:
    """The one of which the person is told; of several of a kind the first."""
    return min(faults, key=lambda fault: _TELLING.index(fault.kind), default=None)


def account(
    fault: BrainFault, deeds: Sequence[Deed], catalogue: Catalogue, language: str
) -> BrainFault:
    """The fault of a turn in which something was done: it tells what, and that it then broke off.

    "Done. Office light: on. Then I lost the connection."
    """
    tail = "ladder.then_lost" if fault.kind in LOST else "ladder.then_stopped"
    spoken = f"{outcomes(deeds, catalogue, language)} {catalogue.say(tail, language)}"
    return BrainFault(fault.kind, fault.message, retryable=False, spoken=spoken)


def outcomes(deeds: Sequence[Deed], catalogue: Catalogue, language: str) -> str:
    """What came of a turn's deeds, each told once: two calls may have ended in the same words."""
    unknown = catalogue.say("ladder.under_way", language)
    return " ".join(
        dict.fromkeys(deed.outcome.sentence if deed.outcome else unknown for deed in deeds)
    )


@dataclass(frozen=True, slots=True)
class Known:
    """What the person has been told, and nothing has changed since."""

    alone: bool = False  # Gemini is away
    instead: FaultKind | None = None  # why one model of Gemini's answers for another


class Standing:
    """What the person believes to be talking to, and the line that puts it right, once."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self.known = Known()

    def line(self, brain: str, faults: Sequence[BrainFault], language: str) -> str:
        """What is to be said in front of this brain's answer; "": nothing has changed.

        `faults`: why those of Gemini's above it do not serve this turn. To say it makes it known.
        """
        fault = most_telling(faults)
        if brain in CLOUD:
            kind = fault.kind if fault is not None and fault.kind in _INSTEAD else None
            return self._with_gemini(kind, language)
        if fault is None or self.known.alone:
            return ""
        self.known = Known(alone=fault.kind not in _ONE_SENTENCE)
        return fault.spoken or self._catalogue.say(f"ladder.away_{fault.kind}", language)

    def _with_gemini(self, instead: FaultKind | None, language: str) -> str:
        """Another of Gemini's brains is no news by itself, only some reasons for it are."""
        known = self.known
        self.known = Known(instead=None if instead in _ONE_SENTENCE else instead)
        lines = [self._catalogue.say("ladder.back", language)] if known.alone else []
        if instead is not None and instead != known.instead:
            lines.append(self._catalogue.say(f"ladder.instead_{instead}", language))
        return " ".join(lines)
