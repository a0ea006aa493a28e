"""The way of a media player back."""

from typing import Any

import pytest

from assistant.tools.undo.reversible import actions
from tests.unit.assistant.tools.undo.doubles import PLAYER, thing

Known = dict[str, Any]
LOUD: Known = {"volume_level": 0.8, "is_volume_muted": False}
SOFT: Known = {"volume_level": 0.2, "is_volume_muted": False}


@pytest.mark.parametrize(
    ("was", "now", "asked"),
    [
        (("playing", SOFT), ("playing", SOFT), []),
        (("playing", SOFT), ("playing", LOUD), [("volume_set", {"volume_level": 0.2})]),
        (
            ("playing", SOFT),
            ("playing", SOFT | {"is_volume_muted": True}),
            [("volume_mute", {"is_volume_muted": False})],
        ),
        # the song is not begun anew
        (("playing", SOFT | {"media_content_id": "a"}), ("paused", SOFT), [("media_play", {})]),
        (("paused", SOFT), ("playing", SOFT), [("media_pause", {})]),
        (("idle", SOFT), ("playing", SOFT), [("media_stop", {})]),
        (("off", {}), ("playing", LOUD), [("turn_off", {})]),
        (("off", {}), ("off", {}), []),
        (("standby", {}), ("off", {}), []),
        (
            ("playing", SOFT | {"source": "dvd"}),
            ("off", {}),
            [
                ("turn_on", {}),
                ("select_source", {"source": "dvd"}),
                ("volume_set", {"volume_level": 0.2}),
                ("volume_mute", {"is_volume_muted": False}),
                ("media_play", {}),
            ],
        ),
        (("paused", {}), ("off", {}), [("turn_on", {}), ("media_pause", {})]),
        (("on", {}), ("off", {}), [("turn_on", {})]),
        (
            ("on", {"sound_mode": "Music"}),
            ("on", {"sound_mode": "Movie"}),
            [("select_sound_mode", {"sound_mode": "Music"})],
        ),
    ],
)
def test_actions(was: tuple[str, Known], now: tuple[str, Known], asked: list[Any]) -> None:
    able = {"supported_features": PLAYER}
    before, after = (thing("media_player.x", state, **rest, **able) for state, rest in (was, now))
    assert actions(before, after) == asked


def test_what_it_cannot_do_is_not_asked() -> None:
    was = thing("media_player.x", "playing", **SOFT, source="dvd", supported_features=4)
    now = thing("media_player.x", "off", supported_features=4)
    assert actions(was, now) == [("volume_set", {"volume_level": 0.2})]
    assert actions(now, was) == []
