"""A real house with Hearth's tools and undo on it, with the program's own parts."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from assistant.domain.clock import SystemClock
from assistant.domain.tool_call import Decision, Observed, Status, Tier, ToolCall, ToolOutcome
from assistant.speech.catalogue import Catalogue
from assistant.tools.execution.guards import CallGuards
from assistant.tools.execution.toolbox import Toolbox
from assistant.tools.undo.stack import UndoStack
from assistant.tools.undo.tools import UNDO, Undoing, through
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.house import House
from integrations.home_assistant.services import Services, Snapshots, is_snapshot
from integrations.mcp.hub import McpHub
from integrations.mcp.servers import HOME_ASSISTANT, home_assistant_server
from tests.fakes.journal import FakeJournal
from tests.home_assistant.admin import Admin
from tests.home_assistant.conftest import Address
from tests.home_assistant.things import Thing, put_back

SEEN_S = 15.0  # a demo cover takes a second for ten percent
CEILING, BED, KITCHEN = "light.ceiling_lights", "light.bed_light", "light.kitchen_lights"
RGBW, PUMP, ECOBEE = "light.office_rgbw_lights", "climate.heatpump", "climate.ecobee"
WINDOW, SPEAKER, FAN = "cover.living_room_window", "media_player.walkman", "fan.living_room_fan"
HUMIDIFIER, SWITCH, LOCK = "humidifier.humidifier", "switch.decorative_lights", "lock.front_door"
GARAGE, ATTIC = "cover.garage_door", "light.attic_light"


@dataclass
class Room:
    """A house with Hearth's tools on it."""

    home: HomeAssistant
    hub: McpHub
    tools: Toolbox
    stack: UndoStack
    admin: Admin
    services: Services
    turns: int = 0

    async def do(self, tool: str, /, **arguments: Any) -> ToolOutcome:
        """Make one call in a separate turn; it must be done."""
        self.turns += 1
        call = ToolCall("c1", tool, arguments)
        outcome = await self.tools.call(call, f"turn-{self.turns}", "do it in the house")
        assert outcome.status is Status.DONE, outcome
        return outcome

    async def change(self, entity_id: str, action: str, **data: Any) -> None:
        """Make a change that no tool of Home Assistant reaches, as a call of the toolbox would."""
        self.turns += 1
        key, turn = f"key-{self.turns}", f"turn-{self.turns}"
        await self.stack.before(key, [entity_id], turn)
        domain, _, service = action.partition(".")
        await self.services.call(domain, service, data, entities=[entity_id])
        self.stack.after(key, done())

    async def undo(self, steps: int = 1) -> ToolOutcome:
        self.turns += 1
        call = ToolCall("c1", UNDO, {"steps": steps})
        return await self.tools.call(call, f"turn-{self.turns}", "undo that")

    async def sees(self, holds: Callable[[House], bool]) -> None:
        """Wait until Hearth's picture satisfies `holds`."""
        assert await self.home.wait_for(list(self.home.house.entities), holds, SEEN_S)

    async def snapshots(self) -> list[str]:
        return [name for name in await self.admin.states() if is_snapshot(name)]


def done() -> ToolOutcome:
    """Return a call of the home's that has changed something."""
    seen = (Observed("x", None, None),)
    return ToolOutcome(
        "c1", HOME_ASSISTANT, "x", {}, Decision.ALLOWED, Tier.COMFORT, Status.DONE, seen, 0.0, ""
    )


@asynccontextmanager
async def room(house: Address, admin: Admin) -> AsyncIterator[Room]:
    async with AsyncExitStack() as stack:
        catalogue, clock = Catalogue(), SystemClock()
        hub = await stack.enter_async_context(
            McpHub([home_assistant_server(house.url, house.token)])
        )
        home = await stack.enter_async_context(HomeAssistant(house.url, house.token))
        assert home.connected, home.problem
        services = Services(home)
        undo = await stack.enter_async_context(
            UndoStack(home, Snapshots(home), services, clock, alone=True)
        )
        tools = Toolbox(
            hub, home, FakeJournal(), catalogue, clock, governance=CallGuards(undo=undo)
        )
        tools.offer(
            *Undoing(
                undo, through(tools), lambda: tools.current_menu, lambda: home.house, catalogue
            ).tools()
        )
        await tools.menu()
        yield Room(home, hub, tools, undo, admin, services)


@asynccontextmanager
async def restored(house: Address, admin: Admin) -> AsyncIterator[Room]:
    """Yield the English house, in which everything is restored at the end."""
    if house.kind != "english":
        pytest.skip("belongs to the english house")
    entities = (CEILING, BED, KITCHEN, RGBW, PUMP, ECOBEE, WINDOW, SPEAKER, FAN, HUMIDIFIER, SWITCH)
    states = await admin.states()
    things = [Thing(name, "", "", states[name]["state"], {}, True) for name in entities]
    async with put_back(admin, *things), room(house, admin) as at:
        yield at


async def gone(at: Room) -> None:
    """Wait until no snapshot is left."""
    async with asyncio.timeout(5.0):
        while await at.snapshots():  # noqa: ASYNC110 (Home Assistant tells no such moment)
            await asyncio.sleep(0.05)
