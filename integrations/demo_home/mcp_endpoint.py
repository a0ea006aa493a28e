"""Model Context Protocol over stateless HTTP, with Home Assistant 2026.11's status codes and
messages."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import mcp_types as types
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.runner import serve_one
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.jsonrpc_dispatcher import handler_exception_to_error_data
from mcp.shared.message import MessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from integrations.demo_home.context import prompt, shown, snapshot
from integrations.demo_home.house import NOWHERE, CallerPlace, DemoHouse
from integrations.demo_home.intents import Tool
from integrations.demo_home.tools import ToolError, call_tool, menu

JSON = "application/json"
PROMPT = "Device control"
SNAPSHOT = "homeassistant://assist/context-snapshot"
DEVICE_KEY = "io.home-assistant/device_id"  # in _meta, since 2026.10

Heard = Callable[[str, Mapping[str, Any]], None]


@dataclass
class _NoWayBack:
    """The dispatch context of one POST, in which the server can send nothing but the response."""

    request_id: types.RequestId
    transport: TransportContext = field(
        default_factory=lambda: TransportContext(kind="streamable-http", can_send_request=False)
    )
    message_metadata: MessageMetadata = None
    can_send_request: bool = False
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        raise NoBackChannelError(method)

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        """Drop the notification, because a stateless response contains only one message."""

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Drop the progress report, because a stateless response contains only one message."""


class McpEndpoint:
    """The handler for `/api/mcp` and `/api/mcp/assist`. It calls `heard` with each tool call."""

    def __init__(self, house: DemoHouse, heard: Heard) -> None:
        self._house = house
        self._heard = heard
        self._server: Server[dict[str, Any]] = Server(
            "home-assistant",
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_list_resources=self._list_resources,
            on_read_resource=self._read_resource,
        )

    async def answer(self, request: Request) -> Response:
        """Handle a POST whose token has already been checked."""
        if JSON not in request.headers.get("accept", ""):
            return PlainTextResponse(f"Client must accept {JSON}", 400)
        content_type = request.headers.get("content-type", "").partition(";")[0].strip()
        if content_type.lower() != JSON:
            return PlainTextResponse(f"Content-Type must be {JSON}", 400)
        try:
            message = types.jsonrpc_message_adapter.validate_json(await request.body())
        except ValueError:
            return PlainTextResponse("Request must be a JSON-RPC message", 400)
        if not isinstance(message, types.JSONRPCRequest):
            return Response(status_code=202)
        reply = await self._reply(message, request.headers.get("mcp-protocol-version"))
        body = json.dumps(reply.model_dump(mode="json", by_alias=True, exclude_none=True))
        return Response(body, media_type=f"{JSON}; charset=utf-8")

    async def _reply(
        self, message: types.JSONRPCRequest, version: str | None
    ) -> types.JSONRPCResponse | types.JSONRPCError:
        meta = (message.params or {}).get("_meta")
        envelope = meta if isinstance(meta, dict) else {}
        connection = Connection.from_envelope(
            version if version in KNOWN_PROTOCOL_VERSIONS else LATEST_HANDSHAKE_VERSION,
            envelope.get(types.CLIENT_INFO_META_KEY),
            envelope.get(types.CLIENT_CAPABILITIES_META_KEY),
        )
        try:
            result = await serve_one(
                self._server,
                _NoWayBack(message.id),
                message.method,
                message.params,
                connection=connection,
                lifespan_state={},
            )
        except Exception as error:
            # Any exception in a handler must become an error response. Code 0 is what the SDK's own
            # dispatcher uses for an unknown exception.
            data = handler_exception_to_error_data(error)
            unknown = types.ErrorData(code=0, message=str(error))
            return types.JSONRPCError(jsonrpc="2.0", id=message.id, error=data or unknown)
        return types.JSONRPCResponse(jsonrpc="2.0", id=message.id, result=result)

    def _place(self, ctx: ServerRequestContext[Any, Any]) -> CallerPlace:
        device_id = (ctx.meta or {}).get(DEVICE_KEY)
        if device_id is not None and not isinstance(device_id, str):
            raise TypeError("device_id must be a string")
        if device_id is None:
            return NOWHERE
        return self._house.place_of(device_id)

    async def _list_tools(
        self, ctx: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        place = self._place(ctx)
        return types.ListToolsResult(tools=[_as_mcp(tool) for tool in menu(self._house, place)])

    async def _call_tool(
        self, ctx: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        arguments = params.arguments or {}
        place = self._place(ctx)
        self._heard(params.name, arguments)
        try:
            result = call_tool(self._house, params.name, arguments, place)
        except ToolError as error:
            return _text_result(f"Error calling tool: {error}", is_error=True)
        return _text_result(json.dumps(result), is_error="error" in result)

    async def _list_prompts(
        self, ctx: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(name=PROMPT, description="What a model must know about this home")
            ]
        )

    async def _get_prompt(
        self, ctx: ServerRequestContext[Any, Any], params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        if params.name != PROMPT:
            raise ValueError(f"Unknown prompt: {params.name}")
        content = types.TextContent(type="text", text=prompt(self._house, self._place(ctx)))
        return types.GetPromptResult(
            description="What a model must know about this home",
            messages=[types.PromptMessage(role="assistant", content=content)],
        )

    async def _list_resources(
        self, ctx: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        resource = types.Resource(
            uri=SNAPSHOT,
            name="assist_context_snapshot",
            title="Assist context snapshot",
            description="The current states, as returned by the live context tool.",
            mime_type="text/plain",
        )
        return types.ListResourcesResult(resources=[resource])

    async def _read_resource(
        self, ctx: ServerRequestContext[Any, Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        if str(params.uri) != SNAPSHOT:
            raise ValueError(f"Unknown resource: {params.uri}")
        text = snapshot(self._house, shown(self._house))
        contents = types.TextResourceContents(uri=SNAPSHOT, mime_type="text/plain", text=text)
        return types.ReadResourceResult(contents=[contents])


def _as_mcp(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=tool.hints.read_only,
            destructive_hint=tool.hints.destructive,
            idempotent_hint=tool.hints.idempotent,
            open_world_hint=tool.hints.open_world,
        ),
    )


def _text_result(text: str, *, is_error: bool) -> types.CallToolResult:
    content = types.TextContent(type="text", text=text)
    return types.CallToolResult(content=[content], is_error=is_error)
