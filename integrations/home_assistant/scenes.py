"""What a scene does to doors and alarms, read from the states that it sets.

Any user is told what a scene holds (its attribute `entity_id`). An administrator is told the states
that it sets as well, where it was made on Home Assistant's page: over REST, by the scene's own `id`
(2026.11, `components/config/scene.py`). Which way a thing goes follows `reproduce_state.py` of its
domain.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from integrations.errors import Unavailable
from integrations.home_assistant.effects import Effects
from integrations.home_assistant.house import Entity, Way
from integrations.home_assistant.rest import rest_client
from integrations.home_assistant.runs import LETS_IN
from integrations.home_assistant.shapes import mapping

Reach = tuple[str, str, bool, str]  # address, token, whether TLS is checked, file of the authority
MAX_ANSWER = 200_000  # characters
# States by which it is certain which way a thing goes; "on" is to lock, to arm or to open.
_WAYS: Mapping[str, Mapping[str, Way]] = {
    "lock": {"locked": "on", "locking": "on", "unlocked": "off", "unlocking": "off", "open": "off"},
    "cover": {"open": "on", "opening": "on", "closed": "off", "closing": "off"},
    "valve": {"open": "on", "opening": "on", "closed": "off", "closing": "off"},
    "alarm_control_panel": {
        "armed_away": "on",
        "armed_custom_bypass": "on",
        "armed_home": "on",
        "armed_night": "on",
        "armed_vacation": "on",
        "disarmed": "off",
    },
    "siren": {"on": "on", "off": "off"},
}
_POSITIONS = ("current_position", "current_tilt_position", "tilt_position", "position")


def is_worth_reading(entity: Entity) -> bool:
    """Return whether a scene was made on Home Assistant's page and holds what lets somebody in."""
    held = entity.attributes.get("entity_id")
    opens = isinstance(held, list | tuple) and any(
        isinstance(one, str) and one.partition(".")[0] in LETS_IN for one in held
    )
    return entity.domain == "scene" and opens and bool(_id_of(entity))


async def ask_scene(reach: Reach, entity: Entity) -> Any:
    """The configuration of a scene. Raises IntegrationError where this user may not read it."""
    async with rest_client(*reach) as client:
        answer = await client.get(f"/api/config/scene/config/{quote(_id_of(entity), safe='')}")
        if answer.status_code != 200 or len(answer.text) > MAX_ANSWER:
            raise Unavailable(f"the scene cannot be read (HTTP {answer.status_code})")
        try:
            return answer.json()
        except (RecursionError, ValueError):
            raise Unavailable("the scene cannot be read") from None


def read_scene(config: Any, entity: Entity) -> Effects | None:
    """The effects of a scene by its configuration; None where that holds other things than the
    scene itself says, so that it is not the one that Home Assistant has loaded."""
    states = mapping(mapping(config).get("entities"))
    held = entity.attributes.get("entity_id")
    if not isinstance(held, list | tuple) or set(map(str, held)) != set(map(str, states)):
        return None
    return Effects({str(name): _way(str(name), state) for name, state in states.items()})


def _way(entity_id: str, wanted: Any) -> Way:
    """Which way the thing goes into that state, which comes alone or with attributes."""
    state = wanted.get("state") if isinstance(wanted, Mapping) else wanted
    if isinstance(state, bool):  # YAML reads a plain `on` so
        state = "on" if state else "off"
    way = _WAYS.get(entity_id.partition(".")[0], {}).get(str(state), "either")
    given = mapping(wanted)
    # A position counts for more than the state that stands beside it.
    return "either" if way == "off" and any(given.get(key) for key in _POSITIONS) else way


def _id_of(entity: Entity) -> str:
    known = entity.attributes.get("id")
    return known if isinstance(known, str) else ""
