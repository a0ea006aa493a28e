"""Hearth as a server of the Model Context Protocol: `/mcp`, streamable HTTP, without sessions.

Every POST is served by itself, at whatever protocol version it names (the mcp SDK knows those from
2024-11-05 to 2026-07-28), so that a restart of Hearth is nothing that a client must notice.
"""

import json
import logging
import secrets
from collections.abc import Collection
from contextlib import AsyncExitStack
from dataclasses import replace
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlencode

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import ValidationError
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as Asgi

from integrations.errors import where_raised
from integrations.mcp_server.tools import Offered, ToolReply, offered
from integrations.web.box import Box, Busy, Caller, NotAnnounced, NotKept, NotPossible, Unknown
from integrations.web.guard import Guard
from integrations.web.problems import (
    BROKE,
    MAX_BODY,
    Refused,
    check_length,
    fault_sentence,
    problem,
)

AUTHORIZE, TOKEN = "/mcp/authorize", "/mcp/token"
METADATA = "/.well-known/oauth-authorization-server"  # with the path of what it guards behind it
# Where Home Assistant has people sent back (`helpers/config_entry_oauth2_flow.py`): by way of its
# own site, or without its integration `my` to this path below the address that the browser has.
MY_HOME_ASSISTANT = "https://my.home-assistant.io/redirect/oauth"
CALLBACK = "/auth/external/callback"
_ONCE = ("response_type", "redirect_uri", "state")  # parameters (RFC 6749, 3.1)
_LONGEST_STATE = 4_000  # characters; Home Assistant's is a signed object
_HOLDS_S = 30 * 24 * 3600  # after which the secret is asked for again
PATH = "/mcp"
_INSTRUCTIONS = (
    "This is Hearth, the voice assistant in a home: it speaks and listens in one room, and knows "
    "the home's devices. People hear what you announce or ask, so do it for them alone."
)
_STREAM = "text/event-stream"
_REFUSALS = (Busy, NotAnnounced, NotKept, NotPossible, Unknown)  # each tells a sentence
# Which names we answer to is `web.pages.Fronted`'s business, for all paths alike.
_HOSTS = TransportSecuritySettings(enable_dns_rebinding_protection=False)
_Context = ServerRequestContext[dict[str, Any], Request]

_log = logging.getLogger(__name__)


def sign_in_routes(guard: Guard, callbacks: Collection[str] = ()) -> list[Route]:
    """Routes by which Home Assistant's client of the Model Context Protocol comes to its token.

    That client takes no token by hand: it knows OAuth 2 with a client id and secret, which a person
    types into Home Assistant, and nothing else (`components/mcp`, 2026.11). So the secret is the
    token. The browser's way round is answered at once and proves nothing; the secret, which Home
    Assistant sends to the last of these paths itself, does. All but the last need no token and tell
    nothing. Formats: RFC 6749 and RFC 8414.

    `callbacks`: where a browser may be sent back beside My Home Assistant, compared sign by sign.
    """
    sign_in = _SignIn(guard, frozenset({MY_HOME_ASSISTANT, *callbacks}))
    return [
        Route(METADATA, sign_in.metadata, methods=["GET"]),
        Route(f"{METADATA}/mcp", sign_in.metadata, methods=["GET"]),
        Route(AUTHORIZE, sign_in.authorize, methods=["GET"]),
        Route(TOKEN, sign_in.token, methods=["POST"]),
    ]


class _SignIn:
    def __init__(self, guard: Guard, callbacks: frozenset[str]) -> None:
        self._guard = guard
        self._callbacks = callbacks

    async def metadata(self, request: Request) -> Response:
        base = str(request.base_url).rstrip("/")
        return JSONResponse(
            {
                "issuer": base,
                "authorization_endpoint": f"{base}{AUTHORIZE}",
                "token_endpoint": f"{base}{TOKEN}",
                "response_types_supported": ["code"],
                "grant_types_supported": ["authorization_code", "refresh_token"],
                "token_endpoint_auth_methods_supported": ["client_secret_post"],
            }
        )

    async def authorize(self, request: Request) -> Response:
        """Back to Home Assistant at once. Whatever is wrong is said here, and sends nobody on."""
        given = request.query_params
        back, state = given.get("redirect_uri", ""), given.get("state", "")
        if any(len(given.getlist(name)) > 1 for name in _ONCE):
            return problem(400, "bad_request", "Each parameter may be given once.")
        if given.get("response_type") != "code":
            message = "Only Home Assistant signs in here; other programs send their token."
            return problem(400, "bad_request", message)
        if back not in self._callbacks:
            message = (
                "redirect_uri is none of the addresses that a browser is sent back to; if it is "
                "your Home Assistant's, put the whole of it into http.mcp_callbacks."
            )
            return problem(400, "bad_request", message)
        if len(state) > _LONGEST_STATE:
            return problem(400, "bad_request", "state is too long.")
        query = urlencode({"code": secrets.token_urlsafe(8), "state": state})
        return RedirectResponse(f"{back}?{query}", status_code=302)

    async def token(self, request: Request) -> Response:
        """The client's secret, which must be a token of ours, as its access token."""
        try:
            check_length(request)
            form = parse_qs((await request.body()).decode("utf-8", "replace"))
            secret = form.get("client_secret", [""])[0]
            self._guard.admit(_sent_with(request, secret), None)
        except Refused as refused:
            if refused.status != 401:
                return refused.answer()
            _log.warning("a program tried to sign in with a client secret that is no token")
            return JSONResponse({"error": "invalid_client"}, status_code=401)
        return JSONResponse(
            {
                "access_token": secret,
                "token_type": "Bearer",
                "expires_in": _HOLDS_S,
                "refresh_token": "by-client-secret",  # that is what it is asked for again
            }
        )


def _sent_with(request: Request, token: str) -> HTTPConnection:
    """The same request as if it had this token in its header: one guard looks at all of them."""
    headers = [row for row in request.scope["headers"] if row[0] != b"authorization"]
    header = (b"authorization", f"Bearer {token}".encode("utf-8", "replace"))
    return HTTPConnection({**request.scope, "headers": [*headers, header]})


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

    async def _reply(self, name: str, arguments: dict[str, Any], caller: Caller) -> ToolReply:
        """Return the tool's result, or one sentence on why not."""
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
    """Return the caller as the journal names it: "mcp:kitchen" for the token "kitchen"."""
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


def _refused(sentence: str) -> ToolReply:
    return ToolReply(sentence, {}, failed=True)
