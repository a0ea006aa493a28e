"""Tests of the name that was asked for, and of the facts that a model gets at the start."""

from datetime import UTC, datetime, timedelta

import pytest

from assistant.domain.records import MemoryRecord
from assistant.memory.facts import (
    ANSWER_WITHIN,
    MAX_BRIEFED,
    MAX_CHARACTERS,
    choose,
    is_same,
    name_in,
    nameless,
    told,
)

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


# The facts that a model gets at the start.


def facts(count: int, text: str = "Fact {}") -> list[MemoryRecord]:
    return [
        MemoryRecord(f"{n:03}", text.format(n), NOW + timedelta(minutes=n)) for n in range(count)
    ]


def test_while_they_are_few_all_are_told() -> None:
    few = facts(MAX_BRIEFED)
    assert choose(few, []) == tuple(few)
    assert choose([], []) == ()


def test_sensitive_ones_never_are() -> None:
    secret = MemoryRecord("s", "The code is 1234", NOW, sensitive=True)
    assert choose([secret], [secret]) == ()
    many = [*facts(100), secret]
    assert secret not in choose(many, [secret])
    assert secret not in choose(many, [], (secret, *facts(3)))


def test_of_many_what_was_found_comes_first_then_the_newest() -> None:
    many = facts(MAX_BRIEFED + 60)
    chosen = choose(many, [many[3], many[7]])
    assert len(chosen) == MAX_BRIEFED
    assert chosen[:2] == (many[3], many[7])
    assert chosen[2:] == tuple(many[-(MAX_BRIEFED - 2) :])


def test_they_take_no_more_room_than_there_is() -> None:
    long = facts(30, "{} " + "word " * 40)
    chosen = choose(long, [long[0]])
    assert sum(len(told(fact)) + 1 for fact in chosen) <= MAX_CHARACTERS
    assert len(chosen) == 9
    assert (chosen[0], chosen[-1]) == (long[0], long[-1])


def test_what_was_told_stays_while_it_has_what_matters() -> None:
    many = facts(100)
    before = choose(many, [many[3]])
    assert choose(many, [many[90]], before) == before  # a recent one: the model has it already
    assert choose(many, [], before) == before
    anew = choose(many, [many[5]], before)
    assert many[5] in anew
    assert anew != before


def test_what_is_new_or_gone_changes_it() -> None:
    many = facts(100)
    before = choose(many, [])
    newer = MemoryRecord("new", "News", NOW + timedelta(days=1))
    assert newer in choose([*many, newer], [], before)
    assert many[99] not in choose(many[:-1], [], before)


def test_whose_it_is_stands_before_the_words_of_a_person() -> None:
    own = MemoryRecord("1", "I like tea", NOW, who="Ana", language="en")
    assert told(own) == "Ana: I like tea"
    assert told(MemoryRecord("1", "Tom likes tea", NOW, who="Ana", language="en")) == (
        "Tom likes tea"
    )
