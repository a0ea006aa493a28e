"""Tests of the parser in houses whose names are in the language that is spoken there."""

import pytest

from assistant.brains.offline.names import house_names
from assistant.brains.offline.parse import ParsedCommand, Parser
from assistant.brains.offline.settle import settle_target
from integrations.home_assistant.house import Area, Entity, House


def _named(room: str, lamp: str, scene: str) -> House:
    return House(
        areas={"room": Area("room", room), "hall": Area("hall", "X")},
        entities={
            "light.lamp": Entity("light.lamp", lamp, "on", area_id="room"),
            "light.hall": Entity("light.hall", "X", "on", area_id="hall"),
            "scene.film": Entity("scene.film", scene, "unknown"),
        },
    )


_HOMES = {
    "de": _named("Wohnzimmer", "Stehlampe", "Filmabend"),
    "fr": _named("Salon", "Lampadaire", "Soirée cinéma"),
    "pt": _named("Sala", "Abajur", "Cinema"),
    "pt-BR": _named("Sala", "Abajur", "Cinema"),
    "vi": _named("Phòng khách", "Đèn cây", "Xem phim"),
}
_PARSERS = {language: Parser(house_names(house)) for language, house in _HOMES.items()}


@pytest.mark.parametrize(
    ("language", "text", "intent"),
    [
        ("de", "schalte alle Lichter aus", "HassTurnOff"),
        ("de", "mach alle Lampen an", "HassTurnOn"),
        ("fr", "éteins toutes les lumières", "HassTurnOff"),
        ("fr", "allumez toutes les lampes de la maison", "HassTurnOn"),
        ("pt", "apaga todas as luzes", "HassTurnOff"),
        ("pt-BR", "desligue todas as luzes da casa", "HassTurnOff"),
        ("vi", "tắt tất cả đèn", "HassTurnOff"),
        ("vi", "tắt hết đèn trong nhà", "HassTurnOff"),
    ],
)
def test_all_lights_are_those_of_the_house(language: str, text: str, intent: str) -> None:
    command = _PARSERS[language].parse(text, language, "room")
    assert command is not None
    settled = settle_target(command, _HOMES[language], "room")
    assert isinstance(settled, ParsedCommand)
    assert (settled.intent, settled.area_id, settled.floor_id) == (intent, "", "")
    assert settled.slots == {"domain": "light"}


@pytest.mark.parametrize(
    ("language", "text"),
    [("de", "schalte das Licht aus"), ("fr", "éteins les lumières"), ("vi", "tắt đèn")],
)
def test_other_lights_are_those_of_the_room(language: str, text: str) -> None:
    command = _PARSERS[language].parse(text, language, "room")
    assert command is not None
    settled = settle_target(command, _HOMES[language], "room")
    assert isinstance(settled, ParsedCommand)
    assert (settled.intent, settled.area_id) == ("HassTurnOff", "room")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "stelle die Stehlampe auf 30 Prozent"),
        ("de", "mach die Stehlampe auf 30 %"),
        ("fr", "mets le lampadaire à 30 pour cent"),
        ("pt", "põe o abajur a 30 por cento"),
        ("pt-BR", "coloque o abajur em 30%"),
        ("vi", "chỉnh đèn cây xuống 30 phần trăm"),
    ],
)
def test_a_brightness_in_percent(language: str, text: str) -> None:
    command = _PARSERS[language].parse(text, language, "room")
    assert command is not None
    assert (command.intent, command.entity_ids) == ("HassLightSet", ("light.lamp",))
    assert command.slots["brightness"] == 30


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "aktiviere die Szene Filmabend"),
        ("de", "starte Filmabend"),
        ("de", "schalte Filmabend ein"),
        ("fr", "lance la scène Soirée cinéma"),
        ("pt", "ativa a cena Cinema"),
        ("vi", "bật cảnh Xem phim"),
    ],
)
def test_a_scene_by_its_name(language: str, text: str) -> None:
    command = _PARSERS[language].parse(text, language, "room")
    assert command is not None
    assert (command.intent, command.entity_ids) == ("HassTurnOn", ("scene.film",))


@pytest.mark.parametrize(
    ("language", "text", "intent", "slots"),
    [
        ("de", "brich den Timer ab", "HassCancelTimer", {}),
        ("de", "stell den Nudeln-Timer ab", "HassCancelTimer", {"name": "nudeln"}),
        ("fr", "annule le minuteur", "HassCancelTimer", {}),
        ("pt", "cancela o temporizador", "HassCancelTimer", {}),
        ("pt-BR", "cancele o timer", "HassCancelTimer", {}),
        ("vi", "huỷ bộ hẹn giờ", "HassCancelTimer", {}),
        ("de", "stell einen Wecker auf sieben Uhr", "HearthSetAlarm", {"time": "7:00"}),
        ("de", "weck mich morgen früh um halb acht", "HearthSetAlarm", {"time": "7:30"}),
        ("de", "Wecker um 6:45 Uhr", "HearthSetAlarm", {"time": "6:45"}),
        ("de", "weck mich um viertel vor sieben", "HearthSetAlarm", {"time": "6:45"}),
        ("de", "weck mich um zwanzig nach acht", "HearthSetAlarm", {"time": "8:20"}),
        ("de", "weck mich um achtzehn Uhr fünfunddreißig", "HearthSetAlarm", {"time": "18:35"}),
        ("de", "erinnere mich um 18 Uhr an die Wäsche", "HearthSetAlarm", {"text": "Wäsche"}),
        ("de", "schalte den Wecker aus", "HearthCancelAlarm", {"kind": "alarm"}),
        ("de", "lösche alle Wecker", "HearthCancelAlarm", {"all": True}),
        ("de", "welche Wecker habe ich", "HearthListAlarms", {"kind": "alarm"}),
    ],
)
def test_timers_and_alarms(language: str, text: str, intent: str, slots: dict[str, object]) -> None:
    command = _PARSERS[language].parse(text, language, "room")
    assert command is not None
    assert command.intent == intent
    assert slots.items() <= {**command.slots, "name": command.name}.items()


@pytest.mark.parametrize(
    "text",
    [
        "stell den Wecker nicht",
        "schalte nicht alle Lichter aus",
        "ich habe alle Lichter ausgeschaltet",
        "der Wecker hat um sieben Uhr geklingelt",
        "stelle die Teller auf den Tisch",
    ],
)
def test_german_talk_is_no_command(text: str) -> None:
    assert _PARSERS["de"].parse(text, "de", "room") is None
