"""What a Live session tells: Gemini's frames as small events, in the order of their arrival.

One frame may hold several things; it becomes several events. Transcripts have no alignment with
the sound or with each other (SDK documentation): they are streams of their own.
"""

from dataclasses import dataclass, field
from typing import Any

from integrations.errors import IntegrationError


@dataclass(frozen=True, slots=True)
class InputText:
    """A further piece of what the person said, as the model transcribes it."""

    text: str
    language: str | None = None  # BCP-47, where the service tells


@dataclass(frozen=True, slots=True)
class Grounded:
    """The answer rests on a web search (`groundingMetadata`)."""


@dataclass(frozen=True, slots=True)
class OutputText:
    """A further piece of the transcript of the model's own voice."""

    text: str
    with_sound: bool  # the same frame held sound


@dataclass(frozen=True, slots=True)
class OutputAudio:
    """A further piece of the model's own voice."""

    pcm: bytes  # mono int16
    rate: int  # Hz


@dataclass(frozen=True, slots=True)
class InnerText:
    """A text part of an audio model: thoughts and tool texts, never to be spoken."""

    text: str
    thought: bool


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """The model wants one function run."""

    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class FunctionCalls:
    """Calls that belong together; every id is answered exactly once, unless it is cancelled."""

    calls: tuple[FunctionCall, ...]


@dataclass(frozen=True, slots=True)
class FunctionCallsCancelled:
    """The service wants no answer to these any more."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Interrupted:
    """New input cut the reply off; TurnComplete follows."""


@dataclass(frozen=True, slots=True)
class GenerationComplete:
    """The reply is made, though its sound and transcript may still be on their way."""


@dataclass(frozen=True, slots=True)
class TurnComplete:
    """The model has ended its turn."""

    idle: bool = True  # False: the interaction goes on (IN_PROGRESS), more will come by itself
    reason: str | None = None  # why, where it was not the natural end, e.g. "SAFETY"


@dataclass(frozen=True, slots=True)
class TokensUsed:
    """Token counts of the interaction so far, as the service bills them."""

    input_tokens: int
    output_tokens: int  # with thoughts
    by_modality: dict[str, int] = field(default_factory=dict)  # "input_audio", "output_text", ...


@dataclass(frozen=True, slots=True)
class GoAway:
    """The service will close this connection soon."""

    left_s: float


@dataclass(frozen=True, slots=True)
class Closed:
    """The connection is over: the last event."""

    error: IntegrationError | None  # None: we closed it


LiveEvent = (
    InputText
    | Grounded
    | OutputText
    | OutputAudio
    | InnerText
    | FunctionCalls
    | FunctionCallsCancelled
    | Interrupted
    | GenerationComplete
    | TurnComplete
    | TokensUsed
    | GoAway
    | Closed
)
