"""The name that was asked for."""

from datetime import UTC, datetime, timedelta

import pytest

from assistant.domain.records import MemoryRecord
from assistant.memory.facts import ANSWER_WITHIN, is_same, name_in, nameless

NOW = datetime(2026, 11, 22, 14, 5, tzinfo=UTC)
OWN = MemoryRecord("1", "I am allergic to nuts", NOW, language="en")


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        ("I am Ana.", "Ana"),
        ("I'm Ana", "Ana"),
        ("It's Ana", "Ana"),
        ("my name is ana maría", "Ana maría"),
        ("That is Jean-Luc!", "Jean-Luc"),
        ("soy Ana", "Ana"),
        ("Me llamo José Luis", "José Luis"),
        ("es de Ana", "Ana"),
        ("it is half past nine in the morning", ""),
        ("I am 42", ""),
        ("turn on the light", ""),
        ("I'm cold", ""),
        ("it's too dark in here", ""),
        ("I am the one", ""),
        ("es verdad", ""),
        ("Ana", ""),
        ("", ""),
    ],
)
def test_it_is_led_in(answer: str, name: str) -> None:
    assert name_in(answer, bare=False) == name


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        ("Ana", "Ana"),
        (" ana ", "Ana"),
        ("José Luis", "José Luis"),
        ("Will", "Will"),
        ("thanks", ""),
        ("never mind", ""),
        ("Nada, gracias", ""),
        ("what is the time now", ""),
        ("4711", ""),
        ("<home>", ""),
    ],
)
def test_or_stands_alone(answer: str, name: str) -> None:
    assert name_in(answer, bare=True) == name


def test_only_the_newest_fact_just_now_waits_for_one() -> None:
    soon, late = NOW + ANSWER_WITHIN, NOW + ANSWER_WITHIN + timedelta(seconds=1)
    assert nameless([OWN], soon) == OWN
    assert nameless([OWN], late) is None
    assert nameless([OWN], NOW - timedelta(days=1)) is None  # the clock was set back
    other = MemoryRecord("2", "The bin is grey", NOW, language="en")
    assert nameless([OWN, other], soon) is None
    assert nameless([MemoryRecord("1", OWN.text, NOW, "Ana", language="en")], soon) is None
    assert nameless([], soon) is None


def test_the_same_fact_in_other_words() -> None:
    assert is_same("Ana is allergic to nuts", OWN)
    assert not is_same("Ana likes the nuts of the garden", OWN)
    assert not is_same("The bin is grey", OWN)
