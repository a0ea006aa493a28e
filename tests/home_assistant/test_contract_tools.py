"""Tests of tools in both houses, checked over REST, and of success that is reported too early."""

import pytest

from tests.home_assistant.admin import Admin
from tests.home_assistant.talk import Talk
from tests.home_assistant.things import Thing, Things, dimming_script, look, put_back


def _dimmer(things: Things) -> Thing:
    return things.light()


def _coloured(things: Things) -> Thing:
    def fits(thing: Thing) -> bool:
        modes = set(thing.attributes["supported_color_modes"])
        return bool(modes & {"rgb", "hs"} and "color_temp" in modes and thing.area_id)

    return things.find("light", fits)


def _on_off_lamp(things: Things) -> Thing:
    """Return a lamp that cannot be dimmed, of any name."""
    for thing in things.all:
        modes = thing.attributes.get("supported_color_modes")
        if thing.exposed and thing.area_id and modes == ["onoff"] and thing.state != "unavailable":
            return thing
    pytest.skip("no on/off lamp in this house")


async def test_on_and_off(person: Talk, admin: Admin) -> None:
    light = _dimmer(await look(person, admin))
    async with put_back(admin, light):
        for tool, state in (("HassTurnOn", "on"), ("HassTurnOff", "off"), ("HassTurnOff", "off")):
            told = await person.call(tool, name=light.name)
            assert told.answer["response_type"] == "action_done"
            assert told.answer["speech"] == {}
            assert (told.reached, told.failed) == ([light.entity_id], [])
            assert await admin.state(light.entity_id) == state


@pytest.mark.parametrize(("asked", "brightness"), [(30, 76), ("30", 76), (30.7, 76), (100, 255)])
async def test_brightness_is_percent(
    person: Talk, admin: Admin, asked: object, brightness: int
) -> None:
    light = _dimmer(await look(person, admin))
    async with put_back(admin, light):
        await person.call("HassLightSet", name=light.name, brightness=asked)
        assert await admin.attribute(light.entity_id, "brightness") == brightness


async def test_brightness_zero_is_off(person: Talk, admin: Admin) -> None:
    light = _dimmer(await look(person, admin))
    async with put_back(admin, light):
        await person.call("HassTurnOn", name=light.name)
        told = await person.call("HassLightSet", name=light.name, brightness=0)
        assert told.reached == [light.entity_id]
        assert await admin.state(light.entity_id) == "off"


async def test_colours_by_name_and_temperature(person: Talk, admin: Admin) -> None:
    light = _coloured(await look(person, admin))
    async with put_back(admin, light):
        await person.call("HassLightSet", name=light.name, color="Red")
        assert list(await admin.attribute(light.entity_id, "rgb_color")) == [255, 0, 0]
        await person.call("HassLightSet", name=light.name, temperature=3000)
        assert await admin.attribute(light.entity_id, "color_temp_kelvin") == 3000


@pytest.mark.parametrize(
    "wrong",
    [
        {"brightness": 101},
        {"brightness": -1},
        {"brightness": "very"},
        {"color": "no such colour"},
        {"domain": ["switch"]},
        {"name": ["a", "list"]},
    ],
)
async def test_a_wrong_argument_is_not_named(
    person: Talk, admin: Admin, wrong: dict[str, object]
) -> None:
    light = _dimmer(await look(person, admin))
    told = await person.call("HassLightSet", **{"name": light.name, **wrong})
    assert told.text == "Error calling tool: Received invalid slot info for HassLightSet"
    assert await admin.state(light.entity_id) == light.state


async def test_an_unknown_argument_is_ignored(person: Talk, admin: Admin) -> None:
    light = _dimmer(await look(person, admin))
    async with put_back(admin, light):
        told = await person.call("HassLightSet", name=light.name, brightness=40, nonsense=1)
        assert told.reached == [light.entity_id]
        assert await admin.attribute(light.entity_id, "brightness") == 102


async def test_blank_arguments_are_dropped(person: Talk, admin: Admin) -> None:
    light = _dimmer(await look(person, admin))
    async with put_back(admin, light):
        told = await person.call("HassTurnOn", name=light.name, area=None, floor="")
        assert told.reached == [light.entity_id]


async def test_brightness_of_an_on_off_lamp_is_a_success_without_brightness(
    person: Talk, admin: Admin
) -> None:
    things = await look(person, admin)
    lamp = _on_off_lamp(things)
    area = things.areas[lamp.area_id]["name"]
    async with put_back(admin, lamp):
        told = await person.call("HassLightSet", name=lamp.name, area=area, brightness=30)
        assert told.reached == [lamp.entity_id]
        assert await admin.settles(lamp.entity_id, "on") == "on"
        assert await admin.attribute(lamp.entity_id, "brightness") is None


async def test_what_cannot_be_switched_fails_by_its_id(person: Talk, admin: Admin) -> None:
    sensor = (await look(person, admin)).find("sensor")
    told = await person.call("HassTurnOn", name=sensor.name)
    assert told.text == f"Error calling tool: Failed to call turn_on for: ['{sensor.entity_id}']"


async def test_on_locks_and_off_unlocks_without_a_question(person: Talk, admin: Admin) -> None:
    lock = (await look(person, admin)).find("lock", lambda thing: thing.state == "locked")
    async with put_back(admin, lock):
        told = await person.call("HassTurnOff", name=lock.name)
        assert told.reached == [lock.entity_id]
        assert await admin.settles(lock.entity_id, "unlocked") == "unlocked"
        await person.call("HassTurnOn", name=lock.name)
        assert await admin.settles(lock.entity_id, "locked") == "locked"


async def test_an_area_without_a_domain_reaches_whatever_can_be_switched(
    person: Talk, admin: Admin
) -> None:
    things = await look(person, admin)
    area = things.namesakes()[0].area_id
    inside = [t for t in things.all if t.area_id == area and t.exposed]
    can = ("light", "switch", "cover", "climate", "media_player", "fan")
    async with put_back(admin, *[t for t in inside if t.domain in can]):
        told = await person.call("HassTurnOff", area=things.areas[area]["name"])
    assert set(told.reached) | set(told.failed) == {t.entity_id for t in inside}
    sensors = {t.entity_id for t in inside if t.domain == "sensor"}
    assert sensors <= set(told.failed)


async def test_a_cover_goes_to_its_position(person: Talk, admin: Admin) -> None:
    cover = (await look(person, admin)).find(
        "cover",
        lambda thing: (
            "current_position" in thing.attributes
            and thing.attributes["supported_features"] & 4 == 4
            and bool(thing.area_id)
        ),
    )
    async with put_back(admin, cover):
        before = cover.attributes["current_position"]
        wanted = before - 10 if before >= 50 else before + 10
        told = await person.call("HassSetPosition", name=cover.name, position=wanted)
        assert told.reached == [cover.entity_id]
        await admin.settles(cover.entity_id, "open", limit_s=15)
        assert await admin.attribute(cover.entity_id, "current_position") == wanted


@pytest.mark.parametrize("tool", ["HassSetPosition", "HassStopMoving"])
async def test_a_lamp_has_no_position(person: Talk, admin: Admin, tool: str) -> None:
    light = _dimmer(await look(person, admin))
    position = {"position": 50} if tool == "HassSetPosition" else {}
    told = await person.call(tool, name=light.name, **position)
    assert told.text == "Error calling tool: Domain not supported: light"


async def test_a_thermostat_by_name_and_out_of_range(person: Talk, admin: Admin) -> None:
    thermostat = (await look(person, admin)).find(
        "climate",
        lambda thing: (
            isinstance(thing.attributes.get("temperature"), int | float)
            and thing.attributes["supported_features"] & 1 == 1
        ),
    )
    async with put_back(admin, thermostat):
        wanted = thermostat.attributes["min_temp"] + 10
        told = await person.call(
            "HassClimateSetTemperature", name=thermostat.name, temperature=wanted
        )
        assert told.reached == [thermostat.entity_id]
        assert await admin.attribute(thermostat.entity_id, "temperature") == wanted
        told = await person.call("HassClimateSetTemperature", name=thermostat.name, temperature=900)
        assert told.text == "Error calling tool: Error handling HassClimateSetTemperature"
        assert await admin.attribute(thermostat.entity_id, "temperature") == wanted
        told = await person.call("HassClimateSetTemperature", name=thermostat.name)
        assert "Received invalid slot info" in told.text


def _player(things: Things) -> Thing:
    return things.find(
        "media_player",
        lambda thing: thing.state == "playing" and "volume_level" in thing.attributes,
    )


async def test_volume_is_percent_and_a_step_tells_nobody(person: Talk, admin: Admin) -> None:
    player = _player(await look(person, admin))
    async with put_back(admin, player):
        told = await person.call("HassSetVolume", name=player.name, volume_level=30)
        assert told.reached == [player.entity_id]
        assert await admin.attribute(player.entity_id, "volume_level") == pytest.approx(0.3)
        told = await person.call("HassSetVolumeRelative", name=player.name, volume_step="up")
        assert (told.is_error, told.reached) == (False, [])
        assert await admin.attribute(player.entity_id, "volume_level") == pytest.approx(0.4)
        told = await person.call("HassSetVolumeRelative", name=player.name, volume_step=-20)
        assert (told.is_error, told.reached) == (False, [])
        assert await admin.attribute(player.entity_id, "volume_level") == pytest.approx(0.2)
        told = await person.call("HassSetVolumeRelative", name=player.name, volume_step="sideways")
        assert "Received invalid slot info" in told.text


async def test_a_player_pauses_only_while_it_plays(person: Talk, admin: Admin) -> None:
    player = _player(await look(person, admin))
    async with put_back(admin, player):
        assert (await person.call("HassMediaPause", name=player.name)).reached == [player.entity_id]
        assert await admin.state(player.entity_id) == "paused"
        told = await person.call("HassMediaPause", name=player.name)
        assert told.text.startswith("Error calling tool: No entities ")
        assert "states playing" in told.text
        await person.call("HassMediaUnpause", name=player.name)
        assert await admin.state(player.entity_id) == "playing"


async def test_a_list_takes_ticks_off_and_forgets(person: Talk, admin: Admin) -> None:
    todo = (await look(person, admin)).find("todo")
    count = int(todo.state)

    async def rows(**more: str) -> list[tuple[str, str]]:
        answer = (await person.call("get_items", todo_list=todo.name, **more)).answer
        return [(row["summary"], row["status"]) for row in answer["items"]]

    name = todo.name.upper()
    told = await person.call("HassListAddItem", name=name, item=" contract bread ")
    assert told.answer["data"]["success"] == [
        {"name": name, "type": "entity", "id": todo.entity_id}
    ]
    assert ("Contract bread", "needs_action") in await rows()
    assert await admin.state(todo.entity_id) == str(count + 1)
    await person.call("HassListCompleteItem", name=name, item="CONTRACT BREAD")
    assert ("Contract bread", "needs_action") not in await rows()
    assert ("Contract bread", "completed") in await rows(status="all")
    told = await person.call("HassListCompleteItem", name=name, item="contract bread")
    assert told.text == "Error calling tool: Item 'contract bread' not found on list"
    await person.call("HassListRemoveItem", name=name, item="contract bread")
    assert "Contract bread" not in dict(await rows(status="all"))
    assert await admin.state(todo.entity_id) == str(count)


async def test_an_unknown_list(person: Talk) -> None:
    for tool in ("HassListAddItem", "HassListCompleteItem", "HassListRemoveItem"):
        told = await person.call(tool, name="no such list", item="x")
        assert "No entities matched the name (given name 'no such list', domains todo)" in told.text
    told = await person.call("get_items", todo_list="no such list")
    assert told.text.startswith("Error calling tool: value must be one of [")
    assert told.text.endswith("at 'todo_list'")
    told = await person.call("get_items")
    assert told.text == "Error calling tool: required key not provided at 'todo_list'"


async def test_nobody_hears_a_broadcast_and_it_is_a_success(person: Talk) -> None:
    if "HassBroadcast" not in await person.tools():
        pytest.skip("no broadcasts in this house")
    told = await person.call("HassBroadcast", message="Dinner is ready")
    assert (told.is_error, told.reached) == (False, [])
    told = await person.call("HassBroadcast")
    assert told.text == "Error calling tool: Error handling HassBroadcast"


async def test_date_and_time(person: Talk) -> None:
    answer = (await person.call("GetDateTime", nonsense=1)).answer
    assert set(answer) == {"date", "time", "timezone", "weekday"}


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"area": "Moon"}, "Area 'Moon' does not exist"),
        ({"name": "nope"}, "No exposed entities matched name 'nope'"),
        ({"domain": ["nope"]}, "No exposed entities found in domain(s): nope"),
    ],
)
async def test_live_context_of_nothing(
    person: Talk, arguments: dict[str, object], error: str
) -> None:
    told = await person.call("GetLiveContext", **arguments)
    assert (told.is_error, told.answer) == (True, {"error": error})


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"floor": "Upper"}, "not a valid option at 'floor'"),
        ({"name": None}, "string value is None at 'name'"),
        ({"name": ["x"]}, "value should be a string at 'name'"),
    ],
)
async def test_live_context_takes_no_other_arguments(
    person: Talk, arguments: dict[str, object], text: str
) -> None:
    told = await person.call("GetLiveContext", **arguments)
    assert (told.is_error, told.text) == (True, f"Error calling tool: {text}")


async def test_live_context_is_filtered(person: Talk, admin: Admin) -> None:
    things = await look(person, admin)
    light, hidden = things.light(), things.hidden_light()
    area = things.areas[light.area_id]["name"]
    async with put_back(admin, light):
        await person.call("HassLightSet", name=light.name, brightness=30)
        text = (await person.call("GetLiveContext", name=light.name.upper())).answer["result"]
        head, names, domain, state, areas, *rest = text.splitlines()
        assert head == "Live Context: An overview of the areas and the devices in this smart home:"
        assert names.startswith(f"- names: {light.name}")
        assert (domain, state) == ("  domain: light", "  state: 'on'")
        assert areas.startswith(f"  areas: {area}")
        assert rest[:3] == ["  attributes:", "    brightness: '76'", "    brightness_pct: '30'"]
    text = (await person.call("GetLiveContext", area=area, domain=" LIGHT ")).answer["result"]
    assert text.count("- names: ") == len(things.lights_in(light.area_id))
    told = await person.call("GetLiveContext", name=hidden.name)
    assert told.answer == {"error": f"No exposed entities matched name '{hidden.name}'"}


async def test_live_context_gives_both_of_one_name(person: Talk, admin: Admin) -> None:
    first, _ = (await look(person, admin)).namesakes()
    text = (await person.call("GetLiveContext", name=first.name)).answer["result"]
    assert text.count("- names: ") == 2


async def test_a_script_enforces_no_field(person: Talk, admin: Admin) -> None:
    script = await dimming_script(person, await look(person, admin))
    light, percent = script.light, script.percent
    async with put_back(admin, light):
        for arguments in (
            {percent: 20},
            {percent: "20"},
            {percent: 20, script.mood: "nonsense"},
            {percent: 20, script.rooms: ["Moon"]},
            {percent: 20, "nonsense": 1},
        ):
            await admin.call("light.turn_off", entity_id=light.entity_id)
            told = await person.call(script.action, **arguments)
            assert told.answer["result"]["value"].endswith(" 20")
            assert await admin.attribute(light.entity_id, "brightness") == 51
        for wrong, text in (
            ({}, "expected float at 'brightness_pct'"),
            ({percent: 900}, "expected a percentage between 0 and 100 at 'brightness_pct'"),
        ):
            told = await person.call(script.action, **wrong)
            assert told.text == f"Error calling tool: {text}"
    assert await admin.state(script.entity_id) == "off"


async def test_on_runs_a_script_by_its_name(person: Talk, admin: Admin) -> None:
    script = await dimming_script(person, await look(person, admin))
    before = await admin.attribute(script.entity_id, "last_triggered")
    told = await person.call("HassTurnOn", name=script.name)
    # without its field it fails inside, and that is a success
    assert told.reached == [script.entity_id]
    assert await admin.attribute(script.entity_id, "last_triggered") != before
    assert (await person.call("HassTurnOff", name=script.name)).reached == [script.entity_id]


async def test_a_script_unlocks_behind_a_harmless_name(person: Talk, admin: Admin) -> None:
    things = await look(person, admin)
    for script in (t for t in things.all if t.domain == "script" and t.exposed):
        touched = await person.told("search/related", item_type="script", item_id=script.entity_id)
        locks = [e for e in touched.get("entity", []) if e.startswith("lock.")]
        if locks:
            break
    else:
        pytest.skip("no script of this house touches a lock")
    lock = next(t for t in things.all if t.entity_id == locks[0])
    others = [t for t in things.all if t.entity_id in touched["entity"]]
    async with put_back(admin, *others):
        told = await person.call("HassTurnOn", name=script.name)
        assert told.reached == [script.entity_id]
        assert await admin.settles(lock.entity_id, "unlocked") == "unlocked"


async def test_a_scene_is_turned_on_by_its_name(person: Talk, admin: Admin) -> None:
    things = await look(person, admin)
    scene = things.find("scene")
    members = [t for t in things.all if t.entity_id in scene.attributes["entity_id"]]
    async with put_back(admin, *members):
        told = await person.call("HassTurnOn", name=scene.name)
        assert told.reached == [scene.entity_id]
        assert await admin.state(scene.entity_id) != scene.state


@pytest.mark.parametrize("name", ["HassNoSuchTool", "intent__HassGetState", "HassStartTimer"])
async def test_an_unknown_tool(person: Talk, name: str) -> None:
    told = await person.call(name)
    assert (told.is_error, told.text) == (True, f'Error calling tool: Tool "{name}" not found')
