"""Request bodies from programs. All interfaces validate requests with these models."""

from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    model_validator,
)
from pydantic.config import JsonDict

from integrations.cleaning import one_line

LONGEST_TEXT = 1_000  # characters of a text to speak; more than a minute
LONGEST_FACT = 300  # characters of a fact
LONGEST_S = 7 * 24 * 3600  # longest time that a request may wait to be spoken
LONGEST_ANSWER_S = 20.0  # longest time to keep the microphone open for an answer
_MOST_MINUTES = 366 * 24 * 60

QUIET_HOURS = r"^(off|([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d)$"
Mode = Literal["trusting", "normal", "ask", "guest"]
Priority = Literal["low", "normal", "high"]


def _said(text: str) -> str:
    """Reduce the text to one line of speakable characters. Raises ValueError if it has no words."""
    plain = one_line(text, LONGEST_TEXT)
    if not any(sign.isalnum() for sign in plain):
        raise ValueError("must contain text")
    return plain


def _whole(number: object) -> object:
    """Convert 5.0, as templates write it, to 5, because JSON has only one number type."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


Said = Annotated[
    str,
    Field(max_length=LONGEST_TEXT, json_schema_extra={"pattern": r"[\p{L}\p{N}]"}),
    AfterValidator(_said),
]
Whole = BeforeValidator(_whole)
LanguageTag = Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$", max_length=35)]
Secret = Annotated[SecretStr, Field(min_length=1, max_length=500)]
Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=1, le=LONGEST_S, allow_inf_nan=False)]


class Wish(BaseModel):
    """The base class of request bodies. Unknown keys are rejected."""

    model_config = ConfigDict(extra="forbid", strict=True)


class SpokenRequest(Wish):
    """Fields that all requests to speak have in common."""

    preannounce: bool = True  # play a tone first
    volume: Fraction | None = None  # relative to the voice's own loudness
    priority: Priority = "normal"
    expire_s: Seconds | None = None  # seconds after which it is no longer spoken
    language: LanguageTag | None = None  # None: detected from the text


def _either(given: str, left_out: str) -> JsonDict:
    """Return a JSON Schema that requires the field `given` and excludes the field `left_out`."""
    kinds: JsonDict = {given: {"type": "string"}, left_out: {"type": "null"}}
    return {"required": [given], "properties": kinds}


class AnnounceRequest(SpokenRequest):
    """The body of `POST /v1/announce`: a text or a sound."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [_either("text", "media"), _either("media", "text")]}
    )

    text: Said | None = None
    media: Annotated[str, Field(max_length=2_000)] | None = None  # a file or an http(s) address
    persist: bool = False  # keep it across a restart

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.text is None) is (self.media is None):
            raise ValueError("must have either text or media")
        return self


class Choice(Wish):
    """An expected answer."""

    id: Annotated[str, Field(min_length=1, max_length=100)]
    sentences: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=300)]],
        Field(min_length=1, max_length=50),
    ]  # hassil templates


class QuestionRequest(SpokenRequest):
    """The body of `POST /v1/question`.

    The reply is compared first with `answers`. If it matches none of them and `schema` describes an
    object, a model fills in that object from the reply. If both are left out, any reply is
    accepted.
    """

    question: Said
    answers: Annotated[list[Choice], Field(max_length=50)] = []
    answer_schema: dict[str, Any] | None = Field(default=None, alias="schema")
    timeout_s: Annotated[float, Field(ge=1, le=LONGEST_ANSWER_S, allow_inf_nan=False)] = 10.0


Result = Literal["answered", "no_answer", "unclear", "busy"]


class QuestionAnswer(BaseModel):
    """The result of a question. For guests, `sentence` and `slots` are left out."""

    result: Result
    id: str | None = None  # id of the answer; without `answers`, "yes" or "no" or null
    sentence: str | None = None  # the spoken answer
    slots: dict[str, Any] = {}  # values from the answer's template or the schema
    turn_id: str = ""  # the turn that asked it last; "" if it was not asked


class ConverseRequest(SpokenRequest):
    """The body of `POST /v1/converse`: an opening line, after which Hearth listens."""

    text: Said
    # an instruction to the model for this conversation only
    instruction: Annotated[str, Field(max_length=LONGEST_TEXT)] = ""


class AskRequest(Wish):
    """The body of `POST /v1/ask`: a typed turn."""

    text: Said


class SpeechCommand(Wish):
    """A text message that a browser sends to `/v1/speech`."""

    type: Literal["press", "release", "stop"]
    # Where the answer to this press is heard: in the browser, on the box, or not at all.
    answer: Literal["page", "box", "none"] = "page"


class SignInRequest(Wish):
    """The body of `POST /v1/session`: a token, or the code of a one-time link."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [_either("token", "code"), _either("code", "token")]},
        hide_input_in_errors=True,
    )

    token: Secret | None = None
    code: Secret | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.token is None) is (self.code is None):
            raise ValueError("must have either token or code")
        return self


class LinkRequest(Wish):
    """The body of `POST /v1/links`."""

    role: Literal["owner", "family", "guest"]
    # The console's address as the browser has it. With it, the reply contains the link's QR code.
    address: Annotated[str, Field(max_length=400, pattern=r"^https?://[^\s#]+$")] | None = None
    name: Annotated[str, Field(max_length=40)] = ""  # whom it is for, shown in the list of sessions
    hours: Annotated[int, Field(ge=1, le=720)] = 24  # after which a guest's session ends


class MuteRequest(Wish):
    """The body of `POST /v1/mute`."""

    muted: bool


class ModeRequest(Wish):
    """The body of `POST /v1/mode`."""

    mode: Mode
    minutes: Annotated[int, Field(ge=1, le=_MOST_MINUTES), Whole] | None = None


class ConfirmRequest(Wish):
    """The body of `POST /v1/confirmations/{id}`."""

    yes: bool
    pin: Annotated[str, Field(max_length=32)] = ""


RatingName = Literal["comfort", "costly", "secure", "pin", "never"]


class RateRequest(Wish):
    """The body of `POST /v1/openers/{id}` and `POST /v1/house/{id}/rating`: a rating."""

    tier: RatingName


TapAction = Literal[
    "on", "off", "open", "close", "lock", "unlock", "play", "pause", "start", "dock", "run", "press"
]


class TapRequest(Wish):
    """The body of `POST /v1/house/{id}`: what a tap on a device does."""

    action: TapAction
    language: LanguageTag | None = None  # of the answer; None: the house's


class CorrectRequest(Wish):
    """The body of `POST /v1/memory/{id}`: the corrected fact."""

    text: Annotated[Said, Field(max_length=LONGEST_FACT)]


class MarkRequest(Wish):
    """The body of `POST /v1/turns/{id}/mark`."""

    mark: Literal["", "wrong", "misheard"]  # "" removes the mark


Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


class Repeat(Wish):
    """The days on which a timer repeats: weekdays or dates."""

    weekdays: Annotated[list[Weekday], Field(max_length=7)] = []
    dates: Annotated[
        list[Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]], Field(max_length=50)
    ] = []


class TimerRequest(Wish):
    """The body of `POST /v1/timers`."""

    kind: Literal["timer", "alarm", "reminder", "request"] = "timer"
    seconds: Annotated[int, Field(ge=1, le=30 * 24 * 3600), Whole] | None = None  # from now
    at: Annotated[str, Field(max_length=40)] | None = None  # "07:30" or an ISO 8601 time
    sun: Literal["sunrise", "sunset"] | None = None  # instead of `at`
    offset_min: Annotated[int, Field(ge=-720, le=720), Whole] = 0  # minutes after sunrise or sunset
    name: Annotated[str, Field(max_length=60)] = ""
    text: Annotated[str, Field(max_length=LONGEST_TEXT)] = ""  # text of a reminder or a request
    repeat: Repeat | None = None
    language: LanguageTag | None = None


class SnoozeRequest(Wish):
    """The body of `POST /v1/timers/{id}/snooze`."""

    minutes: Annotated[int, Field(ge=1, le=120), Whole] = 9


class SentenceRequest(Wish):
    """The body of `POST /v1/sentences`: what people say, and what they mean."""

    said: Annotated[Said, Field(max_length=200)]
    means: Annotated[Said, Field(max_length=200)]
    kind: Literal["sentence", "name"] = "sentence"


class LiveRequest(Wish):
    """The body of `POST /v1/settings`: any settings that can be changed at run time."""

    volume: Fraction | None = None
    speed: Annotated[float, Field(ge=0.5, le=2, allow_inf_nan=False)] | None = None
    follow_up: Literal["question", "always", "never"] | None = None
    sensitivity: Literal["low", "normal", "high"] | None = None
    wake_word: Annotated[str, Field(max_length=100)] | None = None
    profile: Annotated[str, Field(max_length=100)] | None = None
    # Quiet hours such as "22:30-07:00" in local time, or "off".
    quiet_hours: Annotated[str, Field(pattern=QUIET_HOURS)] | None = None
