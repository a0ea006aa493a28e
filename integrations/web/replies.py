"""Response models of the API, used only for the OpenAPI document.

Responses are not built from these models: Box returns JSON, which may have more keys.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from integrations.web.box import Scope
from integrations.web.requests import Mode, RatingName


class HttpReply(BaseModel):
    """The base class of all responses. Keys with a default can be missing."""

    model_config = ConfigDict(extra="allow")


class Fault(HttpReply):
    """An error."""

    kind: str  # one word for programs
    message: str  # one sentence for people


class ErrorReply(HttpReply):
    """The body of every response of the API with a status of 400 or higher."""

    error: Fault


class StateReply(HttpReply):
    """Hearth's current state."""

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
    problems: list[str] = []  # notes about the devices, for people
    health: Literal["ok", "degraded", "dead"] = "ok"
    version: str = ""  # of Hearth
    languages: list[str] = []  # of the home, the default first
    home: Literal["connected", "unreachable", "rejected", "unconfigured"] = "connected"
    listening_since: str | None = None  # ISO 8601; null while not listening
    troubles: dict[str, str] = {}  # current problems, each with its message
    sound: dict[str, Any] = {}
    settings: dict[str, Any] = {}


class SessionReply(HttpReply):
    """The caller's name and scopes."""

    name: str  # as in the journal, such as "http:admin"
    scopes: list[Scope]  # all its scopes; `admin` includes every scope
    setting_up: bool = False  # True while the server leads through the first run


class LinkReply(HttpReply):
    """A one-time link: the console's address with `#code=` and this code."""

    code: str
    expires: str  # ISO 8601
    # Rows of the link's QR code with its quiet zone, "1" for dark; without `address`, null.
    qr: list[str] | None = None


class BrowserReply(HttpReply):
    """A browser that is signed in."""

    id: str
    role: Literal["owner", "family", "guest", "token"]  # "token": it has the rights of a token
    name: str  # whom the link was for
    begun: str | None  # ISO 8601
    expires: str  # ISO 8601
    own: bool  # the caller's session


class NamedReply(HttpReply):
    """The id of the accepted announcement or conversation."""

    id: str


class QuestionReply(HttpReply):
    """The result of a question."""

    result: Literal["answered", "no_answer", "unclear", "busy"]
    id: str | None  # id of the answer; without `answers`, "yes" or "no" or null
    sentence: str | None  # the spoken answer; null for guests
    slots: dict[str, Any]  # empty for guests
    turn_id: str  # the turn that asked it last; "" if it was not asked


class SpokenReply(HttpReply):
    """The clauses that were passed to the voice, and the duration of their audio."""

    clauses: list[str]
    audio_ms: float


class ToolCallReply(HttpReply):
    """A tool call in a turn."""

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
    """A change that did not happen or could not be verified."""

    id: str
    name: str
    decision: str
    status: str
    sentence: str  # the reason, in the turn's language


class TurnReply(HttpReply):
    """A typed turn, in the format of `hearth ask --json`."""

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
    """A turn from the journal, as the API lists it."""

    has_sound: bool  # see `/v1/turns/{id}/sound`


class TraceReply(SoundTurnReply):
    """A turn from the journal with its tool calls, in the format of `hearth trace --json`."""

    tool_calls: list[ToolCallReply]


class TimerReply(HttpReply):
    """A timer, alarm, reminder, planned request or planned command."""

    id: str
    kind: Literal["timer", "alarm", "reminder", "request", "command"]
    name: str
    text: str
    due: str  # ISO 8601, in the house's time zone
    set_for_s: int  # the requested duration; 0 for a time of day
    left_s: int
    state: Literal["runs", "paused", "rings"]
    repeat: dict[str, Any] | None
    caller: str  # the program that set it; "" for a person


class NumberSetting(HttpReply):
    """A numeric setting that can be changed at run time."""

    value: float


class ChoiceSetting(HttpReply):
    """A setting with fixed options that can be changed at run time."""

    value: str
    options: list[str]


class TextSetting(HttpReply):
    """A text setting that can be changed at run time: quiet hours such as "22:30-07:00", or
    "off"."""

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
    """A tool call that is waiting for confirmation."""

    id: str
    question: str
    language: str
    tier: Literal["read", "comfort", "costly", "secure"]
    how: Literal["confirm", "pin", "phone"]
    turn_id: str
    may_answer: bool  # the caller may answer it


class VerdictReply(HttpReply):
    """The outcome of a confirmation."""

    id: str
    verdict: Literal["yes", "no", "silence", "unclear", "new_command"]


class OpenerReply(HttpReply):
    """An entity that could let somebody in or silence an alarm, and its rating."""

    entity_id: str
    name: str
    tier: RatingName | None  # the owner's rating
    unrated: Literal["comfort", "costly", "secure"]  # its tier without a rating
    seen_opening: list[str]  # ids of entities that it was seen to open, unlock or disarm


class MemoryReply(HttpReply):
    """A fact that a person asked Hearth to remember."""

    id: str
    text: str
    who: str  # name of the person who said it, or ""
    about: str  # its subject, or ""
    sensitive: bool  # mentioned only if somebody asks about it
    created_at: str  # ISO 8601


class ForgottenReply(HttpReply):
    """The number of facts that were forgotten."""

    forgotten: Annotated[int, Field(ge=0)]


class CostReply(HttpReply):
    """The cost of one model of one brain on one day."""

    day: str  # ISO 8601, in the device's time zone
    brain: str  # "" if no brain was used
    model: str  # "" if the brain has no model
    turns: int
    cost_usd: float
    input_tokens: int
    output_tokens: int
    by_modality: dict[str, int] = {}  # tokens by modality, such as "input_audio"
    estimated_usd: float = 0.0  # cost of the turns whose tokens the service didn't all report


class CostsReply(HttpReply):
    """The costs of cloud services."""

    days: list[CostReply]  # newest first
    today_usd: float
    cap_usd: float  # daily limit


class SharesReply(HttpReply):
    """The number of people's commands by outcome. `turns` is the total."""

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
    ended_at: str | None  # null: still a problem
    settled: bool  # True: Hearth stopped before it ended, so the end is unknown


class LevelReply(HttpReply):
    """The microphone level over the last second. All values are null if there is no audio."""

    rms_db: float | None  # dBFS, at most 0
    peak_db: float | None
    clipped: int | None  # clipped samples
    noise_floor_db: float | None  # level of the quietest tenth of the last 30 s
    at_ms: float | None  # position of the newest sample since the first one


class ServerReply(HttpReply):
    """A tool server and its availability."""

    name: str
    ok: bool
    reason: str | None  # why it cannot be used; null if ok


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
    losses: list[str]  # details of the schema that the declaration omits


class ToolsReply(HttpReply):
    """All tools, in the format of `hearth tools --json`."""

    servers: list[ServerReply]
    tools: list[ToolReply]


class CheckReply(HttpReply):
    """The result of one check of `hearth doctor`."""

    check: str
    status: Literal["ok", "warn", "fail"]
    detail: str
    mend: str


class TimedCheckReply(CheckReply):
    """The result of one step of `hearth doctor --cloud`."""

    ms: float | None


class CloudReply(HttpReply):
    """The report of `hearth doctor --cloud`."""

    version: str
    day: str
    machine: str
    model: str
    once_model: str
    api_version: str
    google: bool
    live: bool
    seconds: float
    cost_usd: float
    cost_estimated: bool
    figures: dict[str, float]
    checks: list[TimedCheckReply]
