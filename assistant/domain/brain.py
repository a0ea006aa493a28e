"""Interface of a brain: it takes the audio or text of one turn and yields events."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Literal, Protocol

from assistant.domain.tool_call import ToolCall, ToolOutcome
from assistant.domain.turn_audio import TurnAudio


@dataclass(frozen=True, slots=True)
class Heard:
    """Words of the person, as the brain understood them."""

    text: str
    language: str | None = None  # code such as "en"; None if the brain can't tell


@dataclass(frozen=True, slots=True)
class ReplyText:
    """Next piece of the answer, in any chunking."""

    delta: str
    voiced: bool = True  # False: transcript of speech that the brain sends itself, as ReplyAudio
    language: str | None = None  # set for Hearth's own sentences; None: detected from the text


@dataclass(frozen=True, slots=True)
class Preface:
    """Announces that the next piece of the answer names the serving brain instead of answering."""

    alone: bool  # True from the point where Gemini is unreachable


@dataclass(frozen=True, slots=True)
class ReplyAudio:
    """Next piece of the answer in the brain's own voice."""

    pcm: bytes  # mono int16
    rate: int  # Hz


@dataclass(frozen=True, slots=True)
class ReplySettled:
    """The brain has produced all of its answer as far as it knows, so complete sentences may be
    spoken.

    More text may still follow, such as the end of a transcript that lags behind.
    """


@dataclass(frozen=True, slots=True)
class ToolCallsCancelled:
    """Ids of calls that the brain no longer wants. They get no answer."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Restarted:
    """The brain starts this turn's answer over. Anything it sent that has not been spoken
    is void."""


@dataclass(frozen=True, slots=True)
class Serving:
    """Names the brain that serves the turn from here on."""

    brain: str  # as in `brain.order`


@dataclass(frozen=True, slots=True)
class Searched:
    """The brain used web search for this answer (search grounding)."""


@dataclass(frozen=True, slots=True)
class InTalk:
    """Identifies the model's context for the following events; earlier turns of the same talk are
    part of it."""

    talk: str  # unique among all talks of the process
    searched: bool = False  # the context holds text from the web


Milestone = Literal["connected", "first_upload", "upload_done"]


@dataclass(frozen=True, slots=True)
class Reached:
    """Milestone in the brain's own work, for the timeline."""

    moment: Milestone


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that the turn used."""

    input_tokens: int
    output_tokens: int
    by_modality: dict[str, int] = field(default_factory=dict)  # "input_audio", "output_text", ...

    def __add__(self, other: "Usage") -> "Usage":
        both = self.by_modality.keys() | other.by_modality.keys()
        mine, its = self.by_modality, other.by_modality
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            {key: mine.get(key, 0) + its.get(key, 0) for key in sorted(both)},
        )


@dataclass(frozen=True, slots=True)
class Spent:
    """Another part of this turn's cost. It counts even if the turn then fails."""

    usage: Usage
    cost_usd: float
    model: str = ""  # model that was billed, if the brain knows its name


@dataclass(frozen=True, slots=True)
class NotMeant:
    """The speech was clearly not meant for Hearth, so the turn ends without an answer."""


@dataclass(frozen=True, slots=True)
class TurnDone:
    """The brain has finished this turn."""

    understood: bool = (
        True  # False: the sentence was not a command or question that this brain can serve
    )


# Each kind has its sentence in the catalogue, under "fault".
FaultKind = Literal[
    "unreachable",  # no network, or the service is down
    "timeout",  # the service did not answer in time
    "broken",  # an unexpected error
    "house_away",  # Home Assistant cannot be reached
    "no_consent",  # the owner has not agreed to use the cloud
    "sign_in",  # the key is missing or rejected
    "no_region",  # the service is not offered in this country
    "denied",  # the service has denied the key's project access
    "api_off",  # the service is switched off in the key's project
    "key_limits",  # the key's restrictions exclude the service or this device
    "quota",  # the service's quota or the key's credit is used up
    "budget",  # `limits.daily_cost_usd` is reached
    "retired",  # the service no longer offers the model
    "refused",  # the service rejects every request like this one (a wrong setting)
    "blocked",  # the service declined to answer this sentence
    "empty",  # the answer was empty, twice
    "endless",  # the model keeps calling tools
    "not_understood",  # this brain does not understand the sentence; the next one may
]


@dataclass(frozen=True, slots=True)
class BrainFault:
    """The brain failed. No further event follows."""

    kind: FaultKind
    message: str  # one sentence for the log and `--json`
    retryable: bool  # a second attempt with the same brain may succeed at once
    spoken: str | None = None  # spoken instead of the catalogue's sentence for `kind`


@dataclass(frozen=True, slots=True)
class Thought:
    """Result of thinking about a question."""

    text: str  # "" if the model said nothing
    fault: BrainFault | None = None  # why the text is missing or incomplete


BrainEvent = (
    Heard
    | ReplyText
    | Preface
    | ReplyAudio
    | ReplySettled
    | ToolCall
    | ToolCallsCancelled
    | Restarted
    | Serving
    | Searched
    | InTalk
    | Reached
    | Spent
    | NotMeant
    | TurnDone
    | BrainFault
)


@dataclass(frozen=True, slots=True)
class ConversationOwner:
    """Owner of a conversation: the people of the household, or one program's token.

    Nothing that a brain keeps from one turn to the next passes from one owner to another.
    """

    name: str = ""  # of a program, as in the audit ("mcp:agent"); "" for the household
    token: str = ""  # tells apart tokens that had the same name; never the secret
    recalls: bool = True  # may see what people have asked Hearth to remember

    @property
    def is_people(self) -> bool:
        """True for the people of the household, by voice or keyboard."""
        return not self.name


PEOPLE = ConversationOwner()


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """Input of a brain for one turn."""

    turn_id: str
    language: str  # assumed until the brain knows better
    source: Literal["voice", "text"]
    text: str | None  # the typed sentence, or None for a spoken turn
    audio: TurnAudio | None  # sound from the mark on, still growing; None for a typed turn
    profile: str = ""  # name of the configured profile, "" for none
    heard: str | None = None  # transcript from an earlier attempt at this turn, if any
    note: str = ""  # context that a model needs to understand this turn; "" for none
    owner: ConversationOwner = PEOPLE  # owner of the conversation that the turn belongs to


class BrainTurn(Protocol):
    """One turn that a brain is working on."""

    def events(self) -> AsyncGenerator[BrainEvent]:
        """Yield events in order, ending after TurnDone, NotMeant or BrainFault.

        Closing the generator (`aclose`) cancels the turn.
        """
        ...

    async def answer(self, outcome: ToolOutcome) -> None:
        """Deliver the result of a ToolCall. Called once for each call, even after `events` was
        closed.

        Never raises: a result that can no longer be delivered is dropped.
        """
        ...


class Brain(Protocol):
    """Understands sentences; one link of the fallback chain."""

    @property
    def name(self) -> str:
        """Name as in `brain.order`: "gemini-live", "gemini-once", "home-assistant" or "offline"."""
        ...

    def begin(self, request: TurnRequest) -> BrainTurn:
        """Start a turn. No I/O happens before `events` is iterated."""
        ...

    def anticipate(self) -> None:
        """Connect or warm up, because a turn may be about to begin. Returns at once and
        never raises."""
        ...
