"""Tests of the things that a question is about, of their states, and of unknown ones."""

import random
from dataclasses import replace

import pytest

from assistant.tools.house.answers import reading, room_sensors
from assistant.tools.house.questions import (
    EVERYTHING,
    Facts,
    Question,
    Shows,
    door_key,
    door_of,
    facts,
    openings,
    shows,
)
from integrations.home_assistant.house import Entity, House
from tests.unit.assistant.tools.house.things import contact, house_of, lock, thing


def ids(things: tuple[Entity, ...]) -> list[str]:
    return [one.entity_id.partition(".")[2] for one in things]


def group(kind: str, state: str, *classes: str, domain: str = "cover") -> Question:
    return Question(kind, state, domain=domain, classes=frozenset(classes))


@pytest.mark.parametrize(
    ("entity", "kinds"),
    [
        (thing("cover.a", "Double", "open", "garage"), {"door", "garage"}),
        (thing("cover.a", "Drive", "open", "gate"), {"door", "gate"}),
        (thing("cover.a", "Velux", "open", "window"), {"window"}),
        (thing("cover.a", "Patio", "open", "door"), {"door"}),
        (thing("cover.a", "Blind of the door", "open", "blind"), set()),
        (thing("cover.a", "Hoftor", "open"), {"gate", "door"}),
        (thing("cover.a", "Portón", "open"), {"gate", "door"}),
        (thing("cover.a", "Cửa sổ bếp", "open"), {"window", "door"}),  # its words match both
        (thing("cover.a", "Rollo links", "open"), set()),
        (thing("cover.a", "Store du salon", "open"), set()),
        (thing("cover.a", "Rollladenmotor", "open"), set()),
        (thing("cover.a", "Motor 7", "open"), {"other"}),
        (thing("cover.a", "Somfy 3", "open"), {"other"}),
        (contact("a", "Bath", "open", "window"), {"window"}),
        (contact("a", "Bath", "open", "door"), {"door"}),
        (contact("a", "Garage side", "open", "door"), {"door", "garage"}),
        (contact("a", "Shed", "open", "garage_door"), {"door", "garage"}),
        (contact("a", "Cellar", "open", "opening"), {"door", "window"}),
        (contact("a", "Kellerfenster", "open", "opening"), {"window"}),
        (contact("a", "Portail", "open", "opening"), {"gate", "door"}),
        (contact("a", "Door", "open", "motion"), set()),
        (lock("a", "Front door", "locked"), set()),
    ],
)
def test_openings_are_known_by_class_and_else_by_name(entity: Entity, kinds: set[str]) -> None:
    assert openings(entity) == kinds


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Front door lock", "front door"),
        ("Front Door Door", "front door"),
        ("Front door contact sensor", "front door"),
        ("Haustürschloss", "haustur"),
        ("Haustür", "haustur"),
        ("Cerradura de la puerta principal", "puerta principal"),
        ("Serrure de la porte d'entrée", "porte d entree"),
        ("Fechadura da porta", "porta"),
        ("Lock", ""),
    ],
)
def test_a_door_is_called_after_none_of_its_parts(name: str, key: str) -> None:
    assert door_key(name) == key


def test_the_parts_of_one_door() -> None:
    front, shackle = (
        contact("f", "Front door contact", "closed", "door"),
        lock("f", "F-1", "locked"),
    )
    named = lock("n", "Front Door Lock", "locked")
    paired = lock("p", "Smart thing", "locked", device_id="d")
    mate = contact("m", "Magnet 7", "closed", "door", device_id="d")
    elsewhere = lock("e", "Front door", "locked", area_id="kitchen")
    house = house_of(front, shackle, named, paired, mate, elsewhere)
    assert ids(tuple(door_of(front, house))) == ["f", "n", "e"]
    here = house_of(replace(front, area_id="hall"), named, elsewhere)
    assert ids(tuple(door_of(here.entities["binary_sensor.f"], here))) == ["f", "n"]
    assert ids(tuple(door_of(paired, house))) == ["p", "m"]
    lamp = thing("light.x", "Front door", "on")
    assert door_of(lamp, house) == [lamp]


def test_a_panel_with_many_contacts_is_not_one_door() -> None:
    zones = [contact(f"z{n}", f"Zone {n}", "closed", "door", device_id="panel") for n in range(3)]
    bolt = lock("b", "Bolt", "locked", device_id="panel")
    assert door_of(bolt, house_of(bolt, *zones)) == [bolt]


@pytest.mark.parametrize("away", ["unavailable", "unknown"])
@pytest.mark.parametrize("wanted", ["open", "closed", "locked", "unlocked", "on", "low"])
def test_what_is_not_known_answers_nothing(away: str, wanted: str) -> None:
    for entity in (
        contact("a", "A", away),
        lock("a", "A", away),
        thing("cover.a", "A", away, "garage"),
        thing("light.a", "A", away),
        thing("sensor.a", "A", away, "battery"),
    ):
        assert shows(entity, wanted) is Shows.UNKNOWN


@pytest.mark.parametrize(
    ("entity", "wanted", "answer"),
    [
        (contact("a", "A", "open"), "open", Shows.YES),
        (contact("a", "A", "open"), "on", Shows.YES),
        (contact("a", "A", "closed"), "open", Shows.NO),
        (contact("a", "A", "closed"), "locked", Shows.MUTE),
        (lock("a", "A", "locked"), "closed", Shows.MUTE),
        (lock("a", "A", "unlocked"), "open", Shows.MUTE),
        (lock("a", "A", "open"), "open", Shows.YES),
        (lock("a", "A", "open"), "closed", Shows.NO),
        (lock("a", "A", "locking"), "locked", Shows.MOVING),
        (lock("a", "A", "jammed"), "locked", Shows.MOVING),
        (lock("a", "A", "jammed"), "unlocked", Shows.MOVING),
        (lock("a", "A", "locked"), "unlocked", Shows.NO),
        (thing("cover.a", "A", "closing", "garage"), "closed", Shows.MOVING),
        (thing("cover.a", "A", "closing", "garage"), "open", Shows.MOVING),
        (thing("cover.a", "A", "closing", "garage"), "closing", Shows.YES),
        (thing("binary_sensor.a", "A", "off", "lock"), "locked", Shows.YES),
        (thing("binary_sensor.a", "A", "on", "lock"), "locked", Shows.NO),
        (thing("binary_sensor.a", "A", "on", "moisture"), "on", Shows.YES),
        (thing("sensor.a", "A", "8", "battery"), "low", Shows.YES),
        (thing("sensor.a", "A", "80", "battery"), "low", Shows.NO),
        (thing("sensor.a", "A", "80", "battery"), "normal", Shows.YES),
        (thing("sensor.a", "A", "low", "battery"), "low", Shows.YES),
        (thing("light.a", "A", "off"), "on", Shows.NO),
        (thing("valve.a", "A", "opening"), "open", Shows.MOVING),
    ],
)
def test_what_one_thing_shows(entity: Entity, wanted: str, answer: Shows) -> None:
    assert shows(entity, wanted) is answer


HOUSE = house_of(
    contact("kitchen", "Kitchen window", "open", area_id="kitchen"),
    contact("bath", "Bath window", "unavailable", area_id="bedroom"),
    contact("velux", "Velux", "closed", "opening", area_id="bedroom"),
    contact("patio", "Patio door", "closed", "door"),
    contact("hidden", "Hidden door", "open", "door", exposed=False),
    thing("cover.garage", "Garage door", "closing", "garage"),
    thing("cover.gate", "Hoftor", "open"),
    thing("cover.blind", "Kitchen blind", "open", "blind", "kitchen"),
    lock("front", "Front door", "locked", area_id="hall"),
    lock("side", "Side door", "unknown"),
    thing("light.l", "Lamp", "on"),
)


@pytest.mark.parametrize(
    ("question", "yes", "no", "moving", "unknown"),
    [
        (group("any", "open", "window"), ["kitchen"], ["velux"], [], ["bath"]),
        (group("all", "closed", "door"), ["patio"], ["gate"], ["garage"], []),
        (group("any", "open", "garage"), [], [], ["garage"], []),
        (group("any", "open", "gate"), ["gate"], [], [], []),
        (group("any", "open", "blind"), ["blind"], [], [], []),
        (group("all", "closed", "blind", "window"), ["velux"], ["kitchen", "blind"], [], ["bath"]),
        (
            group("all", "closed", EVERYTHING, domain=""),
            ["velux", "patio"],
            ["kitchen", "gate"],
            ["garage"],
            ["bath"],
        ),
        # An open door is not locked; a door that is merely closed proves nothing.
        (group("all", "locked", domain="lock"), ["front"], ["garage", "gate"], [], ["side"]),
        (group("any", "unlocked", domain="lock"), ["garage", "gate"], ["front"], [], ["side"]),
        (
            group("all", "locked", EVERYTHING, domain=""),
            ["front"],
            ["kitchen", "garage", "gate"],
            [],
            ["side", "bath"],
        ),
    ],
)
def test_questions_about_several(
    question: Question, yes: list[str], no: list[str], moving: list[str], unknown: list[str]
) -> None:
    found = facts(question, HOUSE)
    assert (ids(found.yes), ids(found.no)) == (yes, no)
    assert (ids(found.moving), ids(found.unknown)) == (moving, unknown)
    assert found.sure is not bool(moving or unknown)


def test_a_place_narrows_the_question() -> None:
    upper = Question("any", "open", domain="cover", classes=frozenset({"window"}), floor_id="upper")
    assert ids(facts(upper, HOUSE).asked) == ["velux", "bath"]
    room = Question("any", "open", domain="cover", classes=frozenset({"window"}), area_id="kitchen")
    assert ids(facts(room, HOUSE).asked) == ["kitchen"]
    assert facts(Question("any", "open"), HOUSE).asked == ()


def test_without_a_lock_the_contacts_do_not_tell() -> None:
    closed = house_of(contact("a", "Door", "closed", "door"), contact("w", "Pane", "closed"))
    found = facts(group("all", "locked", domain="lock"), closed)
    assert (ids(found.mute), found.yes, found.sure) == (["a"], (), False)
    windows = facts(group("all", "locked", "window", domain="lock"), closed)
    assert ids(windows.mute) == ["w"]
    latched = house_of(lock("w", "Window lock", "locked"), lock("d", "Door", "unlocked"))
    assert ids(facts(group("all", "locked", "window", domain="lock"), latched).asked) == ["w"]


def named(house: House, state: str, entity_id: str) -> Facts:
    return facts(Question("is", state, (entity_id,)), house)


def test_closed_and_locked_are_different_questions_of_one_door() -> None:
    front, bolt = (
        contact("c", "Front door contact", "open", "door"),
        lock("l", "Front door", "locked"),
    )
    house = house_of(front, bolt)
    for asked in ("lock.l", "binary_sensor.c"):
        assert ids(named(house, "closed", asked).no) == ["c"]
        locked = named(house, "locked", asked)
        assert (ids(locked.yes), ids(locked.ajar)) == (["l"], ["c"])
    assert ids(facts(Question("one", "", ("lock.l",)), house).ajar) == ["c"]


def test_what_a_part_does_not_tell_is_not_concluded() -> None:
    bolt, pane = lock("l", "Cellar", "locked"), contact("c", "Patio", "closed", "door")
    assert ids(named(house_of(bolt), "closed", "lock.l").mute) == ["l"]
    assert ids(named(house_of(pane), "locked", "binary_sensor.c").mute) == ["c"]
    away = house_of(bolt, contact("x", "Cellar sensor", "unavailable", "door"))
    assert ids(named(away, "closed", "lock.l").unknown) == ["x"]


def test_one_of_two_sensors_of_a_door_is_enough() -> None:
    drive = thing("cover.g", "Garage door", "unavailable", "garage")
    house = house_of(drive, contact("g", "Garage door sensor", "closed", "garage_door"))
    found = named(house, "open", "cover.g")
    assert (ids(found.no), found.unknown) == (["g"], ())


def test_a_thing_that_has_gone_is_not_asked_about() -> None:
    assert facts(Question("is", "open", ("cover.gone",)), HOUSE).asked == ()


def test_nothing_unknown_ever_counts_as_an_answer() -> None:
    """In a random house each thing of a group is in exactly one place, the unknown ones in
    theirs."""
    chance = random.Random(7)
    classes = ("door", "window", "garage_door", "opening", "lock", None)
    for _ in range(300):
        things = [
            chance.choice(
                (
                    contact(
                        f"c{n}",
                        f"C{n}",
                        chance.choice(("open", "closed", "unavailable")),
                        chance.choice(classes) or "door",
                    ),
                    lock(f"l{n}", f"L{n}", chance.choice(("locked", "unlocked", "unknown"))),
                    thing(
                        f"cover.v{n}",
                        f"V{n}",
                        chance.choice(("open", "closed", "unavailable")),
                        chance.choice(("door", "garage", "gate", "window", "blind")),
                    ),
                )
            )
            for n in range(6)
        ]
        house = house_of(*things)
        state = chance.choice(("open", "closed", "locked", "unlocked"))
        found = facts(group("all", state, EVERYTHING, domain=""), house)
        told = [*found.yes, *found.no, *found.moving, *found.mute]
        assert not [one for one in told if one.state in ("unavailable", "unknown")]
        assert len(set(ids(found.asked))) == len(found.asked)
        missed = [
            one
            for one in things
            if one.state in ("unavailable", "unknown")
            and openings(one)
            and one not in found.unknown
        ]
        assert not missed


# --- the air of a room ---
def climate(**more: object) -> Entity:
    return thing(
        "climate.k",
        "Radiator",
        "heat",
        None,
        "kitchen",
        attributes={"current_temperature": 21, **more},
    )


def degrees(key: str, name: str, state: str = "20", **more: object) -> Entity:
    return thing(f"sensor.{key}", name, state, "temperature", "kitchen", **more)


def test_a_rooms_own_sensor_comes_first_then_its_thermostat() -> None:
    own = thing("sensor.own", "Weather station", "19", "temperature", "hall", exposed=False)
    house = house_of(
        degrees("door", "Kitchen door temperature"),
        degrees("k", "Kitchen temperature"),
        climate(),
        own,
        kitchen={"temperature_entity_id": "sensor.own", "humidity_entity_id": "sensor.h"},
    )
    found = room_sensors(house, "kitchen", "temperature")
    assert ids(tuple(found)) == ["own", "k", "k", "door"]
    assert [reading(one, "temperature") for one in found] == [19, 21, 20, 20]
    assert room_sensors(house, "cellar", "temperature") == []


@pytest.mark.parametrize(
    "name",
    [
        "Freezer temperature",
        "Fridge",
        "Kühlschrank Temperatur",
        "Tiefkühltruhe",
        "Temperatura del congelador",
        "Nevera",
        "Température du frigo",
        "Congélateur",
        "Temperatura da geladeira",
        "Nhiệt độ tủ lạnh",
        "Oven probe",
        "Water heater temperature",
        "CPU temperature",
        "Outdoor temperature",
        "Außentemperatur",
        "Nhiệt độ nước",
    ],
)
def test_what_is_not_the_rooms_air_is_never_taken(name: str) -> None:
    assert room_sensors(house_of(degrees("x", name)), "kitchen", "temperature") == []


def test_the_inside_of_a_plug_is_not_the_rooms_air() -> None:
    plug = thing("switch.p", "Plug", "on", area_id="kitchen", device_id="p")
    house = house_of(plug, degrees("p", "Plug temperature", device_id="p"))
    assert room_sensors(house, "kitchen", "temperature") == []


def test_a_place_outdoors_has_a_sensor_outdoors() -> None:
    outside = thing("sensor.o", "Outdoor temperature", "3", "temperature", "garden")
    assert room_sensors(house_of(outside), "garden", "temperature") == [outside]


@pytest.mark.parametrize(
    ("entity", "value"),
    [
        (degrees("a", "A", "unavailable"), None),
        (degrees("a", "A", "unknown"), None),
        (degrees("a", "A", "nan"), None),
        (degrees("a", "A", "warm"), None),
        (degrees("a", "A", "20.5"), 20.5),
        (thing("climate.a", "A", "unavailable", attributes={"current_temperature": 20}), None),
        (thing("climate.a", "A", "unknown", attributes={"current_temperature": 20}), 20),
        (thing("climate.a", "A", "heat"), None),
    ],
)
def test_a_reading_is_a_number_or_nothing(entity: Entity, value: float | None) -> None:
    assert reading(entity, "temperature") == value


def test_the_only_drive_and_contact_of_a_garage_are_one_door() -> None:
    drive = replace(thing("cover.d", "Garage door", "opening", "garage"), area_id="garage")
    mate = replace(contact("m", "Garage contact", "off", "garage_door"), area_id="garage")
    house = house_of(drive, mate)
    assert door_of(drive, house) == [drive, mate]
    assert door_of(mate, house) == [mate, drive]
    second = replace(mate, entity_id="binary_sensor.s", name="Second door")
    assert door_of(drive, house_of(drive, mate, second)) == [drive]
    elsewhere = replace(mate, area_id=None)
    assert door_of(drive, house_of(drive, elsewhere)) == [drive]
