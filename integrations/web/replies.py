"""What the paths answer with, for the document: the keys that are always or sometimes there.

They describe and build nothing: the box gives its answers as JSON, and may give more keys.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from integrations.web.box import Scope
from integrations.web.requests import Mode


class HttpReply(BaseModel):
    """An answer. A key with a default may be left out."""

    model_config = ConfigDict(extra="allow")


class Fault(HttpReply):
    """What went wrong."""

    kind: str  # one word for programs
    message: str  # one sentence for people


class ErrorReply(HttpReply):
    """Every answer from 400 on."""

    error: Fault


class StateReply(HttpReply):
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
    version: str = ""  # Hearth's own
    listening_since: str | None = None  # ISO 8601; null while it does not listen
    troubles: dict[str, str] = {}  # what does not work now, and a sentence on it
    sound: dict[str, Any] = {}
    settings: dict[str, Any] = {}


class SessionReply(HttpReply):
    """Who asks."""

    name: str  # as the journal names them, such as "http:admin"
    scopes: list[Scope]  # all that they may; an administrator has every one


class NamedReply(HttpReply):
    """What was taken, by the name it got."""

    id: str


class QuestionReply(HttpReply):
    """What came of a question."""

    result: Literal["answered", "no_answer", "unclear", "busy"]
    id: str | None  # of the answer that was expected; without any, a plain "yes" or "no"
    sentence: str | None  # what was said; never of guests
    slots: dict[str, Any]  # nor what is in these
    turn_id: str  # in which it was asked last; "" where it was not


class SpokenReply(HttpReply):
    """What was given to the voice."""

    clauses: list[str]
    audio_ms: float


class ToolCallReply(HttpReply):
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


class NotDoneReply(HttpReply):
    """A change that did not come about, or is not known to have."""

    id: str
    name: str
    decision: str
    status: str
    sentence: str  # why, in the turn's language


class TurnReply(HttpReply):
    """A typed turn, as `hearth ask --json` gives it."""

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


class SoundTurnReply(KeptTurnReply):
    """A turn of the journal, as the interface lists it."""

    has_sound: bool  # see `/v1/turns/{id}/sound`


class TraceReply(SoundTurnReply):
    """A turn of the journal with its calls, as `hearth trace --json` gives it."""

    tool_calls: list[ToolCallReply]


class TimerReply(HttpReply):
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


class NumberSetting(HttpReply):
    """A number that can be changed while it runs."""

    value: float


class ChoiceSetting(HttpReply):
    """A choice that can be."""

    value: str
    options: list[str]


class TextSetting(HttpReply):
    """A text that can be: of quiet hours such as "22:30-07:00", or "off"."""

    value: str


class SettingsReply(HttpReply):
    """What can be changed while it runs."""

    volume: NumberSetting
    speed: NumberSetting
    follow_up: ChoiceSetting
    sensitivity: ChoiceSetting
    wake_word: ChoiceSetting
    profile: ChoiceSetting
    quiet_hours: TextSetting


class ConfirmationReply(HttpReply):
    """A call that waits for a person's yes."""

    id: str
    question: str
    language: str
    tier: Literal["read", "comfort", "costly", "secure"]
    how: Literal["confirm", "pin", "phone"]
    turn_id: str


class VerdictReply(HttpReply):
    """What became of it."""

    id: str
    verdict: Literal["yes", "no", "silence", "unclear", "new_command"]


class OpenerReply(HttpReply):
    """What may open something or silence an alarm, as far as nobody knows."""

    entity_id: str
    name: str
    tier: Literal["comfort", "costly", "secure"] | None  # its owner's rating
    unrated: Literal["comfort", "costly", "secure"]  # what it counts as without one
    seen_opening: list[str]  # ids of what it was seen to open, unlock or disarm


class MemoryReply(HttpReply):
    """What somebody asked to remember."""

    id: str
    text: str
    who: str  # the name of who told it, or ""
    about: str  # whom or what it is about, or ""
    sensitive: bool  # only told where somebody asks for it
    created_at: str  # ISO 8601


class ForgottenReply(HttpReply):
    """How many memories there were."""

    forgotten: Annotated[int, Field(ge=0)]


class CostReply(HttpReply):
    """What one brain with one model has cost on one day."""

    day: str  # ISO 8601, in the box's time zone
    brain: str  # "" where none was asked
    model: str  # "" where the brain has none
    turns: int
    cost_usd: float
    input_tokens: int
    output_tokens: int
    by_modality: dict[str, int] = {}  # tokens, such as of "input_audio"


class CostsReply(HttpReply):
    """What the cloud has cost."""

    days: list[CostReply]  # the newest first
    today_usd: float
    cap_usd: float  # that a day may cost


class SharesReply(HttpReply):
    """How the commands of people went; `turns` is the sum of the others."""

    turns: int
    right: int
    corrected: int
    refused: int
    misheard: int
    failed: int


class FaultReply(HttpReply):
    """Something that did not work for more than a few seconds."""

    what: str  # "microphone", "home_assistant", ...
    problem: str
    began_at: str  # ISO 8601
    ended_at: str | None  # null: it lasts
    settled: bool  # Hearth ended meanwhile: nobody knows when it was over


class LevelReply(HttpReply):
    """How loud it was at the microphone in the last second; all null where it gives nothing."""

    rms_db: float | None  # dB of full scale, at most 0
    peak_db: float | None
    clipped: int | None  # samples at the end of the range
    noise_floor_db: float | None  # of the quietest tenth of the last 30 s
    at_ms: float | None  # the newest sample, counted from the first


class ServerReply(HttpReply):
    """A tool server."""

    name: str
    ok: bool
    reason: str | None  # why not


class ToolReply(HttpReply):
    """A tool, as a model sees it."""

    name: str
    server: str
    description: str
    parameters: dict[str, Any] | None  # its JSON schema; null: it takes none
    tier: Literal["read", "comfort", "costly", "secure"]
    rule: str
    approved: bool
    hidden: bool
    losses: list[str]  # what its declaration has lost on the way to the model


class ToolsReply(HttpReply):
    """The menu, as `hearth tools --json` gives it."""

    servers: list[ServerReply]
    tools: list[ToolReply]


class CheckReply(HttpReply):
    """A check of `hearth doctor`."""

    check: str
    status: Literal["ok", "warn", "fail"]
    detail: str
    mend: str
