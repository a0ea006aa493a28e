"""Tests of loosely worded questions, lists, timers and small talk, and of things that the house
lacks."""

from dataclasses import replace

import pytest

from assistant.brains.offline import OfflineBrain
from assistant.brains.offline.lengths import find_length
from assistant.brains.offline.names import house_names
from assistant.brains.offline.parse import ParsedCommand
from assistant.brains.offline.reading import Reader
from assistant.brains.offline.talk import Talk
from assistant.brains.offline.wordings import reworded, wordings
from integrations.home_assistant.house import Entity, House
from tests.corpus.house import corpus_house
from tests.corpus.runs import read


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader(house_names(corpus_house()))


def intents(reader: Reader, text: str, language: str = "en") -> list[str]:
    found = reader.read(text, language, corpus_house(), "living_room", Talk())
    return [getattr(one, "intent", "Ask") for one in found]


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("can you tell me if the kitchen light is on", "HassGetState"),
        ("did we leave the lights on in the bedroom", "HassGetState"),
        ("how bright is the light in the living room", "HearthReading"),
        ("how warm is it in the bedroom right now", "HassClimateGetTemperature"),
        ("should I take an umbrella tomorrow", "HassGetWeather"),
        ("when does it get dark", "HearthSun"),
        ("do I have any meetings tomorrow", "HearthCalendar"),
        ("did you lock the front door", "HassGetState"),
        ("is everything locked up for the night", "HassGetState"),
        ("are any of the blinds closed", "HassGetState"),
        ("is the vacuum done yet", "HassGetState"),
        ("how far open is the tramontz blind", "HearthReading"),
        ("how fast is the office fan spinning", "HearthReading"),
        ("what are we listening to", "HearthReading"),
        ("what's the name of this track", "HearthReading"),
        ("what's that song", "HearthReading"),
        ("is it dark outside", "HearthSun"),
        ("am I free tomorrow", "HearthCalendar"),
        ("how hot will it get today", "HassGetWeather"),
        ("any rain later", "HassGetWeather"),
    ],
)
def test_questions_are_understood_in_any_order_of_words(
    reader: Reader, text: str, asked: str
) -> None:
    assert intents(reader, text) == [asked]


@pytest.mark.parametrize(
    "text",
    [
        "the kitchen light was on when I came home",
        "we should get a new lamp for the bedroom",
        "there was nothing on the list that I liked",
        "my alarm didn't go off this morning",
        "it was raining the whole week",
    ],
)
def test_talk_is_neither_a_question_nor_a_command(reader: Reader, text: str) -> None:
    assert intents(reader, text) == []


def equipped_house() -> House:
    """Return the corpus house with devices of rarer kinds."""
    house = corpus_house()
    rare = (
        Entity("valve.main", "Main Valve", "open"),
        Entity("humidifier.cloud", "Cloud", "on", attributes={"humidity": 50}, area_id="bedroom"),
        Entity("lawn_mower.moe", "Moe", "docked"),
        Entity("water_heater.tank", "Tank", "eco", attributes={"temperature": 50}),
        Entity("alarm_control_panel.home", "House Alarm", "disarmed"),
    )
    return replace(house, entities={**house.entities, **{one.entity_id: one for one in rare}})


@pytest.mark.parametrize(
    ("text", "intent", "entity_id", "value"),
    [
        ("shut the water off at the main valve", "HassTurnOff", "valve.main", None),
        ("put the humidifier at 45", "HassHumidifierSetpoint", "humidifier.cloud", 45),
        ("turn the humidifier up a bit", "HassHumidifierSetpoint", "humidifier.cloud", 52),
        ("cloud down by ten percent", "HassHumidifierSetpoint", "humidifier.cloud", 40),
        ("the lawn needs mowing", "HassLawnMowerStartMowing", "lawn_mower.moe", None),
        ("park the mower", "HassLawnMowerDock", "lawn_mower.moe", None),
        ("is moe still mowing", "HassGetState", "lawn_mower.moe", None),
        ("set the boiler to 60 degrees", "HearthImpossible", "water_heater.tank", None),
        ("disarm the alarm", "HearthImpossible", "alarm_control_panel.home", None),
        ("is the alarm armed", "HassGetState", "alarm_control_panel.home", None),
    ],
)
def test_rarer_devices(text: str, intent: str, entity_id: str, value: int | None) -> None:
    house = equipped_house()
    found = Reader(house_names(house)).read(text, "en", house, "living_room", Talk())
    assert [getattr(one, "intent", "") for one in found] == [intent]
    assert isinstance(found[0], ParsedCommand)
    assert found[0].entity_ids == (entity_id,)
    assert found[0].slots.get("humidity") == value


@pytest.mark.parametrize(
    "text",
    [
        "don't disarm the alarm",
        "the humidifier is at 45",
        "someone should mow the lawn",
        "the front door should have been locked",
        "should the blinds be closed",
        "the blinds should be closed by now",
    ],
)
def test_talk_about_rarer_devices_is_no_command(text: str) -> None:
    house = equipped_house()
    assert not Reader(house_names(house)).read(text, "en", house, "living_room", Talk())


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("set the heating in the garage to 18", "I can't find anything like that in the garage."),
        ("turn on the dishwasher", "There's no dishwasher in your home, as far as I know."),
        ("run the party scene", "There's no party in your home, as far as I know."),
        ("arm the alarm", "There's no alarm in your home, as far as I know."),
        ("mow the lawn", "I don't know of anything like that in your home."),
        ("could you mow the grass", "There's no mower in your home, as far as I know."),
        (
            "turn the water off at the main valve",
            "There's no main valve in your home, as far as I know.",
        ),
    ],
)
async def test_what_the_house_lacks_is_told(brain: OfflineBrain, text: str, told: str) -> None:
    assert (await read(brain, text)).answer == told


@pytest.mark.parametrize(
    ("text", "language", "template"),
    [
        ("egg timer §", "en", "set a egg timer for 10 minutes"),
        ("time the eggs §", "en", "set a eggs timer for 10 minutes"),
        ("get me up at six", "en", "wake me up six"),
        ("§ para la pasta", "es", "pon un temporizador de pasta de 10 minutos"),
    ],
)
def test_timers_are_reworded_for_the_templates(text: str, language: str, template: str) -> None:
    assert template in list(reworded(text, language, {"minutes": 10}, ""))


def test_a_timer_is_cancelled_by_a_pronoun_only_after_it_was_set() -> None:
    assert "cancel timer" not in list(reworded("cancel it", "en", {}))
    assert "cancel timer" in list(reworded("cancel it", "en", {}, "timer"))


@pytest.mark.parametrize(
    ("text", "language", "meaning", "item"),
    [
        ("could you write down olive oil on the list", "en", "add", "olive oil"),
        ("we're out of coffee", "en", "add", "coffee"),
        ("take the eggs off the shopping list", "en", "remove", "eggs"),
        ("apunta leche en la lista de la compra", "es", "add", "leche"),
        ("se ha acabado el café", "es", "add", "café"),
    ],
)
def test_sentences_about_lists_name_the_item(
    text: str, language: str, meaning: str, item: str
) -> None:
    found = [(key, said.get("item")) for key, said in wordings("lists", text, language)]
    assert (meaning, item) in found


def test_lengths_have_quarters_and_several_words_before_them() -> None:
    quarter = find_length("dos horas y cuarto", "es")
    assert quarter is not None
    assert quarter.lengths == {"hours": 2, "minutes": 15}
    half = find_length("dentro de media hora apaga la luz", "es")
    assert half is not None
    assert (half.kind, half.rest) == ("after", "apaga la luz")
