"""A stand-in for the OpenAI-compatible chat API of Ollama, llama.cpp or vLLM, scripted by a test.

Each reply is the answer to one request. Errors have the servers' own wording: ollama/ollama#14795
and server/routes.go, ggml-org/llama.cpp#15780 and #17968, vllm-project/vllm #3485, #9986 and
#20409. No real server was available. docs/offline.md says what was tested.
"""

import asyncio
import json
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any, Literal, Self

from aiohttp import web

from tests.simulators import script
from tests.simulators.calls import agrees
from tests.simulators.chat_request import ChatRequest, read_request
from tests.simulators.performance import opened
from tests.simulators.wire import Json, Refusal

Kind = Literal["ollama", "llama.cpp", "vllm"]
Reply = Sequence[script.Step]  # Say, Inner, Call, CallTogether, Stall, Drop, HttpError, Raw, Done
MODEL = "qwen3:4b-instruct"
_STOP_WITHIN_S = 0.2
_PIECE = 5  # characters of a streamed part


class ChatServerSimulator:
    """Serves the replies in order, at `url`. When its context ends, all of them must have been
    used."""

    def __init__(
        self,
        *replies: Reply,
        kind: Kind = "ollama",
        models: Sequence[str] = (MODEL,),
        tools: bool = True,
        context: int = 32_768,
        key: str = "",
        loading: bool = False,
        spare: int = 0,
    ) -> None:
        """With `tools=False`, the model or the server doesn't support tools. With `loading`,
        llama.cpp has not loaded its model yet. The last `spare` replies don't have to be used."""
        self.requests: list[ChatRequest] = []
        self.refused: list[str] = []
        self.url = ""
        self._kind = kind
        self._models = models
        self._supports_tools = tools
        self._context = context
        self._key = key
        self._loading = loading
        self._spare = spare
        self._replies = list(replies)
        self._made: dict[str, Json] = {}
        self._expects: list[script.Call] = []
        self._unanswered: list[str] = []  # findings that fail the test
        self._stopping = asyncio.Event()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            application = web.Application()
            application.router.add_route("*", "/{path:.*}", self._serve)
            runner = web.AppRunner(application, shutdown_timeout=_STOP_WITHIN_S, access_log=None)
            await runner.setup()
            stack.push_async_callback(runner.cleanup)
            stack.callback(self._stopping.set)
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            self.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        await self._stack.aclose()
        if error is None:
            assert len(self._replies) <= self._spare, f"nobody asked for {self._replies!r}"
            assert not self._unanswered, self._unanswered

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        if self._key and request.headers.get("Authorization") != f"Bearer {self._key}":
            return self._error(401, "Invalid API Key", "authentication_error")
        route = (request.method, request.path)
        if self._loading:
            return self._error(503, "Loading model", "unavailable_error")
        if route == ("GET", "/v1/models"):
            return web.json_response({"object": "list", "data": [*map(self._model, self._models)]})
        if route == ("GET", "/props") and self._kind == "llama.cpp":
            return web.json_response({"default_generation_settings": {"n_ctx": self._context}})
        if route == ("GET", "/api/ps") and self._kind == "ollama":
            loaded = [{"name": MODEL, "model": MODEL, "context_length": self._context}]
            return web.json_response({"models": loaded})
        if route != ("POST", "/v1/chat/completions"):
            return self._nothing_there()
        try:
            return await self._complete(request)
        except Refusal as refusal:
            self.refused.append(refusal.reason)
            return self._error(400, refusal.reason, "invalid_request_error")

    def _model(self, name: str) -> Json:
        model: Json = {"id": name, "object": "model", "created": 1, "owned_by": "library"}
        if self._kind == "vllm":
            model["max_model_len"] = self._context
        return model

    def _nothing_there(self) -> web.Response:
        if self._kind == "ollama":
            return web.Response(status=404, text="404 page not found")
        if self._kind == "vllm":
            return web.json_response({"detail": "Not Found"}, status=404)
        return self._error(404, "File Not Found", "not_found_error")

    def _error(self, status: int, message: str, kind: str) -> web.Response:
        code: Any = None if self._kind == "ollama" else status
        error = {"message": message, "type": kind, "param": None, "code": code}
        if self._kind == "llama.cpp":
            error = {"code": status, "message": message, "type": kind}
        return web.json_response({"error": error}, status=status)

    def _refusal_of(self, asked: ChatRequest) -> web.Response | None:
        model = asked.raw["model"]
        if model not in self._models:
            match self._kind:
                case "ollama":
                    return self._error(404, f"model '{model}' not found", "not_found_error")
                case "vllm":
                    said = f"The model `{model}` does not exist."
                    return self._error(404, said, "NotFoundError")
                case "llama.cpp" if len(self._models) > 1:  # its router; alone it ignores the name
                    return self._error(400, "model not found", "invalid_request_error")
        if asked.tools and not self._supports_tools:
            match self._kind:
                case "ollama":
                    said = f"registry.ollama.ai/library/{model} does not support tools"
                    return self._error(400, said, "api_error")
                case "vllm":
                    said = (
                        '"auto" tool choice requires --enable-auto-tool-choice and '
                        "--tool-call-parser to be set"
                    )
                    return self._error(400, said, "BadRequestError")
                case "llama.cpp":
                    return self._error(500, "tools param requires --jinja flag", "server_error")
        if asked.tokens > self._context:
            match self._kind:
                case "vllm":
                    said = f"This model's maximum context length is {self._context} tokens."
                    return self._error(400, said, "BadRequestError")
                case "llama.cpp":
                    said = (
                        f"request ({asked.tokens} tokens) exceeds the available context size "
                        f"({self._context} tokens), try increasing it"
                    )
                    return self._error(400, said, "exceed_context_size_error")
        return None  # Ollama cuts a long request without a word

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        asked = read_request(await request.json(), self._made)
        refused = self._refusal_of(asked)
        if refused is not None:
            return refused
        self.requests.append(asked)
        self._check_results(asked)
        if not self._replies:
            self._unanswered.append(f"nothing is scripted for {asked.said!r}")
            return self._error(500, "not scripted", "server_error")
        answer = _Answer(request, asked, self._kind, self._context)
        try:
            return await self._perform(self._replies.pop(0), answer)
        except ConnectionError:
            return answer.response  # the client has gone

    def _check_results(self, asked: ChatRequest) -> None:
        for call, result in zip(self._expects, asked.results, strict=True):
            if call.answer is not None and not agrees(call.answer, result):
                self._unanswered.append(f"{call.name} was answered {result!r}")
        self._expects = []

    async def _perform(self, reply: Reply, answer: "_Answer") -> web.StreamResponse:
        calls: list[script.Call] = []
        for step in reply:
            match step:
                case script.Say(text):
                    for start in range(0, len(text), _PIECE):
                        await answer.delta({"content": text[start : start + _PIECE]})
                case script.Inner(text):
                    name = "reasoning_content" if self._kind == "llama.cpp" else "reasoning"
                    await answer.delta({name: text})
                case script.Call():
                    calls.append(step)
                case script.CallTogether(together):
                    calls += together
                case script.Stall(_, None):
                    await self._stopping.wait()
                case script.Stall(_, script.Gate() as gate):
                    await opened(gate)
                case script.HttpError(status, message):
                    error = self._error(status, message, "server_error")
                    if not answer.response.prepared:
                        return error
                    await answer.send(json.loads(error.text or ""))
                    return await answer.end()
                case script.Drop():
                    return answer.drop()
                case script.Raw(frame):
                    await answer.send(dict(frame))
                case script.Done(_, reason):
                    return await answer.finish(reason or "stop")
                case _:
                    raise AssertionError(f"{step!r} is no step of a chat answer")
        return await self._call(calls, answer)

    async def _call(self, calls: Sequence[script.Call], answer: "_Answer") -> web.StreamResponse:
        for index, wanted in enumerate(calls):
            call = script.as_declared(wanted, answer.asked.tools)
            if call.name not in answer.asked.tools and not call.undeclared:
                self._unanswered.append(f"{call.name} is called but was not declared")
            call_id = call.id or f"call_{len(self._made) + 1:08d}"
            arguments = dict(call.args or {})
            self._made[call_id] = {"name": call.name, "arguments": arguments}
            await answer.call(index, call_id, call.name, json.dumps(arguments))
            self._expects.append(call)
        return await answer.finish("tool_calls" if calls else "stop")


class _Answer:
    """A response of server-sent events. It starts with the first event."""

    def __init__(self, request: web.Request, asked: ChatRequest, kind: Kind, context: int) -> None:
        self.asked = asked
        self.response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        self._request = request
        self._kind = kind
        self._context = context

    async def delta(self, delta: Json, finish: str | None = None) -> None:
        """Send a part of the answer."""
        choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": finish}
        await self.send({"object": "chat.completion.chunk", "choices": [choice]})

    async def call(self, index: int, call_id: str, name: str, arguments: str) -> None:
        """Send a call: whole and with the index 0 (ollama/ollama#15457), or in parts."""
        if self._kind == "ollama":
            function = {"name": name, "arguments": arguments}
            call = {"index": 0, "id": call_id, "type": "function", "function": function}
            await self.delta({"content": "", "tool_calls": [call]})
            return
        begun = {"id": call_id, "type": "function", "function": {"name": name, "arguments": ""}}
        await self.delta({"content": None, "tool_calls": [{"index": index, **begun}]})
        for start in range(0, len(arguments), _PIECE):
            part = {"arguments": arguments[start : start + _PIECE]}
            await self.delta({"tool_calls": [{"index": index, "function": part}]})

    async def finish(self, reason: str) -> web.StreamResponse:
        """Send the finish reason, an event without choices that contains the usage, and the end."""
        await self.delta({} if self._kind != "ollama" else {"content": ""}, reason)
        given = min(self.asked.tokens, self._context)
        usage = {"prompt_tokens": given, "completion_tokens": 7, "total_tokens": given + 7}
        await self.send({"object": "chat.completion.chunk", "choices": [], "usage": usage})
        await self.response.write(b"data: [DONE]\n\n")
        return await self.end()

    async def send(self, event: Json) -> None:
        """Send one event."""
        await self._begin()
        # A raw U+2028 is legal in JSON and must not end a line.
        await self.response.write(f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode())

    def drop(self) -> web.StreamResponse:
        """Break the connection."""
        if self._request.transport is not None:
            self._request.transport.abort()
        return self.response

    async def end(self) -> web.StreamResponse:
        """End the response."""
        await self._begin()
        await self.response.write_eof()
        return self.response

    async def _begin(self) -> None:
        if not self.response.prepared:
            await self.response.prepare(self._request)
