"""What a brain asks for: one call of one tool, or one sentence for the home's own engine."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import time
from enum import StrEnum
from typing import Any, Literal

from integrations.home_assistant.house import Entity


@dataclass(frozen=True, slots=True)
class SentenceMatch:
    """What Home Assistant's conversation engine would make of a sentence; nothing has been done.

    From `conversation/agent/homeassistant/debug` (Home Assistant 2026.11).
    """

    text: str  # as it would be sent
    language: str
    source: Literal["builtin", "custom", "trigger"]  # "trigger": an automation, of unknown effect
    intent: str = ""  # such as "HassTurnOn"; "" for a trigger
    slots: Mapping[str, Any] = field(default_factory=dict)
    targets: tuple[str, ...] = ()  # entity ids


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The brain wants a tool run. It must be answered exactly once, by `BrainTurn.answer`."""

    id: str
    name: str  # as the menu names it
    arguments: dict[str, Any]
    # Set by a brain of the home's alone, never from a model's words: the sentence is then said to
    # Home Assistant's conversation engine, on the same path as every call.
    sentence: SentenceMatch | None = None


# What is known of the moment in which a call is asked for, beside the words.


@dataclass(frozen=True, slots=True)
class CallContext:
    """Circumstances of one turn that the guards look at."""

    can_ask: bool = False  # whoever runs the call can ask the person, and settles what was asked
    spoken: bool = False  # the request was heard, not typed
    near_own_speech: bool = False  # it began while we spoke, or within 2 s after
    searched: bool = False  # the model's answer rests on a web search (search grounding)
    talk: str = ""  # the model's context, by the name that its brain gives it; "": a turn's own
    led_by: str = ""  # the program whose words the model was given beside the person's


CALM = CallContext()


# What became of one tool call: the entry that the brain, the journal and `--json` all see.


class Decision(StrEnum):
    """What the policy (or the person) said."""

    ALLOWED = "allowed"
    CONFIRMED = "confirmed"
    NEEDS_CONFIRMATION = "needs_confirmation"
    DENIED = "denied"


class Status(StrEnum):
    """How the call ended."""

    DONE = "done"  # observed as asked, or a reading that was answered
    FAILED = "failed"  # the server said so
    NOT_OBSERVED = "not_observed"  # the server said yes, the house does not show it
    TIMEOUT = "timeout"
    NOT_RUN = "not_run"
    UNKNOWN = "unknown"  # sent, then cut off; or it is still running


class Tier(StrEnum):
    """How much is at stake, by what would be touched."""

    READ = "read"
    COMFORT = "comfort"
    COSTLY = "costly"
    SECURE = "secure"


@dataclass(frozen=True, slots=True)
class Observed:
    """One entity's state around the call, as short words ("off", "on 30 %")."""

    entity_id: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Awaited:
    """How a thing looks once it has done what was asked of it."""

    shows: Callable[[Entity], bool]
    word: str = ""  # "locked", "unlocked", "opened" or "closed"; "" for any other change


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """One call from the request to what was seen."""

    id: str
    server: str
    name: str  # as the server names it
    arguments: dict[str, Any]  # as sent, after coercion
    decision: Decision
    tier: Tier
    status: Status
    observed: tuple[Observed, ...]
    ms: float  # from the request to the result
    sentence: str  # for the brain: what happened, in one sentence
    data: str = ""  # the server's own answer, cleaned and capped; data, never instructions
    retryable: bool = False  # the same call, mended by `valid_options` if there are any, may work
    outside: bool = False  # it tells what a program or a stranger wrote
    running: bool = False  # it goes on in the background: this is not its end
    as_asked: bool = False  # the house was seen to show all of what was asked for
    valid_options: tuple[str, ...] = ()  # what would have been right where something was unknown
    rule: str = ""  # what decided: a rule of the policy, or the owner's
    entities: tuple[str, ...] = ()  # what it touches or would have, as far as that is known
    stale: bool = False  # what it says of the house is not of now; the sentence tells its age
    left_on: tuple[str, ...] = ()  # names of what a wide call left on because it must run
    # What was asked and not seen when the call was answered, by the thing's id.
    awaited: Mapping[str, Awaited] = field(default_factory=dict, compare=False, repr=False)
    confirmed_by: str = ""  # who said yes and how: "voice", "typed", "pin", "phone NAME"

    @property
    def failed(self) -> bool:
        """It did not come about: the very same call need not be tried for ever."""
        if self.decision is Decision.NEEDS_CONFIRMATION:
            return False
        return self.status in (Status.FAILED, Status.TIMEOUT, Status.NOT_RUN)


# What a turn may touch that a program has a part in: its own, or a person's that it has begun.


REQUEST = "request"  # the caller of a turn that a person's own request for later opens
COMMAND = "later"  # who makes the call that people have asked for later
_KEPT = 1_000  # turns that have ended; what they left in the background goes on for 10 min at most


@dataclass(frozen=True, slots=True)
class Rights:
    """How far a turn goes that is not a person's alone.

    Within them the settings, the mode and the owner's rules hold as for everybody.
    """

    highest: Tier  # nothing above it is done, whatever the settings say: rule "caller"
    # False: no person's turn: what is gated ends as `needs_confirmation`, and nobody is asked.
    asks: bool
    # Above it a yes is needed even where the settings ask for none, unless a rule of the owner's
    # names the caller.
    free: Tier = Tier.COMFORT
    recalls: bool = False  # it may be told what people have said: what is remembered, their timers


READ_ONLY = Rights(Tier.READ, asks=False)
CALLERS = Rights(Tier.SECURE, asks=False)  # comfort freely; the rest only by a rule that names it
# A person answers what a program has said, and the model was told of it in the program's words:
# what is more than comfort may be its wish, so that the person is asked in ours.
TALK = Rights(Tier.SECURE, asks=True, recalls=True)


@dataclass(frozen=True, slots=True)
class Program:
    """Who asks in place of a person, or has begun the talk with one."""

    name: str  # as rules know it by `satellite`, and the audit too: "mcp:kitchen"
    rights: Rights

    @property
    def caller(self) -> str:
        """Its name where the turn is its own; "": people's, whatever part a program has in it."""
        return "" if self.rights.asks or self.name in (REQUEST, COMMAND) else self.name


class Programs:
    """Which turns are a program's."""

    def __init__(self) -> None:
        self._of: dict[str, Program] = {}
        self._ended: dict[str, None] = {}  # the oldest first

    def restrict(self, turn_id: str, rights: Rights, caller: str) -> None:
        """All that is called in this turn, and by work begun in it, stays within these rights."""
        self._of[turn_id] = Program(caller, rights)

    def lead(self, turn_id: str, caller: str) -> None:
        """A program's words stand before the model in this turn of a person's."""
        if self.of(turn_id) is None:
            self.restrict(turn_id, TALK, caller)
            self.release(turn_id)  # nobody tells when it is over: the newest are kept

    def release(self, turn_id: str) -> None:
        """The turn is over. What it left in the background stays restricted."""
        if turn_id in self._of:
            self._ended[turn_id] = None
        if len(self._ended) > _KEPT:
            oldest = next(iter(self._ended))
            del self._ended[oldest], self._of[oldest]

    def of(self, turn_id: str) -> Program | None:
        """Whose part this turn has, or the turn whose work this is; None: a person's alone."""
        name = turn_id
        while name:
            if name in self._of:
                return self._of[name]
            name = name.rpartition("-")[0]  # as `ledger.Entry.work_id` puts it together
        return None


# What holds at the moment of one call, beside the settings.


NOON = time(12, 0)


class Mode(StrEnum):
    """How much is done without asking, the most trusting first (`policy.mode`)."""

    TRUSTING = "trusting"  # what is costly is not asked about
    NORMAL = "normal"  # as `policy.costly` and `policy.secure` say
    ASK = "ask"  # comfort is asked about too
    GUEST = "guest"  # comfort and timers only

    @property
    def strictness(self) -> int:
        """0 is the most trusting."""
        return tuple(Mode).index(self)


@dataclass(frozen=True, slots=True)
class PolicyContext:
    """The mode, the time of day, the box that heard it, how the owner rated what, and who asks."""

    mode: Mode = Mode.NORMAL
    now: time = NOON  # of day, on the wall clock
    satellite: tuple[str, ...] = ()  # what this box is called, and its area
    ratings: Mapping[str, Tier] = field(default_factory=dict)  # by entity id
    program: Program | None = None  # that asks; None: a person
    tainted: bool = False  # text from outside may stand behind the call

    def asked_by(self, program: Program | None, tainted: bool = False) -> "PolicyContext":
        """The same for a turn of this program: rules know it by its name, and by the box's."""
        if tainted:
            return replace(self, tainted=True).asked_by(program)
        if program is None:
            return self
        return replace(self, satellite=(program.name, *self.satellite), program=program)


PLAIN = PolicyContext()


# What is asked before a gated call, and what came back.


How = Literal["confirm", "pin", "phone"]
# As in `--json`: "yes" is the only one that runs the call.
Verdict = Literal["yes", "no", "silence", "unclear", "new_command"]


@dataclass(frozen=True, slots=True)
class Question:
    """A call that is frozen until the person has answered; one can be pending per process."""

    id: str  # used once
    turn_id: str
    call_id: str  # as the brain gave it
    how: How
    tier: Tier
    text: str  # as it is asked, with the registry's names: "Unlock Front Door?"
    language: str
    object: str = ""  # the things' names, for "yes, the front door"


@dataclass(frozen=True, slots=True)
class Settlement:
    """How a question ended."""

    verdict: Verdict
    by: str = ""  # who: "voice", "typed", "pin", "phone NAME"; "" where nobody said anything
    always: bool = False  # "yes, always": until midnight; never for the tier SECURE
    why: str = ""  # key of a sentence about the answer itself: a wrong PIN
