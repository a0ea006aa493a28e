"""What a message's data asks for: templates write all of it as text, and people err."""

import logging
from typing import Any

import pytest

from assistant.interfaces.device.messages import Words, announcement_of, number

NEWS = Words("News.")


def wanted(data: dict[str, Any], words: Words = NEWS) -> dict[str, Any] | None:
    """What is not as it is by itself."""
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
