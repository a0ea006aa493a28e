"""How a media player is put back.

Not by a scene: Home Assistant (2026.11, `components/media_player/reproduce_state.py`) would play
the medium anew from its beginning, whatever was changed, so that undoing "louder" would start the
song again. What was playing before another track or channel does not come back.
"""

from collections.abc import Mapping
from typing import Any

from assistant.tools.house.targets import has_features
from integrations.home_assistant.house import Entity

Action = tuple[str, Mapping[str, Any]]  # of the domain media_player, and its data

# Bits of `supported_features` (2026.11, `components/media_player/const.py`).
_PAUSE, _VOLUME_SET, _VOLUME_MUTE = 1, 4, 8
_TURN_ON, _TURN_OFF, _SELECT_SOURCE, _STOP = 128, 256, 2048, 4096
_PLAY, _SELECT_SOUND_MODE = 16384, 65536
_OFF = ("off", "standby")
_PLAYING = ("playing", "buffering")
# Attribute, the feature that sets it, the action. In this order: a source may have its own volume.
_SETTINGS = (
    ("source", _SELECT_SOURCE, "select_source"),
    ("sound_mode", _SELECT_SOUND_MODE, "select_sound_mode"),
    ("volume_level", _VOLUME_SET, "volume_set"),
    ("is_volume_muted", _VOLUME_MUTE, "volume_mute"),
)


def actions(was: Entity, now: Entity) -> list[Action]:
    """What brings it from `now` to what it `was`, in order; empty where it is so, or cannot be."""
    if was.state in _OFF:
        turns = now.state not in _OFF and has_features(now, _TURN_OFF)
        return [("turn_off", {})] if turns else []
    asked: list[Action] = []
    if now.state in _OFF and has_features(now, _TURN_ON):
        asked.append(("turn_on", {}))
    for name, feature, action in _SETTINGS:
        value = was.attributes.get(name)
        # One that is off shows nothing of it, and need not be able to until it is on.
        differs = value is not None and value != now.attributes.get(name)
        if differs and has_features(was, feature):
            asked.append((action, {name: value}))
    return asked + _playing(was, now)


def _playing(was: Entity, now: Entity) -> list[Action]:
    if was.state in _PLAYING:
        plays = now.state not in _PLAYING and has_features(was, _PLAY)
        return [("media_play", {})] if plays else []
    # One that is turned on again may go on where it was.
    begins = now.state in (*_PLAYING, *_OFF)
    if was.state == "paused" and begins and has_features(was, _PAUSE):
        return [("media_pause", {})]
    if was.state == "idle" and now.state in _PLAYING and has_features(was, _STOP):
        return [("media_stop", {})]
    return []
