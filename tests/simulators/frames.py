"""Messages of the simulated service, in camel case as it writes them."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from tests.simulators.script import Done, Hear, Inner, Tokens
from tests.simulators.sound import RATE_OUT
from tests.simulators.wire import Json, encoded


def content(**fields: Any) -> Json:
    """Make a serverContent."""
    return {"serverContent": fields}


def heard(step: Hear, text: str) -> Json:
    """Make a piece of the person's transcript."""
    said: Json = {"text": text}
    if step.language:
        said["languageCode"] = step.language
    return content(inputTranscription=said)


def spoken(pcm: bytes | None, text: str | None) -> Json:
    """Make a piece of the model's sound, of its transcript, or of both."""
    fields: Json = {}
    if pcm is not None:
        blob = {"mimeType": f"audio/pcm;rate={RATE_OUT}", "data": encoded(pcm)}
        fields["modelTurn"] = {"role": "model", "parts": [{"inlineData": blob}]}
    if text is not None:
        fields["outputTranscription"] = {"text": text}
    return content(**fields)


def inner(step: Inner) -> Json:
    """Make a text part."""
    part: Json = {"text": step.text}
    if step.thought:
        part["thought"] = True
    return content(modelTurn={"role": "model", "parts": [part]})


def turn_complete(step: Done) -> Json:
    """Make the end of a turn, with token counts if the step has them."""
    fields: Json = {"turnComplete": True}
    if step.status:
        fields["interactionStatus"] = step.status
    if step.reason:
        fields["turnCompleteReason"] = step.reason
    frame = content(**fields)
    return {**frame, **usage(step.usage)} if step.usage else frame


def usage(tokens: Tokens) -> Json:
    """Make the usageMetadata of a Live session."""
    counts: Json = {
        "promptTokenCount": tokens.prompt,
        "responseTokenCount": tokens.response,
        "totalTokenCount": tokens.prompt + tokens.response + tokens.thoughts,
        "promptTokensDetails": _details(tokens.prompt_details),
        "responseTokensDetails": _details(tokens.response_details),
    }
    if tokens.thoughts:
        counts["thoughtsTokenCount"] = tokens.thoughts
    return {"usageMetadata": counts}


def usage_once(tokens: Tokens) -> Json:
    """Return the usageMetadata of generateContent."""
    return as_candidates(usage(tokens))


def as_candidates(frame: Json) -> Json:
    """Rename the fields of the reply's tokens as in generateContent and Vertex AI (google-genai's
    converters)."""
    names = {
        "responseTokenCount": "candidatesTokenCount",
        "responseTokensDetails": "candidatesTokensDetails",
    }
    if not frame.get("usageMetadata"):
        return frame
    counts = {names.get(key, key): count for key, count in frame["usageMetadata"].items()}
    return {**frame, "usageMetadata": counts}


def handle(name: str | None) -> Json:
    """Make a resumption update; None: there is no point to resume from now."""
    return {
        "sessionResumptionUpdate": (
            {"newHandle": "", "resumable": False}
            if name is None
            else {"newHandle": name, "resumable": True}
        )
    }


def cancellation(ids: Sequence[str]) -> Json:
    """Make a cancellation of calls."""
    return {"toolCallCancellation": {"ids": list(ids)}}


def split(text: str, pieces: int) -> list[str]:
    """Split `text` into about `pieces` pieces after its spaces."""
    words = text.split(" ")
    parts = [word if index == 0 else f" {word}" for index, word in enumerate(words)]
    count = max(1, min(pieces, len(parts)))
    edges = [round(index * len(parts) / count) for index in range(count + 1)]
    return ["".join(parts[first:last]) for first, last in itertools.pairwise(edges)]


def _details(counts: Mapping[str, int]) -> list[Json]:
    return [{"modality": name, "tokenCount": count} for name, count in counts.items()]
