"""Tests of the parser on typed sentences, whole and in parts."""

import pytest

from assistant.brains.offline.names import house_names
from assistant.brains.offline.parse import ParsedCommand, Parser, parse_all
from assistant.brains.offline.settle import settle_target
from integrations.home_assistant.house import Area, Entity, House
from tests.corpus.house import corpus_house

PARSER = Parser(house_names(corpus_house()))


def understood(text: str, language: str = "en") -> list[str]:
    commands = parse_all(text, lambda part: PARSER.parse(part, language))
    return [f"{command.intent} {_target(command)}" for command in commands]


def _target(command: ParsedCommand) -> str:
    return ",".join(command.entity_ids) or command.area_id or str(command.slots.get("domain", ""))


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("kitchen light on please", ["HassTurnOn light.kitchen"]),
        ("Could you turn on the kitchen light?", ["HassTurnOn light.kitchen"]),
        ("turn off the dining room", ["HassTurnOff dining_room"]),
        (
            "turn on the kitchen light and set the living room to 21 degrees",
            ["HassTurnOn light.kitchen", "HassClimateSetTemperature living_room"],
        ),
        (
            "turn off the kitchen light and the office light",
            ["HassTurnOff light.kitchen", "HassTurnOff light.office"],
        ),
        (
            "turn off the kitchen light, the hall light and zorblax",
            ["HassTurnOff light.kitchen", "HassTurnOff light.hall", "HassTurnOff light.zorblax"],
        ),
        (
            "turn the kitchen light and the office light off",
            ["HassTurnOff light.kitchen", "HassTurnOff light.office"],
        ),
        (
            "turn on the kitchen light and off the office light",
            ["HassTurnOn light.kitchen", "HassTurnOff light.office"],
        ),
        (
            "set the bedroom light to 20 percent and the office light to 30",
            ["HassLightSet light.bedroom", "HassLightSet light.office"],
        ),
        ("set the kitchen light to full brightness", ["HassLightSet light.kitchen"]),
        ("make the living room twenty two degrees", ["HassClimateSetTemperature living_room"]),
        ("stop the music in the living room", ["HassMediaPause living_room"]),
        ("stop the music in the fridge", []),
        ("lock all the doors", ["HassTurnOn lock"]),
        ("lock the doors", ["HassTurnOn lock"]),
        ("lock up", ["HassTurnOn lock"]),
        ("lock every door", ["HassTurnOn lock"]),
        ("turn off the kitchen light and make me a sandwich", []),
        ("don't turn on the kitchen light", []),
        ("turn on the", []),
        ("make me a sandwich", []),
        ("", []),
    ],
)
def test_english(text: str, commands: list[str]) -> None:
    assert understood(text) == commands


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("enciende zorblax", ["HassTurnOn light.zorblax"]),
        ("apaga zorblax y vexo", ["HassTurnOff light.zorblax", "HassTurnOff media_player.vexo"]),
        ("pon zorblax al 30 por ciento", ["HassLightSet light.zorblax"]),
        ("bloquea front door", ["HassTurnOn lock.front_door"]),
        ("desbloquea la front door", ["HassTurnOff lock.front_door"]),
        ("no desbloquees front door", []),
        ("no desbloquea front door", []),
        ("desbloquea kitchen light", []),
        ("está bloqueada la front door", ["HassGetState lock.front_door"]),
        ("está cerrada la garage door", ["HassGetState cover.garage_door"]),
        ("está encendida la kitchen light", ["HassGetState light.kitchen"]),
        ("hazme un bocadillo", []),
    ],
)
def test_spanish(text: str, commands: list[str]) -> None:
    assert understood(text, "es") == commands


@pytest.mark.parametrize(
    ("text", "language", "when"),
    [
        ("what's the weather like", "en", None),
        ("what is the weather today", "en", "today"),
        ("is it going to rain tomorrow", "en", "tomorrow"),
        ("what will the weather be like tomorrow", "en", "tomorrow"),
        ("what is the weather forecast for the week", "en", "week"),
        ("qué tiempo hace hoy", "es", None),
        ("lloverá mañana", "es", "tomorrow"),
        ("qué tiempo hará esta semana", "es", "week"),
    ],
)
def test_questions_about_the_weather(text: str, language: str, when: str | None) -> None:
    command = PARSER.parse(text, language)
    assert command is not None
    assert (command.intent, command.slots.get("when")) == ("HassGetWeather", when)


@pytest.mark.parametrize("language", ["es-MX", "en-GB"])
def test_a_region_uses_its_language(language: str) -> None:
    assert understood("qué hora es" if language == "es-MX" else "what time is it", language)


def test_a_language_without_templates_understands_nothing() -> None:
    assert understood("turn on the kitchen light", "tlh") == []


def test_what_is_for_a_list_keeps_its_commas() -> None:
    command = PARSER.parse("Add milk, eggs and bread to my shopping list", "en")
    assert command is not None
    assert command.slots["item"] == "milk, eggs and bread"


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("añade leche a la lista de la compra", "leche"),
        ("añade huevos a las tareas", "huevos"),
        ("agrega pasta de dientes a mi lista de la compra", "pasta de dientes"),
    ],
)
def test_an_article_before_a_spanish_list_takes_no_letters_from_the_item(
    text: str, item: str
) -> None:
    names = house_names(
        House(
            entities={
                "todo.shop": Entity("todo.shop", "Lista de la compra", "0", exposed=True),
                "todo.chores": Entity("todo.chores", "Tareas", "0", exposed=True),
            }
        )
    )
    command = Parser(names).parse(text, "es")
    assert command is not None
    assert command.slots["item"] == item


def test_a_colour_is_kept_as_it_was_said() -> None:
    command = PARSER.parse("pon zorblax en rojo", "es")
    assert command is not None
    assert (command.slots["color"], command.colour) == ("red", "rojo")


def test_the_place_of_the_assistant_completes_a_sentence() -> None:
    assert PARSER.parse("turn on the lights", "en") is None
    command = PARSER.parse("turn on the lights", "en", "kitchen")
    assert command is not None
    assert (command.area_id, command.area_said) == ("kitchen", False)


LISTS = House(
    entities={
        one.entity_id: one
        for one in (
            Entity("todo.lista_de_la_compra", "Lista de la compra", "0"),
            Entity("todo.tareas", "Tareas de la casa", "0"),
        )
    }
)


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("añade leche a la lista de la compra", "leche"),
        ("añade pan de molde a la lista de la compra", "pan de molde"),
        ("añade leche a lista de la compra", "leche"),
    ],
)
def test_no_word_is_cut_for_a_list(text: str, item: str) -> None:
    command = Parser(house_names(LISTS)).parse(text, "es")
    assert command is not None
    assert command.slots["item"] == item


def _study() -> Parser:
    """Return a parser for a room with two names, a lamp named after one, and numbered plugs."""
    office = Area("office", "Office", ("study",))
    things = [
        Entity("light.main", "Office main light", "off", area_id="office"),
        Entity("light.hall", "Hall main light", "off"),
        *(Entity(f"switch.plug_{number}", f"Plug {number}", "off") for number in (1, 2, 12)),
    ]
    house = House({}, {"office": office}, {one.entity_id: one for one in things})
    return Parser(house_names(house))


@pytest.mark.parametrize(
    ("text", "thing"),
    [
        ("turn on the main light in the office", "light.main"),
        ("turn on the main light in the study", "light.main"),
        ("switch off the main light of the study", "light.main"),
        ("turn on the study main light", None),
        ("turn on the main light in the cellar", None),
        ("turn on the desk light in the study", None),
        ("turn on plug number two", "switch.plug_2"),
        ("turn on plug number 12", "switch.plug_12"),
        ("turn on plug number 4", None),
        ("turn on number two", None),
    ],
)
def test_a_thing_is_found_by_its_room_and_number_however_that_is_said(
    text: str, thing: str | None
) -> None:
    command = _study().parse(text, "en")
    assert (command.entity_ids if command is not None else None) == ((thing,) if thing else None)


@pytest.mark.parametrize(
    "text",
    ["bloquea todas las puertas", "cierra con llave las puertas", "cierra la casa con llave"],
)
def test_locking_up_in_spanish(text: str) -> None:
    assert understood(text, "es") == ["HassTurnOn lock"]


# --- A lamp whose name is the word for all lamps.

THINGS = [
    Entity("light.den", "Lights", "on", (), "den"),
    Entity("light.reading", "Reading lamp", "on", (), "den"),
    Entity("light.office", "Lights", "on", (), "office"),
    Entity("switch.office", "Bulb", "on", (), "office"),
]
HOUSE = House(
    {},
    {"den": Area("den", "Den"), "office": Area("office", "Office"), "hall": Area("hall", "Hall")},
    {one.entity_id: one for one in THINGS},
)


@pytest.mark.parametrize(
    ("said", "here", "ids", "area"),
    [
        ("turn off the lights", "den", (), "den"),
        ("turn off the lights", "hall", (), "hall"),
        ("turn off the reading lamp", "den", ("light.reading",), ""),
        ("turn off the bulb", "office", ("switch.office",), ""),
    ],
)
def test_the_lights_are_all_of_the_room(
    said: str, here: str, ids: tuple[str, ...], area: str
) -> None:
    command = Parser(house_names(HOUSE)).parse(said, "en", here)
    assert command is not None
    settled = settle_target(command, HOUSE, here)
    assert isinstance(settled, ParsedCommand)
    assert settled.entity_ids == ids
    assert settled.area_id == area or ids


@pytest.mark.parametrize(
    ("language", "text", "commands"),
    [
        ("en", "start a two minute timer and a seven minute timer", ["2 ", "7 "]),
        ("en", "set a timer for minus five minutes", []),
        ("en", "start a 5 minute timer called eggs and toast", ["5 eggs and toast"]),
        ("en", "set a pasta timer for ten minutes", ["10 pasta"]),
        ("en", "cancel the pasta timer and the rice timer", [" pasta", " rice"]),
        ("en", "play jazz and turn on the kitchen light", [" jazz", " Kitchen Light"]),
        ("en", "play rock and roll", [" rock and roll"]),
        ("en", "play stop and stare", [" stop and stare"]),
        ("es", "pon un temporizador de menos cinco minutos", []),
        ("es", "pon un temporizador de dos minutos y otro de cinco", []),
        ("es", "pon un temporizador de pasta de diez minutos", ["10 pasta"]),
        ("es", "pon jazz y enciende kitchen light", [" jazz", " Kitchen Light"]),
    ],
)
def test_free_text_takes_no_other_command(language: str, text: str, commands: list[str]) -> None:
    found = parse_all(text, lambda part: PARSER.parse(part, language, "living_room"))
    told = (
        (one.slots.get("minutes", ""), one.slots.get("search_query") or one.name) for one in found
    )
    assert [f"{minutes and int(minutes)} {name}" for minutes, name in told] == commands


@pytest.mark.parametrize(
    ("language", "before", "text"),
    [
        ("en", "set the kitchen light to forty", "turn the volume down by ten"),
        ("es", "pon la luz de la cocina al cuarenta", "baja el volumen un diez por ciento"),
    ],
)
def test_down_by_a_number_in_words_stays_down(language: str, before: str, text: str) -> None:
    PARSER.parse(before, language, "living_room")  # the words of its range of numbers are kept
    command = PARSER.parse(text, language, "living_room")
    assert command is not None
    assert command.slots["volume_step"] == -10
