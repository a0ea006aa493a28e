"""The events of a Live session, created from Gemini's frames in the order in which they arrive.

Transcripts are aligned neither with the audio nor with each other (SDK documentation).
"""

import logging
import re
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from integrations.errors import IntegrationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from google.genai import types


@dataclass(frozen=True, slots=True)
class InputText:
    """The next part of the transcript of the user's speech."""

    text: str
    language: str | None = None  # BCP-47; None if the service does not say


@dataclass(frozen=True, slots=True)
class Grounded:
    """The answer uses results of a web search (`groundingMetadata`)."""


@dataclass(frozen=True, slots=True)
class OutputText:
    """The next part of the transcript of the model's speech."""

    text: str
    with_sound: bool  # the same frame contained audio


@dataclass(frozen=True, slots=True)
class OutputAudio:
    """The next part of the model's speech."""

    pcm: bytes  # mono int16
    rate: int  # Hz
    ms: float = 0.0  # duration; set only if `pcm` was dropped


@dataclass(frozen=True, slots=True)
class InnerText:
    """Text from an audio model, such as thoughts and tool output. It must not be spoken."""

    text: str
    thought: bool


@dataclass(frozen=True, slots=True)
class FunctionCall:
    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class FunctionCalls:
    """Function calls from one frame. Answer each id exactly once, unless the call is cancelled."""

    calls: tuple[FunctionCall, ...]


@dataclass(frozen=True, slots=True)
class CallWithoutId:
    """A function call that can't be answered, because it has no id."""


@dataclass(frozen=True, slots=True)
class FunctionCallsCancelled:
    """The service no longer wants answers to these calls."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Interrupted:
    """New input has interrupted the reply. TurnComplete follows."""


@dataclass(frozen=True, slots=True)
class GenerationComplete:
    """The model has generated its whole reply, but audio and transcript may still be arriving."""


@dataclass(frozen=True, slots=True)
class TurnComplete:
    """The model has ended its turn."""

    idle: bool = True  # False: IN_PROGRESS, more will follow without new input
    reason: str | None = None  # such as "SAFETY"; None if it ended normally


@dataclass(frozen=True, slots=True)
class TokensUsed:
    """The billed token counts of the interaction so far. 0: not reported."""

    input_tokens: int
    output_tokens: int  # including thoughts
    by_modality: dict[str, int] = field(default_factory=dict)  # "input_audio", "output_text", ...
    total_tokens: int = 0  # as reported; can be less than the sum, or the only count
    estimated: bool = False  # at least one count is an estimate


@dataclass(frozen=True, slots=True)
class GoAway:
    """The service will close this connection in `left_s` seconds."""

    left_s: float


@dataclass(frozen=True, slots=True)
class Closed:
    """The connection has closed. This is always the last event."""

    error: IntegrationError | None  # None: closed by us


LiveEvent = (
    InputText
    | Grounded
    | OutputText
    | OutputAudio
    | InnerText
    | FunctionCalls
    | CallWithoutId
    | FunctionCallsCancelled
    | Interrupted
    | GenerationComplete
    | TurnComplete
    | TokensUsed
    | GoAway
    | Closed
)


# Order of events within a frame: the input transcript, the parts of the reply, its transcript,
# calls, cancellations, ends, GoAway, token counts.


log = logging.getLogger(__name__)

OUTPUT_RATE = 24_000  # Hz, always (Google's Live API documentation)
_NOTICE_S = 60.0  # typical notice of a goAway (Firebase's page on Live sessions)
_REMEMBERED_CALLS = 256  # ids; a turn makes at most 24 calls
_NATURAL_END = "TURN_COMPLETE_REASON_UNSPECIFIED"


class FrameReader:
    """Converts one connection's frames to events, and reports each function call only once.

    The service may send the same call in the reply and as a tool call (mastra-ai/mastra #22969).
    """

    def __init__(self) -> None:
        self._told: OrderedDict[str, None] = OrderedDict()

    def events(self, message: "types.LiveServerMessage") -> list[LiveEvent]:
        """Return a frame's events in order, leaving out messages that Hearth does not use."""
        events: list[LiveEvent] = []
        content = message.server_content
        calls: list[types.FunctionCall] = []
        if content is not None:
            parts = (content.model_turn.parts if content.model_turn else None) or []
            events += _content(content, parts)
            calls += [part.function_call for part in parts if part.function_call]
        if message.tool_call is not None:
            calls += message.tool_call.function_calls or []
        fresh = tuple(self._fresh(calls))
        if fresh:
            events.append(FunctionCalls(fresh))
        if message.tool_call is not None and not all(
            call.id for call in message.tool_call.function_calls or []
        ):
            events.append(CallWithoutId())
        if message.tool_call_cancellation is not None and message.tool_call_cancellation.ids:
            events.append(FunctionCallsCancelled(tuple(message.tool_call_cancellation.ids)))
        if content is not None:
            events += _ends(content)
        if message.go_away is not None:
            events.append(GoAway(seconds(message.go_away.time_left, _NOTICE_S)))
        if message.usage_metadata is not None:
            events.append(_used(message.usage_metadata))
        return events

    def _fresh(self, calls: "Iterable[types.FunctionCall]") -> "Iterator[FunctionCall]":
        for call in calls:
            if not call.id or not call.name:
                # Google's client refuses to answer it. In a reply, it comes as a tool call too.
                log.debug("Ignored a function call without an id or a name.")
            elif call.id not in self._told:
                self._told[call.id] = None
                if len(self._told) > _REMEMBERED_CALLS:
                    self._told.popitem(last=False)
                yield FunctionCall(call.id, call.name, dict(call.args or {}))


def seconds(duration: str | None, unsaid: float) -> float:
    """Convert a protobuf duration such as "0.2s" to seconds, or return `unsaid` if it
    is not one."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)s", (duration or "").strip())
    return float(found[1]) if found else unsaid


def _content(
    content: "types.LiveServerContent", parts: "list[types.Part]"
) -> "Iterator[LiveEvent]":
    heard, said = content.input_transcription, content.output_transcription
    if heard is not None and heard.text:
        yield InputText(heard.text, heard.language_code)
    if content.grounding_metadata is not None:
        yield Grounded()
    with_sound = False
    for part in parts:
        blob = part.inline_data
        if blob is not None and blob.data and (blob.mime_type or "").startswith("audio/"):
            with_sound = True
            yield OutputAudio(blob.data, _rate(blob.mime_type or ""))
        if part.text:
            yield InnerText(part.text, bool(part.thought))
    if said is not None and said.text:
        yield OutputText(said.text, with_sound)


def _ends(content: "types.LiveServerContent") -> "Iterator[LiveEvent]":
    if content.interrupted:
        yield Interrupted()
    if content.generation_complete:
        yield GenerationComplete()
    status = content.interaction_status.value if content.interaction_status else ""
    if content.turn_complete:
        reason = content.turn_complete_reason.value if content.turn_complete_reason else None
        yield TurnComplete(status != "IN_PROGRESS", None if reason == _NATURAL_END else reason)
    elif status == "IDLE":  # the interaction can end without `turn_complete`
        yield TurnComplete()


def _rate(mime: str) -> int:
    found = re.search(r"rate=(\d+)", mime)
    return int(found[1]) if found else OUTPUT_RATE


def _used(usage: "types.UsageMetadata") -> TokensUsed:
    return tokens_used(usage, usage.response_tokens_details, usage.response_token_count)


def tokens_used(
    usage: "types.UsageMetadata | types.GenerateContentResponseUsageMetadata",
    answer_details: "list[types.ModalityTokenCount] | None",
    answer_tokens: int | None,
) -> TokensUsed:
    """Return the reported token counts.

    Results of Google's own tools count as input, and thoughts count as output. Only the parts
    count: gemini-3.8-live leaves the thoughts out of the total, and its details don't add up to
    its counts (Google's developer forum, 188765).
    """
    by_modality: dict[str, int] = {}
    for side, details in (
        ("input", usage.prompt_tokens_details),
        ("input", usage.tool_use_prompt_tokens_details),
        ("output", answer_details),
    ):
        for detail in details or ():
            if detail.modality is not None and detail.token_count:
                key = f"{side}_{detail.modality.value.lower()}"
                by_modality[key] = by_modality.get(key, 0) + detail.token_count
    read, said = (
        sum(count for key, count in by_modality.items() if key.startswith(side))
        for side in ("input", "output")
    )
    return TokensUsed(
        max(read, (usage.prompt_token_count or 0) + (usage.tool_use_prompt_token_count or 0)),
        max(said, answer_tokens or 0) + (usage.thoughts_token_count or 0),
        by_modality,
        usage.total_token_count or 0,
    )
