"""Run another package's tool converter in its own environment, without Hearth.

    python _converters.py pipecat-ai|livekit-agents|google-adk|pydantic-ai-slim|google-genai

Each line that comes in is a list of tools as an MCP server lists them, with `passes`: 0 asks what
is declared of each, a number how long all of them together take, so many times. Each answer is one
line of JSON. What is declared is what google-genai would send: its session is opened, with a socket
that only notes the set-up.
"""

import asyncio
import importlib
import importlib.metadata
import json
import logging
import os
import sys
import time
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

MODEL = "gemini-3.8-live"
NOBODY = "http://127.0.0.1:9/mcp"  # no converter calls its server

Tool = dict[str, Any]
Tools = list[Any]
Convert = Callable[[list[Tool]], Tools]


def part(module: str, name: str) -> Any:
    """Import an object of a package that is not installed where this file is type-checked."""
    return getattr(importlib.import_module(module), name)


def pipecat() -> Convert:
    """Convert with MCPClient's schema for each tool, then the adapter of GeminiLiveLLMService."""
    client = part("pipecat.services.mcp_service", "MCPClient")(
        part("mcp.client.session_group", "StreamableHttpParameters")(url=NOBODY)
    )
    schemas = part("pipecat.adapters.llm.schemas.tools_schema", "ToolsSchema")
    adapter = part("pipecat.adapters.llm.services.gemini_live_adapter", "GeminiLiveLLMAdapter")

    def convert(tools: list[Tool]) -> Tools:
        functions = [
            client._convert_mcp_schema_to_pipecat(
                one["name"],
                {"description": one["description"], "input_schema": one["inputSchema"]},
            )
            for one in tools
        ]
        return list(adapter().from_standard_tools(schemas(standard_tools=functions)))

    return convert


def livekit() -> Convert:
    """Convert with MCPServerHTTP's function tools, then as RealtimeModel's session is opened."""
    server = part("livekit.agents.llm.mcp", "MCPServerHTTP")(NOBODY)
    options = part("livekit.agents.llm.mcp", "_resolve_tool_options")
    context = part("livekit.agents.llm", "ToolContext")
    config = part("livekit.plugins.google.utils", "create_tools_config")

    def convert(tools: list[Tool]) -> Tools:
        functions = [
            server._make_function_tool(
                one["name"], one["description"], one["inputSchema"], None, options=options()
            )
            for one in tools
        ]
        made, _ = config(context(functions), use_parameters_json_schema=False)
        return list(made)

    return convert


def adk() -> Convert:
    """Convert with McpTool's declaration; the feature that sends the schema unchanged is off."""
    os.environ["ADK_DISABLE_JSON_SCHEMA_FOR_FUNC_DECL"] = "1"
    tool = part("google.adk.tools.mcp_tool.mcp_tool", "McpTool")
    listed = part("mcp.types", "Tool")
    types: Any = importlib.import_module("google.genai.types")

    def convert(tools: list[Tool]) -> Tools:
        declared = [
            tool(mcp_tool=listed(**one), mcp_session_manager=None)._get_declaration()
            for one in tools
        ]
        return [types.Tool(function_declarations=declared)]

    return convert


def pydantic_ai() -> Convert:
    """Convert as GoogleRealtimeModel does with a tool's definition."""
    declared = part("pydantic_ai.realtime.google", "_tool_def_to_genai")
    definition = part("pydantic_ai.tools", "ToolDefinition")
    types: Any = importlib.import_module("google.genai.types")

    def convert(tools: list[Tool]) -> Tools:
        functions = [
            declared(
                definition(
                    name=one["name"],
                    description=one["description"],
                    parameters_json_schema=one["inputSchema"],
                )
            )
            for one in tools
        ]
        return [types.Tool(function_declarations=functions)]

    return convert


def genai() -> Convert:
    """Return MCP's tools unchanged: `live.connect` converts them itself."""
    listed = part("mcp.types", "Tool")
    return lambda tools: [listed(**one) for one in tools]


class Socket:
    """Records the set-up, and answers that it is complete."""

    def __init__(self) -> None:
        self.setup: dict[str, Any] = {}

    async def send(self, text: str) -> None:
        self.setup = json.loads(text)["setup"]

    async def recv(self, decode: bool = True) -> bytes:
        return b'{"setupComplete": {}}'


class Session:
    """google-genai's own way from tools to the wire."""

    def __init__(self) -> None:
        self._socket = Socket()
        self._live: Any = importlib.import_module("google.genai.live")
        self._types: Any = importlib.import_module("google.genai.types")
        self._client = part("google.genai", "Client")(api_key="none")

    @asynccontextmanager
    async def _connect(self, *_: Any, **__: Any) -> AsyncIterator[Socket]:
        yield self._socket

    async def sent(self, tools: Tools) -> list[dict[str, Any]]:
        """Return the function declarations that are sent."""
        config = self._types.LiveConnectConfig()
        config.tools = tools
        real, self._live.ws_connect = self._live.ws_connect, self._connect
        try:
            async with self._client.aio.live.connect(model=MODEL, config=config):
                found = self._socket.setup.get("tools", [])
        finally:
            self._live.ws_connect = real
        return [one for tool in found for one in tool["functionDeclarations"]]


class Reports(logging.Handler):
    """Collects warnings, however they are given."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())

    def listen(self) -> None:
        """Listen to logging, warnings and, if it is used, loguru."""
        logging.getLogger().addHandler(self)
        logging.captureWarnings(True)
        warnings.simplefilter("always")
        try:
            loguru = part("loguru", "logger")
        except ImportError:
            return
        loguru.remove()
        loguru.add(self.lines.append, level="WARNING", format="{message}")


async def declared(convert: Convert, session: Session, reports: Reports, tool: Tool) -> Any:
    """Return the declaration of one tool, or the error, with its warnings."""
    reports.lines.clear()
    try:
        sent = await session.sent(convert([tool]))
        answer: dict[str, Any] = {"declaration": sent[0]}
    except Exception as error:  # whatever it is: that is what is asked
        answer = {"error": f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"}
    return {**answer, "reports": [str(line) for line in reports.lines]}


async def taken(convert: Convert, session: Session, tools: list[Tool], passes: int) -> list[float]:
    """Return the milliseconds of CPU of each pass."""
    found = []
    for _ in range(passes):
        began = time.process_time()
        await session.sent(convert(tools))
        found.append((time.process_time() - began) * 1000)
    return found


async def main(package: str) -> None:
    """Answer line by line until there are none."""
    out, sys.stdout = sys.stdout, sys.stderr  # what a package prints is no answer
    makers = {
        "pipecat-ai": pipecat,
        "livekit-agents": livekit,
        "google-adk": adk,
        "pydantic-ai-slim": pydantic_ai,
        "google-genai": genai,
    }
    reports = Reports()
    convert, session = makers[package](), Session()
    reports.listen()
    versions = {name: importlib.metadata.version(name) for name in (package, "google-genai", "mcp")}
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["passes"]:
            answer: Any = await taken(convert, session, asked["tools"], asked["passes"])
        else:
            answer = [await declared(convert, session, reports, one) for one in asked["tools"]]
        print(json.dumps({"versions": versions, "answer": answer}), file=out, flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
