"""Parses a chat completion request, and checks it at least as strictly as Ollama, llama.cpp and
vLLM.

Sources: openai/openai.go of Ollama, tools/server/README.md of llama.cpp, "Tool calling" of vLLM's
documentation, and the templates of the models. It is stricter than the servers: it also refuses
unknown fields, ids of calls that were never made, and tools without a description.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.simulators.wire import Json, Refusal

_FIELDS = frozenset(
    "model messages stream stream_options max_tokens temperature tools reasoning_effort "
    "chat_template_kwargs".split()
)
_TYPES = ("object", "array", "string", "integer", "number", "boolean")
_EFFORTS = ("high", "medium", "low", "none")  # openai/openai.go


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request that was accepted."""

    messages: list[Json]
    tools: tuple[str, ...]
    raw: Json

    @property
    def instruction(self) -> str:
        """Return the system message."""
        return str(self.messages[0]["content"])

    @property
    def said(self) -> str:
        """Return the user's message."""
        return str(self.messages[1]["content"])

    @property
    def results(self) -> list[Json]:
        """Return the results of the newest calls, as the model reads them."""
        results: list[Json] = []
        for message in reversed(self.messages):
            if message["role"] != "tool":
                break
            results.insert(0, json.loads(message["content"]))
        return results

    @property
    def tokens(self) -> int:
        """Estimate the length of the request."""
        return len(json.dumps([self.messages, self.raw.get("tools", [])])) // 4


def read_request(raw: Any, made: Mapping[str, Json]) -> ChatRequest:
    """Check a request. `made` contains the calls that the model has made, by id. Raises Refusal."""
    if not isinstance(raw, dict):
        raise Refusal("The request is not an object.")
    if unknown := sorted(raw.keys() - _FIELDS):
        raise Refusal(f"Unknown fields: {', '.join(unknown)}")
    if raw.get("stream") is not True or raw.get("stream_options") != {"include_usage": True}:
        raise Refusal("The answer would not be streamed, or would have no usage.")
    if not isinstance(raw.get("model"), str):
        raise Refusal("model name is missing from the request")
    if not 0 <= raw.get("temperature", 0) <= 2 or raw.get("max_tokens", 1) < 1:
        raise Refusal("temperature or max_tokens is out of range.")
    if raw.get("reasoning_effort", "none") not in _EFFORTS:
        raise Refusal("invalid reasoning value")
    messages = raw.get("messages")
    if not isinstance(messages, list) or len(messages) < 2:
        raise Refusal("messages must not be empty")
    _check_roles(messages)
    _check_calls(messages, made)
    names = tuple(_check_tool(tool) for tool in _tools(raw))
    if len(set(names)) < len(names):
        raise Refusal("Two tools have the same name.")
    return ChatRequest(messages, names, raw)


def _check_roles(messages: list[Json]) -> None:
    roles = [message.get("role") for message in messages]
    if roles[0] != "system" or "system" in roles[1:]:
        raise Refusal("System message must be at the beginning.")
    # Mistral's template: "conversation roles must alternate user and assistant roles".
    turns = [role for role in roles[1:] if role != "tool"]
    if turns != ["user", *["assistant"] * (len(turns) - 1)]:
        raise Refusal("After the optional system message, conversation roles must alternate.")
    if roles[-1] not in ("user", "tool"):
        raise Refusal("The last message must be the user's or a tool's.")
    if not all(isinstance(message.get("content"), str) for message in messages):
        raise Refusal("invalid message content type")


def _check_calls(messages: list[Json], made: Mapping[str, Json]) -> None:
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            if not waiting or message.get("tool_call_id") != waiting.pop(0):
                raise Refusal("A tool message does not answer the next call.")
            continue
        if waiting:
            raise Refusal("tool_call_ids did not have response messages")
        for call in message.get("tool_calls", ()):
            function = call["function"]
            try:
                arguments = json.loads(function["arguments"])
            except ValueError:
                raise Refusal("invalid tool call arguments") from None
            if call.get("type") != "function" or made.get(call["id"]) != {
                "name": function["name"],
                "arguments": arguments,
            }:
                raise Refusal(f"The call {call!r} was never made.")
            waiting.append(call["id"])
    if waiting:
        raise Refusal("tool_call_ids did not have response messages")


def _tools(raw: Json) -> list[Any]:
    tools = raw.get("tools", [])
    if "tools" in raw and not tools:
        raise Refusal("tools must not be an empty array")  # vLLM
    return list(tools)


def _check_tool(tool: Any) -> str:
    if not isinstance(tool, dict) or tool.get("type") != "function":
        raise Refusal("A tool is not a function.")
    function = tool["function"]
    if not function.get("name") or not function.get("description"):
        raise Refusal("A function has no name or no description.")
    if function["parameters"].get("type") != "object":
        raise Refusal("The parameters must be an object.")
    _check_schema(function["parameters"])
    return str(function["name"])


def _check_schema(schema: Any) -> None:
    if "anyOf" in schema:
        for one in schema["anyOf"]:
            _check_schema(one)
        return
    # Gemma's template writes `type | upper`, which fails for a list.
    if schema.get("type") not in _TYPES or "nullable" in schema:
        raise Refusal(f"Unable to generate parser for this template: {schema!r}")
    if schema["type"] == "array":
        _check_schema(schema["items"])
    for one in schema.get("properties", {}).values():
        _check_schema(one)
