"""Scenes that are made while the house runs: a picture of some entities, to go back to.

As `scene.create` and the `reproduce_state` of each domain do it in Home Assistant 2026.11: what has
no such thing stays as it is, and so does what cannot be reached.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC
from types import MappingProxyType
from typing import Any

from integrations.demo_home.house import UNAVAILABLE, DemoHouse, Snapshot, Thing

SLUG = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*")

# What comes back beside the state; only what is not so already is set.
_KEPT: Mapping[str, tuple[str, ...]] = {
    "climate": ("temperature",),
    "cover": ("current_position",),
    "fan": ("percentage",),
    "input_boolean": (),
    "light": ("brightness", "color_mode", "color_temp_kelvin", "rgb_color"),
    "lock": (),
    "media_player": ("is_volume_muted", "volume_level"),
    "switch": (),
}
_VIA: dict[str, str] = {
    "locked": "locking",
    "unlocked": "unlocking",
    "open": "opening",
    "closed": "closing",
}
_ENDS = {via: end for end, via in _VIA.items()}


def create(
    house: DemoHouse, scene_id: str, entity_ids: Sequence[str], given: Mapping[str, Any]
) -> None:
    """Keep the present states, and those given as a state or as attributes with a `state`.

    An entity that does not exist is passed over; without any the scene is not made, and neither is
    one of the id of a scene that was not made here.
    """
    entity_id = f"scene.{scene_id}"
    kept = [_given(house, member, wanted) for member, wanted in given.items()]
    kept += [house.get(member) for member in entity_ids if member in house.things]
    if not kept or (entity_id in house.things and entity_id not in house.scenes):
        return
    if entity_id in house.scenes:
        delete(house, entity_id)
    house.scenes[entity_id] = tuple(kept)
    attributes = {"entity_id": [snapshot.entity_id for snapshot in kept]}
    # Assistants see it, as Home Assistant exposes every new scene.
    house.add(Thing(entity_id, scene_id, "unknown", attributes, registered=False))


def apply(house: DemoHouse, entity_id: str) -> None:
    """Go back to the kept states. What is open or unlocked by that moves as it always does."""
    house.write(entity_id, house.clock.now().isoformat())
    for kept in house.scenes[entity_id]:
        if kept.entity_id in house.things:
            _restore(house, kept)


def delete(house: DemoHouse, entity_id: str) -> None:
    """Forget a scene. Raises KeyError for one that was not made here."""
    del house.scenes[entity_id]
    house.remove(entity_id)


def _given(house: DemoHouse, entity_id: str, wanted: Any) -> Snapshot:
    attributes = dict(wanted) if isinstance(wanted, Mapping) else {"state": wanted}
    state = str(attributes.pop("state"))
    now = house.clock.now().astimezone(UTC)
    return Snapshot(entity_id, state, MappingProxyType(attributes), now, now, "")


def _restore(house: DemoHouse, kept: Snapshot) -> None:
    now = house.get(kept.entity_id)
    domain = kept.entity_id.partition(".")[0]
    if domain not in _KEPT or UNAVAILABLE in (now.state, kept.state) or kept.state == "unknown":
        return
    attributes: dict[str, Any] = {
        name: kept.attributes[name]
        for name in _KEPT[domain]
        if name in kept.attributes and now.attributes.get(name) != kept.attributes[name]
    }
    # One that was moving goes where it was heading, or to where it was just then.
    end = _ENDS.get(kept.state, kept.state)
    if end in _VIA and domain in ("lock", "cover"):
        house.travel(kept.entity_id, _VIA[end], end, **attributes)
    else:
        house.write(kept.entity_id, kept.state, **attributes)
