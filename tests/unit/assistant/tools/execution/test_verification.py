"""Tests of the comparison of a request with the states that follow."""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import pytest

from assistant.tools.execution.verification import verify
from integrations.home_assistant.house import Entity, House
from tests.fakes.home import StillHome


class Picture(StillHome):
    """A live picture whose changes are scripted by the test."""

    def __init__(self, house: House, connected: bool = True) -> None:
        super().__init__(house, connected=connected)
        self.waits: list[float] = []
        self._changed = asyncio.Event()

    def show(self, entity_id: str, state: str, **attributes: Any) -> None:
        entity = self.house.entities[entity_id]
        changed = replace(entity, state=state, attributes={**entity.attributes, **attributes})
        self.house = House(
            self.house.floors, self.house.areas, {**self.house.entities, entity_id: changed}
        )
        self._changed.set()

    async def wait_for(
        self, entity_ids: Collection[str], predicate: Callable[[House], bool], timeout_s: float
    ) -> bool:
        """Give up at the first change that does not satisfy, because no time passes here."""
        self.waits.append(timeout_s)
        if not predicate(self.house) and self.connected:
            await self._changed.wait()
        return predicate(self.house)


# Columns: tool, arguments, entity, state, attributes afterwards, whether it is as requested.
SEEN: list[tuple[str, dict[str, Any], str, str, dict[str, Any], bool]] = [
    ("HassTurnOn", {}, "light.lamp_living", "on", {}, True),
    ("HassTurnOn", {}, "light.lamp_living", "unavailable", {}, False),
    ("HassTurnOff", {}, "light.kitchen", "off", {}, True),
    ("HassTurnOff", {}, "lock.front", "unlocking", {}, True),
    ("HassTurnOff", {}, "lock.front", "jammed", {}, False),
    ("HassTurnOff", {}, "cover.half", "closing", {}, True),
    ("HassTurnOff", {}, "cover.half", "open", {"current_position": 49}, False),
    ("HassTurnOn", {}, "cover.half", "open", {"current_position": 60}, True),
    ("HassTurnOn", {}, "cover.half", "opening", {}, True),
    ("HassTurnOn", {}, "cover.half", "open", {"current_position": 49}, False),
    ("HassSetPosition", {"position": 20}, "cover.blinds", "closing", {}, True),
    ("HassSetPosition", {"position": 20}, "cover.blinds", "open", {"current_position": 20}, True),
    ("HassSetPosition", {"position": 20}, "cover.blinds", "open", {"current_position": 59}, False),
    ("HassLightSet", {"brightness": 30}, "light.lamp_living", "on", {"brightness": 76}, True),
    ("HassLightSet", {"brightness": 30}, "light.lamp_living", "on", {"brightness": 90}, False),
    ("HassLightSet", {"brightness": 0}, "light.kitchen", "off", {}, True),
    ("HassLightSet", {"color": "red"}, "light.kitchen", "on", {"rgb_color": [255, 0, 0]}, True),
    ("HassLightSet", {"color": "red"}, "light.kitchen", "on", {"brightness": 3}, False),
    (
        "HassLightSet",
        {"temperature": 3000},
        "light.kitchen",
        "on",
        {"color_temp_kelvin": 3003},
        True,
    ),
    (
        "HassLightSet",
        {"temperature": 1000},
        "light.kitchen",
        "on",
        {"color_temp_kelvin": 2000, "min_color_temp_kelvin": 2000},
        True,
    ),
    (
        "HassClimateSetTemperature",
        {"temperature": 21},
        "climate.living",
        "heat",
        {"temperature": 21.0},
        True,
    ),
    ("HassFanSetSpeed", {"percentage": 50}, "fan.bed", "on", {"percentage": 50}, True),
    (
        "HassSetVolume",
        {"volume_level": 35},
        "media_player.kitchen",
        "playing",
        {"volume_level": 0.35},
        True,
    ),
    (
        "HassSetVolumeRelative",
        {"volume_step": "up"},
        "media_player.kitchen",
        "playing",
        {"volume_level": 0.6},
        True,
    ),
    (
        "HassSetVolumeRelative",
        {"volume_step": -20},
        "media_player.kitchen",
        "playing",
        {"volume_level": 0.3},
        True,
    ),
    ("HassMediaPause", {}, "media_player.kitchen", "paused", {}, True),
    (
        "HassMediaPlayerMute",
        {},
        "media_player.kitchen",
        "playing",
        {"is_volume_muted": True},
        True,
    ),
    ("HassVacuumStart", {}, "vacuum.robbie", "cleaning", {}, True),
    ("HassToggle", {}, "switch.kettle", "on", {}, True),
    ("HassTurnOn", {}, "script.movie_night", "off", {"last_triggered": "now"}, True),
    ("HassTurnOn", {}, "script.movie_night", "on", {}, False),
    ("HassTurnOff", {}, "script.movie_night", "off", {}, True),
    ("HassTurnOff", {}, "automation.night", "off", {}, True),
    ("HassTurnOn", {}, "button.opener", "2026-11-22T09:00:00+00:00", {}, True),
    ("HassTurnOn", {}, "button.opener", "unavailable", {}, False),
    ("HassTurnOn", {}, "scene.cosy", "2026-11-22T09:00:00+00:00", {}, True),
    ("HassListAddItem", {"item": "milk"}, "todo.shopping", "1", {}, True),
    ("HassListAddItem", {"item": "milk, eggs and bread"}, "todo.shopping", "3", {}, True),
    ("HassListAddItem", {"item": "milk, eggs and bread"}, "todo.shopping", "2", {}, False),
    ("HassListAddItem", {"item": "milk"}, "todo.shopping", "unavailable", {}, False),
]


async def test_what_is_taken_off_a_list_may_have_been_done_before(house: House) -> None:
    finding = await verify(
        "HassListRemoveItem", {"item": "milk"}, ["todo.shopping"], house, Picture(house, False)
    )
    assert finding.as_asked is None
    picture = Picture(house)
    picture.show("todo.shopping", "0", changed=True)
    arguments = {"item": "milk"}
    finding = await verify("HassListRemoveItem", arguments, ["todo.shopping"], house, picture)
    assert finding.as_asked is None


@pytest.mark.parametrize(
    ("tool", "arguments", "entity_id", "state", "attributes", "as_asked"), SEEN
)
async def test_what_follows(
    house: House,
    tool: str,
    arguments: dict[str, Any],
    entity_id: str,
    state: str,
    attributes: dict[str, Any],
    as_asked: bool,
) -> None:
    picture = Picture(house)
    async with asyncio.TaskGroup() as group:
        look = group.create_task(verify(tool, arguments, [entity_id], house, picture))
        await asyncio.sleep(0)
        picture.show(entity_id, state, **attributes)
    finding = look.result()
    assert finding.as_asked is as_asked
    assert finding.missing == (() if as_asked else (entity_id,))
    assert [one.entity_id for one in finding.observed] == [entity_id]


@pytest.mark.parametrize(
    ("entity_id", "state", "attributes", "word"),
    [
        ("script.movie_night", "off", {"last_triggered": "now"}, "started"),
        ("script.movie_night", "on", {}, "on"),
        ("scene.cosy", "2026-11-22T09:00:00+00:00", {}, "started"),
        ("button.opener", "2026-11-22T09:00:00+00:00", {}, "pressed"),
        ("button.opener", "unavailable", {}, "unavailable"),
    ],
)
async def test_a_thing_that_is_set_off_has_a_word_for_it(
    house: House, entity_id: str, state: str, attributes: dict[str, Any], word: str
) -> None:
    picture = Picture(house)
    async with asyncio.TaskGroup() as group:
        look = group.create_task(verify("HassTurnOn", {}, [entity_id], house, picture))
        await asyncio.sleep(0)
        picture.show(entity_id, state, **attributes)
    assert [one.after for one in look.result().observed] == [word]


async def test_already_as_asked_is_done_at_once(house: House) -> None:
    finding = await verify("HassTurnOn", {}, ["light.kitchen"], house, Picture(house))
    assert finding.as_asked
    assert finding.observed[0].before == finding.observed[0].after == "on 50 %"


async def test_without_a_connection_nothing_is_claimed(house: House) -> None:
    picture = Picture(house, connected=False)
    finding = await verify("HassTurnOn", {}, ["light.kitchen"], house, picture)
    assert finding.as_asked is None


async def test_a_lamp_that_cannot_be_dimmed_is_not_waited_for(house: House) -> None:
    picture = Picture(house)
    arguments = {"brightness": 30}
    async with asyncio.TaskGroup() as group:
        look = group.create_task(
            verify("HassLightSet", arguments, ["light.lamp_bed"], house, picture)
        )
        await asyncio.sleep(0)
        picture.show("light.lamp_bed", "on")
    assert look.result().as_asked is False
    assert look.result().plain == ("light.lamp_bed",)
    assert not [wait for wait in picture.waits if wait > 0.3]


async def test_what_follows_from_a_call_is_told_where_it_changed(house: House) -> None:
    picture = Picture(house)
    async with asyncio.TaskGroup() as group:
        look = group.create_task(
            verify(
                "HassTurnOn",
                {},
                ["script.movie_night"],
                house,
                picture,
                effects=["light.kitchen", "light.hall"],
            )
        )
        await asyncio.sleep(0)
        picture.house = replace(
            house,
            entities={
                **house.entities,
                "light.kitchen": replace(house.entities["light.kitchen"], state="off"),
            },
        )
        picture.show("script.movie_night", "off", last_triggered="now")
    observed = look.result().observed
    assert [(one.entity_id, one.after) for one in observed] == [
        ("script.movie_night", "started"),
        ("light.kitchen", "off"),
    ]


@pytest.mark.parametrize(
    ("entity", "words"),
    [
        (Entity("light.a", "A", "on", attributes={"brightness": 76}), "on 30 %"),
        (Entity("light.a", "A", "off", attributes={"brightness": 76}), "off"),
        (Entity("climate.a", "A", "heat", attributes={"temperature": 21.5}), "heat 21.5 °C"),
        (Entity("cover.a", "A", "open", attributes={"current_position": 20}), "open 20 %"),
        (Entity("cover.a", "A", "open", attributes={"current_position": 100}), "open"),
        (Entity("fan.a", "A", "on", attributes={"percentage": 33}), "on 33 %"),
        (
            Entity("media_player.a", "A", "playing", attributes={"volume_level": 0.3}),
            "playing 30 %",
        ),
        (Entity("lock.a", "A", "unavailable"), "unavailable"),
    ],
)
async def test_states_in_short_words(entity: Entity, words: str) -> None:
    house = House(entities={entity.entity_id: entity})
    finding = await verify("Other", {}, [entity.entity_id], house, Picture(house, connected=False))
    assert finding.observed[0].after == words
