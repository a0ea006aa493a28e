"""What a snapshot may hold."""

from dataclasses import replace

import pytest

from assistant.domain.outcome import Tier
from assistant.tools.undo.reversible import ReversibleThings, choose
from integrations.home_assistant.house import Entity, House
from tests.unit.assistant.tools.undo.doubles import light, thing

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
        # members in the place of groups: both together would put back the mean of all
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
