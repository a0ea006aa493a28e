"""What the paths answer with, for the document: the keys that are always or sometimes there.

They describe and build nothing: the box gives its answers as JSON, and may give more keys.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from integrations.web.requests import Mode


class Reply(BaseModel):
    """An answer. A key with a default may be left out."""

    model_config = ConfigDict(extra="allow")


class Fault(Reply):
    """What went wrong."""

    kind: str  # one word for programs
    message: str  # one sentence for people


class ErrorReply(Reply):
    """Every answer from 400 on."""

    error: Fault


class StateReply(Reply):
    """How the box stands."""

    state: Literal[
        "idle",
        "waking",
        "listening",
        "thinking",
        "confirming",
        "speaking",
        "follow_up",
        "fault",
    ]
    muted: bool
    microphone: str
    mode: Mode
    loudspeaker: str = ""
    problems: list[str] = []  # what a person should know of the devices
    health: Literal["ok", "degraded", "dead"] = "ok"
    sound: dict[str, Any] = {}
    settings: dict[str, Any] = {}


class NamedReply(Reply):
    """What was taken, by the name it got."""

    id: str


class QuestionReply(Reply):
    """What came of a question."""

    result: Literal["answered", "no_answer", "unclear", "busy"]
    id: str | None  # of the answer that was expected; without any, a plain "yes" or "no"
    sentence: str | None  # what was said; never of guests
    slots: dict[str, Any]  # nor what is in these
    turn_id: str  # in which it was asked last; "" where it was not


class SpokenReply(Reply):
    """What was given to the voice."""

    clauses: list[str]
    audio_ms: float


class ToolCallReply(Reply):
    """One call of a turn."""

    id: str
    server: str
    name: str
    arguments: dict[str, Any]
    decision: Literal["allowed", "confirmed", "needs_confirmation", "denied"]
    tier: Literal["read", "comfort", "costly", "secure"]
    status: str | None
    observed: list[Any]
    ms: float
    rule: str
    entities: list[str]
    confirmed_by: str


class TurnReply(Reply):
    """A typed turn, as `hearth ask --json` gives it."""

    turn_id: str | None
    brain: str | None
    wake: dict[str, Any] | None
    heard: str | None
    answer: str | None
    spoken: SpokenReply
    tool_calls: list[ToolCallReply]
    confirmation: dict[str, Any] | None
    timeline: dict[str, float]
    usage: dict[str, Any] | None
    cost_usd: float
    error: dict[str, Any] | None


class KeptTurnReply(Reply):
    """A turn of the journal."""

    turn_id: str
    started_at: str  # ISO 8601
    source: str
    language: str
    brain: str | None
    heard: str | None
    answer: str | None
    cost_usd: float
    error: dict[str, Any] | None
    caller: str  # the program that opened it, "" where a person did


class TraceReply(KeptTurnReply):
    """A turn of the journal with its calls, as `hearth trace --json` gives it."""

    tool_calls: list[ToolCallReply]


class TimerReply(Reply):
    """A timer, alarm, reminder, request or command."""

    id: str
    kind: Literal["timer", "alarm", "reminder", "request", "command"]
    name: str
    text: str
    due: str  # ISO 8601, on the clock of the house
    set_for_s: int  # as it was asked for; 0 for a time of day
    left_s: int
    state: Literal["runs", "paused", "rings"]
    repeat: dict[str, Any] | None
    caller: str  # the program that set it, "" where a person did


class NumberSetting(Reply):
    """A number that can be changed while it runs."""

    value: float


class ChoiceSetting(Reply):
    """A choice that can be."""

    value: str
    options: list[str]


class SettingsReply(Reply):
    """What can be changed while it runs."""

    volume: NumberSetting
    speed: NumberSetting
    follow_up: ChoiceSetting
    sensitivity: ChoiceSetting
    wake_word: ChoiceSetting
    profile: ChoiceSetting


class ConfirmationReply(Reply):
    """A call that waits for a person's yes."""

    id: str
    question: str
    language: str
    tier: Literal["read", "comfort", "costly", "secure"]
    how: Literal["confirm", "pin", "phone"]
    turn_id: str


class VerdictReply(Reply):
    """What became of it."""

    id: str
    verdict: Literal["yes", "no", "silence", "unclear", "new_command"]


class MemoryReply(Reply):
    """What somebody asked to remember."""

    id: str
    text: str
    created_at: str  # ISO 8601


class ForgottenReply(Reply):
    """How many memories there were."""

    forgotten: Annotated[int, Field(ge=0)]


class CheckReply(Reply):
    """A check of `hearth doctor`."""

    check: str
    status: Literal["ok", "warn", "fail"]
    detail: str
    mend: str
