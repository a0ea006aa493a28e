"""Verification: compare the states after a call with the requested state."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assistant.domain.tool_call import Awaited, Observed
from assistant.tools.house.intents import INTENTS, LISTING, Action, spread
from assistant.tools.house.names import brightness_percent, short_state
from integrations.home_assistant.house import Entity, House

if TYPE_CHECKING:
    from integrations.home_assistant.client import HomeAssistant


WAIT_S = 1.0  # for effects that can be checked
GLANCE_S = 0.3  # for effects that can be seen only as some change
FULLY_OPEN = 99  # percent; some covers never report 100
UNDER_WAY = frozenset({"opening", "closing", "locking", "unlocking", "returning", "arming"})
Check = Callable[[Entity], bool]
_ON: Mapping[str, frozenset[str]] = {
    "lock": frozenset({"locked", "locking"}),
    "cover": frozenset({"open", "opening"}),
    "valve": frozenset({"open", "opening"}),
    "vacuum": frozenset({"cleaning"}),
    "lawn_mower": frozenset({"mowing"}),
    "media_player": frozenset({"on", "idle", "playing", "paused", "buffering"}),
}
_OFF: Mapping[str, frozenset[str]] = {
    "lock": frozenset({"unlocked", "unlocking", "open", "opening"}),
    "cover": frozenset({"closed", "closing"}),
    "valve": frozenset({"closed", "closing"}),
    "vacuum": frozenset({"docked", "returning", "idle", "paused"}),
    "lawn_mower": frozenset({"docked", "returning", "paused"}),
    "media_player": frozenset({"off", "standby"}),
}
_HEATING = frozenset({"climate", "water_heater", "humidifier"})  # any state but off counts as on
_PRESSED = frozenset({"button", "input_button", "scene"})  # the state is the time of last use
_NEVER_LATE = _PRESSED | {"script", "todo"}  # they show the effect immediately or never
_PLAIN = frozenset(
    {
        *("automation", "fan", "group", "input_boolean", "light", "remote", "script", "siren"),
        "switch",
    }
)


@dataclass(frozen=True, slots=True)
class Finding:
    observed: tuple[Observed, ...]
    as_asked: bool | None  # None: unknown (not checkable, or the connection is down)
    missing: tuple[str, ...] = ()  # ids of entities that don't show the requested state
    plain: tuple[str, ...] = ()  # those of them that are lamps which can only be switched
    # Those of them that may still reach the requested state.
    awaited: Mapping[str, Awaited] = field(default_factory=dict)


async def verify(
    suffix: str,
    arguments: Mapping[str, Any],
    entity_ids: Collection[str],
    before: House,
    picture: "HomeAssistant",
    wait_s: float = WAIT_S,
    effects: Collection[str] = (),
) -> Finding:
    """Wait up to `wait_s` for all of `entity_ids` to show the requested state, and return the
    result.

    `effects` are entities that the call might also change. The result includes only those that have
    changed.
    """
    checks = {
        entity_id: check
        for entity_id in entity_ids
        if entity_id in before.entities
        and (check := expected(suffix, arguments, before.entities[entity_id])) is not None
    }
    watched = list(checks or entity_ids)
    plain = frozenset(
        name
        for name in checks
        if suffix == "HassLightSet" and _only_switches(before.entities[name])
    )
    awaited = {name: check for name, check in checks.items() if name not in plain}

    def shown(house: House) -> bool:
        return not _missing(awaited, house)

    def changed(house: House) -> bool:
        return any(house.entities.get(name) != before.entities.get(name) for name in watched)

    if awaited:
        await picture.wait_for(list(awaited), shown, wait_s)
    elif watched:
        await picture.wait_for(watched, changed, min(wait_s, GLANCE_S))
    house = picture.house
    followed = [
        name
        for name in effects
        if name not in watched and house.entities.get(name) != before.entities.get(name)
    ]
    observed = tuple(
        _observed(name, before, house) for name in (*watched, *followed) if name in before.entities
    )
    missing = tuple(_missing(checks, house))
    late = {
        name: Awaited(awaited[name], _word(suffix, name))
        for name in missing
        if name in awaited and before.entities[name].domain not in _NEVER_LATE
    }
    if not checks or not picture.connected:
        return Finding(observed, None, awaited=late)
    no_more = tuple(name for name in missing if name in plain)
    return Finding(observed, not missing, missing, no_more, late)


def expected(suffix: str, arguments: Mapping[str, Any], before: Entity) -> Check | None:
    """Return a check that is true once the entity shows the effect, or None if no state can show
    it."""
    intent = INTENTS.get(suffix)
    if intent is None:
        return None
    if intent.action is Action.ON:
        return _switched(before, _ON, on=True)
    if intent.action is Action.OFF:
        return _switched(before, _OFF, on=False)
    if intent.action is Action.TOGGLE:
        return lambda now: now.state != before.state
    if intent.action is Action.STOP:
        return lambda now: now.state not in UNDER_WAY
    if intent.action is Action.POSITION:
        return _number("current_position", arguments.get("position"), tolerance=1.0, moving=True)
    if intent.action is Action.START:
        return _switched(before, _ON, on=True)
    if intent.action is Action.HALT:
        return lambda now: now.state in ("docked", "returning")
    return _set(suffix, arguments, before)


def _word(suffix: str, entity_id: str) -> str:
    action, domain = INTENTS[suffix].action, entity_id.partition(".")[0]
    if action not in (Action.ON, Action.OFF):
        return ""
    if domain == "lock":
        return "locked" if action is Action.ON else "unlocked"
    if domain in ("cover", "valve"):
        return "opened" if action is Action.ON else "closed"
    return ""


def _switched(before: Entity, table: Mapping[str, frozenset[str]], *, on: bool) -> Check | None:
    domain = before.domain
    if on and domain in ("cover", "valve") and before.state == "open":
        return _opened_further(before)
    if domain in table:
        return lambda now: now.state in table[domain]
    if domain in _HEATING:
        return lambda now: (
            now.state not in ("unavailable", "unknown") and (now.state != "off") is on
        )
    if domain == "script" and on:
        triggered = before.attributes.get("last_triggered")
        return lambda now: now.attributes.get("last_triggered") != triggered
    if domain in _PLAIN:
        return lambda now: now.state == ("on" if on else "off")
    if domain in _PRESSED:
        return lambda now: now.state not in (before.state, "unavailable")
    return None


def _opened_further(before: Entity) -> Check:
    """Return a check for opening a cover that may be half open. Its state may already be "open", so
    its position has to rise."""
    was = before.attributes.get("current_position")

    def further(now: Entity) -> bool:
        position = now.attributes.get("current_position")
        if now.state != "open" or not isinstance(was, int | float):
            return now.state in _ON["cover"]
        return isinstance(position, int | float) and (position > was or position >= FULLY_OPEN)

    return further


def _set(suffix: str, arguments: Mapping[str, Any], before: Entity) -> Check | None:
    if before.domain == "todo":
        return _listed(suffix, arguments, before)
    if suffix == "HassLightSet":
        return _light(arguments)
    if suffix == "HassClimateSetTemperature":
        return _number("temperature", arguments.get("temperature"), tolerance=0.26)
    if suffix == "HassFanSetSpeed":
        step = before.attributes.get("percentage_step")
        tolerance = float(step) / 2 if isinstance(step, int | float) else 1.0
        return _number("percentage", arguments.get("percentage"), tolerance=max(1.0, tolerance))
    if suffix == "HassHumidifierSetpoint":
        return _number("humidity", arguments.get("humidity"), tolerance=1.0)
    if suffix == "HassHumidifierMode":
        return lambda now: now.attributes.get("mode") == arguments.get("mode")
    if suffix == "HassSetVolume":
        level = arguments.get("volume_level")
        percent = level / 100 if isinstance(level, int | float) else None
        return _number("volume_level", percent, tolerance=0.011)
    if suffix == "HassSetVolumeRelative":
        return _volume(arguments.get("volume_step"), before)
    if suffix in ("HassMediaPlayerMute", "HassMediaPlayerUnmute"):
        muted = suffix == "HassMediaPlayerMute"
        return lambda now: bool(now.attributes.get("is_volume_muted")) is muted
    if suffix == "HassMediaPause":
        return lambda now: now.state in ("paused", "idle", "off")
    if suffix == "HassMediaUnpause":
        return lambda now: now.state in ("playing", "buffering")
    return None


def _light(arguments: Mapping[str, Any]) -> Check:
    brightness, kelvin = arguments.get("brightness"), arguments.get("temperature")
    color = arguments.get("color")

    def shows(now: Entity) -> bool:
        if brightness == 0:
            return now.state == "off"
        if now.state != "on":
            return False
        if isinstance(brightness, int | float):
            seen = brightness_percent(now)
            if seen is None or abs(seen - brightness) > 1:
                return False
        if color and now.attributes.get("rgb_color") is None:
            return False
        return not isinstance(kelvin, int | float) or _is_kelvin(now, float(kelvin))

    return shows


def _only_switches(light: Entity) -> bool:
    return list(light.attributes.get("supported_color_modes") or ()) == ["onoff"]


def _is_kelvin(now: Entity, kelvin: float) -> bool:
    """Return True if the lamp has this colour temperature, or the closest value in its range."""
    lowest = now.attributes.get("min_color_temp_kelvin") or kelvin
    highest = now.attributes.get("max_color_temp_kelvin") or max(kelvin, lowest)
    seen = now.attributes.get("color_temp_kelvin")
    wanted = min(max(kelvin, lowest), highest)
    # Lamps convert to mireds and back, so the Kelvin value can differ slightly.
    return isinstance(seen, int | float) and abs(seen - wanted) <= wanted * 0.02


def _volume(step: Any, before: Entity) -> Check | None:
    was = before.attributes.get("volume_level")
    if not isinstance(was, int | float):
        return None
    if isinstance(step, int | float):
        wanted = min(1.0, max(0.0, was + step / 100))
        return _number("volume_level", wanted, tolerance=0.011)
    up = step == "up"

    def moved(now: Entity) -> bool:
        level = now.attributes.get("volume_level")
        if not isinstance(level, int | float):
            return False
        return (level > was or level >= 1.0) if up else (level < was or level <= 0.0)

    return moved


def _listed(suffix: str, arguments: Mapping[str, Any], before: Entity) -> Check | None:
    """Return a check for a to-do list, whose state is the number of open items.

    Returns None for removing an item, because the item may already have been completed.
    """
    if suffix not in LISTING or suffix == "HassListRemoveItem" or not before.state.isdecimal():
        return None
    step = len(spread(suffix, arguments)) * (1 if suffix == "HassListAddItem" else -1)
    wanted = int(before.state) + step

    def counts(now: Entity) -> bool:
        if not now.state.isdecimal():
            return False
        return int(now.state) >= wanted if step > 0 else int(now.state) <= wanted

    return counts


def _number(name: str, wanted: Any, *, tolerance: float, moving: bool = False) -> Check | None:
    """Return a check that an attribute is close to a number. With `moving`, the check is also true
    while the entity is moving."""
    if not isinstance(wanted, int | float):
        return None

    def near(now: Entity) -> bool:
        seen = now.attributes.get(name)
        close = isinstance(seen, int | float) and abs(seen - wanted) <= tolerance
        return close or (moving and now.state in UNDER_WAY)

    return near


def _missing(checks: Mapping[str, Check], house: House) -> list[str]:
    return [
        name
        for name, check in checks.items()
        if name not in house.entities or not check(house.entities[name])
    ]


def _observed(entity_id: str, before: House, after: House) -> Observed:
    was, now = before.entities[entity_id], after.entities.get(entity_id)
    seen = None if now is None else _set_off(was, now) or short_state(now)
    return Observed(entity_id, short_state(was), seen)


def _set_off(was: Entity, now: Entity) -> str:
    """Return "started" or "pressed" if a script, scene or button was used, or "" otherwise. A
    script that stops with an error also counts as started."""
    if now.domain == "script":
        triggered = (one.attributes.get("last_triggered") for one in (was, now))
        return "started" if len(set(triggered)) > 1 else ""
    if now.domain not in _PRESSED or now.state in (was.state, "unavailable", "unknown"):
        return ""
    return "started" if now.domain == "scene" else "pressed"
