"""Tools of the simulated house and the intents behind them, which run on validated arguments."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from integrations.demo_home import arguments, services
from integrations.demo_home.arguments import TEXT, Schema, described
from integrations.demo_home.house import CallerPlace, DemoHouse, Snapshot
from integrations.demo_home.matching import Match, Target, domain_of, match
from integrations.demo_home.scenes import SCRIPTS, run_script

Values = Mapping[str, Any]


class IntentError(Exception):
    """The call failed. `str(error)` is Home Assistant's error message."""


@dataclass(frozen=True, slots=True)
class ServiceTool:
    """A tool function that calls one service on every matching entity."""

    domain: str
    service: str
    data: Callable[[Values], Values] = lambda values: {}
    required_domains: tuple[str, ...] = ()
    features: int = 0
    states: tuple[str, ...] = ()

    def __call__(self, house: DemoHouse, values: Values, place: CallerPlace) -> dict[str, Any]:
        """Call the service on the matching entities, and return which succeeded and which failed.

        Raises IntentError if all of them failed, and MatchError if none matched.
        """
        found = self._match(house, values, place)
        steps = [(state, *self._service(state)) for state in found.states]
        success = [named("floor", floor.name, floor.floor_id) for floor in found.floors]
        if not success:
            success = [named("area", area.name, area.area_id) for area in found.areas]
        failed = []
        for state, domain, service in steps:
            result = _entity(state)
            try:
                services.call(house, domain, service, state.entity_id, self.data(values))
            except services.ServiceError:
                failed.append(result)
            else:
                success.append(result)
        if not success:
            ids = [result["id"] for result in failed]
            raise IntentError(f"Failed to call {steps[-1][2]} for: {ids}")
        return done(success, failed)

    def _match(self, house: DemoHouse, values: Values, place: CallerPlace) -> Match:
        name = values.get("name")
        target = Target(
            # "all" in lower case matches everything, even if an entity has that name.
            name=None if name == "all" else name,
            area=values.get("area"),
            floor=values.get("floor"),
            domains=values.get("domain", self.required_domains),
            device_classes=values.get("device_class", ()),
            features=self.features,
            states=self.states,
            near_area=values.get("preferred_area_id", place.area_id),
            near_floor=values.get("preferred_floor_id", place.floor_id),
        )
        if target.empty:
            raise IntentError("Service handler cannot target all devices")
        return match(house, target)

    def _service(self, state: Snapshot) -> tuple[str, str]:
        domain = domain_of(state)
        if self.domain == "homeassistant":
            special = _ON_OFF.get((domain, self.service))
            return (domain, special) if special else (self.domain, self.service)
        if self.domain == "cover" and domain != "cover":
            raise IntentError(f"Domain not supported: {domain}")
        return self.domain, self.service


# Home Assistant locks with "turn on" and unlocks with "turn off".
_ON_OFF = {
    ("cover", "turn_on"): "open_cover",
    ("cover", "turn_off"): "close_cover",
    ("lock", "turn_on"): "lock",
    ("lock", "turn_off"): "unlock",
}


def done(success: list[dict[str, str]], failed: list[dict[str, str]]) -> dict[str, Any]:
    return {
        "speech": {},
        "response_type": "action_done",
        "data": {"success": success, "failed": failed},
    }


def set_temperature(house: DemoHouse, values: Values, place: CallerPlace) -> dict[str, Any]:
    """Set one thermostat. The response lists no area, even if the call named one."""
    found = match(
        house,
        Target(
            name=values.get("name"),
            area=values.get("area"),
            floor=values.get("floor"),
            domains=("climate",),
            features=1,
            single=True,
            near_area=values.get("preferred_area_id", place.area_id),
            near_floor=values.get("preferred_floor_id", place.floor_id),
        ),
    )
    thermostat = found.states[0]
    services.call(house, "climate", "set_temperature", thermostat.entity_id, values)
    return done([_entity(thermostat)], [])


def change_volume(house: DemoHouse, values: Values, place: CallerPlace) -> dict[str, Any]:
    """Change the volume. The response's `success` list stays empty, as in Home Assistant."""
    found = match(
        house,
        Target(
            name=values.get("name"),
            area=values.get("area"),
            floor=values.get("floor"),
            domains=("media_player",),
            features=4,
            states=() if values.get("name") else ("playing",),
        ),
    )
    step = values["volume_step"]
    for player in found.states:
        if step in ("up", "down"):
            services.call(house, "media_player", f"volume_{step}", player.entity_id, {})
        else:
            level = player.attributes["volume_level"] + step / 100
            services.call(
                house, "media_player", "volume_set", player.entity_id, {"volume_level": level}
            )
    return done([], [])


def broadcast(house: DemoHouse, values: Values, place: CallerPlace) -> dict[str, Any]:
    """Return success without playing the message, because the house has no satellite. Raises
    IntentError if there is no message."""
    if "message" not in values:
        raise IntentError("Error handling HassBroadcast")
    return done([], [])


def set_humidity(house: DemoHouse, values: Values, place: CallerPlace) -> dict[str, Any]:
    """Set one humidifier, turning it on first. The response lists no entity, as in Home
    Assistant."""
    humidifier = match(house, Target(name=values["name"], domains=("humidifier",))).states[0]
    if humidifier.state == "off":
        services.call(house, "humidifier", "turn_on", humidifier.entity_id, {})
    services.call(house, "humidifier", "set_humidity", humidifier.entity_id, values)
    return done([], [])


def set_humidifier_mode(house: DemoHouse, values: Values, place: CallerPlace) -> dict[str, Any]:
    """Raise IntentError, because the house's humidifier has no modes."""
    humidifier = match(house, Target(name=values["name"], domains=("humidifier",))).states[0]
    name = humidifier.attributes["friendly_name"]
    raise IntentError(f"Entity {name} does not support modes")


def clean_area(house: DemoHouse, values: Values, place: CallerPlace) -> dict[str, Any]:
    """Start the vacuum for an area, which need not be the area that the vacuum is assigned to."""
    place_meant = match(house, Target(area=values["area"]))
    found = match(house, Target(name=values.get("name"), domains=("vacuum",)))
    success = [named("area", area.name, area.area_id) for area in place_meant.areas]
    for vacuum in found.states:
        services.call(house, "vacuum", "start", vacuum.entity_id, {})
        success.append(_entity(vacuum))
    return done(success, [])


def _entity(state: Snapshot) -> dict[str, str]:
    return named("entity", str(state.attributes["friendly_name"]), state.entity_id)


def named(kind: str, name: str, id_: str) -> dict[str, str]:
    return {"name": name, "type": kind, "id": id_}


Run = Callable[[DemoHouse, Mapping[str, Any], CallerPlace], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Hints:
    """The MCP annotations of a tool. Home Assistant sets them reliably only for read-only tools."""

    destructive: bool = True
    idempotent: bool = False
    open_world: bool = False
    read_only: bool = False


READ = Hints(read_only=True)
READ_LIST = Hints(destructive=False, idempotent=True, read_only=True)
ADD = Hints(destructive=False)
ONCE = Hints()
AGAIN = Hints(idempotent=True)


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    title: str
    description: str
    input_schema: Schema
    hints: Hints
    slots: arguments.Slots | arguments.Fields
    run: Run
    needs: str | None = None  # the tool is offered only if an entity of this domain is exposed

    @property
    def intent(self) -> str:
        return self.name.rpartition("__")[2]


def action_tool(
    name: str,
    title: str,
    description: str,
    hints: Hints,
    action: ServiceTool,
    *,
    domain: str | None = None,
    device_classes: tuple[str, ...] = (),
    extra: Schema | None = None,
    checks: Mapping[str, arguments.Check] | None = None,
    required: tuple[str, ...] = (),
) -> Tool:
    """Return a tool that acts on the entities that match its arguments."""
    properties = arguments.target(domain, device_classes, any_domain=domain is None)
    known: dict[str, arguments.Check] = {
        **dict.fromkeys(("name", "area", "floor"), arguments.text),
        # Accepted although they aren't in the schema, as in Home Assistant.
        **dict.fromkeys(("preferred_area_id", "preferred_floor_id"), arguments.text),
        "domain": arguments.texts((domain,) if domain else ()),
        "device_class": arguments.texts(device_classes),
    }
    return Tool(
        name,
        title,
        description,
        arguments.input_schema(properties | (extra or {}), required),
        hints,
        arguments.Slots(known | dict(checks or {}), required),
        action,
        domain,
    )


def script_tools(house: DemoHouse) -> list[Tool]:
    """Return a tool for each exposed script. The script's fields are described but not enforced."""
    return [
        Tool(
            f"script__{thing.entity_id.partition('.')[2]}",
            thing.name,
            f"{SCRIPTS[thing.entity_id].description} Aliases: {sorted(thing.names)}",
            arguments.input_schema(*_fields(thing.entity_id)),
            Hints(open_world=True),
            arguments.Slots(dict.fromkeys(SCRIPTS[thing.entity_id].fields, arguments.anything)),
            _script_runner(thing.entity_id),
            "script",
        )
        for thing in house.exposed()
        if thing.domain == "script"
    ]


def _fields(entity_id: str) -> tuple[Schema, tuple[str, ...]]:
    fields = SCRIPTS[entity_id].fields
    return (
        {name: described(field.schema, field.description) for name, field in fields.items()},
        tuple(name for name, field in fields.items() if field.required),
    )


def _script_runner(entity_id: str) -> Run:
    def run(house: DemoHouse, values: Values, place: CallerPlace) -> dict[str, Any]:
        return {"result": run_script(house, entity_id, values, services.call) or {}}

    return run


def _cancel_all(house: DemoHouse, values: Values, place: CallerPlace) -> dict[str, Any]:
    area = {"area": values["area"]} if "area" in values else {}
    return done([], []) | {"speech_slots": {"canceled": 0, **area}}


# Home Assistant offers this tool to every caller, though no device of this house has timers.
CANCEL_ALL_TIMERS = Tool(
    "intent__HassCancelAllTimers",
    "Cancel all timers",
    "Ends every timer, or those of one area",
    arguments.input_schema({"area": TEXT}),
    AGAIN,
    arguments.Slots({"area": arguments.text}),
    _cancel_all,
)
