"""Tests of the House page's data: floors and rooms, states in words, and which changes are told."""

import asyncio
from typing import Any

import pytest

from assistant.brains.offline.taps import next_action
from assistant.interfaces.api import house as house_page
from assistant.interfaces.api.house import HouseChanges, by_floor
from assistant.interfaces.api.house_words import HouseWords
from assistant.speech.catalogue import Catalogue
from integrations.home_assistant.house import Area, Entity, Floor, House, HouseSettings
from integrations.web.box import EventLog

WORDS = HouseWords(Catalogue())


def entity(entity_id: str, state: str, **more: Any) -> Entity:
    return Entity(entity_id, entity_id.partition(".")[2].capitalize(), state, **more)


@pytest.mark.parametrize(
    ("thing", "action"),
    [
        (entity("light.a", "off"), "on"),
        (entity("light.a", "on"), "off"),
        (entity("light.a", "unavailable"), None),
        (entity("cover.a", "closed"), "open"),
        (entity("cover.a", "opening"), "close"),
        (entity("lock.a", "locked"), "unlock"),
        (entity("lock.a", "jammed"), "lock"),  # towards the safer side
        (entity("lock.a", "unlocking"), "lock"),
        (entity("media_player.a", "playing"), "pause"),
        (entity("media_player.a", "paused"), "play"),
        (entity("media_player.a", "off"), None),  # there is nothing to resume
        (entity("vacuum.a", "docked"), "start"),
        (entity("vacuum.a", "cleaning"), "dock"),
        (entity("scene.a", "unknown"), "run"),  # it was never used
        (entity("scene.a", "unavailable"), None),
        (entity("button.a", "2026-11-27T10:00:00+00:00"), "press"),
        (entity("climate.a", "heat"), None),
        (entity("sensor.a", "5"), None),
        (entity("alarm_control_panel.a", "disarmed"), None),
    ],
)
def test_what_a_tap_does(thing: Entity, action: str | None) -> None:
    assert next_action(thing) == action


WARM = {"current_temperature": 68, "temperature": 70.5}


@pytest.mark.parametrize(
    ("thing", "language", "words"),
    [
        (entity("light.a", "on", attributes={"brightness": 102}), "en", "on, 40 %"),
        (entity("light.a", "on"), "en", "on"),
        (entity("cover.a", "open", attributes={"current_position": 30}), "de", "offen, 30 %"),
        (entity("cover.a", "open", attributes={"current_position": 100}), "en", "open"),
        (entity("climate.a", "heat", attributes=WARM), "en", "68 °F, set to 70.5 °F"),
        (entity("climate.a", "off", attributes=WARM), "en", "off, 68 °F"),
        (entity("binary_sensor.a", "on", device_class="window"), "es", "abierta"),
        (entity("sensor.a", "5.25", attributes={"unit_of_measurement": "kW"}), "en", "5.25 kW"),
        (entity("lock.a", "unlocked"), "fr", "déverrouillée"),
        (entity("scene.a", "2026-11-27T10:00:00+00:00"), "en", ""),
        (entity("script.a", "off"), "en", ""),
        (entity("light.a", "unavailable"), "pt", "indisponível"),
        (entity("sensor.a", "unknown"), "en", ""),
        (entity("weather.a", "rainy"), "en", "rainy"),
        (entity("weather.a", "<b>"), "en", ""),  # another program's word
    ],
)
def test_a_state_in_words(thing: Entity, language: str, words: str) -> None:
    house = House(settings=HouseSettings(temperature="°F"))
    assert WORDS.state(thing, house, language) == words


def test_things_without_a_room_or_floor_come_last() -> None:
    things = [
        entity("light.shed", "off", area_id="shed"),
        entity("light.nowhere", "off"),
        entity("light.lost", "off", area_id="gone"),
        entity("light.hall", "off", area_id="hall"),
    ]
    house = House(
        floors={"ground": Floor("ground", "Ground")},
        areas={
            "shed": Area("shed", "Shed"),
            "hall": Area("hall", "Hall", floor_id="ground"),
            "attic": Area("attic", "Attic", floor_id="ground"),
        },
        entities={one.entity_id: one for one in things},
    )
    floors = by_floor(house, {one.entity_id: {"id": one.entity_id} for one in things})
    told = [
        (floor["name"], room["name"], [one["id"] for one in room["things"]])
        for floor in floors
        for room in floor["rooms"]
    ]
    assert told == [
        ("Ground", "Hall", ["light.hall"]),
        (None, "Shed", ["light.shed"]),
        (None, None, ["light.nowhere", "light.lost"]),
    ]


async def test_changes_are_gathered_and_told_only_on_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(house_page, "GATHER_S", 0.01)
    things = (entity("light.a", "on"), entity("light.b", "on"))
    hidden = entity("light.hidden", "on", exposed=False)
    house = House(entities={one.entity_id: one for one in (*things, hidden)})
    log = EventLog()
    changes = HouseChanges(log, lambda: house)
    changes.note("light.a")  # nobody listens
    plain = aiter(log.since(None, log.now("state", {})))
    assert b"event: state" in await anext(plain)
    waiting = asyncio.ensure_future(anext(plain))
    await asyncio.sleep(0)
    assert not log.is_wanted("house")

    asked = aiter(log.since(None, log.now("state", {}), frozenset({"house", "state"})))
    await anext(asked)
    for name in ("light.b", "light.hidden", "light.a", "light.a"):
        changes.note(name)
    told = await anext(asked)
    assert b'data: {"changed": ["light.a", "light.b"]}' in told
    changes.note("light.hidden")
    changes.note(None)  # a name or room has changed
    assert b'data: {"changed": []}' in await anext(asked)
    log.tell("state", {})
    newest = await waiting
    assert newest.splitlines()[0].endswith(b"-1")  # the others were not counted
    assert newest in [piece async for piece in _kept(log)]
    changes.close()


async def _kept(log: EventLog) -> Any:
    """Yield the events that a listener gets after reconnecting."""
    run = log.now("state", {}).id.partition("-")[0]
    again = aiter(log.since(f"{run}-0", None, frozenset({"house", "state"})))
    yield await anext(again)
