"""Tool calls: the request, its context and rights, its confirmation and its outcome."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import time
from enum import StrEnum
from typing import Any, Literal

from integrations.home_assistant.house import Entity


@dataclass(frozen=True, slots=True)
class SentenceMatch:
    """A sentence as Home Assistant's conversation engine understands it, before executing it.

    Source: `conversation/agent/homeassistant/debug` (Home Assistant 2026.11).
    """

    text: str  # as it would be sent
    language: str
    source: Literal["builtin", "custom", "trigger"]  # "trigger": an automation with unknown effect
    intent: str = ""  # such as "HassTurnOn"; "" for a trigger
    slots: Mapping[str, Any] = field(default_factory=dict)
    targets: tuple[str, ...] = ()  # entity ids


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A brain's request to run a tool. It must be answered once, with `BrainTurn.answer`."""

    id: str
    name: str  # as in the menu
    arguments: dict[str, Any]
    # Set only by brains that use Home Assistant's conversation engine, never by a model. The
    # sentence is sent to the engine and is judged like any other call.
    sentence: SentenceMatch | None = None


# Facts about the turn that requests a call.


@dataclass(frozen=True, slots=True)
class CallContext:
    """Facts about the calling turn that the guards consider."""

    can_ask: bool = False  # the caller can ask the person and settle the question
    spoken: bool = False  # the request was heard, not typed
    near_own_speech: bool = False  # the request began while Hearth spoke, or within 2 s after
    searched: bool = False  # the model's answer relies on web search (search grounding)
    # Id of the model's context, from the brain; "" if the turn shares no context.
    talk: str = ""
    led_by: str = ""  # program whose text the model got in addition to the person's


CALM = CallContext()


# Outcome of a tool call, as used by the brain, the journal and `--json`.


class Decision(StrEnum):
    """The verdict of the policy, or of the person who was asked."""

    ALLOWED = "allowed"
    CONFIRMED = "confirmed"
    NEEDS_CONFIRMATION = "needs_confirmation"
    DENIED = "denied"


class Status(StrEnum):
    """The state of a call when its outcome is reported."""

    DONE = "done"  # verified in the home, or a query that was answered
    FAILED = "failed"  # the server reported an error
    NOT_OBSERVED = "not_observed"  # the server reported success, but the home shows no change
    TIMEOUT = "timeout"
    NOT_RUN = "not_run"
    UNKNOWN = "unknown"  # interrupted after it was sent, or still running


class Tier(StrEnum):
    """Degree of cost or danger of a call, depending on the entities that it affects."""

    READ = "read"
    COMFORT = "comfort"
    COSTLY = "costly"
    SECURE = "secure"


@dataclass(frozen=True, slots=True)
class Observed:
    """An entity's state before and after the call, in a few words ("off", "on 30 %")."""

    entity_id: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Awaited:
    """The state that an entity should reach, as a predicate."""

    shows: Callable[[Entity], bool]
    word: str = ""  # "locked", "unlocked", "opened" or "closed"; "" for any other change


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    id: str
    server: str
    name: str  # as the server names it
    arguments: dict[str, Any]  # as sent, after type conversion
    decision: Decision
    tier: Tier
    status: Status
    observed: tuple[Observed, ...]
    ms: float  # from the request to the result
    sentence: str  # result in one sentence, for the brain
    data: str = ""  # the server's answer, cleaned and truncated; never instructions
    reason: str = ""  # the server's own text about a failure, for the journal; never spoken
    # A retry could succeed, corrected with `valid_options` if there are any.
    retryable: bool = False
    outside: bool = False  # contains text from a program or a stranger
    running: bool = False  # still running in the background; this result is not final
    as_asked: bool = False  # everything that was requested has been observed in the home
    valid_options: tuple[str, ...] = ()  # valid values if one was unknown
    rule: str = ""  # rule of the policy or the owner that decided
    # Entities that it affects or would have affected, as far as known.
    entities: tuple[str, ...] = ()
    stale: bool = False  # its states are old; the sentence gives their age
    # Names of entities that a wide call left on because they must keep running.
    left_on: tuple[str, ...] = ()
    # Requested states that hadn't been observed yet when the call returned, by entity id.
    awaited: Mapping[str, Awaited] = field(default_factory=dict, compare=False, repr=False)
    confirmed_by: str = ""  # who confirmed it, and how: "voice", "typed", "pin", "phone NAME"

    @property
    def failed(self) -> bool:
        """True if the call failed, timed out or was not run. A call that waits for confirmation
        hasn't failed."""
        if self.decision is Decision.NEEDS_CONFIRMATION:
            return False
        return self.status in (Status.FAILED, Status.TIMEOUT, Status.NOT_RUN)


# Rights of turns that a program started, or in which a person answers a program.


REQUEST = "request"  # caller of a turn that a person scheduled
COMMAND = "later"  # caller of a call that a person scheduled
_KEPT = 1_000  # ended turns to keep; their background work ends within 10 min


@dataclass(frozen=True, slots=True)
class Rights:
    """Permissions of a turn that a program started or contributed to. The settings, the mode and
    the owner's rules still apply on top of them."""

    highest: Tier  # calls above it are refused, whatever the settings say (rule "caller")
    # False if no person takes part. Gated calls then end as `needs_confirmation` at once.
    asks: bool
    # Calls above this tier need confirmation, even if the settings don't require it, unless one of
    # the owner's rules names the caller.
    free: Tier = Tier.COMFORT
    recalls: bool = False  # may see remembered facts and people's timers


READ_ONLY = Rights(Tier.READ, asks=False)
# Comfort calls are free. Higher tiers require a rule that names the caller.
CALLERS = Rights(Tier.SECURE, asks=False)
# A person answers a program, whose text the model has seen. The program could have prompted any
# call, so calls above comfort need a confirmation in Hearth's own words.
TALK = Rights(Tier.SECURE, asks=True, recalls=True)


@dataclass(frozen=True, slots=True)
class Program:
    """A program that started a turn itself, or that started a conversation with a person."""

    name: str  # as in the audit and in rules (`satellite`): "mcp:kitchen"
    rights: Rights

    @property
    def caller(self) -> str:
        """The program's name if it started the turn itself, or "" if a person did."""
        return "" if self.rights.asks or self.name in (REQUEST, COMMAND) else self.name


class Programs:
    """The programs that are involved in turns, and their rights in each turn."""

    def __init__(self) -> None:
        self._of: dict[str, Program] = {}
        self._ended: dict[str, None] = {}  # oldest first

    def restrict(self, turn_id: str, rights: Rights, caller: str) -> None:
        """Limit all calls of this turn, and of background work that it starts, to these rights."""
        self._of[turn_id] = Program(caller, rights)

    def lead(self, turn_id: str, caller: str) -> None:
        """Record that the model sees a program's text in this turn, which a person started."""
        if self.of(turn_id) is None:
            self.restrict(turn_id, TALK, caller)
            # Nothing reports the end of such a turn, so only the newest are kept.
            self.release(turn_id)

    def release(self, turn_id: str) -> None:
        """Record that the turn has ended. Background work that it started stays restricted."""
        if turn_id in self._of:
            self._ended[turn_id] = None
        if len(self._ended) > _KEPT:
            oldest = next(iter(self._ended))
            del self._ended[oldest], self._of[oldest]

    def of(self, turn_id: str) -> Program | None:
        """Return the program involved in this turn or background work, or None if there is none."""
        name = turn_id
        while name:
            if name in self._of:
                return self._of[name]
            name = name.rpartition("-")[0]  # the format of `requests.Entry.work_id`
        return None


# Facts that the policy considers in addition to the settings.


NOON = time(12, 0)
Demand = Literal["pin", "deny"]


class Mode(StrEnum):
    """The values of `policy.mode`, from the most to the least trusting."""

    TRUSTING = "trusting"  # costly actions need no confirmation
    NORMAL = "normal"  # as `policy.costly` and `policy.secure` say
    ASK = "ask"  # comfort actions need confirmation too
    GUEST = "guest"  # only comfort actions and timers

    @property
    def strictness(self) -> int:
        return tuple(Mode).index(self)


@dataclass(frozen=True, slots=True)
class PolicyContext:
    """Facts that the policy considers in addition to the settings."""

    mode: Mode = Mode.NORMAL
    now: time = NOON  # wall-clock time
    satellite: tuple[str, ...] = ()  # name of this device, and its area
    ratings: Mapping[str, Tier] = field(default_factory=dict)  # by entity id
    # Entities that need the PIN, or that are never used, by the owner's rating.
    demands: Mapping[str, "Demand"] = field(default_factory=dict)
    program: Program | None = None  # program that asks, or None for a person
    tainted: bool = False  # foreign text may have prompted the call

    def asked_by(self, program: Program | None, tainted: bool = False) -> "PolicyContext":
        """Return this context for a turn of `program`, whose name the rules then accept as a
        satellite."""
        if tainted:
            return replace(self, tainted=True).asked_by(program)
        if program is None:
            return self
        return replace(self, satellite=(program.name, *self.satellite), program=program)


PLAIN = PolicyContext()


# Confirmation question for a gated call, and its answer.


How = Literal["confirm", "pin", "phone"]
# As in `--json`. Only "yes" runs the call.
Verdict = Literal["yes", "no", "silence", "unclear", "new_command"]


@dataclass(frozen=True, slots=True)
class Question:
    """A question that must be answered before a call runs. Each process has at most one pending
    question."""

    id: str  # never reused
    turn_id: str
    call_id: str  # id from the brain
    how: How
    tier: Tier
    text: str  # as spoken: "Unlock the front door?"
    language: str
    object: str = ""  # names of the targets, for answers such as "yes, the front door"


@dataclass(frozen=True, slots=True)
class Settlement:
    """The result of a question: the verdict, and who gave it."""

    verdict: Verdict
    by: str = ""  # who answered: "voice", "typed", "pin", "phone NAME"; "" if there was no answer
    always: bool = False  # "yes, always", which is valid until midnight; never for SECURE
    why: str = ""  # catalogue key for a problem with the answer, such as a wrong PIN
