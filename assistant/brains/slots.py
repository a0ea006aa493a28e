"""Slots of the fallback chain: circuit breakers, the daily budget and notices about failures."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
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
from assistant.tools.execution.ledger import Mutation

# Circuit breakers, which skip a failed slot for a while.


# Consecutive failures, of kinds that can be temporary or concern only one sentence.
FAILURES_TO_OPEN = 2
FIRST_PAUSE_S = 30.0
LONGEST_PAUSE_S = 600.0
QUOTA_PAUSE_S = 600.0
SETTING_PAUSE_S = 3_600.0  # somebody must change a setting first

# A refusal can be due to the content of one conversation, so a new one may work soon.
PASSING: frozenset[FaultKind] = frozenset({"unreachable", "timeout", "broken", "empty", "refused"})
_SETTING: frozenset[FaultKind] = frozenset(
    {
        "no_consent",
        "sign_in",
        "credentials",
        "no_region",
        "denied",
        "api_off",
        "key_limits",
        "retired",
    }
)


class Breaker:
    """A slot's circuit breaker. While it is open, the slot is skipped.

    After a pause, the slot is tried again. If it fails again, the next pause can be longer.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failures = 0  # consecutive failures
        self._pause_s = FIRST_PAUSE_S  # pause after the next opening
        self._until_s = 0.0  # monotonic time
        self._fault: BrainFault | None = None  # fault that opened it

    @property
    def fault(self) -> BrainFault | None:
        if self._fault is not None and self._clock.monotonic() < self._until_s:
            return self._fault
        return None

    def succeeded(self) -> None:
        self._failures = 0
        self._pause_s = FIRST_PAUSE_S
        self._fault = None

    def failed(self, fault: BrainFault) -> None:
        """Count a failure, and open the breaker if necessary."""
        if fault.kind in PASSING or fault.kind == "local_model":
            self._failures += 1
            if self._failures < FAILURES_TO_OPEN:
                return
            self._open(fault, self._pause_s)
            self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)
        elif fault.kind == "quota":
            self._open(fault, QUOTA_PAUSE_S)
        elif fault.kind in _SETTING:
            self._open(fault, SETTING_PAUSE_S)

    def _open(self, fault: BrainFault, pause_s: float) -> None:
        self._fault = fault
        self._until_s = self._clock.monotonic() + pause_s


# The daily limit of cloud costs (`limits.daily_cost_usd`).


_log = logging.getLogger(__name__)
ASK_S = 0.5  # seconds of real time to wait for the journal, if the disk is busy
_OWN_TURNS = 1_000  # turns counted individually; older ones are added to `_others_usd`


# Takes a time and turn ids. Returns the cost in USD of all turns since then except these.
SpentSince = Callable[[datetime, Collection[str]], Awaitable[float]]


class Budget:
    """Today's spending, counted from local midnight.

    Costs of this process's turns are added as they occur. All other costs are read from the
    journal.
    """

    def __init__(self, limit_usd: float, spent_since: SpentSince, clock: Clock) -> None:
        self._limit_usd = limit_usd
        self._spent_since = spent_since
        self._clock = clock
        self._day = start_of_day(clock.now())
        self._own: dict[str, float] = {}  # today's USD by turn id, oldest first
        self._others_usd = 0.0  # USD of other turns, as last read from the journal

    @property
    def limit_usd(self) -> float:
        return self._limit_usd

    @property
    def known_usd(self) -> float:
        """Today's spending in USD, as far as it is known without reading the journal again."""
        self._turn_the_page()
        return self._others_usd + sum(self._own.values())

    @property
    def known_reached(self) -> bool:
        return self.known_usd >= self._limit_usd

    async def reached(self) -> bool:
        """Return True if today's limit is reached, reading the journal if necessary."""
        if self.known_reached:
            return True
        try:
            async with asyncio.timeout(ASK_S):
                self._others_usd = await self._spent_since(self._day, tuple(self._own))
        except TimeoutError:
            _log.warning("the journal did not report today's spending within %g s", ASK_S)
        except StoreError as error:
            _log.error("%s", error)
        return self.known_reached

    def spend(self, turn_id: str, cost_usd: float) -> None:
        """Add a cost of a turn, or of a job that the turn started."""
        self._turn_the_page()
        self._own[turn_id] = self._own.get(turn_id, 0.0) + cost_usd
        if len(self._own) > _OWN_TURNS:
            oldest = next(iter(self._own))
            self._others_usd += self._own.pop(oldest)

    def _turn_the_page(self) -> None:
        today = start_of_day(self._clock.now())
        # Compare dates, because daylight saving time can shift midnight.
        if today.date() != self._day.date():
            self._day, self._own, self._others_usd = today, {}, 0.0


def start_of_day(now: datetime) -> datetime:
    """Return the midnight with which the day of `now` begins, in the time zone of `now`."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


# Gemini's brains. Switching between them makes little difference to people.
CLOUD = frozenset({"gemini-live", "gemini-once"})
LOCAL = "local"

# Faults by importance: first those that a person can fix, then those that concern only this
# sentence, then temporary ones.
_TELLING: tuple[FaultKind, ...] = (
    "retired",
    "no_consent",
    "no_region",
    "denied",
    "api_off",
    "key_limits",
    "sign_in",
    "credentials",
    "refused",
    "local_model",
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
_ONE_SENTENCE: frozenset[FaultKind] = frozenset(  # the next sentence can work
    {"blocked", "house_away", "not_understood"}
)
# Mentioned even if another Gemini brain answers, because people can fix them or notice them.
_INSTEAD: frozenset[FaultKind] = frozenset({"retired", "quota", "blocked"})
LOST: frozenset[FaultKind] = frozenset({"unreachable", "timeout"})  # connection faults


@dataclass(frozen=True, slots=True)
class BrainSlot:
    """One brain of the chain, with its circuit breakers.

    Programs have a separate breaker, because their failures must not affect people.
    """

    brain: Brain
    breaker: Breaker  # for people's turns
    programs: Breaker

    @property
    def name(self) -> str:
        return self.brain.name

    @property
    def cloud(self) -> bool:
        return self.name in CLOUD

    def fault(self, owner: ConversationOwner) -> BrainFault | None:
        """Return the fault that bars this brain for the owner, or None if it can be used."""
        of_program = None if owner.is_people else self.programs.fault
        return self.breaker.fault or of_program

    def failed(self, owner: ConversationOwner, fault: BrainFault) -> None:
        (self.breaker if owner.is_people else self.programs).failed(fault)

    def succeeded(self) -> None:
        self.breaker.succeeded()
        self.programs.succeeded()


def most_telling(faults: Sequence[BrainFault]) -> BrainFault | None:
    """Return the most important fault to report, or None if there are no faults."""
    return min(faults, key=lambda fault: _TELLING.index(fault.kind), default=None)


def account(
    fault: BrainFault, actions: Sequence[Mutation], catalogue: Catalogue, language: str
) -> BrainFault:
    """Return a fault that reports what the turn had already done before it failed.

    Example: "Done. Office light: on. Then I lost the connection."
    """
    tail = "ladder.then_lost" if fault.kind in LOST else "ladder.then_stopped"
    spoken = f"{outcomes(actions, catalogue, language)} {catalogue.say(tail, language)}"
    return BrainFault(fault.kind, fault.message, retryable=False, spoken=spoken)


def outcomes(actions: Sequence[Mutation], catalogue: Catalogue, language: str) -> str:
    """Return sentences that describe the actions' results, without repetitions."""
    unknown = catalogue.say("ladder.under_way", language)
    return " ".join(
        dict.fromkeys(deed.outcome.sentence if deed.outcome else unknown for deed in actions)
    )


@dataclass(frozen=True, slots=True)
class Known:
    """The state of the models that Hearth has already announced."""

    alone: bool = False  # Gemini is unreachable
    # Why one Gemini brain replaces the other: a kind of fault, or "barred" for any other reason.
    instead: str | None = None
    changes: int = 0  # number of changes to Gemini Live
    local_away: bool = False  # the local language model can't be used


class AbsentBrain:
    """A placeholder for a brain that can't be used, such as Gemini without `privacy.accept_cloud`.

    `message` is one sentence for the log and `--json`.
    """

    def __init__(self, name: str, kind: FaultKind, message: str) -> None:
        self._name = name
        self._fault = BrainFault(kind, message, retryable=False)

    @property
    def name(self) -> str:
        return self._name

    def anticipate(self) -> None:
        """Do nothing."""

    def begin(self, request: TurnRequest) -> "AbsentTurn":
        return AbsentTurn(self._fault)


class AbsentTurn:
    """A turn that yields only a fault."""

    def __init__(self, fault: BrainFault) -> None:
        self._fault = fault

    async def events(self) -> AsyncGenerator[BrainEvent]:
        yield self._fault

    async def answer(self, outcome: ToolOutcome) -> None:
        """Do nothing, because the turn makes no calls."""


class FallbackNotices:
    """Composes sentences that tell people, for example, that a different brain is answering."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self.known = Known()
        self._changes: list[str] = []  # the keys of their sentences

    def repaired(self) -> None:
        """Record that Gemini Live now works without a part of its set-up that was rejected."""
        self._changes.append("ladder.repaired")

    def model_changed(self) -> None:
        """Record that Gemini Live now uses another model because a model is gone."""
        self._changes.append("ladder.other_model")

    def restore(self, known: Known) -> None:
        """Go back to an earlier state, because people didn't hear the later notices."""
        self.known = known

    def line(
        self,
        brain: str,
        faults: Sequence[BrainFault],
        language: str,
        *,
        skipped: bool = False,
        local: BrainFault | None = None,
    ) -> str:
        """Return the sentence to say before this brain's answer, or "" if there is nothing new to
        say.

        `faults` are the faults of earlier Gemini brains in this turn. `skipped` is True if one of
        these brains wasn't asked because it is barred. `local` is the fault of the local language
        model. A returned sentence counts as spoken.
        """
        fault = most_telling(faults)
        if brain in CLOUD:
            kind: str | None = "barred" if skipped else None
            if fault is not None and fault.kind in _INSTEAD:
                kind = fault.kind
            return self._with_gemini(kind, language)
        told = self.known.local_away
        away = local is not None and local.kind not in _ONE_SENTENCE
        self.known = replace(self.known, local_away=away)
        if fault is not None and not self.known.alone:
            self.known = replace(self.known, alone=fault.kind not in _ONE_SENTENCE, instead=None)
            return fault.spoken or self._catalogue.say(f"ladder.away_{fault.kind}", language)
        return self._catalogue.say("ladder.away_local_model", language) if away > told else ""

    def _with_gemini(self, instead: str | None, language: str) -> str:
        known = self.known
        lasting = None if instead in _ONE_SENTENCE else instead
        self.known = Known(instead=lasting, changes=len(self._changes))
        lines = [self._catalogue.say("ladder.back", language)] if known.alone else []
        if instead is not None and instead != known.instead:
            lines.append(self._catalogue.say(f"ladder.instead_{instead}", language))
        untold = dict.fromkeys(self._changes[known.changes :])
        lines += [self._catalogue.say(key, language) for key in untold]
        return " ".join(lines)
