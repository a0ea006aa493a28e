"""The tool menu of the house, and the call of one tool."""

from collections.abc import Mapping
from typing import Any

from integrations.demo_home.actions import SlotError
from integrations.demo_home.house import NOWHERE, CallerPlace, DemoHouse
from integrations.demo_home.intents import IntentError
from integrations.demo_home.matching import MatchError
from integrations.demo_home.services import ServiceError
from integrations.demo_home.tool import PLAYER_TOOLS, Tool
from integrations.demo_home.tools_devices import (
    DEVICE_TOOLS,
    LIGHT_AND_TIME_TOOLS,
    VACUUM_TOOLS,
)
from integrations.demo_home.tools_software import CANCEL_ALL_TIMERS, script_tools, todo_tools


class ToolError(Exception):
    """The call failed. `str(error)` is the sentence that the caller gets."""


def menu(house: DemoHouse, place: CallerPlace = NOWHERE) -> list[Tool]:
    """The tools that the exposed entities and the caller's device call for, in their order."""
    exposed = {thing.domain for thing in house.exposed()}
    tools = (
        *DEVICE_TOOLS,
        *(house.timer_tools(place) or (CANCEL_ALL_TIMERS,)),
        *LIGHT_AND_TIME_TOOLS,
        *PLAYER_TOOLS,
        *script_tools(house),
        *todo_tools(house),
        *VACUUM_TOOLS,
    )
    return [tool for tool in tools if tool.needs is None or tool.needs in exposed]


def call_tool(
    house: DemoHouse, name: str, arguments: Mapping[str, Any], place: CallerPlace
) -> dict[str, Any]:
    """Run a tool and give its answer, a JSON object. Raises ToolError."""
    tool = next((tool for tool in menu(house, place) if tool.name == name), None)
    if tool is None:
        raise ToolError(f'Tool "{name}" not found')
    try:
        return tool.run(house, tool.slots.read(arguments), place)
    except SlotError as error:
        raise ToolError(str(error) or f"Received invalid slot info for {tool.intent}") from error
    except ServiceError as error:
        # An intent hides what went wrong inside, a script does not.
        own = tool.name.startswith("script__")
        raise ToolError(str(error) if own else f"Error handling {tool.intent}") from error
    except (IntentError, MatchError) as error:
        raise ToolError(str(error)) from error
