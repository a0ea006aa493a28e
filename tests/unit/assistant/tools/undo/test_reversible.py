"""Tests of what a snapshot may contain."""

from dataclasses import replace
from typing import Any

import pytest

from assistant.domain.tool_call import Tier
from assistant.tools.undo.reversible import ReversibleThings, actions, choose, differences
from integrations.home_assistant.house import Entity, House
from tests.unit.assistant.tools.undo.doubles import PLAYER, light, thing

ENTITIES = [
    light("lamp"),
    light("shelf"),
    Entity("light.group", "Group", "on", attributes={"entity_id": ["light.lamp", "light.shelf"]}),
    Entity("light.unknown_group", "Mesh", "on", attributes={"entity_id": ["light.not_known"]}),
    thing("light.away", "unavailable"),
    thing("climate.hall", "heat", temperature=20),
    thing("cover.blind", "open", device_class="blind"),
    thing("cover.garage", "open", device_class="garage"),
    thing("cover.puerta", "open"),
    thing("cover.all", "open", entity_id=["cover.blind", "cover.garage"]),
    thing("media_player.radio", "playing"),
    thing("media_player.tv", "unavailable"),
    thing("scene.evening", "unknown", entity_id=["light.lamp", "lock.front"]),
    thing("scene.blank", "unknown"),
    thing("script.night", "off"),
    thing("script.secret", "off"),
    thing("group.mixed", "on", entity_id=["light.lamp", "sensor.warmth", "group.mixed"]),
    *(
        thing(f"{domain}.x", "on")
        for domain in (
            *("fan", "humidifier", "input_boolean", "input_number", "input_select", "number"),
            *("select", "switch", "lock", "valve", "alarm_control_panel", "siren", "button"),
            *("automation", "vacuum", "lawn_mower", "water_heater", "todo", "sensor"),
            *("binary_sensor", "weather", "person", "camera", "remote", "input_button"),
        )
    ),
    thing("lock.front", "locked"),
    thing("sensor.warmth", "21"),
]
HOUSE = House(
    {}, {}, {one.entity_id: one for one in ENTITIES}, {"script.night": frozenset({"light.shelf"})}
)


@pytest.mark.parametrize(
    ("touched", "choice"),
    [
        ([], ReversibleThings()),
        (["light.lamp", "light.lamp"], ReversibleThings(("light.lamp",))),
        (["light.nowhere"], ReversibleThings()),
        (
            ["light.away", "media_player.tv"],
            ReversibleThings(away=("light.away", "media_player.tv")),
        ),
        (["media_player.radio"], ReversibleThings(players=("media_player.radio",))),
        # members instead of groups: both together would restore the mean of all
        (["light.group", "light.lamp"], ReversibleThings(("light.lamp", "light.shelf"))),
        (["light.unknown_group"], ReversibleThings(("light.unknown_group",))),
        (["group.mixed"], ReversibleThings(("light.lamp",))),
        (["cover.all"], ReversibleThings(("cover.blind",), never=("cover.garage",))),
        (["cover.puerta"], ReversibleThings(never=("cover.puerta",))),
        (["scene.evening"], ReversibleThings(("light.lamp",), never=("lock.front",))),
        (["script.night"], ReversibleThings(("light.shelf",))),
        (
            ["script.secret", "scene.blank"],
            ReversibleThings(never=("script.secret", "scene.blank")),
        ),
    ],
)
def test_choice(touched: list[str], choice: ReversibleThings) -> None:
    assert choose(touched, HOUSE, {}) == choice


@pytest.mark.parametrize(
    ("entity", "rating", "kept"),
    [
        (thing("cover.x", "open"), None, False),
        (thing("cover.x", "open"), Tier.COMFORT, True),
        (thing("cover.x", "open"), Tier.COSTLY, False),
        (thing("cover.x", "open", device_class="window"), Tier.COMFORT, True),
        (thing("cover.x", "open", device_class="garage"), Tier.COMFORT, False),
        (thing("cover.x", "open", device_class="blind"), Tier.SECURE, True),
        (replace(thing("switch.x", "on"), name="Hoftor"), None, False),
        (replace(thing("switch.x", "on"), name="Hoftor"), Tier.COMFORT, True),
        (replace(thing("switch.x", "on"), platform="rest"), None, False),
        (replace(thing("select.x", "a"), platform="template"), Tier.COMFORT, True),
        (thing("switch.x", "on"), None, True),
        (thing("lock.x", "locked"), Tier.COMFORT, False),
    ],
)
def test_what_may_open_is_kept_where_it_is_rated_as_harmless(
    entity: Entity, rating: Tier | None, kept: bool
) -> None:
    name = entity.entity_id
    tiers = {name: rating} if rating is not None else {}
    found = choose([name], House(entities={name: entity}), tiers)
    assert found == (ReversibleThings((name,)) if kept else ReversibleThings(never=(name,)))


@pytest.mark.parametrize(
    "domain",
    [
        *("climate", "fan", "humidifier", "input_boolean", "input_number", "input_select"),
        *("number", "select", "switch"),
    ],
)
def test_what_a_scene_holds(domain: str) -> None:
    name = "climate.hall" if domain == "climate" else f"{domain}.x"
    assert choose([name], HOUSE, {}).by_scene == (name,)


@pytest.mark.parametrize(
    "domain",
    [
        *("lock", "valve", "alarm_control_panel", "siren", "button", "automation", "vacuum"),
        *("lawn_mower", "water_heater", "todo", "camera", "remote", "input_button"),
    ],
)
def test_what_it_never_holds(domain: str) -> None:
    assert choose([f"{domain}.x"], HOUSE, {}) == ReversibleThings(never=(f"{domain}.x",))


@pytest.mark.parametrize("domain", ["sensor", "binary_sensor", "weather", "person"])
def test_what_only_tells_does_not_count(domain: str) -> None:
    assert choose([f"{domain}.x"], HOUSE, {}) == ReversibleThings()


# Comparisons with the earlier state.


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
        # It was moving when the snapshot was taken, so it returns to its position at that moment.
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


# Restoring a media player.


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
        # the song does not start again
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
