"""Doubles around the toolbox: servers, the house and the journal."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from assistant.domain.clock import Clock
from assistant.domain.tool_call import Tier
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.protocol import BuiltIn, BuiltInRequest, BuiltInResult
from assistant.tools.execution.toolbox import Toolbox
from integrations.mcp.hub import McpHub
from integrations.mcp.servers import McpResult, McpTool, ServerSpec
from tests.fakes.home import StillHome
from tests.fakes.journal import FakeJournal

SERVER = ServerSpec("slow", "http", trust="trusted", allow=("change", "water"), timeout_s=300.0)
QUERY = {"type": "object", "properties": {"query": {"type": "string"}}}


def tool(name: str, *, reads: bool = False) -> McpTool:
    """Return a tool of the one server."""
    return McpTool(SERVER.name, name, name, "", QUERY, reads)


class Hub(McpHub):
    """One server. A call waits until the test answers it; an unexpected one fails the test."""

    def __init__(self, *tools: McpTool) -> None:
        self._listed_tools = list(tools)
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.answers: list[asyncio.Future[McpResult]] = []

    @property
    def servers(self) -> dict[str, ServerSpec]:
        return {SERVER.name: SERVER}

    async def tools(self, wait_s: float = 0.0) -> list[McpTool]:
        return self._listed_tools

    async def call(
        self,
        server: str,
        name: str,
        arguments: dict[str, Any],
        timeout_s: float | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> McpResult:
        assert name in {one.name for one in self._listed_tools}, name
        self.calls.append((name, arguments))
        self.answers.append(asyncio.get_running_loop().create_future())
        return await self.answers[-1]

    def answer(self, text: str, number: int = -1, *, is_error: bool = False) -> None:
        """End the call with that number, by default the last one."""
        self.answers[number].set_result(McpResult(text, is_error))


def toolbox(hub: Hub, clock: Clock, journal: FakeJournal | None = None) -> Toolbox:
    """Return a toolbox on a house in which nothing changes."""
    return Toolbox(hub, StillHome(), journal or FakeJournal(), Catalogue(), clock)


def own_tool(
    name: str, run: Callable[[Mapping[str, Any], BuiltInRequest], Any], tier: Tier = Tier.COMFORT
) -> BuiltIn:
    """Return a built-in with one text argument."""
    return BuiltIn(name, f"{name}.", QUERY, tier, run)


async def nothing(arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
    """Run a built-in that does nothing."""
    return BuiltInResult("Nothing.")
