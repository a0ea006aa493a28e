"""Serve Hearth's tools over the Model Context Protocol: stateless streamable HTTP at `/mcp`.

Every POST is handled separately, with the protocol version that it names (the mcp SDK supports
2024-11-05 to 2026-07-28), so a client can go on unchanged after a restart of Hearth.
"""

import json
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Annotated, Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import BaseModel, Field, ValidationError
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as Asgi

from integrations.errors import where_raised
from integrations.mcp_server.sign_in import sign_in_routes
from integrations.owner import Opened
from integrations.web.box import (
    Box,
    Busy,
    Caller,
    NotAnnounced,
    NotKept,
    NotPossible,
    Scope,
    Unknown,
)
from integrations.web.guard import Guard
from integrations.web.problems import (
    BROKE,
    MAX_BODY,
    fault_sentence,
)
from integrations.web.requests import (
    AnnounceRequest,
    AskRequest,
    QuestionRequest,
    TimerRequest,
    Wish,
)

PATH = "/mcp"
_INSTRUCTIONS = (
    "This is Hearth, the voice assistant of a home: it speaks and listens in one room, and "
    "knows the home's devices. People hear what you announce or ask, so do so only when it "
    "is meant for them."
)
_STREAM = "text/event-stream"
_REFUSALS = (Busy, NotAnnounced, NotKept, NotPossible, Unknown)  # with messages for people
# `web.pages.Fronted` checks host names for all paths.
_HOSTS = TransportSecuritySettings(enable_dns_rebinding_protection=False)
_Context = ServerRequestContext[dict[str, Any], Request]

_DEFINITIONS = "$defs"
_REFERENCE = "#/$defs/"
# pydantic's own keys, which our descriptions replace
_LEFT_OUT = frozenset({"title", "description", "pattern"})
_SPOKEN = {
    "preannounce": "Play a short tone first.",
    "volume": "0 to 1, relative to the voice's own loudness; default: as set.",
    "priority": "high is said before other waiting announcements, low after them.",
    "expire_s": "Seconds after which the announcement is dropped if it was not said.",
    "language": 'Such as "en"; default: detected from the text.',
}

# The fields of a turn that are returned. They are few, because agents pay for every word.
_OF_A_TURN = ("turn_id", "started_at", "source", "caller", "language", "heard", "answer", "error")

_log = logging.getLogger(__name__)


def tool_schema(model: type[BaseModel], told: Mapping[str, str]) -> dict[str, Any]:
    """Return a simplified JSON Schema of the model's fields, with the descriptions in `told`.

    Raises KeyError for a field without a description, so that a new field is not exposed by
    accident.
    """
    # With references, titles and `null` for optional fields, models call a tool less reliably, and
    # some clients refuse it. Patterns use JavaScript syntax, which Home Assistant supports only in
    # part.
    whole = model.model_json_schema()
    definitions = whole.get(_DEFINITIONS, {})
    properties = {
        name: {**_plain(field, definitions), "description": told[name]}
        for name, field in whole["properties"].items()
    }
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    required = whole.get("required")
    return {**schema, "required": required} if required else schema


def _plain(schema: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_plain(one, definitions) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _plain(definitions[schema["$ref"].removeprefix(_REFERENCE)], definitions)
    if "anyOf" in schema:
        kinds = [one for one in schema["anyOf"] if one != {"type": "null"}]
        if len(kinds) == 1:
            return _plain(kinds[0], definitions)
    plain = {}
    for key, value in schema.items():
        if key == "properties":
            plain[key] = {name: _plain(one, definitions) for name, one in value.items()}
        elif key not in _LEFT_OUT and not (key == "default" and value is None):
            plain[key] = _plain(value, definitions)
    return plain


@dataclass(frozen=True, slots=True)
class ToolReply:
    """A tool's result, as text for a model and as data for a program."""

    text: str
    data: dict[str, Any]
    failed: bool = False


class LastTurnsRequest(Wish):
    """The arguments of the tool `get_last_turns`."""

    limit: Annotated[int, Field(ge=1, le=50)] = 5


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as described to models, and the token scope that it requires."""

    name: str
    title: str
    description: str
    scope: Scope
    takes: type[BaseModel]
    words: Mapping[str, str]  # description of each field in `takes`
    run: Callable[[Box, Any, Caller], Awaitable[ToolReply]]  # gets an instance of `takes`
    reads_only: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        return tool_schema(self.takes, self.words)


async def _ask(box: Box, wanted: AskRequest, caller: Caller) -> ToolReply:
    turn = await box.ask(wanted, caller)
    error: Mapping[str, Any] | None = turn.get("error")
    keys = ("turn_id", "answer", "tool_calls", "not_done", "error")
    data = {key: turn.get(key) for key in keys}
    text = turn.get("answer") or (error or {}).get("message") or "There is no answer."
    return ToolReply(str(text), data, failed=error is not None)


async def _announce(box: Box, wanted: AnnounceRequest, caller: Caller) -> ToolReply:
    name = await box.announce(wanted, caller)
    return ToolReply("The text will be spoken as soon as nobody is talking.", {"id": name})


async def _question(box: Box, wanted: QuestionRequest, caller: Caller) -> ToolReply:
    answer = await box.question(wanted, caller)
    return _told(answer.model_dump(mode="json"))


async def _timer(box: Box, wanted: TimerRequest, caller: Caller) -> ToolReply:
    return _told(dict(await box.set_timer(wanted, caller)))


async def _turns(box: Box, wanted: LastTurnsRequest, caller: Caller) -> ToolReply:
    turns = await box.turns(wanted.limit)
    return _told({"turns": [{key: turn.get(key) for key in _OF_A_TURN} for turn in turns]})


def _told(data: dict[str, Any]) -> ToolReply:
    return ToolReply(json.dumps(data, ensure_ascii=False), data)


TOOLS = (
    Tool(
        "ask",
        "Ask Hearth",
        "Send one request in plain words to Hearth, this home's voice assistant, as if it "
        "were typed, and return its answer; nothing is spoken in the room. It can answer "
        "questions about the home and do everyday things there. Anything that needs a "
        "person's confirmation is not done, and nobody is asked for it.",
        "ask",
        AskRequest,
        {"text": "The request, as a person would say it."},
        _ask,
    ),
    Tool(
        "announce",
        "Announce",
        "Make the voice assistant say a text aloud in its room, or play a sound, as soon as "
        "nobody is talking with it. Returns without waiting for that.",
        "speak",
        AnnounceRequest,
        {
            **_SPOKEN,
            "text": "The text to say, word for word. Give this or media.",
            "media": "A sound to play instead: a file's name, or Home Assistant media.",
            "persist": "Still say it after a restart.",
        },
        _announce,
    ),
    Tool(
        "ask_question",
        "Ask a person",
        "Make the voice assistant ask a question aloud in its room, listen for the answer "
        "and return it. The result is answered, no_answer, unclear, or busy; answered has "
        "the id of the expected answer, what was said, and its values. A tone tells people "
        "that the microphone is open. Takes as long as they take to answer.",
        "speak",
        QuestionRequest,
        {
            **_SPOKEN,
            "question": "The question, word for word.",
            "answers": 'Expected answers, each with an id and sentences such as "yes [please]" or '
            '"play {song}". Default: any words are accepted.',
            "schema": "JSON Schema of an object to fill from a free answer.",
            "timeout_s": "Seconds to keep the microphone open.",
        },
        _question,
    ),
    Tool(
        "set_timer",
        "Set a timer",
        "Set a timer, an alarm or a reminder on the voice assistant, or a request that it "
        "asks itself at a given time and answers aloud. It rings there, even after a restart.",
        "speak",
        TimerRequest,
        {
            "kind": "A timer runs for a number of seconds, the others are due at a time; a "
            "reminder says its text, a request is a sentence to be answered.",
            "seconds": "Seconds from now.",
            "at": 'Time of day: "07:30", or a date and time such as 2026-12-24T18:00.',
            "sun": "Sunrise or sunset, instead of a time.",
            "offset_min": "Minutes after sunrise or sunset; negative: before.",
            "name": "Its name, such as pasta.",
            "text": "The reminder's text, or the request's question.",
            "repeat": "Weekdays on which it repeats.",
            "language": 'Such as "en".',
        },
        _timer,
    ),
    Tool(
        "get_last_turns",
        "Last turns",
        "List what was said to the voice assistant recently and what it answered, newest first.",
        "read",
        LastTurnsRequest,
        {"limit": "Maximum number of turns."},
        _turns,
        reads_only=True,
    ),
)


class McpServer(Opened):
    """The MCP server. Enter its context before serving its routes, and leave it afterwards.

    `turns` enables `get_last_turns`. `version` is Hearth's version. For `callbacks`, see
    `sign_in_routes`.
    """

    def __init__(
        self,
        box: Box,
        guard: Guard,
        version: str = "",
        *,
        turns: bool = False,
        callbacks: Collection[str] = (),
    ) -> None:
        self._box = box
        self._tools = {tool.name: tool for tool in TOOLS if turns or tool.name != "get_last_turns"}
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
        # Comments keep a stream open while a person thinks about an answer. A client that accepts
        # only JSON gets plain JSON.
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

    async def _enter(self, stack: AsyncExitStack) -> None:
        managers = AsyncExitStack()
        stack.push_async_callback(managers.aclose)  # their task groups would wrap our errors
        await managers.enter_async_context(self._streamed.run())
        await managers.enter_async_context(self._plain.run())

    def routes(self) -> list[Route]:
        """Return the guarded MCP route and the sign-in routes for Home Assistant."""
        endpoint = _Endpoint(self._guard.around(self._serve))
        signing_in = sign_in_routes(self._guard, self._callbacks)
        # GET and DELETE, which MCP uses only for sessions, get status 405.
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
        tool = self._tools.get(name)
        if tool is None:
            return _refused("There is no such tool.")
        if not caller.may(tool.scope):
            return _refused(f"This tool needs a token with the scope {tool.scope}.")
        try:
            wanted = tool.takes.model_validate_json(json.dumps(arguments))
        except ValidationError as error:
            return _refused(fault_sentence(error, tool.takes))
        try:
            return await tool.run(self._box, wanted, caller)
        except _REFUSALS as error:
            return _refused(str(error))
        except Exception as error:
            # Don't log the error's text, because it may quote what was sent.
            where = where_raised(error)
            _log.error("the tool %s failed with %s in %s", tool.name, type(error).__name__, where)
            return _refused(BROKE)


class _Endpoint:
    def __init__(self, app: ASGIApp) -> None:
        # Route treats functions as request handlers, so the application is wrapped in an object.
        self._app = app

    async def __call__(self, asgi: Asgi, receive: Receive, send: Send) -> None:
        await self._app(asgi, receive, send)


def _caller(context: _Context) -> Caller:
    assert context.request is not None
    caller: Caller = context.request.state.caller
    # In the journal, the caller is "mcp:kitchen" for the token "kitchen".
    return replace(caller, name=f"mcp:{caller.name.rpartition(':')[2]}")


def _as_mcp(tool: Tool) -> types.Tool:
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
