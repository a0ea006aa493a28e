"""Tests that the corpus of tool schemas is valid, and that ours gets all of it right."""

import json
from collections import Counter
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.validators import validator_for

from tests.benchmarks.converters import Ours
from tests.benchmarks.schema_comparison import Column, home_tools, menu
from tests.benchmarks.schema_corpus import GROUPS, Case, cases
from tests.benchmarks.schema_judge import Judged, Verdict, judge
from tests.simulators.schema import read_tools


def test_every_entry_is_valid_and_its_arguments_are_what_they_are_called() -> None:
    for case in cases():
        kind = validator_for(case.schema, default=Draft202012Validator)
        kind.check_schema(case.schema)
        takes = kind(case.schema).is_valid
        assert case.takes, case.name
        for arguments in (*case.takes, *(one.arguments for one in case.beyond)):
            assert takes(arguments), (case.name, arguments)
        for one in case.refuses:
            assert not takes(one.arguments), (case.name, one.arguments)


def test_there_are_enough_of_each_kind_and_no_two_of_a_name() -> None:
    found = cases()
    assert len({case.name for case in found}) == len(found) >= 40
    kinds = Counter(case.group for case in found)
    assert set(kinds) == set(GROUPS)
    assert min(kinds.values()) >= 10


def test_the_words_that_tell_are_of_the_schema_not_of_its_descriptions() -> None:
    for case in cases():
        described = " ".join([case.about, *_descriptions(case.schema)]).casefold()
        for one in (*case.refuses, *case.beyond):
            for choice in one.said:
                there = [word for word in choice if word.casefold() in described]
                assert not there, (case.name, there)


async def test_ours_is_right_on_all_of_it_and_our_simulator_takes_it() -> None:
    found = cases()
    for case, made in zip(found, await Ours().converted(found), strict=True):
        judged = judge(case, made)
        assert judged.verdict is Verdict.RIGHT, (case.name, judged.why)
        read_tools([{"functionDeclarations": [_camel(made.declaration)]}], ("BLOCKING",), "tools")


def test_no_two_tools_of_a_menu_are_the_same() -> None:
    found = cases()
    home = [case for case in found if case.group == "home"]
    bad = Judged(Verdict.CRASH, "a")
    column = Column("a", tuple(bad if one is home[0] else Judged(Verdict.WRONG) for one in found))
    assert home_tools(found, [column]) == home[1:]
    made = menu(home, 50)
    assert len({json.dumps(one) for one in made}) == len({one["name"] for one in made}) == 50


def test_arguments_of_an_entry_are_read_as_they_stand() -> None:
    named = {case.name: case for case in cases()}
    case: Case = named["integer-choices"]
    assert case.listed()["inputSchema"]["properties"]["step"]["enum"] == [1, 5, 9]
    assert case.refuses[0].said == (("1",), ("5",), ("9",))


def _descriptions(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [text for one in schema for text in _descriptions(one)]
    if not isinstance(schema, dict):
        return []
    own = [schema["description"]] if isinstance(schema.get("description"), str) else []
    return own + [text for one in schema.values() for text in _descriptions(one)]


def _camel(node: Any) -> Any:
    """Convert to the wire's other spelling: google-genai sends any_of."""
    if isinstance(node, list):
        return [_camel(one) for one in node]
    if not isinstance(node, dict):
        return node
    names = {
        "any_of": "anyOf",
        "min_items": "minItems",
        "max_items": "maxItems",
        "min_length": "minLength",
        "max_length": "maxLength",
    }
    return {names.get(key, key): _camel(value) for key, value in node.items()}
