"""Response models of the API, used only for the OpenAPI document.

No response is built from them: Box returns JSON and may add more keys.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from integrations.web.box import Scope
from integrations.web.requests import Mode


class HttpReply(BaseModel):
    """A response. Keys with a default can be missing."""

    model_config = ConfigDict(extra="allow")


class Fault(HttpReply):
    """An error."""

    kind: str  # one word for programs
    message: str  # one sentence for people


class ErrorReply(HttpReply):
    """Every response with a status of 400 or more."""

    error: Fault


class StateReply(HttpReply):
    """The current state."""

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
    problems: list[str] = []  # notes for people about the devices
    health: Literal["ok", "degraded", "dead"] = "ok"
    version: str = ""  # of Hearth
    listening_since: str | None = None  # ISO 8601; null while it does not listen
    troubles: dict[str, str] = {}  # current problems, each with a sentence
    sound: dict[str, Any] = {}
    settings: dict[str, Any] = {}


class SessionReply(HttpReply):
    """The caller."""

    name: str  # as in the journal, such as "http:admin"
    scopes: list[Scope]  # all scopes; an administrator has every one


class NamedReply(HttpReply):
    """The id of what was accepted."""

    id: str


class QuestionReply(HttpReply):
    """The result of a question."""

    result: Literal["answered", "no_answer", "unclear", "busy"]
    id: str | None  # id of the expected answer; if none was given, a plain "yes" or "no"
    sentence: str | None  # the spoken answer; null for guests
    slots: dict[str, Any]  # empty for guests
    turn_id: str  # turn in which it was last asked; "" if it was not


class SpokenReply(HttpReply):
    """The text and sound given to the voice."""

    clauses: list[str]
    audio_ms: float


class ToolCallReply(HttpReply):
    """A tool call of a turn."""

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


class NotDoneReply(HttpReply):
    """A change that did not happen, or is not known to have happened."""

    id: str
    name: str
    decision: str
    status: str
    sentence: str  # the reason, in the turn's language


class TurnReply(HttpReply):
    """A typed turn, as from `hearth ask --json`."""

    turn_id: str | None
    brain: str | None
    wake: dict[str, Any] | None
    heard: str | None
    answer: str | None
    spoken: SpokenReply
    tool_calls: list[ToolCallReply]
    not_done: list[NotDoneReply]
    confirmation: dict[str, Any] | None
    timeline: dict[str, float]
    usage: dict[str, Any] | None
    cost_usd: float
    error: dict[str, Any] | None


class KeptTurnReply(HttpReply):
    """A turn from the journal."""

    turn_id: str
    started_at: str  # ISO 8601
    source: str
    language: str
    brain: str | None
    heard: str | None
    answer: str | None
    cost_usd: float
    error: dict[str, Any] | None
    caller: str  # the program that started it; "" for a person


class SoundTurnReply(KeptTurnReply):
    """A turn from the journal, as listed by the API."""

    has_sound: bool  # see `/v1/turns/{id}/sound`


class TraceReply(SoundTurnReply):
    """A turn from the journal with its calls, as from `hearth trace --json`."""

    tool_calls: list[ToolCallReply]


class TimerReply(HttpReply):
    """A timer, alarm, reminder, request or command."""

    id: str
    kind: Literal["timer", "alarm", "reminder", "request", "command"]
    name: str
    text: str
    due: str  # ISO 8601, in the house's time zone
    set_for_s: int  # as requested; 0 for a time of day
    left_s: int
    state: Literal["runs", "paused", "rings"]
    repeat: dict[str, Any] | None
    caller: str  # the program that set it; "" for a person


class NumberSetting(HttpReply):
    """A number that can be changed at run time."""

    value: float


class ChoiceSetting(HttpReply):
    """A choice that can be changed at run time."""

    value: str
    options: list[str]


class TextSetting(HttpReply):
    """A text that can be changed at run time: quiet hours such as "22:30-07:00", or "off"."""

    value: str


class SettingsReply(HttpReply):
    """The settings that can be changed at run time."""

    volume: NumberSetting
    speed: NumberSetting
    follow_up: ChoiceSetting
    sensitivity: ChoiceSetting
    wake_word: ChoiceSetting
    profile: ChoiceSetting
    quiet_hours: TextSetting


class ConfirmationReply(HttpReply):
    """A call that waits for confirmation."""

    id: str
    question: str
    language: str
    tier: Literal["read", "comfort", "costly", "secure"]
    how: Literal["confirm", "pin", "phone"]
    turn_id: str


class VerdictReply(HttpReply):
    """The outcome of a confirmation."""

    id: str
    verdict: Literal["yes", "no", "silence", "unclear", "new_command"]


class OpenerReply(HttpReply):
    """A thing that may open something or silence an alarm."""

    entity_id: str
    name: str
    tier: Literal["comfort", "costly", "secure"] | None  # the owner's rating
    unrated: Literal["comfort", "costly", "secure"]  # its tier without a rating
    seen_opening: list[str]  # ids of what it was seen to open, unlock or disarm


class MemoryReply(HttpReply):
    """A fact that somebody asked to remember."""

    id: str
    text: str
    who: str  # name of the person who said it, or ""
    about: str  # its subject, or ""
    sensitive: bool  # only mentioned if somebody asks for it
    created_at: str  # ISO 8601


class ForgottenReply(HttpReply):
    """The number of memories that were deleted."""

    forgotten: Annotated[int, Field(ge=0)]


class CostReply(HttpReply):
    """The cost of one brain with one model on one day."""

    day: str  # ISO 8601, in the device's time zone
    brain: str  # "" if no brain was used
    model: str  # "" if the brain has none
    turns: int
    cost_usd: float
    input_tokens: int
    output_tokens: int
    by_modality: dict[str, int] = {}  # tokens, such as of "input_audio"


class CostsReply(HttpReply):
    """The cost of cloud services."""

    days: list[CostReply]  # newest first
    today_usd: float
    cap_usd: float  # daily limit


class SharesReply(HttpReply):
    """Outcomes of people's commands; `turns` is the sum of the others."""

    turns: int
    right: int
    corrected: int
    refused: int
    misheard: int
    failed: int


class FaultReply(HttpReply):
    """A problem that lasted longer than a few seconds."""

    what: str  # "microphone", "home_assistant", ...
    problem: str
    began_at: str  # ISO 8601
    ended_at: str | None  # null: not over yet
    settled: bool  # Hearth stopped before it was over, so the end is unknown


class LevelReply(HttpReply):
    """The level at the microphone in the last second; all null if there is no sound."""

    rms_db: float | None  # dB of full scale, at most 0
    peak_db: float | None
    clipped: int | None  # samples at the end of the range
    noise_floor_db: float | None  # of the quietest tenth of the last 30 s
    at_ms: float | None  # position of the newest sample, counted from the first


class ServerReply(HttpReply):
    """A tool server."""

    name: str
    ok: bool
    reason: str | None  # why it is not ok


class ToolReply(HttpReply):
    """A tool as declared to the model."""

    name: str
    server: str
    description: str
    parameters: dict[str, Any] | None  # its JSON schema; null: no arguments
    tier: Literal["read", "comfort", "costly", "secure"]
    rule: str
    approved: bool
    hidden: bool
    losses: list[str]  # what the declaration omits of the tool's schema


class ToolsReply(HttpReply):
    """The tools, as from `hearth tools --json`."""

    servers: list[ServerReply]
    tools: list[ToolReply]


class CheckReply(HttpReply):
    """A check of `hearth doctor`."""

    check: str
    status: Literal["ok", "warn", "fail"]
    detail: str
    mend: str
