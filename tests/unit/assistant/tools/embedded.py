"""The embedded house with a toolbox on it, for tests of the common path of every call."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from assistant.domain.clock import SystemClock
from assistant.domain.tool_call import ToolCall, ToolOutcome
from assistant.speech.catalogue import Catalogue
from assistant.tools.execution.toolbox import Toolbox
from integrations.demo_home import DemoHome
from integrations.home_assistant.client import HomeAssistant
from integrations.mcp.hub import McpHub
from integrations.mcp.servers import home_assistant_server
from tests.fakes.journal import FakeJournal


class House:
    """The embedded house with a toolbox."""

    def __init__(
        self, demo: DemoHome, home: HomeAssistant, hub: McpHub, area: str, **more: Any
    ) -> None:
        self.demo, self.home, self.hub, self.journal = demo, home, hub, FakeJournal()
        clock = more.pop("clock", None) or SystemClock()
        self.box = Toolbox(
            hub, home, self.journal, Catalogue(), clock, area=area, wait_s=1.0, **more
        )
        self.turn = "turn"  # id of the turn that calls belong to
        self._count = 0

    async def do(self, tool: str, arguments: dict[str, Any], **more: Any) -> ToolOutcome:
        self._count += 1
        call = ToolCall(more.pop("id", f"c{self._count}"), tool, arguments)
        return await self.box.call(call, self.turn, more.pop("heard", "do it"), **more)

    def state(self, entity_id: str) -> str:
        return self.home.house.entities[entity_id].state


@asynccontextmanager
async def living(area: str = "Kitchen", **more: Any) -> AsyncIterator[House]:
    """Yield the house; `more` are arguments of the toolbox."""
    async with (
        DemoHome(settle_s=0.02) as demo,
        McpHub([home_assistant_server(demo.url, demo.token)]) as hub,
        HomeAssistant(demo.url, demo.token) as home,
    ):
        yield House(demo, home, hub, area, **more)
