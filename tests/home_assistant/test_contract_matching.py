"""Tests of the entities that a call means, in both houses: names, areas, floors, classes,
wildcards."""

import pytest

from tests.home_assistant.admin import Admin
from tests.home_assistant.talk import Talk
from tests.home_assistant.things import area_called, called, look, put_back


async def test_a_name_is_found_whatever_its_case_and_outer_spaces(
    person: Talk, admin: Admin
) -> None:
    light = (await look(person, admin)).light()
    async with put_back(admin, light):
        for name in (light.name, light.name.upper(), f"  {light.name.lower()} "):
            assert (await person.call("HassTurnOn", name=name)).reached == [light.entity_id]


async def test_the_entity_id_is_a_name(person: Talk, admin: Admin) -> None:
    light = (await look(person, admin)).light()
    async with put_back(admin, light):
        assert (await person.call("HassTurnOn", name=light.entity_id)).reached == [light.entity_id]
        assert (await person.call("HassTurnOn", name=light.entity_id.upper())).is_error


@pytest.mark.since(2026, 11)
@pytest.mark.parametrize(
    "name", ["Lampara d'ete", "Lámpara d’été", "Lámpara  d'été", "Lámpara d'é"]
)
async def test_accents_apostrophes_and_inner_spaces_count(
    person: Talk, admin: Admin, name: str
) -> None:
    light = (await look(person, admin)).light()
    async with put_back(admin, light), called(admin, light, None, "Lámpara d'été"):
        told = await person.call("HassTurnOff", name="LÁMPARA D'ÉTÉ")
        assert told.reached == [light.entity_id]
        told = await person.call("HassTurnOn", name=name)
    assert told.is_error
    assert told.text == (f"Error calling tool: No entities matched the name (given name {name!r})")


async def test_a_name_that_was_replaced_does_not_count(person: Talk, admin: Admin) -> None:
    light = (await look(person, admin)).light()
    async with put_back(admin, light), called(admin, light, "Contract glow"):
        assert (await person.call("HassTurnOn", name=light.name)).is_error
        told = await person.call("HassTurnOn", name="contract glow")
        assert told.reached == [light.entity_id]
        # and the answer still has its own name
        assert light.name in told.text
        assert f"- names: {light.name}" not in await person.prompt()


async def test_what_is_not_exposed_is_named_as_such(person: Talk, admin: Admin) -> None:
    hidden = (await look(person, admin)).hidden_light()
    told = await person.call("HassTurnOn", name=hidden.name)
    assert told.text == (
        "Error calling tool: No matching entities are exposed to the assistant"
        f" (given name '{hidden.name}')"
    )


async def test_exposure_holds_from_the_next_call_on(person: Talk, admin: Admin) -> None:
    light = (await look(person, admin)).light()
    await admin.expose([light.entity_id], exposed=False)
    try:
        told = await person.call("HassTurnOn", name=light.name)
        assert "No matching entities are exposed" in told.text
    finally:
        await admin.expose([light.entity_id], exposed=True)
    async with put_back(admin, light):
        assert (await person.call("HassTurnOn", name=light.name)).reached == [light.entity_id]


async def test_two_of_one_name_are_not_told_apart(person: Talk, admin: Admin) -> None:
    first, _ = (await look(person, admin)).namesakes()
    told = await person.call("HassTurnOn", name=first.name)
    assert told.text == (
        f"Error calling tool: Multiple entities share the name (given name '{first.name}')"
    )


async def test_an_area_tells_namesakes_apart(person: Talk, admin: Admin) -> None:
    things = await look(person, admin)
    for lamp in things.namesakes():
        async with put_back(admin, lamp):
            area = things.areas[lamp.area_id]["name"]
            told = await person.call("HassTurnOn", name=lamp.name, area=area)
            assert (told.reached, told.places) == ([lamp.entity_id], [lamp.area_id])


async def test_a_preferred_area_is_obeyed_though_no_schema_has_it(
    person: Talk, admin: Admin
) -> None:
    things = await look(person, admin)
    lamp, other = things.namesakes()
    properties = (await person.tools())["HassTurnOn"]["inputSchema"]["properties"]
    assert "preferred_area_id" not in properties
    async with put_back(admin, lamp):
        told = await person.call("HassTurnOn", name=lamp.name, preferred_area_id=lamp.area_id)
        assert told.reached == [lamp.entity_id]
    elsewhere = next(a for a in things.areas if a not in (lamp.area_id, other.area_id))
    told = await person.call("HassTurnOn", name=lamp.name, preferred_area_id=elsewhere)
    assert "No entities matched the name" in told.text


async def test_a_device_of_the_room_tells_namesakes_apart(person: Talk, admin: Admin) -> None:
    things = await look(person, admin)
    lamp, _ = things.namesakes()
    devices = await person.told("config/device_registry/list")
    here = next((d["id"] for d in devices if d["area_id"] == lamp.area_id), None)
    if here is None:
        pytest.skip("no device in that room")
    async with put_back(admin, lamp):
        assert (await person.call("HassTurnOn", here, name=lamp.name)).reached == [lamp.entity_id]
    assert f"You are in area {things.areas[lamp.area_id]['name']} " in await person.prompt(here)


async def test_an_area_is_found_by_name_alias_and_id(person: Talk, admin: Admin) -> None:
    things = await look(person, admin)
    light = things.light()
    lights = [t for t in things.all if t.entity_id in things.lights_in(light.area_id)]
    name = things.areas[light.area_id]["name"]
    async with put_back(admin, *lights), area_called(admin, things, light.area_id, "Büro"):
        for area in (name, name.upper(), f" {name} ", light.area_id, "büro"):
            told = await person.call("HassTurnOn", area=area, domain=["light"])
            assert light.entity_id in told.reached
            assert set(told.reached) <= things.lights_in(light.area_id)
            assert told.places == [light.area_id]
        told = await person.call("HassTurnOn", area="Buro", domain=["light"])
    assert told.text == (
        "Error calling tool: The area does not exist (given area 'Buro', domains light)"
    )


async def test_a_shared_alias_means_both_areas(person: Talk, admin: Admin) -> None:
    things = await look(person, admin)
    first, second = (lamp.area_id for lamp in things.namesakes())
    wanted = things.lights_in(first) | things.lights_in(second)
    lights = [t for t in things.all if t.entity_id in wanted]
    async with (
        put_back(admin, *lights),
        area_called(admin, things, first, "Both of them"),
        area_called(admin, things, second, "Both of them"),
    ):
        told = await person.call("HassTurnOff", area="both of them", domain=["light"])
    assert set(told.places) == {first, second}
    assert set(told.reached) | set(told.failed) == wanted


async def test_a_floor_means_its_areas(person: Talk, admin: Admin) -> None:
    things = await look(person, admin)
    floor_id = things.areas[things.light().area_id]["floor_id"]
    inside = [a for a, row in things.areas.items() if row["floor_id"] == floor_id]
    wanted = {light for area_id in inside for light in things.lights_in(area_id)}
    floor = things.floors[floor_id]
    async with put_back(admin, *[t for t in things.all if t.entity_id in wanted]):
        for name in (floor["name"], *floor["aliases"]):
            told = await person.call("HassTurnOff", floor=name, domain=["light"])
            assert told.places == [floor_id]
            assert set(told.reached) | set(told.failed) == wanted
    told = await person.call("HassTurnOff", floor="Cellar of doom", domain=["light"])
    assert "The floor does not exist (given floor 'Cellar of doom'" in told.text


async def test_a_domain_alone_means_the_whole_house(person: Talk, admin: Admin) -> None:
    things = await look(person, admin)
    lights = [t for t in things.all if t.domain == "light" and t.exposed]
    async with put_back(admin, *lights):
        for domain in (["light"], "light"):
            told = await person.call("HassTurnOff", domain=domain)
            assert set(told.reached) | set(told.failed) == {t.entity_id for t in lights}


async def test_all_in_lower_case_is_no_name(person: Talk, admin: Admin) -> None:
    things = await look(person, admin)
    lights = [t for t in things.all if t.domain == "light" and t.exposed]
    async with put_back(admin, *lights):
        told = await person.call("HassTurnOff", name="all", domain=["light"])
        assert set(told.reached) | set(told.failed) == {t.entity_id for t in lights}
    assert "cannot target all devices" in (await person.call("HassTurnOff", name="all")).text
    assert "No entities matched the name" in (await person.call("HassTurnOff", name="All")).text


@pytest.mark.parametrize("arguments", [{}, {"name": ""}, {"name": " \t"}, {"area": None}])
async def test_nothing_means_nothing(person: Talk, arguments: dict[str, object]) -> None:
    told = await person.call("HassTurnOff", **arguments)
    assert told.text == "Error calling tool: Service handler cannot target all devices"


async def test_the_first_narrowing_that_leaves_nothing_gives_the_reason(
    person: Talk, admin: Admin
) -> None:
    things = await look(person, admin)
    light = things.light()
    elsewhere = next(a for a in things.areas if a != light.area_id)
    area = things.areas[elsewhere]["name"]
    for arguments, reason in (
        ({"domain": ["lock"]}, "No entities matched the name"),
        ({"domain": ["nonsense"]}, "No entities matched the domain"),
        ({"device_class": ["outlet"]}, "No entities matched the device class"),
        ({"area": area}, "No entities were in the area"),
    ):
        told = await person.call("HassTurnOn", name=light.name, **arguments)
        assert told.text.startswith(f"Error calling tool: {reason} (given name '{light.name}'")


async def test_a_device_class_is_enough(person: Talk, admin: Admin) -> None:
    things = await look(person, admin)
    outlets = [
        t
        for t in things.all
        if t.exposed and t.domain == "switch" and t.attributes.get("device_class") == "outlet"
    ]
    if not outlets:
        pytest.skip("no outlet in this house")
    async with put_back(admin, *outlets):
        told = await person.call("HassTurnOn", device_class=["outlet"])
        assert set(told.reached) == {t.entity_id for t in outlets}


async def test_one_thermostat_must_be_meant(person: Talk, admin: Admin) -> None:
    things = await look(person, admin)
    if sum(t.domain == "climate" and t.exposed for t in things.all) < 2:
        pytest.skip("one thermostat only")
    told = await person.call("HassClimateSetTemperature", temperature=21)
    assert "Multiple entities matched, but a single target is required" in told.text
    assert "(given domains climate, features 1)" in told.text
