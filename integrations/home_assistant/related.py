"""What a script, automation or scene touches, from Home Assistant's `search/related`.

Any user may ask it, while the configuration (`actions`) is for administrators alone. Of a scene it
is all; of a script or automation never more than a part.

The answer mixes what is touched with where that is: a touched entity comes with its device, its
area and that area's floor, and the script with its own area and labels (2026.11,
`components/search`). So a place or a device counts as targeted only where nothing else explains it;
what lets someone in counts wherever its device or label is told, explained or not.
Not seen, then: an area or floor that is a target beside an entity of the same place in one script,
a script that is called as an action (`action: script.other`), a sentence said to Assist, an event,
and every target that a template makes. What is touched may be more than is told here; what a script
is seen to do counts too (`runs`).
"""

from collections.abc import Mapping
from typing import Any

from integrations.home_assistant.effects import Effects
from integrations.home_assistant.house import Entity
from integrations.home_assistant.places import Places
from integrations.home_assistant.registry import Registries, read_labels
from integrations.home_assistant.runs import LETS_IN

SEARCHED = ("script", "automation", "scene")  # domains


def read_related(
    item_id: str,
    answer: Mapping[str, Any],
    registries: Registries,
    entities: Mapping[str, Entity],
) -> Effects:
    """What `search/related` answers for the item, as its effects."""
    touched = touched_by(item_id, answer, registries, entities)
    # A scene sets states and does nothing else; one of a device's own names no entity.
    whole = item_id.startswith("scene.") and bool(touched)
    reasons = () if whole else ("its configuration is not known",)
    return Effects(dict.fromkeys(sorted(touched), "either"), reasons)


def touched_by(
    item_id: str,
    answer: Mapping[str, Any],
    registries: Registries,
    entities: Mapping[str, Entity],
) -> frozenset[str]:
    """The ids of the entities that the item touches, by the answer of `search/related`.

    `answer` maps kinds ("entity", "device", "area", "floor", "label") to ids. Entities that the
    house does not have are left out.
    """
    named = _ids(answer, "entity") - {item_id}
    touched = {entity_id for entity_id in named if entity_id in entities}
    if item_id.startswith("scene."):
        return frozenset(touched)
    places = Places(registries, entities)
    own = [item_id, *(one for one in named if one.startswith("script."))]  # and those it runs
    around = [*named, *own]
    devices = _ids(answer, "device") - {places.device(one) for one in around}
    areas = _ids(answer, "area") - {places.area(one) for one in around}
    areas -= {registries.devices[one].area_id for one in devices if one in registries.devices}
    every_area = _ids(answer, "area")
    floors = _ids(answer, "floor") - {
        registries.areas[one].floor_id for one in every_area if one in registries.areas
    }
    every_label = _ids(answer, "label")
    labels = every_label - read_labels(registries.entities.get(item_id, {}))
    areas |= {area.area_id for area in registries.areas.values() if area.floor_id in floors}
    touched |= places.inside(devices, areas)
    touched |= places.labelled(labels)
    perhaps = places.inside(_ids(answer, "device"), ()) | places.labelled(every_label)
    touched |= {one for one in perhaps if one.partition(".")[0] in LETS_IN}
    return frozenset((touched & entities.keys()) - {item_id})


def _ids(answer: Mapping[str, Any], kind: str) -> set[str]:
    found = answer.get(kind)
    return {one for one in found if isinstance(one, str)} if isinstance(found, list) else set()
