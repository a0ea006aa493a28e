"""A generateContent request, checked as strictly as by the service.

Sources: "GenerateContentRequest" of the Gemini API reference, and its pages on function calling and
thought signatures; for the wording langgenius/dify-official-plugins #2088. Stricter than the
service, which validates only the signatures of the newest turn, and resamples sound of any format.
"""

import io
import wave
from dataclasses import dataclass
from typing import Any

from tests.simulators.handshake import check_thinking
from tests.simulators.models import ModelRules
from tests.simulators.records import OnceRequest
from tests.simulators.schema import Tools, read_tools
from tests.simulators.sound import RATE_IN
from tests.simulators.wire import Json, Refusal, decoded, known_fields, text_of

_FIELDS = ("contents", "systemInstruction", "tools", "toolConfig", "generationConfig")
_GENERATION = (
    *("temperature", "topP", "topK", "maxOutputTokens", "seed", "candidateCount"),
    *("stopSequences", "thinkingConfig"),
)
_PICTURES = ("image/jpeg", "image/png", "image/webp", "image/heic", "image/heif")
_KINDS = ("text", "inlineData", "functionCall", "functionResponse")


@dataclass(frozen=True, slots=True)
class MadeCall:
    """A function call that the service has sent over REST."""

    id: str
    name: str
    args: Json
    signature: bytes | None  # of the part; only the first of parallel calls has one


def read_request(
    raw: Any, model: str, rules: ModelRules, made: dict[str, MadeCall], at: float, index: int
) -> OnceRequest:
    """Check a request in camel case against what was sent before. Raises Refusal."""
    fields = known_fields(raw, _FIELDS, "request")
    config = known_fields(fields.get("generationConfig", {}), _GENERATION, "generation_config")
    level = check_thinking(config.get("thinkingConfig"), rules, "generation_config")
    tools = read_tools(fields.get("tools", []), None, "tools")
    _check_mix(tools)
    contents = fields.get("contents")
    if not isinstance(contents, list) or not contents:
        raise Refusal("* GenerateContentRequest.contents: contents is not specified")
    for place, content in enumerate(contents):
        _check_content(content, f"contents[{place}]", place)
    _check_calls(contents, made)
    newest = contents[-1]
    if newest["role"] != "user":
        raise Refusal("The last content must be the user's.")
    instruction = fields.get("systemInstruction")
    parts = newest["parts"]
    return OnceRequest(
        index=index,
        at=at,
        model=model,
        contents=contents,
        instruction="" if instruction is None else text_of(instruction, "system_instruction"),
        functions=tuple(one.name for one in tools.functions),
        thinking_level=level,
        audio=_newest_sound(contents),
        texts=tuple(part["text"] for part in parts if "text" in part),
        responses=[part["functionResponse"] for part in parts if "functionResponse" in part],
        raw=fields,
    )


def _check_mix(tools: Tools) -> None:
    if tools.search and tools.functions:
        # python-genai #352
        raise Refusal("Tool use with function calling is unsupported")


def _check_content(content: Any, where: str, place: int) -> None:
    fields = known_fields(content, ("role", "parts"), where)
    if fields.get("role") not in ("user", "model"):
        raise Refusal("Please use a valid role: user, model.")
    if place == 0 and fields["role"] != "user":
        raise Refusal("The first content must be the user's.")
    parts = fields.get("parts")
    if not isinstance(parts, list) or not parts:
        raise Refusal(f"{where}.parts must not be empty.")
    for index, part in enumerate(parts):
        at = f"{where}.parts[{index}]"
        inside = known_fields(part, (*_KINDS, "thought", "thoughtSignature"), at)
        if sum(kind in inside for kind in _KINDS) != 1:
            raise Refusal(f"{at}.data: required oneof field 'data' must have one initialized field")
        if "inlineData" in inside:
            _check_blob(inside["inlineData"], f"{at}.inline_data")


def _check_blob(blob: Any, where: str) -> None:
    """Check a recording or picture; the types are those of "Image understanding" (Gemini API)."""
    kind = blob.get("mimeType") if isinstance(blob, dict) else None
    if kind not in _PICTURES:
        _sound(blob, where)
        return
    fields = known_fields(blob, ("data", "mimeType"), where)
    if not decoded(fields.get("data"), f"{where}.data"):
        raise Refusal("Unable to process input image. Please retry or report.")


def _sound(blob: Any, where: str) -> bytes:
    fields = known_fields(blob, ("data", "mimeType"), where)
    if fields.get("mimeType") != "audio/wav":
        raise Refusal(f"{where}: unsupported MIME type {fields.get('mimeType')}")
    data = decoded(fields.get("data"), f"{where}.data")
    try:
        with wave.open(io.BytesIO(data)) as file:
            shape = (file.getframerate(), file.getnchannels(), file.getsampwidth())
            pcm: bytes = file.readframes(file.getnframes())
    except (wave.Error, EOFError) as error:
        raise Refusal(f"{where}: no WAV file ({error})") from None
    if shape != (RATE_IN, 1, 2) or not pcm:
        raise Refusal(f"{where}: {shape} is not 16 kHz, one channel, 16 bits, or there is no sound")
    return pcm


def _newest_sound(contents: list[Json]) -> bytes:
    for content in reversed(contents):
        for part in content["parts"]:
            if part.get("inlineData", {}).get("mimeType") == "audio/wav":
                return _sound(part["inlineData"], "inline_data")
    return b""


def _check_calls(contents: list[Json], made: dict[str, MadeCall]) -> None:
    """Check that calls are as they were sent, and that the content after each answers it."""
    open_calls: list[MadeCall] = []
    for place, content in enumerate(contents):
        responses = [part for part in content["parts"] if "functionResponse" in part]
        if len(responses) != len(open_calls):
            raise Refusal(
                "Please ensure that the number of function response parts is equal to the number "
                "of function call parts of the function call turn."
            )
        for part, call in zip(responses, open_calls, strict=True):
            _check_response(part["functionResponse"], call)
        calls = [part for part in content["parts"] if "functionCall" in part]
        if calls and content["role"] != "model":
            raise Refusal("Function calls are the model's.")
        open_calls = [_check_call(part, made, place) for part in calls]
    if open_calls:
        raise Refusal("The function calls of the last content are not answered.")


def _check_call(part: Json, made: dict[str, MadeCall], place: int) -> MadeCall:
    call = known_fields(part["functionCall"], ("id", "name", "args"), "function_call")
    sent = made.get(call.get("id") or "")
    if sent is None or (call.get("name"), call.get("args", {})) != (sent.name, sent.args):
        raise Refusal(f"The function call {call!r} was never made.")
    text = part.get("thoughtSignature")
    if sent.signature is not None and text is None:
        raise Refusal(
            "Function call is missing a thought_signature in functionCall parts. This is required "
            "for tools to work correctly, and missing thought_signature may lead to degraded model "
            f"performance. Additional data, function call `default_api:{sent.name}` , position "
            f"{place + 1}."
        )
    signature = None if text is None else decoded(text, "thought_signature")
    if signature != sent.signature:
        raise Refusal("Corrupted thought signature.")
    return sent


def _check_response(response: Any, call: MadeCall) -> None:
    fields = known_fields(response, ("id", "name", "response"), "function_response")
    if (fields.get("id"), fields.get("name")) != (call.id, call.name):
        raise Refusal(
            f"The response {fields.get('id')!r} of {fields.get('name')!r} is not to the call "
            f"{call.id!r} of {call.name!r}."
        )
    if not isinstance(fields.get("response"), dict):
        raise Refusal(f"The response to {call.id} must be an object")
