"""The tools of the simulated house, as in the Assist API of Home Assistant 2026.11."""

from collections.abc import Callable, Mapping
from typing import Any

from integrations.demo_home import arguments, intents
from integrations.demo_home.arguments import (
    PERCENT,
    PERCENT_ALL_OF,
    TEXT,
    Schema,
    SlotError,
    described,
)
from integrations.demo_home.climate_tools import CLIMATE_TOOLS, HUMIDIFIER_TOOLS
from integrations.demo_home.context import live_context
from integrations.demo_home.house import NOWHERE, CallerPlace, DemoHouse
from integrations.demo_home.intents import (
    ADD,
    AGAIN,
    CANCEL_ALL_TIMERS,
    ONCE,
    READ,
    Hints,
    IntentError,
    ServiceTool,
    Tool,
    action_tool,
    script_tools,
)
from integrations.demo_home.list_tools import calendar_tools, todo_tools
from integrations.demo_home.matching import MatchError
from integrations.demo_home.services import ServiceError


class ToolError(Exception):
    """The call failed. `str(error)` is the message that the caller receives."""


def menu(house: DemoHouse, place: CallerPlace = NOWHERE) -> list[Tool]:
    """Return the tools for the exposed entities and the calling device, in Home Assistant's
    order."""
    exposed = {thing.domain for thing in house.exposed()}
    tools = (
        BROADCAST,
        *calendar_tools(house),
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
    """Run a tool and return its response, a JSON object. Raises ToolError."""
    tool = next((tool for tool in menu(house, place) if tool.name == name), None)
    if tool is None:
        raise ToolError(f'Tool "{name}" not found')
    try:
        return tool.run(house, tool.slots.read(arguments), place)
    except SlotError as error:
        raise ToolError(str(error) or f"Received invalid slot info for {tool.intent}") from error
    except ServiceError as error:
        # Home Assistant hides the reason for a failed intent, but not for a failed script.
        own = tool.name.startswith("script__")
        raise ToolError(str(error) if own else f"Error handling {tool.intent}") from error
    except (IntentError, MatchError) as error:
        raise ToolError(str(error)) from error


_LIGHT = {"color": "rgb_color", "temperature": "color_temp_kelvin", "brightness": "brightness_pct"}
_PLACE = dict.fromkeys(("name", "area", "floor"), arguments.text)


def _light_data(values: intents.Values) -> intents.Values:
    return {_LIGHT[key]: value for key, value in values.items() if key in _LIGHT}


def _read_live_context(
    house: DemoHouse, values: intents.Values, place: CallerPlace
) -> dict[str, Any]:
    return live_context(house, values.get("name"), values.get("domain", ()), values.get("area"))


def _date_and_time(house: DemoHouse, values: intents.Values, place: CallerPlace) -> dict[str, Any]:
    now = house.clock.now()
    return {
        "date": now.strftime("%Y-%m-%d"),
        "time": now.strftime("%H:%M:%S"),
        "timezone": now.strftime("%Z"),
        "weekday": now.strftime("%A"),
    }


BROADCAST = Tool(
    "assist_satellite__HassBroadcast",
    "Broadcast message",
    "Says a message on every voice satellite in the home",
    arguments.input_schema({"message": TEXT}, ("message",)),
    ADD,
    arguments.Slots({"message": arguments.text}),
    intents.broadcast,
)

DEVICE_TOOLS = (
    *CLIMATE_TOOLS,
    Tool(
        "homeassistant__GetLiveContext",
        "Get live context",
        "Returns the current state, value or mode of devices, sensors and areas. Use it for "
        "questions about the current state, and before an action that depends on it. Name, domain "
        "and area narrow the answer; prefer the domain for several devices of one kind.",
        arguments.input_schema(
            {
                "name": described(TEXT, "Only entities with this name or alias."),
                "domain": {
                    "anyOf": [TEXT, {"type": "array", "items": TEXT}],
                    "description": "Only entities in this domain or these domains, e.g. 'light'.",
                },
                "area": described(TEXT, "Only entities in the area with this name or alias."),
            }
        ),
        READ,
        arguments.Fields(
            {"name": arguments.plain, "domain": arguments.plain_list, "area": arguments.plain}
        ),
        _read_live_context,
    ),
    *HUMIDIFIER_TOOLS,
    action_tool(
        "intent__HassTurnOn",
        "Turn on",
        "Switches on, opens or presses a device. It locks a lock.",
        ONCE,
        ServiceTool("homeassistant", "turn_on"),
        device_classes=arguments.ON_OFF,
    ),
    action_tool(
        "intent__HassTurnOff",
        "Turn off",
        "Switches off or closes a device. It unlocks a lock.",
        AGAIN,
        ServiceTool("homeassistant", "turn_off"),
        device_classes=arguments.ON_OFF,
    ),
    action_tool(
        "intent__HassSetPosition",
        "Set position",
        "Moves a cover or valve to a position in percent open",
        AGAIN,
        ServiceTool("cover", "set_cover_position", lambda values: {"position": values["position"]}),
        device_classes=arguments.MOVING,
        extra={"position": PERCENT_ALL_OF},
        checks={"position": arguments.integer(0, 100)},
        required=("position",),
    ),
    action_tool(
        "intent__HassStopMoving",
        "Stop moving",
        "Stops a moving cover or valve",
        AGAIN,
        ServiceTool("cover", "stop_cover"),
        device_classes=arguments.MOVING,
    ),
)

LIGHT_AND_TIME_TOOLS = (
    action_tool(
        "light__HassLightSet",
        "Set light",
        "Sets how bright a light is, in percent, or its colour",
        AGAIN,
        ServiceTool("light", "turn_on", _light_data, required_domains=("light",)),
        domain="light",
        extra={
            "color": TEXT,
            "temperature": {"type": "integer", "minimum": 0},
            "brightness": described(PERCENT, "Percent from 0 (off) to 100 (full)"),
        },
        checks={
            "color": arguments.color,
            "temperature": arguments.integer(0, None),
            "brightness": arguments.integer(0, 100),
        },
    ),
    Tool(
        "llm__GetDateTime",
        "Get date and time",
        "Returns the date and the time of day.",
        arguments.input_schema({}),
        READ,
        arguments.Slots({}),
        _date_and_time,
    ),
)

VACUUM_TOOLS = (
    action_tool(
        "vacuum__HassVacuumStart",
        "Start vacuum",
        "Starts a vacuum cleaner",
        ONCE,
        ServiceTool("vacuum", "start", required_domains=("vacuum",), features=8192),
        domain="vacuum",
    ),
    action_tool(
        "vacuum__HassVacuumReturnToBase",
        "Return vacuum to base",
        "Sends a vacuum cleaner back to its dock",
        ONCE,
        ServiceTool("vacuum", "return_to_base", required_domains=("vacuum",), features=16),
        domain="vacuum",
    ),
    Tool(
        "vacuum__HassVacuumCleanArea",
        "Clean area",
        "Sends a vacuum cleaner to clean one area",
        arguments.input_schema({"area": TEXT, "name": TEXT}, ("area",)),
        ONCE,
        arguments.Slots({"area": arguments.text, "name": arguments.text}, ("area",)),
        intents.clean_area,
        "vacuum",
    ),
)


def _player_tool(
    name: str,
    title: str,
    description: str,
    hints: Hints,
    service: str,
    *,
    features: int = 0,
    state: str | None = "playing",
    data: Callable[[intents.Values], intents.Values] = lambda values: {},
    extra: Schema | None = None,
    checks: Mapping[str, arguments.Check] | None = None,
    required: tuple[str, ...] = (),
) -> Tool:
    return action_tool(
        f"media_player__{name}",
        title,
        description,
        hints,
        ServiceTool(
            "media_player",
            service,
            data,
            required_domains=("media_player",),
            features=features,
            states=(state,) if state else (),
        ),
        domain="media_player",
        device_classes=arguments.PLAYER,
        extra=extra,
        checks=checks,
        required=required,
    )


_MUTED: Schema = {
    "is_volume_muted": {"description": "Whether the media player should be muted or unmuted"}
}

PLAYER_TOOLS = (
    _player_tool(
        "HassMediaUnpause",
        "Resume media",
        "Resumes paused media",
        ONCE,
        "media_play",
        state="paused",
    ),
    _player_tool(
        "HassMediaPause",
        "Pause media",
        "Pauses the media that is playing",
        AGAIN,
        "media_pause",
        features=1,
    ),
    _player_tool(
        "HassMediaNext",
        "Next track",
        "Skips to the next item",
        ONCE,
        "media_next_track",
        features=32,
    ),
    _player_tool(
        "HassMediaPrevious",
        "Previous track",
        "Goes back to the previous item",
        ONCE,
        "media_previous_track",
        features=16,
    ),
    _player_tool(
        "HassSetVolume",
        "Set volume",
        "Sets how loud a media player is, in percent",
        AGAIN,
        "volume_set",
        features=4,
        data=lambda values: {"volume_level": values["volume_level"] / 100},
        extra={"volume_level": described(PERCENT, "Percent from 0 to 100")},
        checks={"volume_level": arguments.integer(0, 100)},
        required=("volume_level",),
    ),
    Tool(
        "media_player__HassSetVolumeRelative",
        "Change volume",
        "Makes a media player louder or quieter",
        arguments.input_schema(
            {
                "volume_step": {
                    "anyOf": [
                        arguments.choice("up", "down"),
                        {"type": "integer", "minimum": -100, "maximum": 100},
                    ]
                },
                **arguments.target(),
            },
            ("volume_step",),
        ),
        ONCE,
        arguments.Slots({"volume_step": arguments.volume_step, **_PLACE}, ("volume_step",)),
        intents.change_volume,
        "media_player",
    ),
    _player_tool(
        "HassMediaPlayerMute",
        "Mute player",
        "Mutes a media player",
        AGAIN,
        "volume_mute",
        features=8,
        state=None,
        data=lambda values: {"is_volume_muted": values.get("is_volume_muted", True)},
        extra=_MUTED,
        checks={"is_volume_muted": arguments.anything},
    ),
    _player_tool(
        "HassMediaPlayerUnmute",
        "Unmute player",
        "Unmutes a media player",
        AGAIN,
        "volume_mute",
        features=8,
        state=None,
        data=lambda values: {"is_volume_muted": values.get("is_volume_muted", False)},
        extra=_MUTED,
        checks={"is_volume_muted": arguments.anything},
    ),
)
