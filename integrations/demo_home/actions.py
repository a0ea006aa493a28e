"""Runs actions as REST and websocket ask for them: on targets, with checked data."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from integrations.demo_home import scenes, services
from integrations.demo_home.context import TARGETS, Offer, offer
from integrations.demo_home.house import DemoHouse
from integrations.demo_home.scenes import color_rgb
from integrations.demo_home.scripts import run_script
from integrations.demo_home.services import (
    DataError,
    ServiceError,
    UnfitError,
    UnknownServiceError,
)

# Checks and conversions of a tool's arguments, as strict and lax as Home Assistant 2026.11's.


Check = Callable[[Any], Any]  # gives the converted value, or raises ValueError


class SlotError(ValueError):
    """An argument is missing or wrong. Intents do not say which: the text is empty."""


@dataclass(frozen=True, slots=True)
class Slots:
    """The arguments that an intent knows, each with its check."""

    checks: Mapping[str, Check]
    required: tuple[str, ...] = ()

    def read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The checked arguments: null and blank dropped, unknown ones ignored. Raises SlotError."""
        given = {key: value for key, value in arguments.items() if not _blank(value)}
        if any(name not in given for name in self.required):
            raise SlotError
        try:
            return {
                name: check(given[name]) for name, check in self.checks.items() if name in given
            }
        except (TypeError, ValueError) as error:
            raise SlotError from error


@dataclass(frozen=True, slots=True)
class Fields:
    """The arguments of a tool that is no intent: it takes no others, and says what is wrong."""

    checks: Mapping[str, Check]
    required: tuple[str, ...] = ()

    def read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The checked arguments. Raises SlotError, whose text names the argument."""
        for name in arguments:
            if name not in self.checks:
                raise SlotError(f"not a valid option at '{name}'")
        for name in self.required:
            if name not in arguments:
                raise SlotError(f"required key not provided at '{name}'")
        values = {}
        for name, value in arguments.items():
            try:
                values[name] = self.checks[name](value)
            except ValueError as error:
                raise SlotError(f"{error} at '{name}'") from error
        return values


def _blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def plain(value: Any) -> str:
    """A field's text, which may be empty."""
    if value is None:
        raise ValueError("string value is None")
    if isinstance(value, list | dict):
        raise ValueError("value should be a string")
    return str(value)


def plain_list(value: Any) -> tuple[str, ...]:
    """A field's text or list of texts, lower case; empty ones are dropped."""
    values = value if isinstance(value, list) else [value]
    return tuple(text for item in values if (text := plain(item).strip().lower()))


def one_of(choices: Sequence[str]) -> Check:
    """A field that takes one of these words."""

    def check(value: Any) -> str:
        if value not in choices:
            raise ValueError(f"value must be one of {sorted(choices)}")
        return str(value)

    return check


def text(value: Any) -> str:
    """A string that is not blank; numbers are taken as text, lists are not."""
    if isinstance(value, list | dict) or not str(value).strip():
        raise ValueError("not a text")
    return str(value)


def texts(choices: Sequence[str] = ()) -> Check:
    """One string or a list of strings, all among `choices` if there are any."""

    def check(value: Any) -> tuple[str, ...]:
        values = tuple(text(item) for item in (value if isinstance(value, list) else [value]))
        if choices and not set(values) <= set(choices):
            raise ValueError("not among the choices")
        return values

    return check


def integer(low: int, high: int | None) -> Check:
    """A whole number in the range; "30" and 30.7 are taken as 30."""

    def check(value: Any) -> int:
        number = int(value)
        if number < low or (high is not None and number > high):
            raise ValueError("out of range")
        return number

    return check


def number(value: Any) -> float:
    """Any number, also as text."""
    return float(value)


def color(value: Any) -> tuple[int, int, int]:
    """A colour by its name."""
    return color_rgb(text(value))


def volume_step(value: Any) -> int | str:
    """ "up", "down" or percent from -100 to 100."""
    return str(value) if value in ("up", "down") else int(integer(-100, 100)(value))


def anything(value: Any) -> Any:
    """Whatever is given."""
    return value


Data = Mapping[str, Any]
_ENTITY_ID = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+")


def offered(house: DemoHouse, domain: str, service: str) -> Offer:
    """The action of that name. Raises UnknownServiceError."""
    found = offer(house, domain, service)
    if found is None:
        raise UnknownServiceError(f"Service {domain}.{service} not found.")
    return found


def run(house: DemoHouse, domain: str, service: str, data: Data) -> Data:
    """Run an action and give its answer, which most have none of: {}.

    Targets stand plain among the data or in `target`; an entity that does not exist is passed over,
    as in Home Assistant. Raises ServiceError.
    """
    known = offered(house, domain, service)
    where = {**data, **(data.get("target") or {})}
    own = {key: value for key, value in data.items() if key not in (*TARGETS, "target")}
    _check(known, own)
    if known.on is None:
        return _without_target(house, domain, service, own)
    if not any(key in where for key in TARGETS):
        raise DataError(f"at least one of {list(TARGETS)} is required")
    return _on_targets(house, domain, service, where, own)


def _check(known: Offer, data: Data) -> None:
    for name in data:
        if name not in known.fields and not known.free:
            raise DataError(f"not a valid option at '{name}'")
    if known.free and known.on is None and "message" not in known.fields:
        return  # a script: its fields are not enforced
    for name, about in known.fields.items():
        if about.get("required") and name not in data:
            raise DataError(f"required key not provided at '{name}'")


def _without_target(house: DemoHouse, domain: str, service: str, data: Data) -> Data:
    if domain == "script":
        return run_script(house, f"script.{service}", data, services.call) or {}
    if domain == "scene":
        _create_scene(house, data)
        return {}
    if not isinstance(data.get("data", {}), dict):
        raise DataError("expected dict for dictionary value @ data['data']")
    house.notify(service, data)
    return {}


def _create_scene(house: DemoHouse, data: Data) -> None:
    """Keep states as a scene. Raises DataError."""
    if "entities" not in data and "snapshot_entities" not in data:
        raise DataError("at least one of ['entities', 'snapshot_entities'] is required")
    given, kept = data.get("entities", {}), _listed(data.get("snapshot_entities"))
    if set(given) & set(kept):
        raise DataError("entities and snapshot_entities must not overlap")
    scene_id = str(data["scene_id"])
    if not scenes.SLUG.fullmatch(scene_id):
        raise DataError(f"invalid slug {scene_id} at 'scene_id'")
    for entity_id, wanted in given.items():
        if not isinstance(wanted.get("state") if isinstance(wanted, Mapping) else wanted, str):
            raise DataError(f"State for {entity_id} should be a string at 'entities'")
    for entity_id in (*given, *kept):
        if not _ENTITY_ID.fullmatch(entity_id):
            raise DataError(f"Entity ID {entity_id} is an invalid entity ID")
    scenes.create(house, scene_id, kept, given)


def _delete_scene(house: DemoHouse, entity_id: str) -> None:
    """Forget a scene that was made by `scene.create`. Raises UnfitError for anything else."""
    if entity_id not in house.things or not entity_id.startswith("scene."):
        raise UnfitError(f"{entity_id} is not a valid entity ID of a scene")
    if entity_id not in house.scenes:
        raise UnfitError(f"The scene {entity_id} is not created with action `scene.create`")
    scenes.delete(house, entity_id)


def _on_targets(house: DemoHouse, domain: str, service: str, where: Data, own: Data) -> Data:
    """The answers of all targets, by entity id; a script's answer as it is."""
    answers: dict[str, Any] = {}
    if (domain, service) == ("scene", "delete"):
        for entity_id in _listed(where.get("entity_id")):
            _delete_scene(house, entity_id)
        return answers
    reached = 0
    for entity_id in _targets(house, domain, where):
        reached += 1
        answers |= services.call(house, domain, service, entity_id, own) or {}
    if offered(house, domain, service).response == "only" and not reached:
        raise ServiceError("Service call requested response data but did not match any entities")
    return answers


def _targets(house: DemoHouse, domain: str, where: Data) -> list[str]:
    """Existing entities of the domain, by id, device, area and floor."""
    areas = set(_listed(where.get("area_id")))
    floors = set(_listed(where.get("floor_id")))
    devices = set(_listed(where.get("device_id")))
    found = [
        entity_id for entity_id in _listed(where.get("entity_id")) if entity_id in house.things
    ]
    for thing in house.things.values():
        area = house.area_of(thing.entity_id)
        inside = area is not None and (area.area_id in areas or area.floor_id in floors)
        if (inside or thing.device_id in devices) and thing.entity_id not in found:
            found.append(thing.entity_id)
    anything = domain == "homeassistant"
    return [entity_id for entity_id in found if anything or entity_id.startswith(f"{domain}.")]


def _listed(value: Any) -> list[str]:
    if value is None:
        return []
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]
