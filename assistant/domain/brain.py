"""What a brain is: it takes one turn's sound or text and yields events."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Literal, Protocol

from assistant.domain.tool_call import ToolCall, ToolOutcome
from assistant.domain.turn_audio import TurnAudio


@dataclass(frozen=True, slots=True)
class Heard:
    """What the person said, as far as the brain knows it."""

    text: str
    language: str | None = None  # code such as "en", where the brain can tell


@dataclass(frozen=True, slots=True)
class ReplyText:
    """A further piece of the answer, in any chunking."""

    delta: str
    voiced: bool = True  # False: the brain says it itself, by ReplyAudio; this is its transcript
    language: str | None = None  # of a sentence of Hearth's own; None: the text itself tells


@dataclass(frozen=True, slots=True)
class Preface:
    """The answer's next piece is none of the brain's: it tells who serves, and why."""

    alone: bool  # Gemini is away, from here on


@dataclass(frozen=True, slots=True)
class ReplyAudio:
    """A further piece of the answer in the brain's own voice."""

    pcm: bytes  # mono int16
    rate: int  # Hz


@dataclass(frozen=True, slots=True)
class ReplySettled:
    """The brain has made all of its answer, as far as it knows: a sentence that stands may be said.

    More text may still follow, such as the end of a transcript that lags behind.
    """


@dataclass(frozen=True, slots=True)
class ToolCallsCancelled:
    """Calls that the brain no longer wants; they are not answered."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The brain noticed that it was talked over; what it still had to say is dropped."""


@dataclass(frozen=True, slots=True)
class Restarted:
    """The brain begins this turn's answer anew: what it gave so far and was not said is void."""


@dataclass(frozen=True, slots=True)
class Serving:
    """From here on this brain serves the turn."""

    brain: str  # as in `brain.order`


@dataclass(frozen=True, slots=True)
class Searched:
    """The brain has read the web for this answer (search grounding)."""


@dataclass(frozen=True, slots=True)
class InTalk:
    """The context that the model has for what follows: earlier turns of the same talk are in it."""

    talk: str  # unique among all talks of the process
    searched: bool = False  # it holds what was read from the web


Milestone = Literal["connected", "first_upload", "upload_done"]


@dataclass(frozen=True, slots=True)
class Reached:
    """A moment of the brain's own work, for the timeline."""

    moment: Milestone


@dataclass(frozen=True, slots=True)
class Usage:
    """What the turn consumed, in tokens."""

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
    """A further piece of what this turn costs; it counts even if the turn then fails."""

    usage: Usage
    cost_usd: float
    model: str = ""  # that was paid for, where the brain knows its name


@dataclass(frozen=True, slots=True)
class NotMeant:
    """The speech was plainly not meant for us: the turn ends without words."""


@dataclass(frozen=True, slots=True)
class TurnDone:
    """The brain has nothing more to say in this turn."""

    understood: bool = (
        True  # False: the sentence was not a command or question that this brain can serve
    )


# Each has its sentence in the catalogue, under "fault".
FaultKind = Literal[
    "unreachable",  # no network, or the service is down
    "timeout",  # it did not answer in time
    "broken",  # something failed that should not
    "house_away",  # Home Assistant cannot be reached
    "no_consent",  # nobody has agreed to the cloud
    "sign_in",  # the key is missing or refused
    "quota",  # the service's quota, or the key's money, is used up
    "budget",  # `limits.daily_cost_usd` is reached
    "retired",  # the model is gone
    "refused",  # the service takes nothing like this request (a wrong setting)
    "blocked",  # the service declined to answer this sentence
    "empty",  # it answered nothing, twice
    "endless",  # it does not stop calling tools
    "not_understood",  # this brain does not know the sentence; the next one may
]


@dataclass(frozen=True, slots=True)
class BrainFault:
    """The brain failed; no further event follows."""

    kind: FaultKind
    message: str  # one sentence for the log and `--json`
    retryable: bool  # the same brain may well serve the same turn at once
    spoken: str | None = None  # said instead of the catalogue's sentence for `kind`


@dataclass(frozen=True, slots=True)
class Thought:
    """Result of thinking about a question."""

    text: str  # "" where the model said nothing
    fault: BrainFault | None = None  # why there is no text, or why it is not whole


BrainEvent = (
    Heard
    | ReplyText
    | Preface
    | ReplyAudio
    | ReplySettled
    | ToolCall
    | ToolCallsCancelled
    | Interrupted
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
    """The caller that a conversation belongs to: the people of the box, or one token of a program.

    Nothing that a brain keeps from one turn to the next passes from one owner to another.
    """

    name: str = ""  # of a program, as the audit has it ("mcp:agent"); "": the people of the box
    token: str = ""  # tells a token from an earlier one of the same name; never the secret
    recalls: bool = True  # it may be told what people have asked to remember

    @property
    def is_people(self) -> bool:
        """True for whoever lives with the box, by voice or keyboard."""
        return not self.name


PEOPLE = ConversationOwner()


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """What a brain is given at the start of a turn."""

    turn_id: str
    language: str  # the language to assume until the brain knows better
    source: Literal["voice", "text"]
    text: str | None  # the typed sentence, or None for a spoken turn
    audio: TurnAudio | None  # the sound from the mark on, still growing, or None for a typed turn
    profile: str = ""  # name of the configured profile, "" for none
    heard: str | None = None  # what an earlier attempt at this turn understood, if any
    note: str = ""  # what a model must know to understand this turn, "" for nothing
    owner: ConversationOwner = PEOPLE  # whose conversation the turn belongs to


class BrainTurn(Protocol):
    """One turn in the hands of a brain."""

    def events(self) -> AsyncGenerator[BrainEvent]:
        """Events in order; it ends after TurnDone, NotMeant or BrainFault.

        Closing it (`aclose`) cancels the turn.
        """
        ...

    async def answer(self, outcome: ToolOutcome) -> None:
        """Give the result of one ToolCall back: once for each, also after `events` was closed.

        Never raises: a result that cannot be delivered any more is dropped.
        """
        ...


class Brain(Protocol):
    """One rung of the ladder."""

    @property
    def name(self) -> str:
        """As in `brain.order`: "gemini-live", "gemini-once", "home-assistant", "offline"."""
        ...

    def begin(self, request: TurnRequest) -> BrainTurn:
        """Start on a turn. Does no I/O before `events` is iterated."""
        ...

    def anticipate(self) -> None:
        """A turn may be about to begin: connect, warm up. Returns at once and never raises."""
        ...
