"""JSON from Gemini clients: one casing, one alphabet, and what is refused.

google-genai mixes snake and camel case and writes base64 in the URL-safe alphabet; the service
accepts both (protobuf's JSON mapping), so the simulator does too.
"""

import base64
import binascii
import re
from collections.abc import Iterable, Mapping
from typing import Any

INVALID = 1007  # the service's close code for an argument that it does not accept
NOT_HERE = 1008  # for a model or session that does not exist
INTERNAL = 1011  # for an internal error

Json = dict[str, Any]

# Values of these keys belong to the caller and keep their spelling.
_VERBATIM = {
    *("args", "response", "parametersJsonSchema", "responseJsonSchema", "default", "example"),
    "labels",
}


class Refusal(Exception):
    """A refusal by the service: it closes the socket with `code`, or answers HTTP 400.

    `scripted`: the test has ordered it, so it is not the client's fault.
    """

    def __init__(self, reason: str, code: int = INVALID, *, scripted: bool = False) -> None:
        super().__init__(f"{code} {reason}")
        self.code = code
        self.reason = reason
        self.scripted = scripted


def camel(name: str) -> str:
    """Convert `mime_type` to `mimeType`; a name in camel case stays."""
    return re.sub(r"(?<=[a-z0-9])_([a-z0-9])", lambda match: match[1].upper(), name)


def normalised(value: Any) -> Any:
    """Return `value` with all its keys in camel case, except names that the caller has chosen.

    Arguments, responses and JSON schemas are kept as they are; in an OpenAPI schema the keywords
    are converted and the names of the properties are not. Raises Refusal for a key that exists in
    both casings.
    """
    if isinstance(value, list):
        return [normalised(item) for item in value]
    if not isinstance(value, dict):
        return value
    result: Json = {}
    for key, inner in value.items():
        name = camel(key)
        if name in result:
            raise Refusal(f'Invalid JSON payload received. Duplicate field "{name}".')
        if name in _VERBATIM:
            result[name] = inner
        elif name == "properties" and isinstance(inner, dict):
            result[name] = {own: normalised(schema) for own, schema in inner.items()}
        else:
            result[name] = normalised(inner)
    return result


def known_fields(value: Any, allowed: Iterable[str], where: str) -> Json:
    """Return `value` if it is a JSON object with no other keys than `allowed`; else raise Refusal.

    The wording is the service's own (zed-industries/zed #44875).
    """
    if not isinstance(value, Mapping):
        raise Refusal(f"Invalid value at '{where}'.")
    names = set(allowed)
    for key in value:
        if key not in names:
            raise Refusal(
                f"Invalid JSON payload received. Unknown name \"{key}\" at '{where}': "
                "Cannot find field."
            )
    return dict(value)


def decoded(text: Any, where: str) -> bytes:
    """Decode base64 of either alphabet. Raises Refusal."""
    if not isinstance(text, str):
        raise Refusal(f"Invalid value at '{where}' (TYPE_BYTES).")
    try:
        return base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True)
    except binascii.Error:
        raise Refusal(f"Invalid value at '{where}' (TYPE_BYTES), Base64 decoding failed.") from None


def encoded(data: bytes) -> str:
    """Encode base64 as the service does."""
    return base64.b64encode(data).decode("ascii")


def text_of(content: Any, where: str) -> str:
    """Return the text of a Content that has only text parts. Raises Refusal."""
    fields = known_fields(content, ("parts", "role"), where)
    parts = fields.get("parts")
    if not isinstance(parts, list) or not parts:
        raise Refusal(f"{where}.parts must not be empty.")
    texts = []
    for index, part in enumerate(parts):
        text = known_fields(part, ("text",), f"{where}.parts[{index}]").get("text")
        if not isinstance(text, str) or not text:
            raise Refusal(f"{where}.parts[{index}].text must not be empty.")
        texts.append(text)
    return "".join(texts)
