"""Scenes that are made while the house runs: a picture of some entities, to go back to."""

from collections.abc import Sequence
from typing import Any

from integrations.demo_home.house import DemoHouse, Snapshot, Thing


def create(house: DemoHouse, scene_id: str, entity_ids: Sequence[str]) -> None:
    """Keep the present states; an entity that does not exist is passed over."""
    kept = tuple(house.get(entity_id) for entity_id in entity_ids if entity_id in house.things)
    if not kept:
        return
    entity_id = f"scene.{scene_id}"
    members = [snapshot.entity_id for snapshot in kept]
    house.scenes[entity_id] = kept
    house.add(Thing(entity_id, scene_id, "unknown", {"entity_id": members}, exposed=False))


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


_VIA: dict[str, str] = {
    "locked": "locking",
    "unlocked": "unlocking",
    "open": "opening",
    "closed": "closing",
}


def _restore(house: DemoHouse, kept: Snapshot) -> None:
    now = house.get(kept.entity_id)
    attributes: dict[str, Any] = {
        key: value for key, value in kept.attributes.items() if now.attributes.get(key) != value
    }
    if kept.state in _VIA and kept.entity_id.startswith(("lock.", "cover.")):
        house.travel(kept.entity_id, _VIA[kept.state], kept.state, **attributes)
    else:
        house.write(kept.entity_id, kept.state, **attributes)
