"""Tests of undo on a real house with the program's toolbox, stack, snapshots and live picture.

Restored states are compared attribute by attribute with an administrator's view over REST.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from assistant.domain.tool_call import Status, ToolCall
from assistant.speech.catalogue import Catalogue
from assistant.tools.house.names import named_thing, spoken_things
from assistant.tools.undo.tools import CORRECT_LAST
from integrations.home_assistant.house import House
from tests.home_assistant.admin import Admin
from tests.home_assistant.conftest import Address, real_only
from tests.home_assistant.line import Json
from tests.home_assistant.undoing import (
    ATTIC,
    BED,
    CEILING,
    ECOBEE,
    FAN,
    GARAGE,
    HUMIDIFIER,
    KITCHEN,
    LOCK,
    PUMP,
    RGBW,
    SEEN_S,
    SPEAKER,
    SWITCH,
    WINDOW,
    Room,
    done,
    gone,
    restored,
)

pytestmark = real_only

_MOVING = ("last_changed", "last_updated", "last_reported", "context")
# Not settings: what the thing measures or tells of the moment.
_OF_THE_MOMENT = ("hvac_action", "current_temperature", "media_position", "is_closed")


@pytest.fixture
async def at_home(house: Address, admin: Admin) -> AsyncIterator[Room]:
    async with restored(house, admin) as at:
        yield at


async def settled(admin: Admin, entity_id: str, wanted: Json) -> Json:
    """Return an administrator's view of it once it is as wanted, or at the time limit."""
    for _ in range(int(SEEN_S / 0.1)):
        seen = told(await admin.get(f"/api/states/{entity_id}"))
        if seen == wanted:
            break
        await asyncio.sleep(0.1)
    return seen


def told(state: Mapping[str, Any]) -> Json:
    """Return state and attributes, without those that cannot be set."""
    attributes = {k: v for k, v in state["attributes"].items() if k not in _OF_THE_MOMENT}
    return {"state": state["state"], **attributes}


# The thing, how it is brought into its state, and what then changes it.
WAYS = [
    pytest.param(
        CEILING,
        [("light.turn_on", {"brightness": 77, "color_temp_kelvin": 3000})],
        ("light.turn_on", {"brightness": 200, "rgb_color": [0, 0, 255]}),
        id="brightness and colour temperature",
    ),
    pytest.param(
        BED,
        [("light.turn_on", {"brightness": 40, "hs_color": [120, 80], "effect": "rainbow"})],
        ("light.turn_off", {}),
        id="a coloured light with an effect, turned off",
    ),
    pytest.param(
        RGBW,
        [("light.turn_on", {"brightness": 90, "rgbw_color": [10, 200, 30, 40]})],
        ("light.turn_on", {"brightness": 10, "rgbw_color": [255, 0, 0, 0]}),
        id="red, green, blue and white",
    ),
    pytest.param(BED, [("light.turn_off", {})], ("light.turn_on", {}), id="a light that was off"),
    pytest.param(SWITCH, [("switch.turn_on", {})], ("switch.turn_off", {}), id="a switch"),
    pytest.param(
        PUMP,
        [("climate.set_hvac_mode", {"hvac_mode": "heat"}),
         ("climate.set_temperature", {"temperature": 19.5})],
        ("climate.set_temperature", {"temperature": 23}),
        id="temperature",
    ),
    pytest.param(
        PUMP,
        [("climate.set_hvac_mode", {"hvac_mode": "heat"}),
         ("climate.set_temperature", {"temperature": 19.5})],
        ("climate.set_hvac_mode", {"hvac_mode": "off"}),
        id="mode of a thermostat",
    ),
    pytest.param(
        ECOBEE,
        [("climate.set_hvac_mode", {"hvac_mode": "heat_cool"}),
         ("climate.set_temperature", {"target_temp_low": 20, "target_temp_high": 23}),
         ("climate.set_preset_mode", {"preset_mode": "eco"})],
        ("climate.set_temperature", {"target_temp_low": 17, "target_temp_high": 27}),
        id="a range of temperatures and a preset",
    ),
    pytest.param(
        WINDOW,
        [("cover.set_cover_position", {"position": 60}),
         ("cover.set_cover_tilt_position", {"tilt_position": 50})],
        ("cover.set_cover_position", {"position": 40}),
        id="position of a cover",
    ),
    pytest.param(
        SPEAKER,
        [("media_player.turn_on", {}), ("media_player.media_play", {}),
         ("media_player.volume_set", {"volume_level": 0.35}),
         ("media_player.volume_mute", {"is_volume_muted": False})],
        ("media_player.volume_set", {"volume_level": 0.8}),
        id="volume",
    ),
    pytest.param(
        SPEAKER,
        [("media_player.turn_on", {}), ("media_player.media_pause", {}),
         ("media_player.volume_mute", {"is_volume_muted": True})],
        ("media_player.media_play", {}),
        id="a muted player that was paused",
    ),
    pytest.param(
        SPEAKER,
        [("media_player.turn_on", {}), ("media_player.media_play", {}),
         ("media_player.select_sound_mode", {"sound_mode": "Movie"})],
        ("media_player.turn_off", {}),
        id="a player that is off",
    ),
    pytest.param(
        FAN,
        [("fan.turn_on", {"percentage": 66}), ("fan.oscillate", {"oscillating": True}),
         ("fan.set_direction", {"direction": "reverse"})],
        ("fan.turn_off", {}),
        id="a fan",
    ),
    pytest.param(
        HUMIDIFIER,
        [("humidifier.turn_on", {}), ("humidifier.set_humidity", {"humidity": 48})],
        ("humidifier.set_humidity", {"humidity": 70}),
        id="humidity",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("entity_id", "begin", "change"), WAYS)
async def test_everything_comes_back_attribute_by_attribute(
    at_home: Room,
    admin: Admin,
    entity_id: str,
    begin: list[tuple[str, Json]],
    change: tuple[str, Json],
) -> None:
    for action, data in begin:
        await admin.call(action, entity_id=entity_id, **data)
    await at_rest(admin, entity_id)
    await admin.call("homeassistant.update_entity", entity_id=[entity_id])
    before = told(await admin.get(f"/api/states/{entity_id}"))
    state = before["state"]
    await at_home.sees(lambda house: house.entities[entity_id].state == state)
    action, data = change
    await at_home.change(entity_id, action, **data)
    await at_home.sees(lambda house: now(house, entity_id) != before)
    if entity_id == WINDOW:  # so that it has gone some way
        await asyncio.sleep(1.5)
    outcome = await at_home.undo()
    assert outcome.status is Status.DONE, outcome
    thing = at_home.home.house.entities[entity_id]
    if thing.exposed:
        name = named_thing(thing.name, Catalogue(), "en")
        assert outcome.sentence in (
            f"OK, I put {name} back the way {'they were' if name.endswith('s') else 'it was'}.",
            f"OK, putting {name} back.",
        )
    else:  # nobody is told its name
        assert outcome.sentence == "OK, I undid that."
    assert await settled(admin, entity_id, before) == before
    await gone(at_home)


def now(house: House, entity_id: str) -> Json:
    entity = house.entities[entity_id]
    return told({"state": entity.state, "attributes": entity.attributes})


async def at_rest(admin: Admin, entity_id: str) -> None:
    """Wait until a cover has stopped."""
    if not entity_id.startswith("cover."):
        return
    was: Json = {}
    while True:
        seen = told(await admin.get(f"/api/states/{entity_id}"))
        if seen == was and seen["state"] in ("open", "closed"):
            return
        was = seen
        await asyncio.sleep(1.2)


async def test_several_levels_the_newest_first(at_home: Room, admin: Admin) -> None:
    await admin.call("light.turn_on", entity_id=KITCHEN, brightness=50)
    await at_home.sees(lambda house: house.entities[KITCHEN].attributes["brightness"] == 50)
    for percent in (40, 60, 80):
        await at_home.do("HassLightSet", name="Kitchen Lights", brightness=percent)
    assert len(await at_home.snapshots()) == 3
    for brightness in (153, 102):
        assert (await at_home.undo()).status is Status.DONE
        assert await admin.attribute(KITCHEN, "brightness") == brightness
    assert (await at_home.undo()).sentence == "OK, I put the kitchen lights back the way they were."
    assert await admin.attribute(KITCHEN, "brightness") == 50
    nothing = await at_home.undo()
    assert nothing.status is Status.FAILED
    assert "I haven't done anything in the last ten minutes" in nothing.sentence
    await gone(at_home)


async def test_two_levels_at_once(at_home: Room, admin: Admin) -> None:
    await admin.call("light.turn_on", entity_id=KITCHEN, brightness=50)
    await admin.call("light.turn_off", entity_id=BED)
    await at_home.sees(lambda house: house.entities[BED].state == "off")
    await at_home.do("HassLightSet", name="Kitchen Lights", brightness=80)
    await at_home.do("HassTurnOn", name="Bed Light")
    outcome = await at_home.undo(2)
    assert (
        outcome.sentence == "OK, I put the bed light and the kitchen lights back the way they were."
    )
    assert await admin.attribute(KITCHEN, "brightness") == 50
    assert await admin.state(BED) == "off"


async def test_the_calls_of_one_turn_are_one_level(at_home: Room, admin: Admin) -> None:
    for light in (BED, KITCHEN):
        await admin.call("light.turn_on", entity_id=light, brightness=90)
    await at_home.sees(lambda house: house.entities[KITCHEN].attributes["brightness"] == 90)
    for number, name in enumerate(("Bed Light", "Kitchen Lights"), start=1):
        call = ToolCall(f"c{number}", "HassTurnOff", {"name": name})
        outcome = await at_home.tools.call(call, "one-turn", "turn them off")
        assert outcome.status is Status.DONE
    again = ToolCall("c3", "HassLightSet", {"name": "Kitchen Lights", "brightness": 10})
    assert (await at_home.tools.call(again, "one-turn", "x")).status is Status.DONE
    assert len(await at_home.snapshots()) == 2  # the third call touched what was kept already
    outcome = await at_home.undo()
    assert (
        outcome.sentence == "OK, I put the kitchen lights and the bed light back the way they were."
    )
    for light in (BED, KITCHEN):
        assert await admin.attribute(light, "brightness") == 90


async def test_a_group_comes_back_lamp_by_lamp(at_home: Room, admin: Admin) -> None:
    entrance = "light.entrance_color_white_lights"
    await admin.call("light.turn_on", entity_id=KITCHEN, brightness=30)
    await admin.call("light.turn_off", entity_id=entrance)
    await at_home.sees(lambda house: house.entities[entrance].state == "off")
    await at_home.do("HassTurnOn", name="Downstairs Lights")
    await admin.settles(entrance, "on")
    (snapshot,) = await at_home.snapshots()
    held = (await admin.states())[snapshot]["attributes"]["entity_id"]
    assert sorted(held) == sorted([KITCHEN, entrance])
    assert (await at_home.undo()).status is Status.DONE
    assert await admin.settles(entrance, "off") == "off"
    assert await admin.attribute(KITCHEN, "brightness") == 30
    await admin.call("light.turn_on", entity_id=entrance, brightness=180)


async def test_never_into_an_unlock_or_an_open(at_home: Room, admin: Admin) -> None:
    await admin.call("lock.unlock", entity_id=LOCK)
    await admin.call("cover.open_cover", entity_id=GARAGE)
    assert await admin.settles(LOCK, "unlocked") == "unlocked"
    assert await admin.settles(GARAGE, "open", limit_s=SEEN_S) == "open"
    await admin.call("light.turn_off", entity_id=BED)
    await at_home.sees(
        lambda house: (house.entities[GARAGE].state, house.entities[BED].state) == ("open", "off")
    )
    try:
        await at_home.do("HassTurnOn", name="Bed Light")
        await at_home.do("HassTurnOn", name="Front Door")  # locks it
        await at_home.do("HassTurnOff", name="Garage Door")  # closes it
        assert await admin.settles(LOCK, "locked") == "locked"
        assert await admin.settles(GARAGE, "closed", limit_s=SEEN_S) == "closed"
        for snapshot in await at_home.snapshots():
            held = (await admin.states())[snapshot]["attributes"]["entity_id"]
            assert not [name for name in held if name.startswith(("lock.", "cover."))]
        for name in ("the garage door", "the front door"):
            outcome = await at_home.undo()
            assert outcome.status is Status.FAILED
            assert (
                outcome.sentence
                == f"I couldn't change {name} back: I never undo that kind of change."
            )
        assert (await at_home.undo()).sentence == "OK, I put the bed light back the way it was."
        assert await admin.state(LOCK) == "locked"
        assert await admin.state(GARAGE) == "closed"
    finally:
        await admin.call("lock.lock", entity_id=LOCK)
        await admin.call("cover.close_cover", entity_id=GARAGE)


async def test_a_cover_that_has_become_an_opener_stays_shut(at_home: Room, admin: Admin) -> None:
    window = "cover.hall_window"
    await admin.call("cover.open_cover", entity_id=window)
    await at_rest(admin, window)
    await at_home.change(window, "cover.close_cover")
    await at_rest(admin, window)
    entry = "config/entity_registry/update"
    own_class = (await admin.ask("config/entity_registry/get", entity_id=window))["device_class"]
    await admin.ask(entry, entity_id=window, device_class="gate")
    try:
        await at_home.sees(lambda house: house.entities[window].device_class == "gate")
        outcome = await at_home.undo()
        assert outcome.status is Status.FAILED
        assert "that would now open something" in outcome.sentence
        assert await admin.state(window) == "closed"
    finally:
        await admin.ask(entry, entity_id=window, device_class=own_class)


async def test_what_was_away_before_is_named(at_home: Room) -> None:
    await at_home.change(ATTIC, "light.turn_on")
    outcome = await at_home.undo()
    assert outcome.status is Status.FAILED
    name = spoken_things([at_home.home.house.entities[ATTIC].name]).english
    assert outcome.sentence == (
        f"I couldn't change {name} back: I couldn't reach it earlier, so I don't know what state "
        "it was in."
    )


async def test_what_has_gone_away_meanwhile_is_named(at_home: Room, admin: Admin) -> None:
    await admin.call("light.turn_on", entity_id=BED, brightness=99)
    await admin.call("switch.turn_on", entity_id=SWITCH)
    await at_home.sees(lambda house: house.entities[BED].attributes.get("brightness") == 99)
    key = "both"
    await at_home.stack.before(key, [BED, SWITCH], key)
    await at_home.services.call("light", "turn_off", entities=[BED])
    await at_home.services.call("switch", "turn_off", entities=[SWITCH])
    at_home.stack.after(key, done())
    entry = "config/entity_registry/update"
    await admin.ask(entry, entity_id=SWITCH, disabled_by="user")
    try:
        await at_home.sees(lambda house: SWITCH not in house.entities)
        outcome = await at_home.undo()
        assert outcome.sentence.startswith(
            "OK, I put the bed light back the way it was. I couldn't change "
        )
        assert outcome.sentence.endswith("I can't reach them.")
        assert await admin.attribute(BED, "brightness") == 99
    finally:
        await admin.ask(entry, entity_id=SWITCH, disabled_by=None)
        await back(admin, SWITCH)


async def back(admin: Admin, entity_id: str) -> None:
    """Wait until an entity that was enabled again is there: its integration is loaded first."""
    row = await admin.ask("config/entity_registry/get", entity_id=entity_id)
    await admin.post(f"/api/config/config_entries/entry/{row['config_entry_id']}/reload")
    async with asyncio.timeout(SEEN_S):
        while entity_id not in await admin.states():  # noqa: ASYNC110
            await asyncio.sleep(0.1)


async def test_a_correction_undoes_and_does_the_right_thing(at_home: Room, admin: Admin) -> None:
    await admin.call("light.turn_off", entity_id=BED)
    await admin.call("light.turn_on", entity_id=KITCHEN, brightness=120)
    await at_home.sees(lambda house: house.entities[KITCHEN].attributes["brightness"] == 120)
    await at_home.do("HassLightSet", name="Kitchen Lights", brightness=20)
    outcome = await at_home.do(CORRECT_LAST, name="Bed Light")
    assert outcome.sentence.startswith("OK, I put the kitchen lights back the way they were. ")
    assert await admin.attribute(KITCHEN, "brightness") == 120
    assert await admin.attribute(BED, "brightness") == 51
    assert (await at_home.undo()).sentence == "OK, I put the bed light back the way it was."
    assert await admin.state(BED) == "off"


async def test_a_correction_that_would_unlock_is_not_done(at_home: Room, admin: Admin) -> None:
    await admin.call("light.turn_on", entity_id=KITCHEN, brightness=120)
    await at_home.sees(lambda house: house.entities[KITCHEN].state == "on")
    await at_home.do("HassTurnOff", name="Kitchen Lights")
    call = ToolCall("c9", CORRECT_LAST, {"name": "Front Door"})
    outcome = await at_home.tools.call(call, "correcting", "no, the front door")
    assert outcome.status is Status.FAILED
    assert await admin.state(KITCHEN) == "on"
    assert await admin.state(LOCK) == "locked"
