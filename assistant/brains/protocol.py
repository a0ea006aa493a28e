"""What a brain is: it takes one turn's sound or text and yields events."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Literal, Protocol

from assistant.brains.audio import TurnAudio
from assistant.tools.call import ToolCall
from assistant.tools.outcome import ToolOutcome


@dataclass(frozen=True, slots=True)
class Heard:
    """What the person said, as far as the brain knows it."""

    text: str
    language: str | None = None  # code such as "en", where the brain can tell


@dataclass(frozen=True, slots=True)
class ReplyText:
    """A further piece of the answer, in any chunking."""

    delta: str


@dataclass(frozen=True, slots=True)
class ReplyAudio:
    """A further piece of the answer in the brain's own voice."""

    pcm: bytes  # mono int16
    rate: int  # Hz


@dataclass(frozen=True, slots=True)
class ToolCallsCancelled:
    """Calls that the brain no longer wants; they are not answered."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The brain noticed that it was talked over; what it still had to say is dropped."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What the turn consumed."""

    input_tokens: int
    output_tokens: int
    by_modality: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TurnDone:
    """The brain has nothing more to say in this turn."""

    usage: Usage | None = None
    understood: bool = (
        True  # False: the sentence was not a command or question that this brain can serve
    )


# Each has its sentence in the catalogue, under "fault".
FaultKind = Literal["unreachable", "timeout", "broken", "house_away"]


@dataclass(frozen=True, slots=True)
class BrainFault:
    """The brain failed; no further event follows."""

    kind: FaultKind
    message: str  # one sentence for a person
    retryable: bool


BrainEvent = (
    Heard
    | ReplyText
    | ReplyAudio
    | ToolCall
    | ToolCallsCancelled
    | Interrupted
    | TurnDone
    | BrainFault
)


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """What a brain is given at the start of a turn."""

    turn_id: str
    language: str  # the language to assume until the brain knows better
    source: Literal["voice", "text"]
    text: str | None  # the typed sentence, or None for a spoken turn
    audio: TurnAudio | None  # the sound from the mark on, still growing, or None for a typed turn


class BrainTurn(Protocol):
    """One turn in the hands of a brain."""

    def events(self) -> AsyncIterator[BrainEvent]:
        """Events in order; it ends after TurnDone or BrainFault. Closing it cancels the turn."""
        ...

    async def answer(self, outcome: ToolOutcome) -> None:
        """Give the result of one ToolCall back."""
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
