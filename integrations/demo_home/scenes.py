"""Scenes, scripts, saved states and colour names of the simulated house.

Scenes are saved and applied as in Home Assistant 2026.11 (`scene.create` and each domain's
`reproduce_state`).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from types import MappingProxyType
from typing import Any

from integrations.demo_home.house import UNAVAILABLE, DemoHouse, Snapshot, Thing

# Colour names that lights understand, as red, green and blue from 0 to 255 (CSS Color Level 4).


COLORS: dict[str, tuple[int, int, int]] = {
    "aqua": (0, 255, 255),
    "beige": (245, 245, 220),
    "black": (0, 0, 0),
    "blue": (0, 0, 255),
    "brown": (165, 42, 42),
    "coral": (255, 127, 80),
    "crimson": (220, 20, 60),
    "cyan": (0, 255, 255),
    "fuchsia": (255, 0, 255),
    "gold": (255, 215, 0),
    "gray": (128, 128, 128),
    "green": (0, 128, 0),
    "grey": (128, 128, 128),
    "indigo": (75, 0, 130),
    "ivory": (255, 255, 240),
    "khaki": (240, 230, 140),
    "lavender": (230, 230, 250),
    "lime": (0, 255, 0),
    "magenta": (255, 0, 255),
    "maroon": (128, 0, 0),
    "navy": (0, 0, 128),
    "olive": (128, 128, 0),
    "orange": (255, 165, 0),
    "orchid": (218, 112, 214),
    "pink": (255, 192, 203),
    "plum": (221, 160, 221),
    "purple": (128, 0, 128),
    "red": (255, 0, 0),
    "salmon": (250, 128, 114),
    "silver": (192, 192, 192),
    "skyblue": (135, 206, 235),
    "tan": (210, 180, 140),
    "teal": (0, 128, 128),
    "tomato": (255, 99, 71),
    "turquoise": (64, 224, 208),
    "violet": (238, 130, 238),
    "white": (255, 255, 255),
    "yellow": (255, 255, 0),
}


def color_rgb(name: str) -> tuple[int, int, int]:
    """Return the RGB value of a colour name, ignoring spaces and case. Raises ValueError for an
    unknown colour."""
    try:
        return COLORS[name.replace(" ", "").casefold()]
    except KeyError:
        raise ValueError(f"unknown colour {name!r}") from None


# Text description of the house.


_UNSEEN = ("calendar.", "camera.", "scene.", "script.", "sun.")


def describe(house: DemoHouse) -> str:
    """Return the states of all entities that can be seen in the house, one line per area."""
    rows: dict[str, list[str]] = {area.name: [] for area in house.areas.values()}
    rows["Elsewhere"] = []
    for snapshot in house.all():
        if snapshot.entity_id.startswith(_UNSEEN):
            continue
        area = house.area_of(snapshot.entity_id)
        rows[area.name if area else "Elsewhere"].append(
            f"{snapshot.attributes['friendly_name']} {in_words(snapshot)}"
        )
    width = max(len(name) for name in rows)
    return "\n".join(f"{name:<{width}}  {', '.join(parts)}" for name, parts in rows.items())


def in_words(snapshot: Snapshot) -> str:
    """Return the state with its most important value, such as a light's brightness."""
    attributes = snapshot.attributes
    if snapshot.state in ("on", "off") and attributes.get("brightness") is not None:
        colour = attributes.get("rgb_color")
        tint = f" rgb{tuple(colour)}" if colour else ""
        return f"{snapshot.state} {round(attributes['brightness'] / 255 * 100)} %{tint}"
    if snapshot.state == "on" and attributes.get("percentage"):
        return f"on {attributes['percentage']} %"
    if "current_position" in attributes and snapshot.state != "closed":
        return f"{snapshot.state} {attributes['current_position']} %"
    if "hvac_modes" in attributes:
        return f"{snapshot.state} to {attributes['temperature']} °C"
    if "volume_level" in attributes:
        return f"{snapshot.state} at {round(attributes['volume_level'] * 100)} %"
    if "unit_of_measurement" in attributes:
        return f"{snapshot.state} {attributes['unit_of_measurement']}"
    if snapshot.entity_id.startswith("binary_sensor."):
        return "open" if snapshot.state == "on" else "closed"
    return snapshot.state


SLUG = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*")

# Attributes restored besides the state, if they differ.
_KEPT: Mapping[str, tuple[str, ...]] = {
    "climate": ("temperature",),
    "cover": ("current_position",),
    "fan": ("percentage",),
    "humidifier": ("humidity",),
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
    """Save the current states of `entity_ids` and the states in `given` as a scene.

    A given state is a string, or a mapping of attributes that includes `state`. Ids in `entity_ids`
    that don't exist are ignored.
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
    # Home Assistant exposes every new scene to assistants.
    house.add(Thing(entity_id, scene_id, "unknown", attributes, registered=False))


def apply(house: DemoHouse, entity_id: str) -> None:
    house.write(entity_id, house.clock.now().isoformat())
    for kept in house.scenes[entity_id]:
        if kept.entity_id in house.things:
            _restore(house, kept)


def delete(house: DemoHouse, entity_id: str) -> None:
    """Delete a scene. Raises KeyError if it wasn't made by `create`."""
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
    # A lock or cover that was moving when it was saved is moved to its final state.
    end = _ENDS.get(kept.state, kept.state)
    if end in _VIA and domain in ("lock", "cover"):
        house.travel(kept.entity_id, _VIA[end], end, **attributes)
    else:
        house.write(kept.entity_id, kept.state, **attributes)


# Scripts and a scene, whose effects Hearth's policy can't see.


Call = Callable[[DemoHouse, str, str, str, Mapping[str, Any]], Mapping[str, Any] | None]


@dataclass(frozen=True, slots=True)
class Field:
    """A script field, as a JSON Schema for tools and as a selector for `get_services`."""

    description: str
    schema: dict[str, Any]
    selector: Mapping[str, Any]
    required: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    description: str
    touches: tuple[str, ...]  # entity ids
    sequence: tuple[Mapping[str, Any], ...]  # as written by its author
    fields: Mapping[str, Field] = field(default_factory=dict)


SCRIPTS = {
    "script.movie_night": Script(
        "Dims the living room for a film.",
        ("light.living_room",),
        (
            {
                "action": "light.turn_on",
                "target": {"entity_id": "light.living_room"},
                "data": {"brightness_pct": "{{ brightness }}"},
            },
        ),
        {
            "brightness": Field(
                "How bright, in percent",
                {"type": "number", "minimum": 0.0, "maximum": 100.0},
                {"number": {"min": 0.0, "max": 100.0, "step": 1.0, "mode": "slider"}},
                required=True,
            ),
            "mood": Field(
                "Mood of the film",
                {"type": "string", "enum": ["calm", "action", "horror"]},
                {"select": {"options": ["calm", "action", "horror"], "multiple": False}},
            ),
            "rooms": Field(
                "Rooms to dim",
                {"type": "array", "items": {"type": "string"}},
                {"area": {"multiple": True}},
            ),
        },
    ),
    "script.welcome_home": Script(
        "Lights the hall and unlocks the front door.",
        ("light.hall", "lock.front_door"),
        (
            {"action": "light.turn_on", "target": {"entity_id": "light.hall"}},
            {"action": "lock.unlock", "target": {"entity_id": "lock.front_door"}},
        ),
    ),
}

# Domain, service and entity of each step.
SCENES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "scene.good_night": (
        ("light", "turn_off", "light.kitchen"),
        ("light", "turn_off", "light.living_room"),
        ("light", "turn_off", "light.dining_room"),
        ("cover", "close_cover", "cover.living_room_blinds"),
    )
}


def config(house: DemoHouse, entity_id: str) -> Mapping[str, Any] | None:
    """Return a script's configuration as `script/config` does, or None if the script is unknown."""
    script = SCRIPTS.get(entity_id)
    if script is None:
        return None
    return {
        "alias": house.things[entity_id].name,
        "description": script.description,
        "fields": {
            name: {
                "description": one.description,
                "selector": one.selector,
                **({"required": True} if one.required else {}),
            }
            for name, one in script.fields.items()
        },
        "sequence": list(script.sequence),
    }


def run_script(
    house: DemoHouse, entity_id: str, fields: Mapping[str, Any], call: Call
) -> Mapping[str, Any] | None:
    """Run a script and return its response. Raises the error of a step that fails. Like Home
    Assistant, this checks neither required fields nor ranges."""
    house.write(entity_id, "on", last_triggered=house.clock.now().isoformat(), current=1)
    try:
        if entity_id == "script.movie_night":
            brightness = fields.get("brightness")
            call(house, "light", "turn_on", "light.living_room", {"brightness_pct": brightness})
            return {"value": f"set {brightness}"}
        call(house, "light", "turn_on", "light.hall", {})
        call(house, "lock", "unlock", "lock.front_door", {})
        return None
    finally:
        house.write(entity_id, "off", current=0)
