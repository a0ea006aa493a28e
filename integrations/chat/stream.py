"""Parses a streamed chat completion: events, the text to speak and the tool calls. Does no I/O."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from typing import Any

from integrations.chat.faults import Malformed
from integrations.gemini.events import FunctionCall

_MAX_LINE = 1_000_000  # bytes of one event
_MAX_ARGUMENTS = 50_000  # characters of one call's arguments
_MAX_CALLS = 32
_THOUGHT, _THOUGHT_END = "<think>", "</think>"


async def data_of(chunks: AsyncIterator[bytes]) -> AsyncGenerator[dict[str, Any]]:
    """Yield the JSON objects of server-sent events, until the stream ends or sends [DONE].

    httpx's own `aiter_lines` also splits at U+2028, which can occur inside a JSON text. Raises
    Malformed.
    """
    rest = b""
    async for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        if len(rest) > _MAX_LINE:
            raise Malformed("The local model's server sent an event that is too long.")
        for line in lines:
            if line.strip() == b"data: [DONE]":
                return
            value = _value(line)
            if value is not None:
                yield value
    value = _value(rest)
    if value is not None:
        yield value


def _value(line: bytes) -> dict[str, Any] | None:
    # llama.cpp also reports errors as "error: {…}", and Ollama as a bare object.
    text = line.strip()
    for name in (b"data:", b"error:"):
        text = text.removeprefix(name).lstrip()
    if not text.startswith(b"{"):
        return None  # a comment, an empty line or another field
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise Malformed("The local model's server sent an event that is not JSON.") from None
    if line.startswith(b"error:") and "error" not in value:
        value = {"error": value}
    return value if isinstance(value, dict) else None


class ThoughtFilter:
    """Removes the thoughts at the start of an answer, which some servers leave in its text."""

    def __init__(self) -> None:
        self._held = ""
        self._inside = False
        self._decided = False

    def push(self, piece: str) -> str:
        """Add a piece of the answer and return the text that isn't a thought."""
        if self._decided:
            return piece
        self._held += piece
        if not self._inside:
            begun = self._held.lstrip()
            if begun.startswith(_THOUGHT):
                self._inside = True
            elif _THOUGHT.startswith(begun):
                return ""
            else:
                self._decided = True
                return self._held
        _, end, rest = self._held.partition(_THOUGHT_END)
        if not end:
            self._held = self._held[-len(_THOUGHT_END) :]
            return ""
        self._decided = True
        return rest


@dataclass(slots=True)
class _Call:
    index: Any
    id: str
    name: str
    arguments: str


class CallParts:
    """Joins the parts of streamed tool calls.

    Ollama sends each call whole, and some versions give all of them the index 0
    (ollama/ollama#15457). llama.cpp and vLLM send the name first and then the arguments in parts. A
    part with a name therefore starts a new call.
    """

    def __init__(self) -> None:
        self._calls: list[_Call] = []

    def add(self, parts: Any) -> None:
        """Add the `tool_calls` of one event. Raises Malformed."""
        for part in parts if isinstance(parts, list) else ():
            function = part.get("function") if isinstance(part, dict) else None
            if not isinstance(function, dict):
                continue
            name, arguments = function.get("name") or "", function.get("arguments") or ""
            if not isinstance(arguments, str):
                arguments = json.dumps(arguments)
            if name:
                call_id = part.get("id") or ""
                self._calls.append(_Call(part.get("index"), str(call_id), str(name), ""))
            same = (one for one in reversed(self._calls) if one.index == part.get("index"))
            call = next(same, None)
            if call is None or len(self._calls) > _MAX_CALLS:
                raise Malformed("The local model's tool calls can't be read.")
            call.arguments += arguments
            if len(call.arguments) > _MAX_ARGUMENTS:
                raise Malformed(f"The local model's arguments for {call.name} are too long.")

    def take(self, prefix: str) -> tuple[FunctionCall, ...]:
        """Return the complete calls. Raises Malformed.

        A call without an id, or with an id that was used before, gets an id that starts with
        `prefix`.
        """
        calls: list[FunctionCall] = []
        used = set[str]()
        for number, call in enumerate(self._calls, start=1):
            call_id = call.id if call.id and call.id not in used else f"{prefix}-{number}"
            used.add(call_id)
            calls.append(FunctionCall(call_id, call.name, _arguments(call)))
        return tuple(calls)


def _arguments(call: _Call) -> dict[str, Any]:
    try:
        value = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise Malformed(
            f"The local model called {call.name[:100]} with arguments that aren't JSON."
        )
    return value
