"""Slots of the fallback chain: circuit breakers, the day's budget, what the person is told."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from assistant.domain.brain import (
    Brain,
    BrainEvent,
    BrainFault,
    ConversationOwner,
    FaultKind,
    TurnRequest,
)
from assistant.domain.clock import Clock
from assistant.domain.records import StoreError
from assistant.domain.tool_call import ToolOutcome
from assistant.speech.catalogue import Catalogue
from assistant.tools.execution.requests import Mutation

# Remembers what is down: a slot that failed is not asked again until a while has passed.


FAILURES_TO_OPEN = 2  # in a row, of a kind that may pass by itself or be one sentence's
FIRST_PAUSE_S = 30.0
LONGEST_PAUSE_S = 600.0
QUOTA_PAUSE_S = 600.0
REFUSED_PAUSE_S = 600.0  # one request may be refused for what is in it; two in a row are a pattern
SETTING_PAUSE_S = 3_600.0  # a person must change something first

PASSING: frozenset[FaultKind] = frozenset({"unreachable", "timeout", "broken", "empty"})
_SETTING: frozenset[FaultKind] = frozenset({"no_consent", "sign_in", "retired"})


class Breaker:
    """One slot's. Closed, the slot is asked; open, it is skipped and costs no time.

    When the pause is over the slot is asked once more: a success closes the breaker, a further
    failure opens it at once, for twice as long.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failures = 0  # in a row
        self._pause_s = FIRST_PAUSE_S  # of the next opening
        self._until_s = 0.0  # on the monotonic clock
        self._fault: BrainFault | None = None  # what opened it

    @property
    def fault(self) -> BrainFault | None:
        """Fault that keeps the slot from being asked now; None: ask it."""
        if self._fault is not None and self._clock.monotonic() < self._until_s:
            return self._fault
        return None

    def succeeded(self) -> None:
        """The slot has served a turn."""
        self._failures = 0
        self._pause_s = FIRST_PAUSE_S
        self._fault = None

    def failed(self, fault: BrainFault) -> None:
        """The slot has failed once. Faults of one sentence or of the house change nothing; nor does
        the budget, which has its own end (`assistant.brains.slots`)."""
        if fault.kind in PASSING or fault.kind == "refused":
            self._failures += 1
            if self._failures < FAILURES_TO_OPEN:
                return
            if fault.kind == "refused":
                self._open(fault, REFUSED_PAUSE_S)
            else:
                self._open(fault, self._pause_s)
                self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)
        elif fault.kind == "quota":
            self._open(fault, QUOTA_PAUSE_S)
        elif fault.kind in _SETTING:
            self._open(fault, SETTING_PAUSE_S)

    def _open(self, fault: BrainFault, pause_s: float) -> None:
        self._fault = fault
        self._until_s = self._clock.monotonic() + pause_s


# What the cloud may cost a day (`limits.daily_cost_usd`), and what it has cost today.


_log = logging.getLogger(__name__)
ASK_S = 0.5  # real seconds for the journal's answer; a turn does not wait for a busy disk
_OWN_TURNS = 1_000  # of today, counted here; what is older is left to the journal


# A moment and ids of turns -> what the turns begun since then cost, in USD, but for those.
SpentSince = Callable[[datetime, Collection[str]], Awaitable[float]]


class Budget:
    """Counts the day's spending from local midnight on.

    Turns of this process are counted here, as they spend; those of other processes, and of this
    one before it was restarted, are asked of the journal.
    """

    def __init__(self, limit_usd: float, spent_since: SpentSince, clock: Clock) -> None:
        self._limit_usd = limit_usd
        self._spent_since = spent_since
        self._clock = clock
        self._day = start_of_day(clock.now())
        self._own: dict[str, float] = {}  # USD of today by turn id, oldest first
        self._others_usd = 0.0  # as the journal last said

    @property
    def limit_usd(self) -> float:
        """Limit of a day's spending."""
        return self._limit_usd

    @property
    def known_usd(self) -> float:
        """Today's spending as far as it is known without asking the journal."""
        self._turn_the_page()
        return self._others_usd + sum(self._own.values())

    @property
    def known_reached(self) -> bool:
        """True if the limit is reached, as far as it is known without asking the journal."""
        return self.known_usd >= self._limit_usd

    async def reached(self) -> bool:
        """Return whether nothing more may be spent today. Once true it stays so until midnight."""
        if self.known_reached:
            return True
        try:
            async with asyncio.timeout(ASK_S):
                self._others_usd = await self._spent_since(self._day, tuple(self._own))
        except TimeoutError:
            _log.warning("the journal did not tell in %g s what was spent today", ASK_S)
        except StoreError as error:
            _log.error("%s", error)
        return self.known_reached

    def spend(self, turn_id: str, cost_usd: float) -> None:
        """A turn, or a job that it began, has cost this much more."""
        self._turn_the_page()
        self._own[turn_id] = self._own.get(turn_id, 0.0) + cost_usd
        if len(self._own) > _OWN_TURNS:
            oldest = next(iter(self._own))
            self._others_usd += self._own.pop(oldest)

    def _turn_the_page(self) -> None:
        today = start_of_day(self._clock.now())
        if today.date() != self._day.date():  # not the instants: the clocks may have changed
            self._day, self._own, self._others_usd = today, {}, 0.0


def start_of_day(now: datetime) -> datetime:
    """The midnight before `now`, in its own time zone."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


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
class BrainSlot:
    """One brain and whether it may be asked.

    What fails for a program, such as a session beyond the service's limit, may work for people: its
    failures have a breaker of their own, and keep nobody but programs from the brain.
    """

    brain: Brain
    breaker: Breaker  # of people's turns
    programs: Breaker

    @property
    def name(self) -> str:
        return self.brain.name

    @property
    def cloud(self) -> bool:
        """It costs money and speaks for Gemini."""
        return self.name in CLOUD

    def fault(self, owner: ConversationOwner) -> BrainFault | None:
        """Return the fault that keeps it from being asked now, in a turn of that owner's."""
        of_program = None if owner.is_people else self.programs.fault
        return self.breaker.fault or of_program

    def failed(self, owner: ConversationOwner, fault: BrainFault) -> None:
        """It has failed once, in a turn of that owner's."""
        (self.breaker if owner.is_people else self.programs).failed(fault)

    def succeeded(self) -> None:
        """It has served a turn, so that it may be asked by anybody."""
        self.breaker.succeeded()
        self.programs.succeeded()


def most_telling(faults: Sequence[BrainFault]) -> BrainFault | None:
    """The one of which the person is told; of several of a kind the first."""
    return min(faults, key=lambda fault: _TELLING.index(fault.kind), default=None)


def account(
    fault: BrainFault, deeds: Sequence[Mutation], catalogue: Catalogue, language: str
) -> BrainFault:
    """The fault of a turn in which something was done: it tells what, and that it then broke off.

    "Done. Office light: on. Then I lost the connection."
    """
    tail = "ladder.then_lost" if fault.kind in LOST else "ladder.then_stopped"
    spoken = f"{outcomes(deeds, catalogue, language)} {catalogue.say(tail, language)}"
    return BrainFault(fault.kind, fault.message, retryable=False, spoken=spoken)


def outcomes(deeds: Sequence[Mutation], catalogue: Catalogue, language: str) -> str:
    """Tell what came of a turn's deeds, each once: two calls may have ended in the same words."""
    unknown = catalogue.say("ladder.under_way", language)
    return " ".join(
        dict.fromkeys(deed.outcome.sentence if deed.outcome else unknown for deed in deeds)
    )


@dataclass(frozen=True, slots=True)
class Known:
    """The state that the person has been told of."""

    alone: bool = False  # Gemini is away
    instead: FaultKind | None = None  # why one model of Gemini's answers for another


class AbsentBrain:
    """Stands for a brain that may not be asked, such as Gemini without `privacy.accept_cloud`."""

    def __init__(self, name: str, kind: FaultKind, message: str) -> None:
        """`message`: one sentence for the log and `--json`."""
        self._name = name
        self._fault = BrainFault(kind, message, retryable=False)

    @property
    def name(self) -> str:
        return self._name

    def anticipate(self) -> None:
        """There is nothing to prepare."""

    def begin(self, request: TurnRequest) -> "AbsentTurn":
        """A turn that fails at once."""
        return AbsentTurn(self._fault)


class AbsentTurn:
    """Nothing but the fault."""

    def __init__(self, fault: BrainFault) -> None:
        self._fault = fault

    async def events(self) -> AsyncGenerator[BrainEvent]:
        """The fault."""
        yield self._fault

    async def answer(self, outcome: ToolOutcome) -> None:
        """Nothing was asked for."""


class FallbackNotices:
    """The person's belief about who answers, and the line that puts it right, once."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self.known = Known()

    def restore(self, known: Known) -> None:
        """Take back what was said since `known`: nobody heard it to its end."""
        self.known = known

    def line(self, brain: str, faults: Sequence[BrainFault], language: str) -> str:
        """Return what is to be said in front of this brain's answer; "": nothing has changed.

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
