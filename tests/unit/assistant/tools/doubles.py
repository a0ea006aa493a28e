"""Doubles around the toolbox: servers, the house, the journal."""

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from assistant.domain.clock import Clock
from assistant.domain.outcome import Tier, ToolOutcome
from assistant.domain.records import CallRecord
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.protocol import BuiltIn, BuiltInRequest, BuiltInResult
from assistant.tools.execution.toolbox import Toolbox
from integrations.home_assistant.house import House
from integrations.mcp.servers import McpResult, McpTool, ServerSpec

SERVER = ServerSpec("slow", "http", trust="trusted", allow=("change", "water"), timeout_s=300.0)
QUERY = {"type": "object", "properties": {"query": {"type": "string"}}}


def tool(name: str, *, reads: bool = False) -> McpTool:
    """A tool of the one server."""
    return McpTool(SERVER.name, name, name, "", QUERY, reads)


class Hub:
    """One server. A call waits until the test answers it; one that was not expected fails."""

    def __init__(self, *tools: McpTool) -> None:
        self._tools = list(tools)
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.answers: list[asyncio.Future[McpResult]] = []

    @property
    def servers(self) -> dict[str, ServerSpec]:
        return {SERVER.name: SERVER}

    async def tools(self) -> list[McpTool]:
        return self._tools

    async def call(
        self,
        server: str,
        name: str,
        arguments: dict[str, Any],
        timeout_s: float | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> McpResult:
        assert name in {one.name for one in self._tools}, name
        self.calls.append((name, arguments))
        self.answers.append(asyncio.get_running_loop().create_future())
        return await self.answers[-1]

    def answer(self, text: str, number: int = -1, *, is_error: bool = False) -> None:
        """End the call of that number, the last one by default."""
        self.answers[number].set_result(McpResult(text, is_error))


class Picture:
    """A house in which nothing changes."""

    def __init__(self, house: House | None = None) -> None:
        self.house = house or House()
        self.connected = True

    async def wait_for(
        self, entity_ids: Collection[str], predicate: Callable[[House], bool], timeout_s: float
    ) -> bool:
        return predicate(self.house)


@dataclass
class Journal:
    """Keeps what it is told, in order."""

    started: list[CallRecord] = field(default_factory=list)
    finished: list[tuple[str, ToolOutcome]] = field(default_factory=list)

    async def start_call(self, call: CallRecord) -> None:
        self.started.append(call)

    async def finish_call(self, turn_id: str, outcome: ToolOutcome) -> None:
        self.finished.append((turn_id, outcome))


def toolbox(hub: Hub, clock: Clock, journal: Journal | None = None) -> Toolbox:
    """A toolbox on a house in which nothing changes."""
    return Toolbox(hub, Picture(), journal or Journal(), Catalogue(), clock)


def own_tool(
    name: str, run: Callable[[Mapping[str, Any], BuiltInRequest], Any], tier: Tier = Tier.COMFORT
) -> BuiltIn:
    """A built-in with one text argument."""
    return BuiltIn(name, f"{name}.", QUERY, tier, run)


async def nothing(arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
    """A built-in that does nothing."""
    return BuiltInResult("Nothing.")
