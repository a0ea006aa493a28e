"""Hearth as a server of the Model Context Protocol: `/mcp`, streamable HTTP, without sessions.

Every POST is served by itself, at whatever protocol version it names (the mcp SDK knows those from
2024-11-05 to 2026-07-28), so that a restart of Hearth is nothing that a client must notice.
"""

import json
import logging
from collections.abc import Collection
from contextlib import AsyncExitStack
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import ValidationError
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as Asgi

from integrations.causes import where_raised
from integrations.mcp_server.sign_in import sign_in_routes
from integrations.mcp_server.tools import Offered, Reply, offered
from integrations.web.box import Box, NotAnnounced, NotKept, NotPossible, Unknown
from integrations.web.guard import Guard
from integrations.web.problems import BROKE, MAX_BODY, Busy, fault_sentence
from integrations.web.sessions import Caller

PATH = "/mcp"
_INSTRUCTIONS = (
    "This is Hearth, the voice assistant in a home: it speaks and listens in one room, and knows "
    "the home's devices. People hear what you announce or ask, so do it for them alone."
)
_STREAM = "text/event-stream"
_REFUSALS = (Busy, NotAnnounced, NotKept, NotPossible, Unknown)  # each tells a sentence
# Which names we answer to is `web.hosts.Fronted`'s business, for all paths alike.
_HOSTS = TransportSecuritySettings(enable_dns_rebinding_protection=False)

_log = logging.getLogger(__name__)
_Context = ServerRequestContext[dict[str, Any], Request]


class McpServer:
    """Enter it before the route is served, and leave it after."""

    def __init__(
        self,
        box: Box,
        guard: Guard,
        version: str = "",
        *,
        turns: bool = False,
        callbacks: Collection[str] = (),
    ) -> None:
        """`turns`: `get_last_turns` is offered; `version`: Hearth's own; `callbacks`: see
        `sign_in_routes`."""
        self._tools = {tool.name: tool for tool in offered(box, turns=turns)}
        self._guard = guard
        self._callbacks = callbacks
        server: Server[dict[str, Any]] = Server(
            "hearth",
            version=version,
            title="Hearth",
            instructions=_INSTRUCTIONS,
            on_list_tools=self._list,
            on_call_tool=self._call,
        )
        # A stream is kept open by comments while a person thinks about an answer; a client that
        # takes JSON alone gets that.
        self._streamed, self._plain = (
            StreamableHTTPSessionManager(
                server,
                json_response=plain,
                stateless=True,
                security_settings=_HOSTS,
                max_request_body_size=MAX_BODY,
            )
            for plain in (False, True)
        )
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self._streamed.run())
        await self._stack.enter_async_context(self._plain.run())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stack.aclose()

    def routes(self) -> list[Route]:
        """The path, behind the guard, and those by which Home Assistant signs in.

        A GET or DELETE, which only sessions have, is a 405.
        """
        endpoint = _Endpoint(self._guard.around(self._serve))
        signing_in = sign_in_routes(self._guard, self._callbacks)
        return [Route(PATH, endpoint, methods=["POST"]), *signing_in]

    async def _serve(self, asgi: Asgi, receive: Receive, send: Send) -> None:
        accepts = Request(asgi).headers.get("accept", "")
        manager = self._streamed if _STREAM in accepts else self._plain
        await manager.handle_request(asgi, receive, send)

    async def _list(
        self, context: _Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        caller = _caller(context)
        tools = [_as_mcp(tool) for tool in self._tools.values() if caller.may(tool.scope)]
        return types.ListToolsResult(tools=tools)

    async def _call(
        self, context: _Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        reply = await self._reply(params.name, params.arguments or {}, _caller(context))
        content = types.TextContent(type="text", text=reply.text)
        return types.CallToolResult(
            content=[content], structured_content=reply.data or None, is_error=reply.failed
        )

    async def _reply(self, name: str, arguments: dict[str, Any], caller: Caller) -> Reply:
        """What the tool gives, or one sentence on why not."""
        tool = self._tools.get(name)
        if tool is None:
            return _refused("There is no such tool.")
        if not caller.may(tool.scope):
            return _refused(f"That needs a token with the scope {tool.scope}.")
        try:
            wanted = tool.takes.model_validate_json(json.dumps(arguments))
        except ValidationError as error:
            return _refused(fault_sentence(error, tool.takes))
        try:
            return await tool.run(wanted, caller)
        except _REFUSALS as error:
            return _refused(str(error))
        except Exception as error:
            # Not the error's own words: they may quote what was sent.
            where = where_raised(error)
            _log.error("the tool %s broke with %s in %s", tool.name, type(error).__name__, where)
            return _refused(BROKE)


class _Endpoint:
    """An ASGI application as an object: of a function a route would make a request's handler."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, asgi: Asgi, receive: Receive, send: Send) -> None:
        await self._app(asgi, receive, send)


def _caller(context: _Context) -> Caller:
    """Who asks, as the journal names it: "mcp:kitchen" for the token "kitchen"."""
    assert context.request is not None
    caller: Caller = context.request.state.caller
    return replace(caller, name=f"mcp:{caller.name.rpartition(':')[2]}")


def _as_mcp(tool: Offered) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.schema,
        annotations=types.ToolAnnotations(
            read_only_hint=tool.reads_only,
            destructive_hint=False,
            idempotent_hint=tool.reads_only,
            open_world_hint=False,
        ),
    )


def _refused(sentence: str) -> Reply:
    return Reply(sentence, {}, failed=True)
