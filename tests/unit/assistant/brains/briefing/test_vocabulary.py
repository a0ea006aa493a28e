"""The names that the transcription is told."""

from assistant.brains.briefing.briefer import MAX_CHARACTERS, MAX_NAMES, vocabulary
from integrations.home_assistant.house import Area, Entity, Floor, House


def house_of(*entities: Entity, areas: tuple[Area, ...] = ()) -> House:
    floors = {"up": Floor("up", "Upstairs", ("arriba",)), "cellar": Floor("cellar", "Cellar")}
    return House(floors, {a.area_id: a for a in areas}, {e.entity_id: e for e in entities})


HOUSE = house_of(
    Entity("sensor.power", "Power", "5"),
    Entity("light.a", "Lamp", "on", ("lámpara",), "bath"),
    Entity("light.b", "lamp", "on", (), "study"),
    Entity("switch.fan", "Blower", "on", (), "study"),
    Entity("person.ana", "Ana", "home"),
    Entity("todo.shop", "Compra", "0"),
    Entity("light.c", "Secret", "on", (), "vault", exposed=False),
    areas=(
        Area("bath", "Bathroom", ("baño",)),
        Area("study", "Study", ("oficina",), "up"),
        Area("vault", "Vault", (), "cellar"),
    ),
)


def test_people_and_lists_come_before_devices_and_readings_last() -> None:
    told = ("Bathroom", "baño", "Study", "oficina", "Upstairs", "arriba", "Ana", "Compra")
    assert vocabulary(HOUSE) == (*told, "Lamp", "lámpara", "Blower", "Power")


def test_the_room_of_the_box_comes_first() -> None:
    told = vocabulary(HOUSE, "OFICINA")
    assert told[:4] == ("Study", "oficina", "lamp", "Blower")
    assert sorted(map(str.casefold, told)) == sorted(map(str.casefold, vocabulary(HOUSE)))


def test_a_room_that_is_not_there_changes_nothing() -> None:
    assert vocabulary(HOUSE, "Attic") == vocabulary(HOUSE)


def test_what_the_assistant_may_not_see_is_not_named() -> None:
    assert {"Secret", "Vault", "Cellar"}.isdisjoint(vocabulary(HOUSE))


def test_names_that_nobody_says_are_left_out() -> None:
    names = ["0x00158d", "12", "x" * 61, "", "  TV \n set "]
    house = house_of(*(Entity(f"light.l{n}", name, "on") for n, name in enumerate(names)))
    assert vocabulary(house) == ("TV set",)


def test_it_is_bounded_by_number() -> None:
    house = house_of(*(Entity(f"light.l{n}", f"Lamp {n}", "on") for n in range(500)))
    assert len(vocabulary(house)) == MAX_NAMES


def test_it_is_bounded_by_length() -> None:
    house = house_of(*(Entity(f"light.l{n}", f"Lamp {n:050}", "on") for n in range(500)))
    told = vocabulary(house)
    assert MAX_CHARACTERS - 60 < sum(map(len, told)) <= MAX_CHARACTERS


def test_an_empty_house_has_no_names() -> None:
    assert vocabulary(House()) == ()
