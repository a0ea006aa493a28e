"""Effects of the tools on the house, including Home Assistant's silent traps."""

import asyncio
from collections.abc import Coroutine
from datetime import UTC, datetime
from typing import Any

import pytest

from integrations.demo_home.catalogue import AREAS, FLOORS, THINGS
from integrations.demo_home.house import UNAVAILABLE, CallerPlace, DemoHouse, StateChange
from integrations.demo_home.surroundings import SystemClock
from integrations.demo_home.tools import ToolError, call_tool, menu

ON, OFF, SET = "intent__HassTurnOn", "intent__HassTurnOff", "light__HassLightSet"


def run(house: DemoHouse, tool: str, **arguments: Any) -> dict[str, Any]:
    return call_tool(house, tool, arguments, CallerPlace())


def ids(result: dict[str, Any], part: str = "success") -> list[str]:
    return [entry["id"] for entry in result["data"][part]]


@pytest.mark.parametrize(
    ("tool", "arguments", "entity_id", "state", "attributes"),
    [
        (ON, {"name": "Kitchen light"}, "light.kitchen", "on", {"brightness": 255}),
        (OFF, {"name": "luz del comedor"}, "light.dining_room", "off", {"brightness": None}),
        (ON, {"name": "Kitchen light", "domain": "light"}, "light.kitchen", "on", {}),
        (ON, {"name": "Kitchen light", "area": None, "floor": ""}, "light.kitchen", "on", {}),
        (ON, {"name": "Kitchen light", "bogus": 1}, "light.kitchen", "on", {}),
        (SET, {"area": "Kitchen", "brightness": 30}, "light.kitchen", "on", {"brightness": 76}),
        (SET, {"name": "Kitchen light", "brightness": "30"}, "light.kitchen", "on", {}),
        # An empty list of domains means all: the hall's lock does not support the light's action.
        (SET, {"area": "Hall", "domain": [], "brightness": 30}, "light.hall", "on", {}),
        (SET, {"name": "Dining room light", "brightness": 0}, "light.dining_room", "off", {}),
        (
            SET,
            {"name": "Living room light", "color": "Red", "brightness": 12},
            "light.living_room",
            "on",
            {"rgb_color": [255, 0, 0], "brightness": 31},
        ),
        (
            SET,
            {"name": "Living room light", "temperature": 3000},
            "light.living_room",
            "on",
            {"color_temp_kelvin": 3000, "color_mode": "color_temp"},
        ),
        (ON, {"name": "Zephyra"}, "fan.zephyra", "on", {"percentage": 67}),
        (
            "fan__HassFanSetSpeed",
            {"name": "Ceiling fan", "percentage": 20},
            "fan.ceiling_fan",
            "on",
            {"percentage": 20},
        ),
        (
            "climate__HassClimateSetTemperature",
            {"area": "Living Room", "temperature": 21},
            "climate.living_room",
            "heat",
            {"temperature": 21.0},
        ),
        (OFF, {"name": "Living room blinds"}, "cover.living_room_blinds", "closed", {}),
        (
            "intent__HassSetPosition",
            {"name": "Bedroom shade", "position": 20},
            "cover.bedroom_shade",
            "open",
            {"current_position": 20},
        ),
        (ON, {"name": "Garage door"}, "cover.garage_door", "open", {}),
        (OFF, {"name": "Front door"}, "lock.front_door", "unlocked", {}),
        (
            "media_player__HassSetVolume",
            {"name": "Living room speaker", "volume_level": 35},
            "media_player.living_room_speaker",
            "playing",
            {"volume_level": 0.35},
        ),
        (
            "media_player__HassMediaPause",
            {},
            "media_player.living_room_speaker",
            "paused",
            {},
        ),
        (
            "media_player__HassMediaUnpause",
            {"area": "Kitchen"},
            "media_player.kitchen_speaker",
            "playing",
            {},
        ),
        (
            "media_player__HassMediaPlayerMute",
            {"area": "Kitchen"},
            "media_player.kitchen_speaker",
            "paused",
            {"is_volume_muted": True},
        ),
        ("vacuum__HassVacuumStart", {"name": "Robbie"}, "vacuum.robbie", "cleaning", {}),
        ("vacuum__HassVacuumCleanArea", {"area": "Kitchen"}, "vacuum.robbie", "cleaning", {}),
        (
            "todo__HassListAddItem",
            {"name": "Shopping list", "item": "milk"},
            "todo.shopping_list",
            "1",
            {},
        ),
        (ON, {"name": "Good night"}, "light.dining_room", "off", {}),
        # A name may belong to a script; this one unlocks.
        (ON, {"name": "Welcome home"}, "lock.front_door", "unlocked", {}),
        ("script__welcome_home", {}, "light.hall", "on", {}),
        (
            "script__movie_night",
            {"brightness": 12, "mood": "nonsense", "rooms": ["Moon"]},
            "light.living_room",
            "on",
            {"brightness": 31},
        ),
    ],
)  # fmt: skip
def test_the_house_changes(
    house: DemoHouse,
    tool: str,
    arguments: dict[str, Any],
    entity_id: str,
    state: str,
    attributes: dict[str, Any],
) -> None:
    if (house.get(entity_id).state, attributes) == (state, {}):
        pytest.fail("the case would pass without a change")
    call_tool(house, tool, arguments, CallerPlace())
    after = house.get(entity_id)
    assert after.state == state
    assert {key: after.attributes[key] for key in attributes} == attributes


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        (ON, {}, "Service handler cannot target all devices"),
        (ON, {"name": "all"}, "Service handler cannot target all devices"),
        (SET, {"name": "Lamp", "brightness": "x"}, "Received invalid slot info for HassLightSet"),
        (SET, {"name": "Lamp", "brightness": 400}, "Received invalid slot info for HassLightSet"),
        (SET, {"name": "Lamp", "color": "blurple"}, "Received invalid slot info for HassLightSet"),
        (SET, {"domain": ["fan"], "brightness": 4}, "Received invalid slot info for HassLightSet"),
        (
            "climate__HassClimateSetTemperature",
            {"name": "Bedroom thermostat"},
            "Received invalid slot info for HassClimateSetTemperature",
        ),
        (
            "climate__HassClimateSetTemperature",
            {"name": "Bedroom thermostat", "temperature": 900},
            "Error handling HassClimateSetTemperature",
        ),
        ("script__movie_night", {}, "expected float at 'brightness_pct'"),
        ("HassTurnOn", {"name": "Lamp"}, 'Tool "HassTurnOn" not found'),
        ("intent__HassStartTimer", {"minutes": 1}, 'Tool "intent__HassStartTimer" not found'),
        (
            "intent__HassSetPosition",
            {"name": "Garage door", "position": 20},
            "Failed to call set_cover_position for: ['cover.garage_door']",
        ),
        (
            "todo__HassListCompleteItem",
            {"name": "Shopping list", "item": "milk"},
            "Item 'milk' not found on list",
        ),
        (
            "todo__HassListAddItem",
            {"name": "Chores", "item": "milk"},
            "No entities matched the name (given name 'Chores', domains todo)",
        ),
    ],
)  # fmt: skip
def test_the_call_fails_and_nothing_changes(
    house: DemoHouse, tool: str, arguments: dict[str, Any], sentence: str
) -> None:
    before = [
        (state.entity_id, state.state) for state in house.all() if "script" not in state.entity_id
    ]
    with pytest.raises(ToolError) as failure:
        call_tool(house, tool, arguments, CallerPlace())
    assert str(failure.value) == sentence
    assert before == [
        (state.entity_id, state.state) for state in house.all() if "script" not in state.entity_id
    ]


def test_a_domain_alone_means_the_whole_house(house: DemoHouse) -> None:
    result = run(house, ON, domain=["light"])
    assert len(ids(result)) == sum(id_.startswith("light.") for id_ in house.things) - 1
    assert house.get("light.workbench").state == "off"


def test_an_area_without_a_domain_reaches_its_lock(house: DemoHouse) -> None:
    result = run(house, OFF, area="Hall")
    assert ids(result) == ["hall", "light.hall", "lock.front_door"]
    assert ids(result, "failed") == ["camera.front_door", "vacuum.robbie"]
    assert house.get("lock.front_door").state == "unlocked"


def test_a_light_without_target_means_every_light(house: DemoHouse) -> None:
    run(house, SET, brightness=10)
    assert house.get("light.office").attributes["brightness"] == 26


def test_brightness_of_a_plain_light_is_success_and_only_turns_it_on(house: DemoHouse) -> None:
    result = run(house, SET, name="Hall light", brightness=50)
    assert ids(result) == ["light.hall"]
    assert house.get("light.hall").state == "on"
    assert "brightness" not in house.get("light.hall").attributes


def test_the_volume_moves_and_the_answer_does_not_say_so(house: DemoHouse) -> None:
    result = run(
        house, "media_player__HassSetVolumeRelative", name="Kitchen speaker", volume_step=-20
    )
    assert result["data"] == {"success": [], "failed": []}
    assert house.get("media_player.kitchen_speaker").attributes["volume_level"] == 0.1
    run(house, "media_player__HassSetVolumeRelative", volume_step="up")
    assert house.get("media_player.living_room_speaker").attributes["volume_level"] == 0.5


def test_nobody_hears_a_broadcast(house: DemoHouse) -> None:
    result = run(house, "assist_satellite__HassBroadcast", message="Dinner")
    assert result == {
        "speech": {},
        "response_type": "action_done",
        "data": {"success": [], "failed": []},
    }


def test_a_light_comes_back_as_it_was(house: DemoHouse) -> None:
    run(house, OFF, name="Dining room light")
    run(house, ON, name="Dining room light")
    assert house.get("light.dining_room").attributes["brightness"] == 180


def test_an_unavailable_light_is_success_with_nothing_behind_it(house: DemoHouse) -> None:
    house.write("light.kitchen", UNAVAILABLE)
    assert ids(run(house, ON, name="Kitchen light")) == ["light.kitchen"]
    assert house.get("light.kitchen").state == UNAVAILABLE


def test_one_of_two_fails(house: DemoHouse) -> None:
    house.failing.add("light.office")
    result = run(house, ON, area="Office", domain=["light"])
    assert ids(result) == ["office", "light.desk_lamp"]
    assert ids(result, "failed") == ["light.office"]
    assert "light.office" in ids(run(house, ON, area="Office", domain=["light"]))


def test_a_shopping_list_is_filled_ticked_off_and_emptied(house: DemoHouse) -> None:
    for item in ("milk", "brown bread"):
        run(house, "todo__HassListAddItem", name="lista de la compra", item=item)
    run(house, "todo__HassListCompleteItem", name="Shopping list", item="MILK")

    def summaries(**status: str) -> list[str]:
        answer = run(house, "todo__get_items", todo_list="Shopping list", **status)
        return [item["summary"] for item in answer["items"]]

    assert summaries() == ["Brown bread"]
    assert summaries(status="completed") == ["Milk"]
    assert summaries(status="all") == ["Milk", "Brown bread"]
    run(house, "todo__HassListRemoveItem", name="Shopping list", item="brown bread")
    assert house.get("todo.shopping_list").state == "0"


def test_what_is_not_exposed_takes_its_tools_away(house: DemoHouse) -> None:
    assert "vacuum__HassVacuumStart" in {tool.name for tool in menu(house)}
    gone = ("calendar", "humidifier", "vacuum", "todo", "script")
    things = tuple(thing for thing in THINGS if thing.domain not in gone)
    smaller = DemoHouse(FLOORS, AREAS, things, clock=house.clock, spawn=no_journey, settle_s=0)
    prefixes = {tool.name.partition("__")[0] for tool in menu(smaller)}
    assert prefixes == {
        *("assist_satellite", "climate", "fan", "homeassistant", "intent", "light", "llm"),
        "media_player",
    }


def no_journey(journey: Coroutine[Any, Any, None]) -> Any:
    raise AssertionError("nothing moves here")


class SteppedClock(SystemClock):
    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.slept: list[float] = []

    def now(self) -> datetime:
        return datetime(2026, 11, 21, 21, 27, 7, tzinfo=UTC)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await self.go.wait()


async def test_slow_things_say_that_they_are_on_their_way() -> None:
    clock = SteppedClock()
    async with asyncio.TaskGroup() as group:
        house = DemoHouse(
            FLOORS, AREAS, THINGS, clock=clock, spawn=lambda j: group.create_task(j), settle_s=0.3
        )
        seen: list[tuple[str, str]] = []

        def tell(change: StateChange) -> None:
            assert change.new is not None
            seen.append((change.entity_id, change.new.state))

        house.listen(tell)
        run(house, OFF, name="Front door")
        run(house, OFF, name="Living room blinds")
        assert house.get("lock.front_door").state == "unlocking"
        await asyncio.sleep(0)
        assert clock.slept == [0.3, 0.3]
        # A stop or a new order cancels the journey.
        run(house, "intent__HassStopMoving", name="Living room blinds")
        house.jammed.add("lock.front_door")
        run(house, ON, name="Front door")
        clock.go.set()
    assert seen == [
        ("lock.front_door", "unlocking"),
        ("cover.living_room_blinds", "closing"),
        ("cover.living_room_blinds", "open"),
        ("lock.front_door", "locking"),
        ("lock.front_door", "jammed"),
    ]
    assert house.get("cover.living_room_blinds").attributes["current_position"] == 50


def test_date_and_time(house: DemoHouse) -> None:
    house.clock = SteppedClock()
    assert run(house, "llm__GetDateTime") == {
        "date": "2026-11-21",
        "time": "21:27:07",
        "timezone": "UTC",
        "weekday": "Saturday",
    }
