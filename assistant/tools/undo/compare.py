"""Is a thing as it was? Compared attribute by attribute, as exactly as devices keep them."""

from collections.abc import Mapping
from typing import Any

from assistant.tools.verify import UNDER_WAY
from integrations.home_assistant.house import Entity

# What is compared beside the state, by domain. These are what Home Assistant's `reproduce_state`
# of 2026.11 brings back; of media players what `players` does.
_ATTRIBUTES: Mapping[str, tuple[str, ...]] = {
    "climate": (
        *("temperature", "target_temp_high", "target_temp_low", "humidity"),
        *("fan_mode", "preset_mode", "swing_mode", "swing_horizontal_mode"),
    ),
    "cover": ("current_position", "current_tilt_position"),
    "fan": ("percentage", "preset_mode", "oscillating", "direction"),
    "humidifier": ("humidity", "mode"),
    "light": ("brightness", "effect"),
    "media_player": ("volume_level", "is_volume_muted", "source", "sound_mode"),
}
_COLOURS: Mapping[str, str] = {  # by `color_mode`
    "color_temp": "color_temp_kelvin",
    "hs": "hs_color",
    "rgb": "rgb_color",
    "rgbw": "rgbw_color",
    "rgbww": "rgbww_color",
    "xy": "xy_color",
}
# How far two numbers may be apart: devices round, and lamps count in mireds.
_TOLERANCE: Mapping[str, float] = {
    "brightness": 2.0,  # of 255
    "current_position": 1.0,  # percent
    "current_tilt_position": 1.0,
    "hs_color": 3.0,  # degrees and percent
    "humidity": 1.0,
    "rgb_color": 5.0,  # of 255
    "rgbw_color": 5.0,
    "rgbww_color": 5.0,
    "temperature": 0.26,
    "target_temp_high": 0.26,
    "target_temp_low": 0.26,
    "volume_level": 0.011,
    "xy_color": 0.01,
}
_KELVIN = 0.02  # of the value
_ON = ("playing", "buffering")  # one goes over into the other by itself
_AT_REST = {"opening": "open", "closing": "closed"}


def differences(was: Entity, now: Entity) -> tuple[str, ...]:
    """What is not as it was: "state" and names of attributes; empty where all is.

    What a thing that is off says beside that does not count, since it says nothing.
    """
    found = [] if _same_state(was, now) else ["state"]
    if was.state != "off":
        found += [name for name in _compared(was) if not _same(name, was, now)]
    return tuple(found)


def is_on_the_way(was: Entity, now: Entity | None) -> bool:
    """Whether it is still moving, so that nobody can say."""
    return now is not None and was.domain == "cover" and now.state in UNDER_WAY


def _compared(was: Entity) -> list[str]:
    names = list(_ATTRIBUTES.get(was.domain, ()))
    if was.domain == "light":
        names += filter(None, [_COLOURS.get(str(was.attributes.get("color_mode")))])
    return [name for name in names if was.attributes.get(name) is not None]


def _same_state(was: Entity, now: Entity) -> bool:
    if was.domain == "cover":
        # One that was moving is put where it was just then; half open is "open" as well.
        if was.attributes.get("current_position") is not None:
            return now.state not in UNDER_WAY
        return now.state == _AT_REST.get(was.state, was.state)
    if was.domain == "media_player" and was.state in _ON:
        return now.state in _ON
    if was.domain in ("input_number", "number"):
        return _number(was.state) == _number(now.state)
    return now.state == was.state


def _same(name: str, was: Entity, now: Entity) -> bool:
    before, after = was.attributes.get(name), now.attributes.get(name)
    if name == "percentage":
        step = was.attributes.get("percentage_step")
        return _near(before, after, max(1.0, step / 2 if isinstance(step, int | float) else 0.0))
    if name == "color_temp_kelvin":
        return _near(before, after, before * _KELVIN if isinstance(before, int | float) else 0.0)
    return _near(before, after, _TOLERANCE.get(name, 0.0))


def _near(before: Any, after: Any, tolerance: float) -> bool:
    if isinstance(before, list | tuple) and isinstance(after, list | tuple):
        pairs = zip(before, after, strict=False)
        return len(before) == len(after) and all(_near(a, b, tolerance) for a, b in pairs)
    if _is_number(before) and _is_number(after):
        return abs(float(before) - float(after)) <= tolerance
    return bool(before == after)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
