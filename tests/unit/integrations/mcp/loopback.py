"""A small MCP server on loopback that answers like Home Assistant.

It serves stateless plain JSON, the older SSE transport at its own path, and `/api/config`.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from integrations.mcp.servers import ServerSpec, home_assistant_server
from integrations.serving import serving

SSE = "/mcp_server/sse"
MESSAGES = "/mcp_server/messages"
CONFIG: dict[str, object] = {
    "version": "2026.11.0",
    "state": "RUNNING",
    "location_name": "Home",
    "recovery_mode": False,
    "components": ["api", "mcp_server"],
}


class LoopbackServer:
    """A server scripted by its fields; `calls` holds the tools/call requests received."""

    def __init__(self) -> None:
        self.token = "good"
        self.paths = {"/api/mcp/assist"}
        self.pages = 1
        self.status = 200
        self.hang = False
        self.garbage = False
        self.calls: list[tuple[str, dict[str, object]]] = []
        self.metas: list[dict[str, object]] = []
        self.methods: list[str] = []  # methods of all messages received, at any path
        self.meta_of: dict[str, dict[str, object]] = {}  # the newest `_meta` by method
        self.tried: list[str] = []  # paths of all requests, answered or not
        self.refused = 0  # number of requests with a wrong token
        self.prompt = "Device control"
        self.told = "The house has a lamp."
        self.config = dict(CONFIG)
        self.config_answer: Response | None = None  # instead of `config`
        self.providers: Response = JSONResponse({"providers": [{"type": "homeassistant"}]})
        self.moved = ""  # redirect everything to it
        self.streams: list[asyncio.Queue[str | None]] = []
        self.url = ""
        self.over = asyncio.Event()

    def spec(self) -> ServerSpec:
        return home_assistant_server(self.url, self.token)

    async def answer(self, request: Request) -> Response:
        path = request.url.path
        self.tried.append(path)
        if self.moved:
            return Response(status_code=301, headers={"location": f"{self.moved}{path}"})
        if path == "/auth/providers":
            assert "authorization" not in request.headers
            return self.providers
        if request.headers.get("authorization") != f"Bearer {self.token}":
            self.refused += 1
            return PlainTextResponse("401: Unauthorized", 401)
        if path == "/api/config":
            return self.config_answer or JSONResponse(self.config)
        if path.replace(MESSAGES, SSE) not in self.paths:
            return PlainTextResponse("404: Not Found", 404)
        if self.status != 200:
            return PlainTextResponse("no", self.status)
        if path == SSE:
            return StreamingResponse(self._stream(), media_type="text/event-stream")
        message = json.loads(await request.body())
        if path == MESSAGES:
            return await self._aside(message)
        if "id" not in message:
            return Response(status_code=202)
        return JSONResponse(await self._reply(message))

    async def _stream(self) -> AsyncIterator[str]:
        stream: asyncio.Queue[str | None] = asyncio.Queue()
        self.streams.append(stream)
        yield f"event: endpoint\ndata: {MESSAGES}\n\n"
        while (event := await stream.get()) is not None:
            yield event

    async def _aside(self, message: dict[str, Any]) -> Response:
        if "id" in message:
            event = json.dumps(await self._reply(message))
            await self.streams[-1].put(f"event: message\ndata: {event}\n\n")
        return Response(status_code=200)

    async def _reply(self, message: dict[str, Any]) -> dict[str, Any]:
        method, params = message["method"], message.get("params") or {}
        self.methods.append(method)
        self.meta_of[method] = params.get("_meta") or {}
        return {"jsonrpc": "2.0", "id": message["id"], **await self._result(method, params)}

    async def _result(self, method: str, params: dict[str, object]) -> dict[str, object]:
        if method == "initialize":
            return {
                "result": {
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {}, "prompts": {}},
                    "serverInfo": {"name": "home-assistant", "version": ""},
                }
            }
        if method == "tools/list":
            page = int(str(params.get("cursor") or 0))
            result: dict[str, object] = {"tools": [_tool(f"tool_{page}")]}
            if page + 1 < self.pages:
                result["nextCursor"] = str(page + 1)
            return {"result": result}
        if method == "tools/call":
            return await self._call(params)
        if method == "prompts/list":
            return {"result": {"prompts": [{"name": self.prompt}]}}
        if method == "prompts/get" and params["name"] == self.prompt:
            content = {"type": "text", "text": self.told}
            return {"result": {"messages": [{"role": "assistant", "content": content}]}}
        if method == "resources/read" and params["uri"] == "home://now":
            contents = {"uri": "home://now", "mimeType": "text/plain", "text": "The lamp is on."}
            return {"result": {"contents": [contents]}}
        return {"error": {"code": -32601, "message": "Method not found", "data": method}}

    async def _call(self, params: dict[str, object]) -> dict[str, object]:
        arguments = params.get("arguments")
        assert isinstance(arguments, dict)
        self.calls.append((str(params["name"]), arguments))
        meta = params.get("_meta")
        self.metas.append(meta if isinstance(meta, dict) else {})
        if self.hang:
            await self.over.wait()
        if self.garbage:
            return {"result": {"content": "nonsense"}}
        if arguments.get("fail"):
            text = "Error calling tool: No entities matched the name"
            return {"result": {"content": [{"type": "text", "text": text}], "isError": True}}
        content = [
            {"type": "text", "text": json.dumps(arguments)},
            {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        ]
        return {"result": {"content": content, "isError": False}}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        app = Starlette(routes=[Route("/{path:path}", self.answer, methods=["POST", "GET"])])
        async with serving(app, "127.0.0.1", 0) as port:
            self.url = f"http://127.0.0.1:{port}"
            try:
                yield
            finally:
                self.over.set()
                self.hang_up()

    def hang_up(self) -> None:
        """End all event streams, like a server that shuts down."""
        for stream in self.streams:
            stream.put_nowait(None)


def _tool(name: str) -> dict[str, object]:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    return {
        "name": name,
        "title": "A tool",
        "description": "Does it",
        "inputSchema": schema,
        "annotations": {"readOnlyHint": True},
    }
