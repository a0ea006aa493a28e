"""A small MCP server on loopback that answers like Home Assistant: stateless plain JSON."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from integrations.mcp.servers import ServerSpec, home_assistant_server
from integrations.serving import serving


class LoopbackServer:
    """Scripted by its fields; `calls` are the tools/call requests that arrived."""

    def __init__(self) -> None:
        self.token = "good"
        self.paths = {"/api/mcp/assist"}
        self.pages = 1
        self.status = 200
        self.hang = False
        self.garbage = False
        self.calls: list[tuple[str, dict[str, object]]] = []
        self.metas: list[dict[str, object]] = []
        self.url = ""
        self.over = asyncio.Event()

    def spec(self) -> ServerSpec:
        return home_assistant_server(self.url, self.token)

    async def answer(self, request: Request) -> Response:
        if request.headers.get("authorization") != f"Bearer {self.token}":
            return PlainTextResponse("401: Unauthorized", 401)
        if request.url.path not in self.paths:
            return PlainTextResponse("404: Not Found", 404)
        if self.status != 200:
            return PlainTextResponse("no", self.status)
        message = json.loads(await request.body())
        if "id" not in message:
            return Response(status_code=202)
        reply = await self._result(message["method"], message.get("params") or {})
        return JSONResponse({"jsonrpc": "2.0", "id": message["id"], **reply})

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
            return {"result": {"prompts": [{"name": "Device control"}]}}
        if method == "prompts/get":
            content = {"type": "text", "text": "The house has a lamp."}
            return {"result": {"messages": [{"role": "assistant", "content": content}]}}
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


def _tool(name: str) -> dict[str, object]:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    return {
        "name": name,
        "title": "A tool",
        "description": "Does it",
        "inputSchema": schema,
        "annotations": {"readOnlyHint": True},
    }
