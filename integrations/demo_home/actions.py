"""Runs actions as REST and websocket ask for them: on targets, with checked data."""

from collections.abc import Mapping
from typing import Any

from integrations.demo_home import scenes, services
from integrations.demo_home.house import DemoHouse
from integrations.demo_home.offered import TARGETS, Offer, offer
from integrations.demo_home.phones import NotConnectedError
from integrations.demo_home.scripts import run_script
from integrations.demo_home.services import DataError, ServiceError, UnknownServiceError

Data = Mapping[str, Any]


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
        scenes.create(house, data["scene_id"], _listed(data.get("snapshot_entities")))
        return {}
    phone = next(phone for phone in house.phones.all() if service == f"mobile_app_{phone.slug}")
    try:
        house.phones.push(phone, data)
    except NotConnectedError as error:
        raise ServiceError(str(error)) from error
    return {}


def _on_targets(house: DemoHouse, domain: str, service: str, where: Data, own: Data) -> Data:
    """The answers of all targets, by entity id; a script's answer as it is."""
    answers: dict[str, Any] = {}
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
