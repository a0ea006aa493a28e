"""What is made of a message for our device."""

import pytest

from assistant.interfaces.device.messages import Words, words_of
from assistant.speech.catalogue import Catalogue
from integrations.home_assistant.mobile_app import Push
from integrations.web.requests import LONGEST_TEXT

CATALOGUE = Catalogue()


def said(message: str, language: str = "en", **more: object) -> Words | None:
    return words_of(Push("1", message, **more), CATALOGUE, language)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("push", "text"),
    [
        (Push("1", "The washing is done."), "The washing is done."),
        (Push("1", "is done.", title="The washing"), "The washing. is done."),
        (Push("1", "is done.", title="The washing."), "The washing. is done."),
        (Push("1", "one\n\ttwo\x00\x1b[31m three"), "one two [31m three"),
        (Push("1", "soft\xadware \u202elight"), "software light"),
        (Push("1", "TTS", data={"tts_text": "Hello."}), "Hello."),
    ],
)
def test_what_is_said(push: Push, text: str) -> None:
    assert words_of(push, CATALOGUE, "en") == Words(text)


@pytest.mark.parametrize(
    "message",
    [
        "",
        "  \n",
        "\x00",
        "command_mute",
        "command_volume_level",
        "clear_notification",
        "TTS",
        "delete_alert",
        "request_location_update",
    ],
)
def test_what_is_not_for_ears(message: str) -> None:
    assert said(message) is None


def test_a_word_that_only_looks_like_an_order_is_said() -> None:
    assert said("commander_in_the_hall") == Words("commander_in_the_hall")


def test_a_huge_text_is_cut_between_words() -> None:
    words = said("wörd " * 1_000_000)
    assert words is not None
    assert LONGEST_TEXT - 10 < len(words.text) <= LONGEST_TEXT
    assert words.text.endswith("wörd")
    words = said("x" * 1_000_000)
    assert words is not None
    assert len(words.text) == LONGEST_TEXT


@pytest.mark.parametrize(
    ("message", "english", "spanish"),
    [
        ("tea finished", "The timer tea is over.", "Se acabó el temporizador tea."),
        (
            "0:05:00 timer finished",
            "Your timer for 5 minutes is over.",
            "Se acabó el temporizador de 5 minutos.",
        ),
        (
            "1 day, 1:01:01 timer finished",
            "Your timer for 25 hours, one minute, one second is over.",
            "Se acabó el temporizador de 25 horas, un minuto, un segundo.",
        ),
        (
            "0:00:00 timer finished",
            "Your timer for 0 seconds is over.",
            "Se acabó el temporizador de 0 segundos.",
        ),
        (
            "pasta finished finished",
            "The timer pasta finished is over.",
            "Se acabó el temporizador pasta finished.",
        ),
    ],
)
def test_a_timer_rings_in_our_language(message: str, english: str, spanish: str) -> None:
    data = {"group": "timers"}
    assert said(message, data=data) == Words(english, "en", "timer")
    assert said(message, "es", data=data) == Words(spanish, "es", "timer")


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("fr", Words("Le minuteur pasta est terminé.", "fr", "timer")),
        ("it", Words("The timer pasta is over.", "en", "timer")),  # we have no Italian of our own
    ],
)
def test_a_timer_is_said_by_the_voice_of_its_words(language: str, words: Words) -> None:
    assert said("pasta finished", language, data={"group": "timers"}) == words
    length = said("0:05:00 timer finished", language, data={"group": "timers"})
    assert length is not None
    assert length.language == words.language


def test_a_timer_in_an_unknown_form_rings_as_it_is() -> None:
    assert said("Kettle!", data={"group": "timers"}) == Words("Kettle!", None, "timer")
    assert said("", data={"group": "timers"}) is None
