"""Tools for devices and sensors, as in Home Assistant 2026.11's Assist API."""

from typing import Any

from integrations.demo_home import actions as slots
from integrations.demo_home import intents, schemas
from integrations.demo_home.context import live_context
from integrations.demo_home.house import CallerPlace, DemoHouse
from integrations.demo_home.intents import ServiceTool
from integrations.demo_home.schemas import PERCENT, PERCENT_ALL_OF, TEXT, described
from integrations.demo_home.tool import ADD, AGAIN, ONCE, READ, Tool, action_tool


def _light_data(values: intents.Values) -> intents.Values:
    names = {
        "color": "rgb_color",
        "temperature": "color_temp_kelvin",
        "brightness": "brightness_pct",
    }
    return {names[key]: value for key, value in values.items() if key in names}


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


DEVICE_TOOLS = (
    Tool(
        "assist_satellite__HassBroadcast",
        "Broadcast message",
        "Says a message on every voice satellite of the home",
        schemas.input_schema({"message": TEXT}, ("message",)),
        ADD,
        slots.Slots({"message": slots.text}),
        intents.broadcast,
    ),
    Tool(
        "climate__HassClimateSetTemperature",
        "Set temperature",
        "Sets the temperature that a thermostat should reach",
        schemas.input_schema(
            {"temperature": {"type": "number"}, "area": TEXT, "name": TEXT, "floor": TEXT},
            ("temperature",),
        ),
        AGAIN,
        slots.Slots(
            {
                "temperature": slots.number,
                **dict.fromkeys(("area", "name", "floor"), slots.text),
                **dict.fromkeys(("preferred_area_id", "preferred_floor_id"), slots.text),
            },
            ("temperature",),
        ),
        intents.set_temperature,
        "climate",
    ),
    action_tool(
        "fan__HassFanSetSpeed",
        "Set fan speed",
        "Sets how fast a fan turns, in percent",
        AGAIN,
        ServiceTool(
            "fan",
            "set_percentage",
            lambda values: {"percentage": values["percentage"]},
            required_domains=("fan",),
            features=1,
        ),
        domain="fan",
        extra={"percentage": described(PERCENT_ALL_OF, "The speed percentage of the fan")},
        checks={"percentage": slots.integer(0, 100)},
        required=("percentage",),
    ),
    Tool(
        "homeassistant__GetLiveContext",
        "Get live context",
        "Tells the present state, value or mode of devices, sensors and areas. Use it for questions"
        " about what is now, and before an action that depends on it. Name, domain and area narrow"
        " the answer; prefer the domain for several devices of one kind.",
        schemas.input_schema(
            {
                "name": described(TEXT, "Only entities of this name or alias."),
                "domain": {
                    "anyOf": [TEXT, {"type": "array", "items": TEXT}],
                    "description": "Only entities of this domain or these domains, e.g. 'light'.",
                },
                "area": described(TEXT, "Only entities in the area of this name or alias."),
            }
        ),
        READ,
        slots.Fields({"name": slots.plain, "domain": slots.plain_list, "area": slots.plain}),
        _read_live_context,
    ),
    action_tool(
        "intent__HassTurnOn",
        "Turn on",
        "Switches on, opens or presses a device. A lock is locked by it.",
        ONCE,
        ServiceTool("homeassistant", "turn_on"),
        device_classes=schemas.ON_OFF,
    ),
    action_tool(
        "intent__HassTurnOff",
        "Turn off",
        "Switches off or closes a device. A lock is unlocked by it.",
        AGAIN,
        ServiceTool("homeassistant", "turn_off"),
        device_classes=schemas.ON_OFF,
    ),
    action_tool(
        "intent__HassSetPosition",
        "Set position",
        "Moves a cover or valve to a position in percent open",
        AGAIN,
        ServiceTool("cover", "set_cover_position", lambda values: {"position": values["position"]}),
        device_classes=schemas.MOVING,
        extra={"position": PERCENT_ALL_OF},
        checks={"position": slots.integer(0, 100)},
        required=("position",),
    ),
    action_tool(
        "intent__HassStopMoving",
        "Stop moving",
        "Stops a cover or valve on its way",
        AGAIN,
        ServiceTool("cover", "stop_cover"),
        device_classes=schemas.MOVING,
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
            "color": slots.color,
            "temperature": slots.integer(0, None),
            "brightness": slots.integer(0, 100),
        },
    ),
    Tool(
        "llm__GetDateTime",
        "Get date and time",
        "Tells the date and the time of day.",
        schemas.input_schema({}),
        READ,
        slots.Slots({}),
        _date_and_time,
    ),
)

VACUUM_TOOLS = (
    action_tool(
        "vacuum__HassVacuumStart",
        "Start vacuum",
        "Lets a vacuum cleaner start",
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
        schemas.input_schema({"area": TEXT, "name": TEXT}, ("area",)),
        ONCE,
        slots.Slots({"area": slots.text, "name": slots.text}, ("area",)),
        intents.clean_area,
        "vacuum",
    ),
)
