"""Requests to a language model behind an OpenAI-compatible chat API, with streamed answers.

Each round of tool calls is a new request that contains the whole conversation.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx

from integrations.address import shown
from integrations.chat.faults import Endless, message_in, network_error, refusal, status_in
from integrations.chat.stream import CallParts, ThoughtFilter, data_of
from integrations.errors import Misconfigured, Unavailable
from integrations.gemini.declarations import Declaration
from integrations.gemini.events import TokensUsed
from integrations.gemini.live import FunctionAnswer
from integrations.gemini.once import OnceCalls, OnceEnd, OnceEvent, OnceText
from integrations.tls import tls_for

PATIENCE_S = 10.0  # longest wait between two parts of an answer
MAX_TOKENS = 1_000  # of an answer
MAX_THINKING = 4_000  # tokens of an answer with its thoughts
MAX_TEXT = 4_000  # characters of an answer; a server can ignore MAX_TOKENS
_MAX_BODY = 100_000  # bytes of a response that isn't streamed
# Ollama's chat API would otherwise use 1.0 (openai/openai.go), at which small models call the
# wrong tools.
_TEMPERATURE = 0.3


@dataclass(frozen=True, slots=True)
class ChatServer:
    """A server and one of its models.

    With `thinks`, the model thinks before it answers. `first_s` is the longest wait for an answer's
    first word or call. It includes the thoughts.
    """

    url: str  # ends in "/v1" for most servers
    model: str
    api_key: str = field(default="", repr=False)
    thinks: bool = False
    connect_s: float = 5.0
    first_s: float = 20.0

    @property
    def base(self) -> str:
        """Return the URL, with "/v1" if it has no path."""
        plain = self.url.rstrip("/")
        return plain if urlsplit(plain).path else f"{plain}/v1"


class ChatClient:
    """Starts conversations that share one connection pool. Close it with `aclose`."""

    def __init__(self, server: ChatServer) -> None:
        self.server = server
        self._http = httpx.AsyncClient(
            timeout=httpx.Timeout(None, connect=server.connect_s),
            verify=tls_for(server.url) or False,
            trust_env=False,
        )

    async def aclose(self) -> None:
        await self._http.aclose()

    def converse(
        self, instruction: str, declarations: Sequence[Declaration] = ()
    ) -> "ChatConversation":
        """Return a new conversation, without sending anything."""
        return ChatConversation(self, instruction, declarations)

    async def read(self, path: str, *, of_api: bool = True) -> dict[str, Any]:
        """Return the JSON object at a path of the API or, without `of_api`, of the server.
        Raises IntegrationError."""
        base = self.server.base if of_api else self.server.base.removesuffix("/v1")
        async with self.open("GET", f"{base}{path}") as response:
            value = await _body(response)
        if not isinstance(value, dict):
            raise refusal(self.server.url, self.server.model, 404, "", self.server.api_key)
        return value

    @asynccontextmanager
    async def open(
        self, method: str, url: str, body: dict[str, Any] | None = None
    ) -> AsyncGenerator[httpx.Response]:
        """Send a request and yield its response, of which only the head has been read. Raises
        IntegrationError, also for a response that isn't a success."""
        server = self.server
        headers = {"Authorization": f"Bearer {server.api_key}"} if server.api_key else {}
        try:
            async with asyncio.timeout(server.first_s):
                request = self._http.build_request(method, url, json=body, headers=headers)
                response = await self._http.send(request, stream=True)
        except (TimeoutError, httpx.HTTPError, httpx.InvalidURL) as error:
            raise network_error(server.url, error) from error
        except UnicodeEncodeError:  # the exception's message would show the key
            raise Misconfigured("local.api_key contains characters that can't be sent.") from None
        try:
            if response.status_code != 200:
                told = message_in(await _body(response)) or ""
                status = response.status_code
                raise refusal(server.url, server.model, status, told, server.api_key)
            yield response
        finally:
            await response.aclose()


class ChatConversation:
    """A conversation's history, and the requests that continue it.

    Add input and iterate over `stream`. If it yields OnceCalls, add their results with `answer` and
    iterate again.
    """

    def __init__(
        self, client: ChatClient, instruction: str, declarations: Sequence[Declaration]
    ) -> None:
        self._client = client
        self._messages: list[dict[str, Any]] = [{"role": "system", "content": instruction}]
        self._tools = [tool_of(one) for one in declarations]

    def read(self, text: str) -> None:
        """Add the user's text. It must be added in one piece, because some models' templates refuse
        two messages of the user in a row."""
        self._messages.append({"role": "user", "content": text})

    def answer(self, answers: Sequence[FunctionAnswer]) -> None:
        """Add the results of all calls in the latest OnceCalls."""
        for answer in answers:
            content = json.dumps(answer.response, ensure_ascii=False)
            self._messages.append({"role": "tool", "tool_call_id": answer.id, "content": content})

    async def stream(self, *, may_call: bool = True) -> AsyncGenerator[OnceEvent]:
        """Send the request and yield the answer as it arrives.

        OnceCalls, TokensUsed and OnceEnd come after the text. With `may_call=False`, the model must
        answer in text. Raises IntegrationError, in particular Malformed and Endless.
        """
        thoughts, parts = ThoughtFilter(), CallParts()
        text, reason = "", None
        used: TokensUsed | None = None
        async with aclosing(self._events(may_call)) as events:
            async for event in events:
                used = _tokens(event) or used
                choice = _first(event.get("choices"))
                reason = choice.get("finish_reason") or reason
                delta = choice.get("delta")
                if not isinstance(delta, dict):
                    continue
                parts.add(delta.get("tool_calls"))
                content = delta.get("content")
                piece = thoughts.push(content) if isinstance(content, str) else ""
                if piece:
                    text += piece
                    yield OnceText(piece)
                if len(text) > MAX_TEXT:
                    raise Endless("The local model didn't stop talking.")
        if reason is None:
            url = shown(self._client.server.url)
            raise Unavailable(f"The local model's server at {url} broke off its answer.")
        if reason == "length":
            raise Endless("The local model's answer was too long, or its context is full.")
        calls = parts.take(f"chat-{len(self._messages)}")
        self._echo(text, calls)
        if calls:
            yield OnceCalls(calls)
        if used is not None:
            yield used
        yield OnceEnd(reason)

    async def _events(self, may_call: bool) -> AsyncGenerator[dict[str, Any]]:
        client, server = self._client, self._client.server
        loop = asyncio.get_running_loop()
        until = loop.time() + server.first_s
        url = f"{server.base}/chat/completions"
        async with (
            client.open("POST", url, self._request(may_call)) as response,
            aclosing(data_of(response.aiter_bytes())) as events,
        ):
            if "event-stream" not in response.headers.get("Content-Type", ""):  # another program
                raise refusal(server.url, server.model, 404, "", server.api_key)
            while True:
                try:
                    async with asyncio.timeout_at(until):
                        event = await anext(events, None)
                except (TimeoutError, httpx.HTTPError) as error:
                    raise network_error(server.url, error) from error
                if event is None:
                    return
                told = message_in(event)
                if told is not None:
                    status = status_in(event)
                    raise refusal(server.url, server.model, status, told, server.api_key)
                if _can_be_heard(event):
                    until = loop.time() + PATIENCE_S
                yield event

    def _request(self, may_call: bool) -> dict[str, Any]:
        server = self._client.server
        body: dict[str, Any] = {
            "model": server.model,
            "messages": self._messages,
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": MAX_THINKING if server.thinks else MAX_TOKENS,
            "temperature": _TEMPERATURE,
        }
        # Ollama ignores `tool_choice` (openai/openai.go), so the tools are left out instead.
        if self._tools and may_call:
            body["tools"] = self._tools
        if not server.thinks:
            # Ollama reads the first (ollama/ollama#14820); llama.cpp and vLLM read the second and
            # accept the first.
            body["reasoning_effort"] = "none"
            body["chat_template_kwargs"] = {"enable_thinking": False}
        return body

    def _echo(self, text: str, calls: Sequence[Any]) -> None:
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if calls:
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
                }
                for call in calls
            ]
        self._messages.append(message)


def tool_of(declaration: Declaration) -> dict[str, Any]:
    """Return a tool as the chat API describes it."""
    parameters = declaration.parameters or {"type": "OBJECT", "properties": {}}
    function = {
        "name": declaration.name,
        "description": declaration.description,
        "parameters": _schema(parameters),
    }
    return {"type": "function", "function": function}


def _schema(node: dict[str, Any]) -> dict[str, Any]:
    # Gemini's subset of JSON Schema writes types in upper case. `nullable` is dropped: as a list of
    # types, it would break templates that expect one (Gemma's).
    schema = {key: value for key, value in node.items() if key != "nullable"}
    if "type" in schema:
        schema["type"] = schema["type"].lower()
    if "items" in schema:
        schema["items"] = _schema(schema["items"])
    if "anyOf" in schema:
        schema["anyOf"] = [_schema(one) for one in schema["anyOf"]]
    if "properties" in schema:
        schema["properties"] = {key: _schema(one) for key, one in schema["properties"].items()}
    return schema


def _first(choices: Any) -> dict[str, Any]:
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, dict) else {}


def _can_be_heard(event: dict[str, Any]) -> bool:
    delta = _first(event.get("choices")).get("delta")
    return isinstance(delta, dict) and bool(delta.get("content") or delta.get("tool_calls"))


def _tokens(event: dict[str, Any]) -> TokensUsed | None:
    usage = event.get("usage")
    if not isinstance(usage, dict):
        return None
    counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
    given, made = (one if isinstance(one, int) else 0 for one in counts)
    return TokensUsed(given, made, {"input_text": given, "output_text": made})


async def _body(response: httpx.Response) -> Any:
    body = b""
    try:
        async with asyncio.timeout(PATIENCE_S):
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > _MAX_BODY:
                    return None
        return json.loads(body)
    except (TimeoutError, httpx.HTTPError, ValueError, RecursionError):
        return None
