"""Script fields: read their declarations from Home Assistant, and check arguments against them.

Home Assistant (2026.11) doesn't check the fields: in a tool's schema, a room or device field is
plain text.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from assistant.tools.house.names import are_near, folded, nearest, stemmed
from assistant.tools.house.targets import domain_of, find_areas, find_floors
from assistant.tools.policy.corrections import MendedArgument
from assistant.tools.policy.risk import is_safe_to_guess
from integrations.home_assistant.house import Area, Entity, Floor, House

Selectors = Mapping[str, Mapping[str, Any]]  # field -> its selector: {"area": {"multiple": True}}
_TARGETS = {"entity_id": "entity", "area_id": "area", "floor_id": "floor", "device_id": "device"}


@dataclass(frozen=True, slots=True)
class Fields:
    arguments: Mapping[str, Any]
    problem: str = ""  # one phrase for the model; "" if everything named exists
    options: tuple[str, ...] = ()  # similar valid values, nearest first
    changes: tuple[MendedArgument, ...] = ()


@dataclass(frozen=True, slots=True)
class Taken:
    selectors: Selectors = field(default_factory=dict)
    required: tuple[str, ...] = ()  # fields that the owner declared as required


async def ask_scripts(command: Callable[[str], Awaitable[Any]]) -> dict[str, Taken]:
    """Fetch the fields of all scripts, by script name ("movie_night"). This doesn't need
    administrator rights."""
    return read_scripts(await command("get_services"))


def read_scripts(services: Any) -> dict[str, Taken]:
    """Parse the response to `get_services`, skipping anything invalid."""
    scripts = services.get("script") if isinstance(services, Mapping) else None
    found: dict[str, Taken] = {}
    for name, service in (scripts or {}).items():
        fields = service.get("fields") if isinstance(service, Mapping) else None
        known = {str(key): one for key, one in (fields or {}).items() if isinstance(one, Mapping)}
        taken = Taken(
            {
                key: one["selector"]
                for key, one in known.items()
                if isinstance(one.get("selector"), Mapping)
            },
            tuple(key for key, one in known.items() if one.get("required") is True),
        )
        if taken != Taken():
            found[str(name)] = taken
    return found


def check_fields(selectors: Selectors, arguments: Mapping[str, Any], house: House) -> Fields:
    """Check that the rooms, floors, entities and devices in the fields exist, and correct names
    that are almost right as `mend` does."""
    checked = Fields(dict(arguments))
    for key, selector in selectors.items():
        value = checked.arguments.get(key)
        kind = next((one for one in ("area", "floor", "entity", "device") if one in selector), "")
        if value is None or value == "":
            continue
        if "target" in selector and isinstance(value, Mapping):
            checked = _check_target(key, value, house, checked)
        elif kind:
            settings = selector[kind] if isinstance(selector[kind], Mapping) else {}
            checked = _check_value(key, kind, value, settings, house, checked)
        if checked.problem:
            break
    return checked


def _check_target(key: str, target: Mapping[str, Any], house: House, checked: Fields) -> Fields:
    inner = Fields(dict(target), changes=checked.changes)
    for part, kind in _TARGETS.items():
        if target.get(part) and not inner.problem:
            inner = _check_value(part, kind, target[part], {}, house, inner)
    arguments = {**checked.arguments, key: inner.arguments}
    problem = f"{key}.{inner.problem}" if inner.problem else ""
    return replace(inner, arguments=arguments, problem=problem)


def _check_value(
    key: str, kind: str, value: Any, settings: Mapping[str, Any], house: House, checked: Fields
) -> Fields:
    meant: list[str] = []
    for one in value if isinstance(value, list) else [value]:
        if not isinstance(one, str):
            return replace(checked, problem=f"{key}: it must name one {kind}")
        name, options = _meant(kind, one, settings, house)
        if name is None:
            problem = f"{key}: there is no {kind} {one}"
            return replace(checked, problem=problem, options=options)
        if name != one:
            change = MendedArgument(key, one, name, key)
            checked = replace(checked, changes=(*checked.changes, change))
        meant.append(name)
    arguments = {**checked.arguments, key: meant if isinstance(value, list) else meant[0]}
    return replace(checked, arguments=arguments)


def _meant(
    kind: str, text: str, settings: Mapping[str, Any], house: House
) -> tuple[str | None, tuple[str, ...]]:
    if kind == "device":
        devices = {one.device_id for one in house.exposed()}
        return (text if text in devices else None), ()
    if kind == "entity":
        return _meant_entity(text, settings, house)
    if find_areas(house, text) if kind == "area" else find_floors(house, text):
        return text, ()  # Home Assistant resolves it to an id
    places: Iterable[Area | Floor] = (house.areas if kind == "area" else house.floors).values()
    known = {name: one.name for one in places for name in (one.name, *one.aliases)}

    def is_safe(name: str) -> bool:
        found = {one.area_id for one in find_areas(house, name)} if kind == "area" else set()
        floors = {one.floor_id for one in find_floors(house, name)} if kind == "floor" else set()
        found |= {one.area_id for one in house.areas.values() if one.floor_id in floors}
        inside = [key for key, one in house.entities.items() if one.area_id in found]
        return all(is_safe_to_guess(entity_id, house) for entity_id in inside)

    return _guessed(text, known, is_safe)


def _meant_entity(
    text: str, settings: Mapping[str, Any], house: House
) -> tuple[str | None, tuple[str, ...]]:
    pool = [one for one in house.exposed() if _is_wanted(one, settings)]
    if any(one.entity_id == text for one in pool):
        return text, ()
    known: dict[str, str] = {}
    shared: set[str] = set()
    for one in pool:
        for name in one.names:
            if known.setdefault(name, one.entity_id) != one.entity_id:
                shared.add(name)
    if text in shared:
        return None, tuple(one.entity_id for one in pool if text in one.names)
    known = {name: entity_id for name, entity_id in known.items() if name not in shared}
    return _guessed(text, known, lambda entity_id: is_safe_to_guess(entity_id, house))


def _is_wanted(entity: Entity, settings: Mapping[str, Any]) -> bool:
    filters = settings.get("filter") or [settings]
    for one in filters if isinstance(filters, list) else [filters]:
        domains = one.get("domain") if isinstance(one, Mapping) else None
        wanted = [domains] if isinstance(domains, str) else domains
        if not wanted or domain_of(entity.entity_id) in wanted:
            return True
    return False


def _guessed(
    text: str, known: Mapping[str, str], is_safe: Callable[[str], bool]
) -> tuple[str | None, tuple[str, ...]]:
    """Match a text to a known name with the steps of `mend`. Returns the value of that name, or
    None and similar values."""
    steps: list[Callable[[str], bool]] = [
        lambda name: folded(name) == folded(text),
        lambda name: stemmed(name) == stemmed(text),
        lambda name: are_near(text, name),
    ]
    for number, step in enumerate(steps):
        readings = {meant for name, meant in known.items() if step(name)}
        if len(readings) == 1:
            meant = readings.pop()
            return (meant, ()) if number == 0 or is_safe(meant) else (None, (meant,))
        if readings:
            return None, tuple(sorted(readings))
    return None, tuple(dict.fromkeys(known[name] for name in nearest(text, known)))
