"""Tests of the check of the engine's answers about states against the current picture."""

import pytest

from assistant.brains.state_check import StateCheck
from assistant.domain.tool_call import SentenceMatch
from assistant.speech.catalogue import Catalogue
from integrations.home_assistant.house import House
from tests.unit.assistant.tools.house.things import contact, house_of, lock, thing

HOUSE = house_of(
    contact("k", "Kitchen Window", "open", area_id="kitchen"),
    contact("b", "Bath Window", "unavailable"),
    contact("p", "Patio Door", "closed", "door"),
    thing("cover.g", "Garage Door", "closed", "garage"),
    lock("f", "Front Door", "locked"),
    thing("light.a", "Attic Light", "unavailable", area_id="hall"),
    thing("light.h", "Hall Light", "on", area_id="hall"),
    thing("fan.h", "Hall Fan", "off", area_id="hall"),
    thing(
        "climate.k", "Radiator", "heat", area_id="kitchen", attributes={"current_temperature": 25}
    ),
    thing("sensor.k", "Weather station", "19", "temperature", "kitchen"),
    kitchen={"temperature_entity_id": "sensor.k"},
)


def match(
    text: str,
    *targets: str,
    intent: str = "HassGetState",
    language: str = "en",
    source: str = "builtin",
    **slots: str,
) -> SentenceMatch:
    return SentenceMatch(text, language, source, intent, slots, targets)  # type: ignore[arg-type]


async def own(asked: SentenceMatch, house: House = HOUSE, age_s: float = 0.0) -> str:
    return await StateCheck(lambda: house, lambda: age_s, Catalogue(), "Kitchen")(asked)


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        # It answers "Yes" over no window at all.
        (
            match("are all windows closed", state="closed", domain="cover"),
            "No, the kitchen window is open, but I can't reach the bath window.",
        ),
        (match("is any door open", state="open", domain="cover"), "No, none of them are open."),
        (
            match("is the bath window open", "binary_sensor.b", name="Bath Window"),
            "I don't know: I can't reach the bath window.",
        ),
        (
            match("is the attic light on", "light.a", name="Attic Light", state="on"),
            "I don't know: I can't reach the attic light.",
        ),
        (
            match("are any lights on", "light.a", "light.h", state="on", domain="light"),
            "Yes, the hall light is on, but I can't reach the attic light.",
        ),
        # The room's own sensor, and not the thermostat that the engine reports.
        (
            match(
                "what is the temperature in the kitchen",
                "climate.k",
                intent="HassClimateGetTemperature",
                area="Kitchen",
            ),
            "It's 19 degrees in the kitchen.",
        ),
        (
            match("what is the temperature", "climate.k", intent="HassClimateGetTemperature"),
            "It's 19 degrees in the kitchen.",
        ),
        (
            match("is the patio door open", "binary_sensor.p", name="Patio Door", state="on"),
            "No, the patio door is closed.",  # and not "No, off"
        ),
        # Only the engine knows these words.
        (
            match("how goes it with the lamps upstairs", "light.a", "light.h", state="on"),
            "The hall light is on, but I can't reach the attic light.",
        ),
        (
            match("are the shutters up", domain="cover"),
            "I don't know of anything like that in your home.",
        ),
        (
            match("all good with the lamps", "light.a", source="custom"),
            "I don't know: I can't reach the attic light.",
        ),
    ],
)
async def test_its_own_answer_counts_where_the_engines_does_not_hold(
    asked: SentenceMatch, answer: str
) -> None:
    assert await own(asked) == answer


@pytest.mark.parametrize(
    "asked",
    [
        match("is the hall light on", "light.h", name="Hall Light", state="on"),
        match("is the front door locked", "lock.f", name="Front Door", state="locked"),
        match("are any fans on", "fan.h", state="on", domain="fan"),
        match("how are the lamps", "light.h", state="on"),
        match("is it so with the moon", name="Moon"),
        match("turn on the hall light", "light.h", intent="HassTurnOn", name="Hall Light"),
        match("all good", source="custom"),
        match("all good", "light.h", source="custom"),
        match(
            "what is the temperature in the hall", intent="HassClimateGetTemperature", area="Hall"
        ),
        match("how cosy is it", "climate.k", intent="HassClimateGetTemperature"),
    ],
)
async def test_the_engines_answer_stays_where_it_saw_the_same(asked: SentenceMatch) -> None:
    assert await own(asked) == ""


async def test_a_locked_door_that_stands_open_is_told() -> None:
    house = house_of(
        lock("f", "Front Door", "locked"), contact("f", "Front Door contact", "open", "door")
    )
    asked = match("is the front door locked", "lock.f", name="Front Door", state="locked")
    told = await own(asked, house)
    assert told == "Yes, the front door is locked, but the front door contact is open."


async def test_other_languages_and_a_house_that_changes() -> None:
    houses = [
        HOUSE,
        house_of(contact("n", "Ventana Norte", "closed"), contact("s", "Sur", "closed")),
    ]
    check = StateCheck(lambda: houses[0], lambda: 0.0, Catalogue())
    asked = match("hay alguna ventana abierta", language="es", state="open", domain="cover")
    assert await check(asked) == (
        "Sí, Kitchen Window está abierta, pero no puedo consultar Bath Window."
    )
    houses.pop(0)
    assert await check(asked) == "No, ninguna está abierta."


async def test_two_of_one_name_are_left_to_the_engine() -> None:
    house = house_of(
        thing("light.a", "Lamp", "on", area_id="hall"),
        thing("light.b", "Lamp", "on", area_id="hall"),
    )
    assert await own(match("is the lamp on", "light.a", "light.b", name="Lamp"), house) == ""


async def test_contact_that_is_lost_meanwhile() -> None:
    told = await own(match("is any door open", state="open", domain="cover"), age_s=70)
    assert told.startswith("I lost contact with Home Assistant one minute ago")
