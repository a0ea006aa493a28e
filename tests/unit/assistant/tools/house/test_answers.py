"""Tests of answers about the house, from a live picture and from an outdated one."""

from itertools import product

import pytest

from assistant.speech.catalogue import Catalogue
from assistant.tools.house.answers import HouseAnswers, spoken_age
from assistant.tools.house.names import spoken_place
from assistant.tools.house.questions import EVERYTHING, Question
from integrations.home_assistant.house import Entity
from tests.unit.assistant.tools.house.things import contact, house_of, lock, thing

SHIPPED = ("de", "en", "es", "fr", "pt", "vi")
ANSWERS = HouseAnswers(Catalogue())
KITCHEN = contact("k", "Kitchen Window", "open")
BEDROOM = contact("b", "Bedroom Window", "closed")
BATH = contact("w", "Bath Window", "unavailable")
GARAGE = thing("cover.g", "Garage Door", "closed", "garage")
_MM = {"unit_of_measurement": "mm"}
FRONT = lock("f", "Front Door", "locked")


def say(
    question: Question,
    *things: Entity,
    age_s: float | None = 0.0,
    what: str = "",
    language: str = "en",
) -> str:
    return ANSWERS.answer(question, house_of(*things), language, age_s, what)


def windows(kind: str, state: str) -> Question:
    return Question(kind, state, domain="cover", classes=frozenset({"window"}))


def named(entity: Entity, state: str = "") -> Question:
    return Question("is" if state else "one", state, (entity.entity_id,))


def sensed(device_class: str, state: str = "on", kind: str = "any") -> Question:
    return Question(kind, state, domain="binary_sensor", classes=frozenset({device_class}))


@pytest.mark.parametrize(
    ("question", "things", "answer"),
    [
        (
            windows("any", "open"),
            (KITCHEN, BEDROOM, BATH),
            "Yes, the kitchen window is open, but I can't reach the bath window.",
        ),
        (
            windows("which", "open"),
            (KITCHEN, BATH),
            "The kitchen window is open, but I can't reach the bath window.",
        ),
        (windows("which", "open"), (KITCHEN, BEDROOM), "The kitchen window."),
        (
            windows("any", "open"),
            (BEDROOM, BATH),
            "None that I can see are open, but I can't reach the bath window.",
        ),
        (
            windows("all", "closed"),
            (BEDROOM, BATH),
            "All the ones I can see are closed, but I can't reach the bath window.",
        ),
        (windows("all", "closed"), (KITCHEN, BEDROOM), "No, the kitchen window is open."),
        (windows("any", "open"), (BATH,), "I don't know: I can't reach the bath window."),
        (
            windows("all", "closed"),
            (BATH, contact("c", "Cellar", "unavailable")),
            "I don't know: I can't reach the bath window and the cellar.",
        ),
        (
            windows("how_many", "open"),
            (KITCHEN, BATH),
            "One is open, but I can't reach the bath window.",
        ),
        (windows("how_many", "open"), (KITCHEN, BEDROOM), "One is open."),
        (windows("all", "closed"), (BEDROOM,), "Yes, the bedroom window is closed."),
        (windows("all", "closed"), (), "I don't know of anything like that in your home."),
        (
            Question("any", "open", domain="cover", classes=frozenset({"garage"})),
            (thing("cover.g", "Garage Door", "closing", "garage"),),
            "The garage door is closing.",
        ),
        (named(BATH, "closed"), (BATH,), "I don't know: I can't reach the bath window."),
        (
            named(thing("sensor.r", "Rain Gauge", "unknown")),
            (thing("sensor.r", "Rain Gauge", "unknown"),),
            "I don't know: I'm not getting a reading from the rain gauge.",
        ),
        (named(GARAGE, "open"), (GARAGE,), "No, the garage door is closed."),
        (
            named(lock("j", "Side Door", "jammed"), "locked"),
            (lock("j", "Side Door", "jammed"),),
            "The side door is jammed.",
        ),
        (
            Question("any", "open", classes=frozenset({EVERYTHING})),
            (thing("cover.x", "Somfy 3", "open"), contact("a", "Ana's Window", "open")),
            "Yes, the somfy 3 and Ana's Window are open.",
        ),
        (
            named(thing("sensor.t", "Rain", "1.04999")),
            (
                thing("sensor.t", "Rain", "1.04999", precision=1, attributes=_MM),
                thing("sensor.o", "Other", "2", precision=1),
            ),
            "The rain is 1.0 mm.",
        ),
        (
            named(thing("sensor.t", "Phase", "waxing")),
            (thing("sensor.t", "Phase", "waxing", precision=1),),
            "The phase is waxing.",
        ),
        (
            named(FRONT, "closed"),
            (FRONT,),
            "I can't tell whether the front door is closed. "
            "I only know that the front door is locked.",
        ),
        (
            named(FRONT, "locked"),
            (FRONT, contact("f", "Front Door contact", "open", "door")),
            "Yes, the front door is locked, but the front door contact is open.",
        ),
        (
            Question("all", "locked", classes=frozenset({EVERYTHING})),
            (FRONT, GARAGE, KITCHEN),
            "No, the kitchen window is open.",
        ),
        (
            Question("all", "locked", classes=frozenset({EVERYTHING})),
            (FRONT, lock("s", "Side Door", "locked"), GARAGE, BATH),
            "All the ones I can see are locked, but I can't reach the bath window.",
        ),
        (
            Question("all", "locked", classes=frozenset({EVERYTHING})),
            (GARAGE, BEDROOM),
            "I can't find a lock there.",
        ),
        (
            Question("any", "on", domain="light"),
            tuple(thing(f"light.{n}", f"Lamp {n}", "on") for n in range(7)),
            "Yes, the lamp 0, the lamp 1, the lamp 2, the lamp 3, the lamp 4 and 2 more are on.",
        ),
        (
            named(thing("light.k", "Kitchen Lights", "on"), "on"),
            (thing("light.k", "Kitchen Lights", "on"),),
            "Yes, the kitchen lights are on.",
        ),
        (
            sensed("smoke"),
            (thing("binary_sensor.s", "Hall Smoke", "off", "smoke"),),
            "No, none of the sensors report that.",
        ),
        (
            sensed("moisture"),
            (
                thing("binary_sensor.a", "Cellar", "on", "moisture"),
                thing("binary_sensor.b", "Bath", "unavailable", "moisture"),
            ),
            "Yes, according to the cellar, but I can't reach the bath.",
        ),
        (
            sensed("moisture"),
            (
                thing("binary_sensor.a", "Cellar", "off", "moisture"),
                thing("binary_sensor.b", "Bath", "unavailable", "moisture"),
            ),
            "None of the sensors I can reach report that, but I can't reach the bath.",
        ),
        (
            sensed("battery", "low", "which"),
            (
                thing("sensor.a", "Remote", "8", "battery"),
                thing("binary_sensor.b", "Bell", "off", "battery"),
            ),
            "The remote.",
        ),
        (
            sensed("battery", "normal", "all"),
            (
                thing("binary_sensor.a", "Bell", "on", "battery"),
                thing("binary_sensor.b", "Lock", "off", "battery"),
            ),
            "No, the bell is low.",
        ),
    ],
)
def test_a_live_picture(question: Question, things: tuple[Entity, ...], answer: str) -> None:
    assert say(question, *things) == answer


@pytest.mark.parametrize(
    ("question", "things", "answer"),
    [
        (named(GARAGE, "open"), (GARAGE,), "the garage door was closed."),
        (named(GARAGE, "closed"), (GARAGE,), "the garage door was closed."),
        (named(FRONT), (FRONT,), "the front door was locked."),
        (windows("any", "open"), (BEDROOM, contact("c", "C", "closed")), "none of them were open."),
        (windows("all", "closed"), (BEDROOM, contact("c", "C", "closed")), "they were all closed."),
        (windows("which", "open"), (KITCHEN, BEDROOM), "the kitchen window was open."),
        (windows("how_many", "open"), (KITCHEN, BEDROOM), "1 of 2 was open."),
        (
            windows("how_many", "closed"),
            (BEDROOM, contact("c", "C", "closed")),
            "2 of 2 were closed.",
        ),
        (
            windows("all", "closed"),
            (BEDROOM, BATH),
            "they were all closed, but I couldn't reach the bath window.",
        ),
        (
            sensed("smoke"),
            (thing("binary_sensor.s", "Hall", "off", "smoke"),),
            "no sensor reported that.",
        ),
        (
            sensed("smoke"),
            (thing("binary_sensor.s", "Hall", "on", "smoke"),),
            "it was reported by the hall.",
        ),
        (
            Question("all", "locked", classes=frozenset({EVERYTHING})),
            (contact("p", "Patio", "closed", "door"), contact("q", "Shed", "closed", "door")),
            "the patio and the shed were closed.",
        ),
    ],
)
def test_an_old_picture_is_told_in_the_past_with_its_age(
    question: Question, things: tuple[Entity, ...], answer: str
) -> None:
    lost = "I lost contact with Home Assistant 4 minutes ago. At that point, "
    assert say(question, *things, age_s=250) == f"{lost}{answer}"


def test_an_old_picture_in_which_it_was_not_known_either() -> None:
    assert say(named(BATH, "open"), BATH, age_s=250) == (
        "I lost contact with Home Assistant 4 minutes ago, and I didn't know it then either."
    )


def test_without_any_picture_nothing_is_told() -> None:
    not_live = Catalogue().say("tools.not_live", "en")
    assert say(named(GARAGE, "open"), GARAGE, age_s=None) == not_live
    assert ANSWERS.of_room((), "temperature", "hall", "en", None) == not_live


@pytest.mark.parametrize(
    ("state", "told"), [("open", "2 de 2 estavam abertas."), ("closed", "1 de 2 estava aberta.")]
)
def test_a_counted_state_agrees_with_its_number(state: str, told: str) -> None:
    things = (KITCHEN, contact("c", "C", state))
    said = say(windows("how_many", "open"), *things, age_s=250, language="pt")
    assert said.endswith(told)


@pytest.mark.parametrize("language", SHIPPED)
@pytest.mark.parametrize("kind", ["any", "all", "which", "how_many", "is"])
def test_no_language_reassures_about_what_is_not_known(kind: str, language: str) -> None:
    """If one thing is out of reach, it is named; and no answer is that of a house in order."""
    for state, device in product(("open", "closed", "locked"), ("unavailable", "unknown")):
        away = contact("w", "Bath Window", device)
        question = Question(kind, state, classes=frozenset({EVERYTHING}))
        if kind == "is":
            question = named(away, "closed")
        safe = (FRONT, GARAGE, BEDROOM)
        told = say(question, *safe, away, language=language)
        assert "bath window" in told.lower(), told
        assert told != say(
            question, *safe, contact("w", "Bath Window", "closed"), language=language
        )
        assert "unavailable" not in told
        assert "unknown" not in told


@pytest.mark.parametrize("language", SHIPPED)
def test_every_language_tells_the_age(language: str) -> None:
    age = spoken_age(250, Catalogue(), language)
    things = (KITCHEN, BEDROOM, BATH, GARAGE, FRONT)
    for kind, state in product(("any", "all", "which", "how_many"), ("open", "closed", "locked")):
        question = Question(kind, state, classes=frozenset({EVERYTHING}))
        told = say(question, *things, age_s=250, language=language)
        assert age in told, told
        assert told != say(question, *things, language=language)
    for entity in things:
        assert age in say(named(entity, "open"), entity, age_s=250, language=language)
    assert age in ANSWERS.notice(language, 250)


@pytest.mark.parametrize(
    ("age_s", "said"),
    [(0.5, "less than a minute"), (61, "one minute"), (3661, "one hour and one minute")],
)
def test_an_age_is_no_more_exact_than_needed(age_s: float, said: str) -> None:
    assert spoken_age(age_s, Catalogue(), "en") == said


def test_spanish_doors_are_feminine_unless_their_article_says_otherwise() -> None:
    door = thing("cover.p", "Puerta del garaje", "closed", "garage")
    assert say(named(door, "closed"), door, what="la puerta del garaje", language="es") == (
        "Sí, la puerta del garaje está cerrada."
    )
    gate = thing("cover.p", "Portón", "open", "gate")
    assert say(named(gate, "open"), gate, what="el portón", language="es") == (
        "Sí, el portón está abierto."
    )
    moving = thing("cover.p", "Portón", "opening", "gate")
    assert say(named(moving, "open"), moving, what="el portón", language="es") == (
        "El portón está abriéndose."
    )


ROOM = (thing("sensor.o", "Own", "unavailable", "temperature"),)


@pytest.mark.parametrize(
    ("state", "age_s", "answer"),
    [
        ("21.5", 0.0, "It's 21.5 degrees in the hall."),
        ("unavailable", 0.0, "I don't know, because I can't get a reading in the hall."),
        ("unknown", 0.0, "I don't know, because I can't get a reading in the hall."),
        (
            "21.5",
            250.0,
            "I lost contact with Home Assistant 4 minutes ago. At that point, "
            "it was 21.5 degrees in the hall.",
        ),
        (
            "unavailable",
            250.0,
            "I lost contact with Home Assistant 4 minutes ago, and I didn't know it then either.",
        ),
    ],
)
def test_the_air_of_a_room(state: str, age_s: float, answer: str) -> None:
    sensors = (*ROOM, thing("sensor.h", "Hall", state, "temperature"))
    assert ANSWERS.of_room(sensors, "temperature", spoken_place("Hall"), "en", age_s) == answer


@pytest.mark.parametrize("language", SHIPPED)
def test_humidity_has_its_own_words(language: str) -> None:
    sensors = (thing("sensor.h", "Hall", "55", "humidity"),)
    for age_s in (0.0, 250.0):
        assert "55" in ANSWERS.of_room(sensors, "humidity", "hall", language, age_s)
    assert ANSWERS.of_room((), "humidity", "hall", language, 0.0) == Catalogue().say(
        "house_state.no_humidity", language
    )


def test_how_things_are_without_knowing_the_question() -> None:
    told = ANSWERS.tell((KITCHEN, BATH), "en", 0.0)
    assert told == "The kitchen window is open, but I can't reach the bath window."
    assert ANSWERS.tell((KITCHEN,), "en", 250.0).endswith("the kitchen window was open.")
