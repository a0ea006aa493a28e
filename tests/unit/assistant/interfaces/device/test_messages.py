"""Tests of the parsing of messages for our device."""

import logging
from typing import Any

import pytest

from assistant.confirmation.forms import languages, wording
from assistant.conversation.expected_answers import Templates
from assistant.interfaces.device.messages import (
    Asked,
    Words,
    announcement_of,
    number,
    question_of,
    words_of,
)
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
        ("tea finished", "Your tea timer is done.", "Ha terminado el temporizador tea."),
        (
            "0:05:00 timer finished",
            "Your timer for 5 minutes is done.",
            "Ha terminado el temporizador de 5 minutos.",
        ),
        (
            "1 day, 1:01:01 timer finished",
            "Your timer for 25 hours, one minute and one second is done.",
            "Ha terminado el temporizador de 25 horas, un minuto y un segundo.",
        ),
        (
            "0:00:00 timer finished",
            "Your timer for 0 seconds is done.",
            "Ha terminado el temporizador de 0 segundos.",
        ),
        (
            "pasta finished finished",
            "Your pasta finished timer is done.",
            "Ha terminado el temporizador pasta finished.",
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
        ("it", Words("Your pasta timer is done.", "en", "timer")),  # we have no Italian of our own
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


# A message's data: templates write all of it as text, and people make mistakes.


NEWS = Words("News.")


def wanted(data: dict[str, Any], words: Words = NEWS) -> dict[str, Any] | None:
    """Return the fields that differ from their defaults, or None if there is no request."""
    request = announcement_of(data, words)
    return None if request is None else request.model_dump(exclude_defaults=True)


@pytest.mark.parametrize(
    ("data", "more"),
    [
        ({}, {}),
        ({"preannounce": True}, {}),
        ({"preannounce": False}, {"preannounce": False}),
        ({"preannounce": "False"}, {"preannounce": False}),
        ({"preannounce": 0}, {"preannounce": False}),
        ({"preannounce": None}, {}),
        ({"priority": "high", "ttl": 0}, {"priority": "high"}),
        ({"priority": " Low "}, {"priority": "low"}),
        ({"priority": "urgent"}, {}),
        ({"volume": 0.5}, {"volume": 0.5}),
        ({"volume": "0.5"}, {"volume": 0.5}),
        ({"volume": 0}, {"volume": 0.0}),
        ({"volume": 1.5}, {}),
        ({"volume": True}, {}),
        ({"volume": "nan"}, {}),
        ({"volume": 10**400}, {}),
        ({"volume": "loud"}, {}),
        ({"volume": {"a": 1}, "priority": ["high"]}, {}),
        ({"expire": 90}, {"expire_s": 90.0}),
        ({"expire": "90"}, {"expire_s": 90.0}),
        ({"expire": -1, "volume": 0.2}, {"volume": 0.2}),
        ({"language": "es_MX"}, {"language": "es-MX"}),
        ({"language": "Spanish, please"}, {}),
        ({"media": ""}, {}),
        ({"media": ["x"]}, {}),
        ({"group": "x", "channel": "y", "image": "/a.jpg"}, {}),
    ],
)
def test_how_it_is_said(data: dict[str, Any], more: dict[str, Any]) -> None:
    assert wanted(data) == {"text": "News.", "persist": True, **more}


def test_a_sound_is_played_in_place_of_the_words() -> None:
    data = {"media": "gong.wav", "volume": 2}
    assert wanted(data) == {"media": "gong.wav", "persist": True}
    assert wanted({"media": "x" * 2_001}) is None


def test_the_language_of_the_words_counts_unless_one_is_given() -> None:
    words = Words("Nada.", "es")
    assert wanted({}, words) == {"text": "Nada.", "language": "es", "persist": True}
    assert wanted({"language": "en"}, words) == {"text": "Nada.", "language": "en", "persist": True}


def test_signs_alone_are_no_words() -> None:
    assert wanted({}, Words("!?")) is None


def test_what_makes_no_sense_is_named_in_the_log_and_not_repeated(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO):
        wanted({"volume": "my secret", "expire": 0})
    assert "expire_s, volume" in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.parametrize(
    ("given", "read"), [("7", 7.0), (7, 7.0), ("x", "x"), (None, None), (True, True), ([7], [7])]
)
def test_numbers(given: Any, read: Any) -> None:
    assert number(given) == read
    assert type(number(given)) is type(read)


# A notification with buttons, as a spoken question.


YES_NO = [{"action": "CLOSE", "title": "Yes"}, {"action": "LEAVE", "title": "No"}]


def asked(data: dict[str, Any], codes: tuple[str, ...] = ("en",)) -> Asked | None:
    return question_of(data, Words("Shall I close the blinds?"), codes)


def of(actions: list[Any], codes: tuple[str, ...] = ("en",), **data: Any) -> Asked:
    found = asked({"actions": actions, **data}, codes)
    assert found is not None
    return found


def understood(question: Asked, sentence: str, language: str = "en") -> str | None:
    """Return the action that a sentence is taken for."""
    request = question.request
    found = Templates(request.answers, language, request.question).find(sentence)
    return None if found is None else found.id


@pytest.mark.parametrize(
    ("sentence", "action"),
    [
        ("Yes.", "CLOSE"),
        ("go ahead, please", "CLOSE"),
        ("that's right", "CLOSE"),
        ("No!", "LEAVE"),
        ("not now, thanks", "LEAVE"),
        ("yes no", None),
        ("the kitchen", None),
    ],
)
def test_a_yes_and_a_no_are_understood_however_they_are_said(
    sentence: str, action: str | None
) -> None:
    assert understood(of(YES_NO), sentence) == action


@pytest.mark.parametrize(
    ("yes", "no"),
    [
        ("Yes, close it", "No, thanks"),
        ("OK", "Cancel"),
        ("Yes, close the blinds", "Leave it"),
    ],
)
def test_titles_that_mean_yes_and_no(yes: str, no: str) -> None:
    question = of([{"action": "A", "title": yes}, {"action": "B", "title": no}])
    assert understood(question, "yeah") == "A"
    assert understood(question, "nope") == "B"
    assert understood(question, yes) == "A"


def test_of_two_that_mean_yes_each_has_its_title_alone() -> None:
    question = of([{"action": "ALL", "title": "Yes, all"}, {"action": "ONE", "title": "Yes, one"}])
    assert [one.sentences for one in question.request.answers] == [["Yes all"], ["Yes one"]]


@pytest.mark.parametrize("code", languages())
def test_every_language_has_its_own_yes_and_no(code: str) -> None:
    forms = wording(code)
    assert forms is not None
    for question in (of(YES_NO, (code,)), of(YES_NO, languages())):
        for phrases, action in ((forms.yes, "CLOSE"), (forms.no, "LEAVE")):
            said = [understood(question, " ".join(phrase), code) for phrase in sorted(phrases)[::9]]
            assert set(said) == {action}


def test_other_titles_are_the_answers_and_sentences_may_be_given() -> None:
    question = of(
        [
            {"action": "A", "title": "The [big] lamp (left)"},
            {"action": "B", "title": "B", "sentences": ["(the|a) small [one]", ""]},
            {"action": "C", "title": "C", "sentences": "neither"},
            {"action": "D", "title": "D", "sentences": {"no": 1}},
        ]
    )
    assert [(one.id, one.sentences) for one in question.request.answers] == [
        ("A", ["The big lamp left"]),
        ("B", ["(the|a) small [one]"]),
        ("C", ["neither"]),
        ("D", ["D"]),
    ]


def test_a_reply_takes_any_words() -> None:
    question = of([{"action": "REPLY", "title": "Say"}])
    assert (question.reply, question.request.answers) == ("REPLY", [])
    question = of([*YES_NO, {"action": "MORE", "title": "Tell", "behavior": "textInput"}])
    assert question.reply == "MORE"
    assert understood(question, "go ahead") == "CLOSE"
    assert understood(question, "in an hour, when it is dark") == "MORE"


def test_how_it_is_asked_and_what_its_event_will_hold() -> None:
    question = of(
        YES_NO,
        tag="blinds",
        action_data={"room": "hall"},
        timeout="15",
        volume="0.5",
        priority="high",
        preannounce=False,
        expire=60,
    )
    assert question.told == {"tag": "blinds", "action_data": {"room": "hall"}}
    request = question.request
    assert request.question == "Shall I close the blinds?"
    assert (request.timeout_s, request.volume, request.priority) == (15.0, 0.5, "high")
    assert (request.preannounce, request.expire_s) == (False, 60.0)


def test_the_language_of_the_question_has_its_yes_too() -> None:
    question = of([{"action": "A", "title": "OK"}, {"action": "B", "title": "No"}], language="es")
    assert understood(question, "claro que sí", "es") == "A"


def test_a_time_limit_for_a_phone_is_not_ours() -> None:
    assert of(YES_NO, timeout=300).request.timeout_s == of(YES_NO).request.timeout_s


@pytest.mark.parametrize(
    "actions",
    [
        None,
        [],
        "YES",
        {"action": "A", "title": "A"},
        [{"title": "no action"}],
        [{"action": "URI", "title": "Open", "uri": "/lovelace"}],
        [{"action": "A", "title": ""}],
        [{"action": "A" * 101, "title": "A"}],
        [7, None],
    ],
)
def test_without_a_button_to_be_answered_it_is_no_question(actions: Any) -> None:
    assert asked({"actions": actions}) is None
