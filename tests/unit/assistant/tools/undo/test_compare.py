"""Is it as it was?"""

from typing import Any

import pytest

from assistant.tools.undo.reversible import differences
from tests.unit.assistant.tools.undo.doubles import thing

HS = {"brightness": 100, "color_mode": "hs", "hs_color": [30.0, 70.0]}
KELVIN = {"brightness": 100, "color_mode": "color_temp", "color_temp_kelvin": 2700}
RANGE = {"target_temp_low": 20, "target_temp_high": 23, "temperature": None}


@pytest.mark.parametrize(
    ("domain", "was", "now", "different"),
    [
        ("light", ("on", HS), ("on", HS), ()),
        ("light", ("on", HS), ("on", HS | {"brightness": 101, "hs_color": (30.4, 69.2)}), ()),
        ("light", ("on", HS), ("on", HS | {"brightness": 120}), ("brightness",)),
        ("light", ("on", HS), ("on", HS | {"hs_color": [200.0, 70.0]}), ("hs_color",)),
        ("light", ("on", HS), ("on", {"brightness": 100}), ("hs_color",)),
        ("light", ("on", HS), ("off", {}), ("state", "brightness", "hs_color")),
        ("light", ("on", KELVIN), ("on", KELVIN | {"color_temp_kelvin": 2710}), ()),
        (
            "light",
            ("on", KELVIN),
            ("on", KELVIN | {"color_temp_kelvin": 4000}),
            ("color_temp_kelvin",),
        ),
        ("light", ("on", {"effect": "rainbow"}), ("on", {"effect": "off"}), ("effect",)),
        ("light", ("off", {"brightness": None}), ("off", {"brightness": 3}), ()),
        ("switch", ("on", {}), ("off", {}), ("state",)),
        ("climate", ("heat", {"temperature": 20.0}), ("heat", {"temperature": 20.1}), ()),
        (
            "climate",
            ("heat", {"temperature": 20.0}),
            ("off", {"temperature": 21.0}),
            ("state", "temperature"),
        ),
        ("climate", ("heat_cool", RANGE), ("heat_cool", RANGE | {"temperature": 9}), ()),
        (
            "climate",
            ("heat_cool", RANGE),
            ("heat_cool", RANGE | {"target_temp_low": 17}),
            ("target_temp_low",),
        ),
        (
            "climate",
            ("cool", {"preset_mode": "eco"}),
            ("cool", {"preset_mode": "away"}),
            ("preset_mode",),
        ),
        ("cover", ("open", {"current_position": 70}), ("open", {"current_position": 71}), ()),
        (
            "cover",
            ("open", {"current_position": 70}),
            ("opening", {"current_position": 70}),
            ("state",),
        ),
        (
            "cover",
            ("open", {"current_position": 70}),
            ("closed", {"current_position": 0}),
            ("current_position",),
        ),
        # moving when it was kept: put where it was just then
        ("cover", ("closing", {"current_position": 40}), ("open", {"current_position": 40}), ()),
        ("cover", ("opening", {}), ("open", {}), ()),
        ("cover", ("open", {}), ("closed", {}), ("state",)),
        (
            "fan",
            ("on", {"percentage": 66, "percentage_step": 33.3}),
            ("on", {"percentage": 60, "percentage_step": 33.3}),
            (),
        ),
        ("fan", ("on", {"percentage": 66}), ("on", {"percentage": 33}), ("percentage",)),
        ("fan", ("on", {"oscillating": True}), ("on", {"oscillating": False}), ("oscillating",)),
        ("media_player", ("playing", {}), ("buffering", {}), ()),
        ("media_player", ("playing", {}), ("paused", {}), ("state",)),
        ("media_player", ("idle", {"volume_level": 0.3}), ("idle", {"volume_level": 0.305}), ()),
        (
            "media_player",
            ("idle", {"volume_level": 0.3, "is_volume_muted": False}),
            ("idle", {"volume_level": 0.5, "is_volume_muted": True}),
            ("volume_level", "is_volume_muted"),
        ),
        ("media_player", ("idle", {"media_title": "A"}), ("idle", {"media_title": "B"}), ()),
        ("input_number", ("3.0", {}), ("3", {}), ()),
        ("number", ("3.0", {}), ("unknown", {}), ("state",)),
        ("select", ("eco", {}), ("boost", {}), ("state",)),
        ("humidifier", ("on", {"humidity": 40}), ("on", {"humidity": 60}), ("humidity",)),
    ],
)
def test_differences(
    domain: str,
    was: tuple[str, dict[str, Any]],
    now: tuple[str, dict[str, Any]],
    different: tuple[str, ...],
) -> None:
    before, after = (thing(f"{domain}.x", state, **rest) for state, rest in (was, now))
    assert differences(before, after) == different
