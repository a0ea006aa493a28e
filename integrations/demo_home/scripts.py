"""The scripts and the scene of the house: what they set off, behind the policy's back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from integrations.demo_home.house import DemoHouse
from integrations.demo_home.schemas import TEXT, Schema, choice

Call = Callable[[DemoHouse, str, str, str, Mapping[str, Any]], Mapping[str, Any] | None]


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a script: for tools as a JSON Schema, for `get_services` as a selector."""

    description: str
    schema: Schema
    selector: Mapping[str, Any]
    required: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """What is known of a script without running it."""

    description: str
    touches: tuple[str, ...]  # entity ids
    sequence: tuple[Mapping[str, Any], ...]  # as its owner wrote it
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
                choice("calm", "action", "horror"),
                {"select": {"options": ["calm", "action", "horror"], "multiple": False}},
            ),
            "rooms": Field(
                "Rooms to dim",
                {"type": "array", "items": TEXT},
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

# Domain, service and entity of each step of a scene.
SCENES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "scene.good_night": (
        ("light", "turn_off", "light.kitchen"),
        ("light", "turn_off", "light.living_room"),
        ("light", "turn_off", "light.dining_room"),
        ("cover", "close_cover", "cover.living_room_blinds"),
    ),
}


def config(house: DemoHouse, entity_id: str) -> Mapping[str, Any] | None:
    """The configuration of a script, as `script/config` gives it; None where there is none."""
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
    """Run one script with its fields and give its answer. A failed step raises through.

    It is "on" while it runs. Home Assistant enforces no field, neither required nor range: a wrong
    one fails inside.
    """
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
