"""What the store keeps: one frozen value for each kind of row. All times are aware."""

import secrets
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from assistant.domain.brain import Usage
from assistant.domain.tool_call import REQUEST, Decision, Observed, Status, Tier

Source = Literal[
    "voice",
    "follow_up",
    "barge_in",  # by talking over an answer
    "text",
    "announcement",  # nobody asked: Hearth spoke by itself
    "job",  # no turn at all: what work that outlasted its turn has cost
]
UNASKED: tuple[Source, Source] = ("announcement", "job")  # what nobody began by asking
Mark = Literal["", "wrong", "misheard"]  # what a person said of a turn afterwards
Verdict = Literal["yes", "no", "silence", "unclear", "new_command"]
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: no i, l, o, u


class StoreError(Exception):
    """The store cannot be written or read now (disk full, locked for long). One sentence.

    `told`: the store has said so in the log, once; nobody need say it again for each row.
    """

    def __init__(self, sentence: str = "", *, told: bool = False) -> None:
        super().__init__(sentence)
        self.told = told


@dataclass(frozen=True, slots=True)
class WakeRecord:
    """The detection that began a turn."""

    word: str
    score: float  # 0 to 1
    at_ms: float  # since the source's first sample


@dataclass(frozen=True, slots=True)
class ErrorRecord:
    """Why a turn failed."""

    kind: str  # e.g. "no_speech", "unreachable"
    message: str | None  # one sentence for a person; None once erased


@dataclass(frozen=True, slots=True)
class ConfirmationRecord:
    """What was asked before a gated call, and what came back."""

    asked: str | None  # None once erased
    heard: str | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """One turn from the wake word to the end of the answer."""

    turn_id: str
    started_at: datetime
    source: Source
    language: str
    brain: str | None = None  # as in `brain.order`; None where no brain was asked
    wake: WakeRecord | None = None
    heard: str | None = None  # None: nothing, or erased
    answer: str | None = None  # as the brain gave it
    clauses: tuple[str, ...] = ()  # as they went to the voice
    cut_at: str | None = None  # where it was cut off: the words that were heard of it
    sound: str | None = None  # the tone that stood for words
    audio_ms: float = 0.0  # of answer that was played
    timeline: dict[str, float] = field(default_factory=dict)  # ms, on one clock
    usage: Usage | None = None
    cost_usd: float = 0.0
    error: ErrorRecord | None = None
    confirmation: ConfirmationRecord | None = None
    caller: str = ""  # the program that opened it; "" where a person did
    model: str | None = None  # that was paid for, the last one where there were two
    understood: bool = True  # False: no brain could make anything of it
    mark: Mark = ""  # kept whatever is written of the turn later


def is_peoples(turn: TurnRecord) -> bool:
    """Whether people asked for it: by voice, keyboard or a request for later, and no program."""
    typed_by_program = turn.source == "text" and turn.caller not in ("", REQUEST)
    return turn.source not in UNASKED and not typed_by_program


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One tool call. Without a status it was sent and has not come back."""

    turn_id: str
    id: str  # unique in its turn
    server: str
    name: str  # as the server names it
    arguments: dict[str, Any]  # as sent; empty once erased
    decision: Decision
    tier: Tier
    started_at: datetime
    status: Status | None = None
    observed: tuple[Observed, ...] = ()
    ms: float = 0.0
    sentence: str | None = None  # what happened; None until it ended, and once erased


TimerKind = Literal[
    "timer",
    "alarm",
    "reminder",  # rings, and its text is said
    "request",  # its text is asked, and the answer said
    "command",  # its call is made
]


@dataclass(frozen=True, slots=True)
class TimerRecord:
    """What is to happen at `due`. What rings does so until it is acknowledged, unless it stands
    still."""

    id: str
    due: datetime
    duration_s: float  # as it was asked for, without what was added; 0: for a time of day
    created_at: datetime
    name: str = ""
    language: str = "en"
    paused_s: float | None = None  # left while it stands still; `due` then means nothing
    kind: TimerKind = "timer"
    rule: dict[str, Any] | None = None  # `assistant.timers.recurrence.Rule` as JSON
    text: str = ""  # what is said or asked; of a command what it does, in people's words
    payload: dict[str, Any] | None = None  # a command's call
    caller: str = ""  # the program that set it; "" where a person did


@dataclass(frozen=True, slots=True)
class AnnouncementRecord:
    """Something to be said once, unless it expires first."""

    id: str
    text: str
    created_at: datetime
    expires_at: datetime | None = None
    options: dict[str, Any] = field(default_factory=dict)  # as asked: volume, priority, media, ...


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """Something a person asked to be remembered. Kept until they ask for it to be forgotten."""

    id: str
    text: str
    created_at: datetime  # since when; what was corrected holds since then
    who: str = ""  # the name of the person who told it; "" where nobody said one
    about: str = ""  # whom or what it is about, in a word or two
    language: str = ""  # of the text
    sensitive: bool = False  # only told where somebody asks for it
    english: str = ""  # words by which it is found, beside its own, separated by spaces
    spanish: str = ""


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One call as it was decided or as it ended. Never changed: only its words are erased.

    A call that waits for the person has two rows of one `call_id`: the question and the end.
    """

    at: datetime  # of the decision or the end
    turn_id: str
    call_id: str  # unique in its turn
    server: str
    name: str  # as the server names it
    arguments: dict[str, Any]  # as decided about; empty once erased. Never a PIN
    tier: Tier
    decision: Decision
    status: Status
    rule: str = ""  # what decided: a rule of the policy, or the owner's
    entities: tuple[str, ...] = ()  # what it would touch, as far as that is known
    confirmed_by: str = ""  # who said yes and how: "voice", "typed", "pin", "phone NAME"
    observed: tuple[Observed, ...] = ()
    ms: float = 0.0  # from the request to here
    heard: str | None = None  # None: nothing, erased, or not kept. Never a PIN
    sentence: str | None = None  # what the brain was told; None once erased
    satellite: str = ""  # the box or room that heard it, or the program that asked


@dataclass(frozen=True, slots=True)
class FaultRecord:
    """Something that did not work, for more than a few seconds."""

    what: str  # "microphone", "loudspeaker", "home_assistant", ...
    problem: str  # one sentence
    began_at: datetime
    ended_at: datetime | None = None  # None: it lasts
    settled: bool = False  # the process ended meanwhile: `ended_at` is when the next one began


_newest = [0]  # the number that `new_id` made last


def new_id(now: datetime) -> str:
    """A short name that sorts by time: 9 characters of milliseconds, 3 of chance.

    Of several in one millisecond only the first is by chance; the others follow it, so that none of
    one process is made twice. Where the first is among the last, they run over into the next
    millisecond, whose own follow them in turn.
    """
    number = int(now.timestamp() * 1000) << 15 | secrets.randbits(15)
    if (_newest[0] >> 15) - (number >> 15) in (0, 1):
        number = _newest[0] + 1
    _newest[0] = number
    return "".join(_ALPHABET[number >> shift & 31] for shift in range(55, -1, -5))


class SmallValues(Protocol):
    """JSON values by name that survive a restart (`assistant.journal.store.Store`).

    Each method may raise StoreError.
    """

    async def keep(self, name: str, value: Any) -> None:
        """Store a value in place of the one before; it is on the disk when this returns."""
        ...

    async def kept(self, name: str) -> Any | None:
        """Return the value of that name, None where there is none."""
        ...

    async def drop_kept(self, name: str) -> None:
        """Delete the value of that name."""
        ...
