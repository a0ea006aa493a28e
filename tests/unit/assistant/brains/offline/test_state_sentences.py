"""Tests of questions about doors, locks and sensors, in the six shipped languages."""

import pytest

from assistant.brains.offline.frames import Ask
from assistant.brains.offline.names import house_names, without_words
from assistant.brains.offline.parse import ParsedCommand, Parser
from assistant.brains.offline.settle import settle_target
from assistant.brains.offline.state_answers import StateAnswers, question_of, room_of
from assistant.domain.clock import VirtualClock
from assistant.speech.catalogue import Catalogue
from assistant.tools.house.questions import EVERYTHING, facts
from integrations.home_assistant.house import House
from tests.unit.assistant.tools.house.things import contact, house_of, lock, thing

HOUSE = house_of(
    contact("k", "Kitchen Window", "open", area_id="kitchen"),
    contact("b", "Bath Window", "unavailable", area_id="bedroom"),
    contact("p", "Patio Door", "closed", "door", area_id="kitchen"),
    contact("f", "Front Door Contact", "closed", "door"),
    thing("cover.g", "Double Drive", "closed", "garage"),
    lock("f", "Front Door Lock", "locked"),
    thing("binary_sensor.s", "Hall Smoke", "off", "smoke"),
    thing("binary_sensor.m", "Hall Motion", "on", "motion", "hall"),
    thing("sensor.b", "Remote", "8", "battery"),
    thing("sensor.w", "Cellar", "50", "humidity", "hall"),
    thing("sensor.t", "Freezer", "-18", "temperature", "kitchen"),
    thing("sensor.u", "Kitchen air", "20.5", "temperature", "kitchen"),
)


def understood(text: str, language: str, house: House = HOUSE, area: str = "") -> ParsedCommand:
    command = Parser(house_names(house)).parse(text, language, area)
    assert command is not None, text
    settled = settle_target(command, house, area)
    assert isinstance(settled, ParsedCommand), settled
    return settled


def answer(text: str, language: str = "en", house: House = HOUSE, area: str = "") -> str:
    questions = StateAnswers(Catalogue(), VirtualClock())
    told = questions.answer(understood(text, language, house, area), house, language)
    assert told is not None
    return told


WHOLE = {
    ("all", "closed"): {
        "en": (
            "is everything closed",
            "is the house closed up",
            "are all the doors and windows shut",
        ),
        "es": ("¿está todo cerrado?", "está la casa cerrada"),
        "de": ("ist alles zu", "ist überall alles geschlossen", "ist das Haus zu"),
        "fr": ("est-ce que tout est fermé", "tout est-il bien fermé"),
        "pt": ("está tudo fechado", "a casa está fechada"),
        "vi": ("mọi thứ đã đóng chưa", "tất cả các cửa đã đóng chưa"),
    },
    ("all", "locked"): {
        "en": (
            "is everything locked",
            "is the house locked up",
            "are we locked up",
            "did i lock up",
        ),
        "es": ("está todo cerrado con llave", "está todo bloqueado"),
        "de": ("ist alles abgeschlossen", "ist das Haus abgesperrt", "ist alles verriegelt"),
        "fr": ("est-ce que tout est verrouillé", "est-ce que la maison est fermée à clé"),
        "pt": ("está tudo trancado", "a casa está trancada"),
        "vi": ("mọi thứ đã khóa chưa", "nhà đã khóa cửa chưa"),
    },
    ("any", "open"): {
        "en": ("is anything open", "is something still open", "did i leave anything open"),
        "es": ("hay algo abierto", "queda algo abierto", "he dejado algo abierto"),
        "de": ("ist etwas offen", "ist noch irgendwas offen", "steht irgendwo etwas offen"),
        "fr": ("est-ce que quelque chose est ouvert", "y a-t-il quelque chose d'ouvert"),
        "pt": ("há alguma coisa aberta", "ficou algo aberto"),
        "vi": ("có gì đang mở không", "còn gì mở không"),
    },
    ("which", "open"): {
        "en": ("what is open", "what's still open"),
        "es": ("qué está abierto", "qué queda abierto"),
        "de": ("was ist offen", "was steht noch offen"),
        "fr": ("qu'est-ce qui est ouvert",),
        "pt": ("o que está aberto", "o que é que ficou aberto"),
        "vi": ("cái gì đang mở",),
    },
    ("any", "unlocked"): {
        "en": ("is anything unlocked",),
        "es": ("hay algo desbloqueado", "queda algo sin cerrar con llave"),
        "de": ("ist etwas nicht abgeschlossen", "ist noch was entriegelt"),
        "fr": ("est-ce que quelque chose est déverrouillé",),
        "pt": ("há algo destrancado",),
        "vi": ("còn gì chưa khóa không",),
    },
}


@pytest.mark.parametrize(
    ("kind", "state", "language", "text"),
    [
        (kind, state, language, text)
        for (kind, state), languages in WHOLE.items()
        for language, texts in languages.items()
        for text in texts
    ],
)
def test_the_whole_house(kind: str, state: str, language: str, text: str) -> None:
    question = question_of(understood(text, language))
    assert (question.kind, question.state) == (kind, state)
    assert question.classes == {EVERYTHING}


@pytest.mark.parametrize(
    ("language", "text", "kind", "state"),
    [
        ("en", "is any window open", "any", "open"),
        ("en", "are any windows open", "any", "open"),
        ("en", "is a window open", "any", "open"),
        ("en", "are all windows closed", "all", "closed"),
        ("en", "are the windows closed", "all", "closed"),
        ("en", "which windows are open", "which", "open"),
        ("en", "how many windows are open", "how_many", "open"),
        ("es", "hay alguna ventana abierta", "any", "open"),
        ("es", "están todas las ventanas cerradas", "all", "closed"),
        ("es", "están cerradas las ventanas", "all", "closed"),
        ("es", "qué ventanas están abiertas", "which", "open"),
        ("de", "ist irgendein Fenster offen", "any", "open"),
        ("de", "sind alle Fenster zu", "all", "closed"),
        ("de", "sind die Fenster zu", "all", "closed"),
        ("de", "welche Fenster sind offen", "which", "open"),
        ("fr", "quelles fenêtres sont ouvertes", "which", "open"),
        ("fr", "est-ce que les fenêtres sont fermées", "all", "closed"),
        ("pt", "há alguma janela aberta", "any", "open"),
        ("pt", "as janelas estão fechadas", "all", "closed"),
        ("pt", "quais janelas estão abertas", "which", "open"),
        ("vi", "có cửa sổ nào đang mở không", "any", "open"),
    ],
)
def test_contacts_count_among_the_windows(language: str, text: str, kind: str, state: str) -> None:
    question = question_of(understood(text, language))
    assert (question.kind, question.state) == (kind, state)
    found = facts(question, HOUSE)
    assert {one.entity_id for one in found.asked} == {"binary_sensor.k", "binary_sensor.b"}
    assert [one.entity_id for one in found.unknown] == ["binary_sensor.b"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("is the front door closed", "Yes, the front door is closed."),
        ("is the front door open", "No, the front door is closed."),
        ("is the front door locked", "Yes, the front door is locked."),
        ("is the front door unlocked", "No, the front door is locked."),
        ("is the front door lock locked", "Yes, the front door lock is locked."),
        (
            "is the patio door locked",
            "I can't tell whether the patio door is locked. "
            "I only know that the patio door is closed.",
        ),
        ("is the bath window open", "I don't know: I can't reach the bath window."),
        ("is the garage door open", "No, the double drive is closed."),
        ("is the garage open", "No, the double drive is closed."),
        ("is any door open", "No, none of them are open."),
        ("are the windows in the kitchen closed", "No, the kitchen window is open."),
        ("is the kitchen door closed", "Yes, the patio door is closed."),
        ("are all doors locked", "Yes, the front door lock is locked."),
        (
            "are all windows locked",
            "No, the kitchen window is open, but I can't reach the bath window.",
        ),
        ("is there any smoke", "No, none of the sensors report that."),
        ("is there motion in the hall", "Yes, according to the hall motion."),
        ("is there a leak", "I don't know of anything like that in your home."),
        ("which batteries are low", "The remote."),
        ("what's the humidity in the hall", "The humidity in the hall is 50 percent."),
        ("how humid is it in the kitchen", "I don't know the humidity there."),
        ("how warm is it in the kitchen", "It's 20.5 degrees in the kitchen."),
        ("what is the temperature in the bedroom", "I don't know the temperature there."),
    ],
)
def test_english(text: str, told: str) -> None:
    assert answer(text) == told


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "is there any smoke"),
        ("es", "¿hay humo?"),
        ("de", "gibt es irgendwo Rauch"),
        ("fr", "y a-t-il de la fumée"),
        ("pt", "há fumaça"),
        ("vi", "có khói không"),
    ],
)
def test_smoke_in_every_language(language: str, text: str) -> None:
    assert answer(text, language) == Catalogue().say("house_state.quiet", language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "what is the humidity"),
        ("es", "qué humedad hay"),
        ("de", "wie hoch ist die Luftfeuchtigkeit"),
        ("fr", "quelle est l'humidité"),
        ("pt", "qual é a umidade"),
        ("vi", "độ ẩm là bao nhiêu"),
    ],
)
def test_the_air_of_this_room_in_every_language(language: str, text: str) -> None:
    assert "50" in answer(text, language, area="hall")


@pytest.mark.parametrize(
    ("language", "name", "text", "state"),
    [
        ("es", "Puerta principal", "está cerrada la puerta principal", "closed"),
        ("es", "Puerta principal", "está la puerta principal cerrada con llave", "locked"),
        ("es", "Puerta principal", "está bloqueada la puerta principal", "locked"),
        ("de", "Haustür", "ist die Haustür zu", "closed"),
        ("de", "Haustür", "ist die Haustür abgeschlossen", "locked"),
        ("fr", "Porte d'entrée", "la porte d'entrée est-elle fermée", "closed"),
        ("fr", "Porte d'entrée", "est-ce que la porte d'entrée est verrouillée", "locked"),
        ("pt", "Porta da frente", "a porta da frente está fechada", "closed"),
        ("pt", "Porta da frente", "a porta da frente está trancada", "locked"),
        ("vi", "Cửa trước", "cửa trước đã đóng chưa", "closed"),
        ("vi", "Cửa trước", "cửa trước đã khóa chưa", "locked"),
    ],
)
def test_closed_and_locked_stay_apart(language: str, name: str, text: str, state: str) -> None:
    house = house_of(lock("f", name, "unlocked"), contact("f", name, "closed", "door"))
    question = question_of(understood(text, language, house))
    assert len(question.entity_ids) == 1
    found = facts(question, house)
    if state == "closed":
        assert [one.entity_id for one in found.yes] == ["binary_sensor.f"]
    else:
        assert [one.entity_id for one in found.no] == ["lock.f"]


def test_two_doors_of_one_name_are_asked_back() -> None:
    house = house_of(
        contact("a", "Balcony door", "closed", "door", area_id="kitchen"),
        contact("b", "Balcony door", "open", "door", area_id="bedroom"),
    )
    command = Parser(house_names(house)).parse("is the balcony door closed", "en")
    assert command is not None
    assert isinstance(settle_target(command, house, ""), Ask)
    assert isinstance(settle_target(command, house, "kitchen"), ParsedCommand)


def test_two_of_one_name_in_one_room_are_both_looked_at() -> None:
    house = house_of(
        thing("light.a", "Lamp", "on", area_id="hall"),
        thing("light.b", "Lamp", "off", area_id="hall"),
    )
    asked = understood("is the lamp on", "en", house)
    assert asked.entity_ids == ("light.a", "light.b")
    found = facts(question_of(asked), house)
    assert [one.entity_id for one in (*found.yes, *found.no)] == ["light.a", "light.b"]


def test_a_floor_is_as_warm_as_one_of_its_rooms() -> None:
    command = understood("wie ist die Temperatur im ground", "de")
    room = room_of(command, HOUSE)
    assert room is not None
    assert [one.entity_id for one in room.sensors] == ["sensor.u"]


def test_names_that_cannot_be_pronounced_are_left_out_of_the_doors() -> None:
    names = house_names(HOUSE)
    assert "patio door" in [name.text for name in names.doors]
    assert "patio door" not in [name.text for name in without_words(names, {"patio"}).doors]


@pytest.mark.parametrize(
    ("text", "language", "said"),
    [
        ("did i leave the patio door open", "en", "No, the patio door is closed."),
        ("have i left the front door unlocked", "en", "No, the front door is locked."),
        ("están cerradas todas las puertas", "es", "Sí, todas están cerradas."),
        ("están todas las puertas cerradas", "es", "Sí, todas están cerradas."),
    ],
)
def test_what_was_left_open_and_all_of_a_kind(text: str, language: str, said: str) -> None:
    assert answer(text, language) == said
