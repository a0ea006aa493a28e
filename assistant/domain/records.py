"""The journal's records, as immutable types. All dates and times have a time zone."""

import secrets
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from assistant.domain.brain import Usage
from assistant.domain.tool_call import REQUEST, Decision, Observed, Status, Tier

Source = Literal[
    "voice",
    "follow_up",
    "barge_in",  # the person talked over an answer
    "text",
    "announcement",  # Hearth spoke without being asked
    "job",  # not a turn: cost of background work
]
UNASKED: tuple[Source, Source] = ("announcement", "job")  # turns that weren't started by a request
Mark = Literal["", "wrong", "misheard"]  # feedback on a turn
Verdict = Literal["yes", "no", "silence", "unclear", "new_command"]
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: no i, l, o, u


class StoreError(Exception):
    """The journal can't be read or written, for example because the disk is full.

    The message is one sentence. If `told` is True, the store has already logged the problem.
    """

    def __init__(self, sentence: str = "", *, told: bool = False) -> None:
        super().__init__(sentence)
        self.told = told


@dataclass(frozen=True, slots=True)
class WakeRecord:
    """The wake word detection that started a turn."""

    word: str
    score: float  # 0 to 1
    at_ms: float  # since the audio source's first sample


@dataclass(frozen=True, slots=True)
class ErrorRecord:
    kind: str  # e.g. "no_speech", "unreachable"
    message: str | None  # one sentence for a person; None once erased


@dataclass(frozen=True, slots=True)
class ConfirmationRecord:
    """The confirmation question for a call, and the person's answer."""

    asked: str | None  # None once erased
    heard: str | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """A turn, from the wake word to the end of the answer."""

    turn_id: str
    started_at: datetime
    source: Source
    language: str
    brain: str | None = None  # as in `brain.order`; None if no brain was used
    wake: WakeRecord | None = None
    heard: str | None = None  # None if nothing was heard, or once erased
    answer: str | None = None  # as received from the brain
    clauses: tuple[str, ...] = ()  # as sent to speech synthesis
    cut_at: str | None = None  # the part of a cut-off answer that was heard
    sound: str | None = None  # tone that was played instead of speech
    audio_ms: float = 0.0  # played duration of the answer
    timeline: dict[str, float] = field(default_factory=dict)  # milestones in ms, on the same clock
    usage: Usage | None = None
    cost_usd: float = 0.0
    error: ErrorRecord | None = None
    confirmation: ConfirmationRecord | None = None
    caller: str = ""  # program that started the turn; "" for a person
    model: str | None = None  # model that was billed; the last one if there were several
    understood: bool = True  # False: no brain understood the sentence
    mark: Mark = ""  # survives later updates of the turn


def is_peoples(turn: TurnRecord) -> bool:
    """Return True if a person asked for the turn, either directly or by scheduling it, rather than
    a program."""
    typed_by_program = turn.source == "text" and turn.caller not in ("", REQUEST)
    return turn.source not in UNASKED and not typed_by_program


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A tool call. Its status is None while it is running."""

    turn_id: str
    id: str  # unique within its turn
    server: str
    name: str  # as the server names it
    arguments: dict[str, Any]  # as sent; empty once erased
    decision: Decision
    tier: Tier
    started_at: datetime
    status: Status | None = None
    observed: tuple[Observed, ...] = ()
    ms: float = 0.0
    sentence: str | None = (
        None  # result in one sentence; None until the call has ended, and once erased
    )
    reason: str = ""  # the server's own text about a failure; empty once erased


TimerKind = Literal[
    "timer",
    "alarm",
    "reminder",  # rings, then speaks its text
    "request",  # runs its text as a command and speaks the answer
    "command",  # makes the call in its payload
]


@dataclass(frozen=True, slots=True)
class TimerRecord:
    """A timer, alarm, reminder, or scheduled request or command."""

    id: str
    due: datetime
    duration_s: float  # as requested, without later extensions; 0 if it was set for a time of day
    created_at: datetime
    name: str = ""
    language: str = "en"
    paused_s: float | None = None  # remaining time while paused; `due` is then meaningless
    kind: TimerKind = "timer"
    rule: dict[str, Any] | None = None  # `assistant.timers.recurrence.Rule` as JSON
    text: str = ""  # text to speak or run, or a command's description
    payload: dict[str, Any] | None = None  # a command's call
    caller: str = ""  # program that set it; "" for a person


@dataclass(frozen=True, slots=True)
class AnnouncementRecord:
    """An announcement that is spoken once, unless it expires first."""

    id: str
    text: str
    created_at: datetime
    expires_at: datetime | None = None
    # Requested options, such as volume, priority and media.
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """A fact that a person asked Hearth to remember."""

    id: str
    text: str
    created_at: datetime  # or last correction
    who: str = ""  # name of the person who said it; "" if unknown
    about: str = ""  # subject of the fact, in a word or two
    language: str = ""  # language of the text
    sensitive: bool = False  # revealed only when somebody asks for it
    english: str = ""  # extra search words, separated by spaces
    spanish: str = ""


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """A call's audit entry, written when the policy or a person decides about the call, or when it
    ends.

    A call that waits for confirmation has two entries with the same `call_id`.
    """

    at: datetime  # time of the decision or the end
    turn_id: str
    call_id: str  # unique within its turn
    server: str
    name: str  # as the server names it
    arguments: dict[str, Any]  # at the decision; empty once erased. Never contains a PIN
    tier: Tier
    decision: Decision
    status: Status
    rule: str = ""  # rule of the policy or the owner that decided
    entities: tuple[str, ...] = ()  # entities that it would affect, as far as known
    confirmed_by: str = ""  # who confirmed it, and how: "voice", "typed", "pin", "phone NAME"
    observed: tuple[Observed, ...] = ()
    ms: float = 0.0  # from the request to this row
    heard: str | None = None  # None if unknown, erased or not kept. Never contains a PIN
    sentence: str | None = None  # sentence for the brain; None once erased
    satellite: str = ""  # device or room that heard it, or the program that asked


@dataclass(frozen=True, slots=True)
class FaultRecord:
    """A problem that lasted longer than a few seconds."""

    what: str  # "microphone", "loudspeaker", "home_assistant", ...
    problem: str  # one sentence
    began_at: datetime
    ended_at: datetime | None = None  # None while it persists
    # True if the process ended first; `ended_at` is then the start of the next process.
    settled: bool = False


_newest = [0]  # number of the last id


def new_id(now: datetime) -> str:
    """Return a short id that sorts by time: 9 characters for the milliseconds, then 3 random
    characters.

    Further ids within a millisecond count up from the first, so that they differ.
    """
    number = int(now.timestamp() * 1000) << 15 | secrets.randbits(15)
    if (_newest[0] >> 15) - (number >> 15) in (0, 1):
        number = _newest[0] + 1
    _newest[0] = number
    return "".join(_ALPHABET[number >> shift & 31] for shift in range(55, -1, -5))


class SmallValues(Protocol):
    """JSON values that are stored by name and survive a restart. Every method can raise
    StoreError."""

    async def keep(self, name: str, value: Any) -> None:
        """Store a value under a name, replacing any previous value. Returns once it is on disk."""
        ...

    async def kept(self, name: str) -> Any | None:
        """Return the value stored under this name, or None if there is none."""
        ...

    async def drop_kept(self, name: str) -> None:
        """Delete the value stored under this name."""
        ...
