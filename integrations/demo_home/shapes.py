"""The JSON of states, registries and events, with the field names of Home Assistant 2026.11."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from integrations.demo_home.house import DemoHouse, Event, Snapshot, StateChange, Thing
from integrations.demo_home.scenes import SCENES, SCRIPTS
from integrations.demo_home.surroundings import Person

Json = dict[str, Any]
VERSION = "2026.11.0"
# Components besides the entities' domains; without conversation and assist_pipeline.
COMPONENTS = {
    *("api", "config", "demo", "homeassistant", "http", "intent", "llm", "mcp_server"),
    *("mobile_app", "notify", "search", "webhook", "websocket_api"),
}


def state(snapshot: Snapshot) -> Json:
    """Return a state as in `/api/states` and `get_states`."""
    return {
        "entity_id": snapshot.entity_id,
        "state": snapshot.state,
        "attributes": dict(snapshot.attributes),
        "last_changed": snapshot.last_changed.isoformat(),
        "last_reported": snapshot.last_updated.isoformat(),
        "last_updated": snapshot.last_updated.isoformat(),
        "context": context(snapshot.context_id),
    }


def context(context_id: str, user_id: str | None = None) -> Json:
    return {"id": context_id, "parent_id": None, "user_id": user_id}


def user(person: Person) -> Json:
    """Return the result of `auth/current_user`."""
    return {
        "id": person.user_id,
        "name": person.name,
        "is_owner": person.is_admin,
        "is_admin": person.is_admin,
        "credentials": [],
        "mfa_modules": [],
    }


def event(fired: Event, now: datetime) -> Json:
    """Return an event as in `subscribe_events`. For state changes, use `state_changed`."""
    return {
        "event_type": fired.kind,
        "data": dict(fired.data),
        "origin": "LOCAL",
        "time_fired": now.isoformat(),
        "context": context(""),
    }


def state_changed(change: StateChange) -> Json:
    """Return a state change as in `subscribe_events`."""
    last = change.new or change.old
    assert last is not None
    return {
        "event_type": "state_changed",
        "data": {
            "entity_id": change.entity_id,
            "old_state": state(change.old) if change.old else None,
            "new_state": state(change.new) if change.new else None,
        },
        "origin": "LOCAL",
        "time_fired": last.last_updated.isoformat(),
        "context": context(last.context_id),
    }


def compressed_state(snapshot: Snapshot) -> Json:
    """Return a complete state as in `subscribe_entities`."""
    short: Json = {
        "s": snapshot.state,
        "a": dict(snapshot.attributes),
        "c": snapshot.context_id,
        "lc": snapshot.last_changed.timestamp(),
    }
    if snapshot.last_updated != snapshot.last_changed:
        short["lu"] = snapshot.last_updated.timestamp()
    return short


def compressed_change(change: StateChange) -> Json:
    """Return a state change as in `subscribe_entities`."""
    old, new = change.old, change.new
    if new is None:
        return {"r": [change.entity_id]}
    if old is None:
        return {"a": {change.entity_id: compressed_state(new)}}
    return {"c": {change.entity_id: _difference(old, new)}}


def _difference(old: Snapshot, new: Snapshot) -> Json:
    added: Json = {"c": new.context_id}
    if new.state != old.state:
        added["s"] = new.state
    if new.last_changed != old.last_changed:
        added["lc"] = new.last_changed.timestamp()
    else:
        added["lu"] = new.last_updated.timestamp()
    missing = object()
    attributes = {
        key: value
        for key, value in new.attributes.items()
        if old.attributes.get(key, missing) != value
    }
    if attributes:
        added["a"] = attributes
    diff: Json = {"+": added}
    gone = [key for key in old.attributes if key not in new.attributes]
    if gone:
        diff["-"] = {"a": gone}
    return diff


def floors(house: DemoHouse, since: datetime) -> list[Json]:
    """Return the result of `config/floor_registry/list`."""
    return [
        {
            "aliases": list(floor.aliases),
            "floor_id": floor.floor_id,
            "icon": None,
            "level": level,
            "name": floor.name,
            **times(since),
        }
        for level, floor in enumerate(house.floors.values())
    ]


def areas(house: DemoHouse, since: datetime) -> list[Json]:
    """Return the result of `config/area_registry/list`."""
    return [
        {
            "aliases": list(area.aliases),
            "area_id": area.area_id,
            "floor_id": area.floor_id,
            "humidity_entity_id": area.humidity_entity_id,
            "icon": None,
            "labels": house.labels.of(area.area_id),
            "name": area.name,
            "picture": None,
            "temperature_entity_id": area.temperature_entity_id,
            **times(since),
        }
        for area in house.areas.values()
    ]


def labels(house: DemoHouse, since: datetime) -> list[Json]:
    """Return the result of `config/label_registry/list`."""
    return [
        {
            "color": None,
            "description": None,
            "icon": None,
            "label_id": label_id,
            "name": name,
            **times(since),
        }
        for label_id, name in house.labels.names.items()
    ]


def devices(house: DemoHouse, since: datetime) -> list[Json]:
    """Return the result of `config/device_registry/list`."""
    own = [
        device(
            thing.device_id,
            thing.name,
            since,
            area_id=thing.area_id if thing.area_on_device else None,
            config_entries=["demo"],
            identifiers=[["demo", thing.entity_id]],
            labels=house.labels.of(thing.device_id),
            manufacturer="Demo",
            primary_config_entry="demo",
        )
        for thing in house.things.values()
        if thing.device_id is not None and thing.device is None
    ]
    return own + house.registered_devices(since)


def device(device_id: str, name: str, since: datetime, **given: Any) -> Json:
    """Return a row of `config/device_registry/list`. Fields not in `given` are null."""
    empty = (
        *("area_id", "configuration_url", "disabled_by", "entry_type", "hw_version", "model"),
        *("model_id", "name_by_user", "serial_number", "sw_version", "via_device_id"),
    )
    row: Json = {**dict.fromkeys(empty), "connections": [], "id": device_id, "name": name}
    return {**row, **given, **times(since)}


def entities(house: DemoHouse, since: datetime) -> list[Json]:
    """Return the result of `config/entity_registry/list`."""
    return [entity(thing, since) for thing in house.things.values() if thing.registered]


def entity(thing: Thing, since: datetime) -> Json:
    """Return a row of `config/entity_registry/list`, which has no aliases."""
    return {
        "area_id": None if thing.area_on_device else thing.area_id,
        "categories": {},
        "config_entry_id": _platform(thing) if thing.device_id else None,
        "config_subentry_id": None,
        "device_id": thing.device_id,
        "disabled_by": None,
        "entity_category": None,
        "entity_id": thing.entity_id,
        "has_entity_name": False,
        "hidden_by": None,
        "icon": None,
        "id": thing.entity_id.replace(".", "_"),
        "labels": list(thing.labels),
        "name": None,
        "options": {"conversation": {"should_expose": thing.exposed}},
        "original_name": thing.name,
        "platform": _platform(thing),
        "translation_key": None,
        "unique_id": thing.entity_id,
        **times(since),
    }


def _platform(thing: Thing) -> str:
    if thing.device is not None:
        return "mobile_app"
    return "demo" if thing.device_id else thing.domain


def extended_entity(thing: Thing, since: datetime) -> Json:
    """Return an entity with its aliases, as in `config/entity_registry/get` and `get_entries`."""
    return {
        **entity(thing, since),
        # null stands for the entity's own name.
        "aliases": [*([None] if thing.own_name else []), *thing.aliases],
        "capabilities": None,
        "device_class": None,
        "original_device_class": thing.attributes.get("device_class"),
        "original_icon": None,
    }


def exposure(house: DemoHouse) -> Json:
    """Return the result of `homeassistant/expose_entity/list`."""
    return {
        "exposed_entities": {
            thing.entity_id: {"conversation": thing.exposed} for thing in house.things.values()
        }
    }


def config(house: DemoHouse) -> Json:
    """Return the part of the results of `/api/config` and `get_config` that clients read."""
    return {
        "allowlist_external_dirs": [],
        "allowlist_external_urls": [],
        "components": sorted(COMPONENTS | {thing.domain for thing in house.things.values()}),
        "config_dir": "/config",
        "config_source": "storage",
        "country": None,
        "currency": "EUR",
        "debug": False,
        "elevation": 0,
        "external_url": None,
        "internal_url": None,
        "language": "en",
        "latitude": 0.0,
        "location_name": "Demo home",
        "longitude": 0.0,
        "radius": 100,
        "recovery_mode": False,
        "safe_mode": False,
        "state": "RUNNING",
        "time_zone": "UTC",
        "unit_system": {
            "accumulated_precipitation": "mm",
            "length": "km",
            "mass": "g",
            "pressure": "Pa",
            "temperature": "°C",
            "volume": "L",
            "wind_speed": "m/s",
        },
        "version": VERSION,
    } | house.general


def times(since: datetime) -> Json:
    return {"created_at": since.timestamp(), "modified_at": since.timestamp()}


# Item types that can be requested, including some that the house doesn't have.
KINDS = (
    *("area", "automation", "automation_blueprint", "config_entry", "device", "entity", "floor"),
    *("group", "integration", "label", "person", "scene", "script", "script_blueprint"),
)


def touched(house: DemoHouse, entity_id: str) -> tuple[str, ...]:
    """Return the ids of the entities that a script or scene changes, or () for any other entity."""
    if entity_id in SCRIPTS:
        return SCRIPTS[entity_id].touches
    if entity_id in house.scenes:
        return tuple(kept.entity_id for kept in house.scenes[entity_id])
    return tuple(dict.fromkeys(member for _, _, member in SCENES.get(entity_id, ())))


def related(house: DemoHouse, kind: str, item: str) -> dict[str, list[str]]:
    """Return the ids of items related to an item, by type, as `search/related` does."""
    found: dict[str, list[str]] = {}
    if kind in ("script", "scene", "entity") and item in house.things:
        members = touched(house, item)
        if members:
            found["entity"] = list(members)
        places = _around(house, members or (item,))
        if kind == "entity" and not members:
            places |= _users(house, (item,))
        found |= places
    elif kind == "area" and item in house.areas:
        inside = [t.entity_id for t in house.things.values() if t.area_id == item]
        floor = house.areas[item].floor_id
        found = _around(house, inside) | _users(house, inside)
        found |= {"entity": inside, "floor": [floor] if floor else []}
        found.pop("area", None)
    elif kind == "device":
        of_it = [t.entity_id for t in house.things.values() if t.device_id == item]
        found = _around(house, of_it) | {"entity": of_it}
        found.pop("device", None)
    return {key: ids for key, ids in found.items() if ids}


def _around(house: DemoHouse, entity_ids: Iterable[str]) -> dict[str, list[str]]:
    known = [house.things[entity_id] for entity_id in entity_ids if entity_id in house.things]
    areas = [area for thing in known if (area := house.area_of(thing.entity_id))]
    return {
        "device": _once(thing.device_id for thing in known),
        "area": _once(area.area_id for area in areas),
        "floor": _once(area.floor_id for area in areas),
    }


def _users(house: DemoHouse, entity_ids: Iterable[str]) -> dict[str, list[str]]:
    wanted = set(entity_ids)
    makers = [t for t in house.things if wanted & set(touched(house, t))]
    return {
        domain: [entity_id for entity_id in makers if entity_id.startswith(f"{domain}.")]
        for domain in ("script", "scene")
    }


def _once(ids: Iterable[str | None]) -> list[str]:
    return list(dict.fromkeys(id_ for id_ in ids if id_ is not None))
