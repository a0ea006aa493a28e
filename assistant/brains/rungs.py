"""What the ladder says by itself: which rung answers and why, and what was done before it broke."""

from collections.abc import Sequence
from typing import Protocol

from assistant.brains.protocol import BrainFault, FaultKind
from assistant.speech.catalogue import Catalogue
from assistant.tools.outcome import ToolOutcome

# Those that speak for Gemini. From one of them to the other nothing changes for the person.
CLOUD = frozenset({"gemini-live", "gemini-once"})

# The first is told of several: what a person can mend, then what is true of this sentence alone,
# then what passes by itself.
_TELLING: tuple[FaultKind, ...] = (
    "retired",
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
)
_ONE_SENTENCE: frozenset[FaultKind] = frozenset({"blocked", "house_away"})  # the next one may work
_LOST: frozenset[FaultKind] = frozenset({"unreachable", "timeout"})


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
    unknown = catalogue.say("ladder.under_way", language)
    told = [deed.outcome.sentence if deed.outcome else unknown for deed in deeds]
    if fault.kind in _LOST:
        told.append(catalogue.say("ladder.then_lost", language))
    elif (
        fault.kind != "empty"
    ):  # then all that was asked for has an outcome, only words are missing
        told.append(catalogue.say("ladder.then_stopped", language))
    spoken = " ".join(dict.fromkeys(told))  # two calls may have ended in the same words
    return BrainFault(fault.kind, fault.message, retryable=False, spoken=spoken)


class Standing:
    """What the person believes to be talking to, and the line that puts it right, once."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self.alone = False  # the person was told that Gemini is away

    def line(self, brain: str, faults: Sequence[BrainFault], language: str) -> str:
        """What is to be said in front of this brain's answer; "": nothing has changed.

        `faults`: why those of Gemini's above it do not serve this turn. To say it makes it known.
        """
        fault = most_telling(faults)
        if brain in CLOUD:
            line = self._catalogue.say("ladder.back", language) if self.alone else ""
            self.alone = False
        elif fault is None or self.alone:
            line = ""
        else:
            line = fault.spoken or self._catalogue.say(f"ladder.away_{fault.kind}", language)
            self.alone = fault.kind not in _ONE_SENTENCE
        return line
