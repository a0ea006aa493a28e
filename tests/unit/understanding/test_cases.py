"""Tests of the sentences of `make understanding`, and of their division into halves."""

from collections import defaultdict
from random import Random

import pytest

from integrations.demo_home.catalogue import THINGS
from tests.understanding.cases import (
    HALVES,
    LANGUAGES,
    TALK,
    Case,
    Right,
    Said,
    parse,
    read,
    read_follow_ups,
)

HOUSE = {thing.entity_id for thing in THINGS}
LEAST = {"en": (400, 60), "es": (200, 60)}  # commands and sentences of talk


def of(language: str) -> list[Case]:
    return [case for half in HALVES for case in read(language, half)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_there_is_enough_and_nothing_twice(language: str) -> None:
    cases = of(language)
    talk = [case for case in cases if case.sort == TALK]
    commands, spoken = LEAST[language]
    assert len(cases) - len(talk) >= commands
    assert len(talk) >= spoken
    assert sum(case.sentences > 1 for case in cases) >= 40
    assert len({case.id for case in cases}) == len(cases)


@pytest.mark.parametrize("language", LANGUAGES)
def test_nobody_chose_the_halves(language: str) -> None:
    sorts: dict[str, list[Case]] = defaultdict(list)
    for case in of(language):
        sorts[case.sort].append(case)
    for sort, cases in sorts.items():
        ids = sorted(case.id for case in cases)
        Random(f"{language} {sort}").shuffle(ids)
        worked_on = set(ids[: (len(ids) + 1) // 2])
        assert {case.id for case in cases if case.half == "development"} == worked_on, sort


@pytest.mark.parametrize("language", LANGUAGES)
def test_only_things_of_the_house_are_expected(language: str) -> None:
    for case in (*of(language), *read_follow_ups(language)):
        keys = [*case.given]
        keys += [k for said in case.turns for right in said.rights for k, _ in right.changes]
        entities = {".".join(key.split(".")[:2]) for key in keys if "." in key}
        unknown = {one for one in entities - HOUSE if not one.endswith(".*")}
        assert not unknown, case.id


def test_a_line() -> None:
    case = parse(
        "a-1 | {fan} [fan.x=on] faster => fan.x.speed=up or ask >> ?yes => same "
        ">> +11m => fan.x=off ~light.* say:/off now/"
    )
    assert (case.id, case.needs, case.given) == ("a-1", "fan", {"fan.x": "on"})
    assert case.turns == (
        Said("faster", (Right("do", (("fan.x.speed", "up"),)), Right("ask"))),
        Said("yes", (Right("same"),), if_asked=True),
        Said("+11m", (Right("do", (("fan.x", "off"),), ("light.*",), ("off now",)),), 11),
    )
    assert (case.sentences, case.leaps) == (1, True)


@pytest.mark.parametrize(
    "line", ["a-1 turn on", "a-1 | turn on", "a-1 | on => sam", "a | b => same x=y"]
)
def test_a_line_that_says_nothing_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"know|form|right|contradict"):
        parse(line)
