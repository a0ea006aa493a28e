"""The scripts and the scene of the house: what they set off, behind the policy's back."""

from collections.abc import Callable, Mapping
from typing import Any

from integrations.demo_home.house import DemoHouse

Call = Callable[[DemoHouse, str, str, str, Mapping[str, Any]], Mapping[str, Any] | None]

# Domain, service and entity of each step of a scene.
SCENES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "scene.good_night": (
        ("light", "turn_off", "light.kitchen"),
        ("light", "turn_off", "light.living_room"),
        ("light", "turn_off", "light.dining_room"),
        ("cover", "close_cover", "cover.living_room_blinds"),
    ),
}


def run_script(
    house: DemoHouse, entity_id: str, fields: Mapping[str, Any], call: Call
) -> Mapping[str, Any] | None:
    """Run one script with its fields and give its answer. A failed step raises through.

    Home Assistant enforces no field, neither required nor range: a wrong one fails inside.
    """
    house.write(entity_id, last_triggered=house.clock.now().isoformat())
    if entity_id == "script.movie_night":
        brightness = fields.get("brightness")
        call(house, "light", "turn_on", "light.living_room", {"brightness_pct": brightness})
        return {"value": f"set {brightness}"}
    call(house, "light", "turn_on", "light.hall", {})
    call(house, "lock", "unlock", "lock.front_door", {})
    return None
