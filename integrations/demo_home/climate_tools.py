"""Tools for thermostats, fans and humidifiers."""

from integrations.demo_home import arguments, intents
from integrations.demo_home.arguments import PERCENT, PERCENT_ALL_OF, TEXT, described
from integrations.demo_home.intents import AGAIN, ServiceTool, Tool, action_tool

CLIMATE_TOOLS = (
    Tool(
        "climate__HassClimateSetTemperature",
        "Set temperature",
        "Sets the temperature that a thermostat should reach",
        arguments.input_schema(
            {"temperature": {"type": "number"}, "area": TEXT, "name": TEXT, "floor": TEXT},
            ("temperature",),
        ),
        AGAIN,
        arguments.Slots(
            {
                "temperature": arguments.number,
                **dict.fromkeys(("name", "area", "floor"), arguments.text),
                **dict.fromkeys(("preferred_area_id", "preferred_floor_id"), arguments.text),
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
        checks={"percentage": arguments.integer(0, 100)},
        required=("percentage",),
    ),
)


def _humidifier_tool(
    name: str,
    title: str,
    description: str,
    argument: str,
    schema: arguments.Schema,
    check: arguments.Check,
    run: intents.Run,
) -> Tool:
    return Tool(
        f"humidifier__{name}",
        title,
        description,
        arguments.input_schema({"name": TEXT, argument: schema}, ("name", argument)),
        AGAIN,
        arguments.Slots({"name": arguments.text, argument: check}, ("name", argument)),
        run,
        "humidifier",
    )


HUMIDIFIER_TOOLS = (
    _humidifier_tool(
        "HassHumidifierSetpoint",
        "Set humidity",
        "Sets the humidity that a humidifier should reach, in percent",
        "humidity",
        PERCENT,
        arguments.integer(0, 100),
        intents.set_humidity,
    ),
    _humidifier_tool(
        "HassHumidifierMode",
        "Set humidifier mode",
        "Sets the mode of a humidifier",
        "mode",
        TEXT,
        arguments.text,
        intents.set_humidifier_mode,
    ),
)
