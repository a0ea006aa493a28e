"""Tests of the judge of converted tools: each verdict, from what a declaration allows."""

from typing import Any

import pytest

from tests.benchmarks.schema_corpus import Asked, Case
from tests.benchmarks.schema_judge import Converted, Judged, Verdict, judge

TEXT = {"type": "STRING"}
SCHEMA = {
    "type": "object",
    "properties": {"step": {"type": "integer", "enum": [1, 5], "description": "Which"}},
    "required": ["step"],
}
REFUSED = Asked({"step": 3}, "step", "enum", (("1",), ("5", "five")))


def case(schema: Any = SCHEMA, takes: Any = ({"step": 5},), **more: Any) -> Case:
    """Return a tool with one argument."""
    parts = {"refuses": (REFUSED,), "beyond": (), "says": ("Which",), **more}
    return Case("a", "keywords", "dim", "Dims", schema, takes, **parts)


def declared(step: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a declaration of the argument."""
    parameters = {"type": "OBJECT", "properties": {"step": step}, "required": ["step"], **more}
    return {"name": "dim", "description": "Dims", "parameters": parameters}


def verdict(asked: Case, declaration: dict[str, Any], **more: Any) -> Judged:
    return judge(asked, Converted(declaration, **more))


WHOLE = {"type": "INTEGER", "description": "Which"}
TOLD = {"type": "INTEGER", "description": "Which. One of 1, 5."}


@pytest.mark.parametrize(
    ("step", "reports", "wanted"),
    [
        (TOLD, (), Verdict.RIGHT),
        (WHOLE, (), Verdict.LOSS),
        (WHOLE, ("dropped a non-string enum: dim",), Verdict.RIGHT),
        (WHOLE, ("step: a list of numbers",), Verdict.RIGHT),
        (WHOLE, ("something else",), Verdict.LOSS),
        ({"type": "INTEGER", "description": "1, 5"}, (), Verdict.LOSS),  # "Which" has gone
        ({**WHOLE, "maximum": 2}, (), Verdict.WRONG),  # 5 can't be expressed
        ({**TEXT, "enum": ["1", "5"], "description": "Which"}, (), Verdict.WRONG),  # "5" arrives
        ({"type": "INTEGER", "enum": [1, 5]}, (), Verdict.WRONG),  # the service rejects it
        ({"type": "INTEGER", "enum": ["1", "5"], "description": "Which"}, (), Verdict.RIGHT),
    ],
)
def test_one_argument(step: dict[str, Any], reports: tuple[str, ...], wanted: Verdict) -> None:
    found = verdict(case(), declared(step), reports=reports)
    assert found.verdict is wanted, found.why
    assert bool(found.why) is (wanted is not Verdict.RIGHT)


def test_an_error_is_a_crash_whatever_else_there_is() -> None:
    found = verdict(case(), declared(TOLD), error="KeyError: 'x'")
    assert found == Judged(Verdict.CRASH, "KeyError: 'x'")


def test_text_is_right_where_the_way_back_reads_it() -> None:
    listed = {**TEXT, "enum": ["1", "5"], "description": "Which"}
    found = verdict(case(), declared(listed), back=lambda given: {"step": int(given["step"])})
    assert found.verdict is Verdict.RIGHT


def test_names_are_followed_there_and_back() -> None:
    schema = {"type": "object", "properties": {"größe": {"type": "integer"}}}
    asked = case(schema, ({"größe": 3},), refuses=(), says=())
    declaration = declared({"type": "INTEGER"}, properties={"gr_e": {"type": "INTEGER"}})
    declaration["parameters"]["required"] = []
    found = verdict(
        asked, declaration, renamed={"gr_e": "größe"}, back=lambda given: {"größe": given["gr_e"]}
    )
    assert found.verdict is Verdict.RIGHT, found.why
    assert verdict(asked, declaration).verdict is Verdict.WRONG


def test_a_tool_without_parameters_takes_nothing() -> None:
    bare = {"name": "dim", "description": "Dims"}
    assert verdict(case({}, ({},), refuses=(), says=()), bare).verdict is Verdict.RIGHT
    assert verdict(case(refuses=(), says=()), bare).why == 'can\'t be expressed: {"step": 5}'


def test_what_is_text_to_the_tool_too_is_no_loss() -> None:
    schema = {"type": "object", "properties": {"step": {"type": ["string", "integer"]}}}
    refused = Asked({"step": [7]}, "step", "type", (("string",),))
    found = case(schema, ({"step": "a"}, {"step": 7}), refuses=(refused,), says=())
    both = {"anyOf": [TEXT, {"type": "INTEGER"}]}
    assert verdict(found, declared(both)).verdict is Verdict.RIGHT
    # but an object as text is none that the tool takes
    schema = {"type": "object", "properties": {"step": {"type": "object", "maxProperties": 1}}}
    refused = Asked({"step": {"a": 1, "b": 2}}, "step", "maxProperties", (("at most",),))
    found = case(schema, (), refuses=(refused,), says=())
    assert verdict(found, declared(TEXT)).verdict is Verdict.LOSS


def test_what_has_no_words_must_be_told_or_said() -> None:
    schema = {"type": "object", "additionalProperties": True}
    beyond = Asked({"a": 1}, "", "additionalProperties", (("further",),))
    asked = case(schema, ({},), refuses=(), says=(), beyond=(beyond,))
    assert verdict(asked, {"name": "dim"}).verdict is Verdict.LOSS
    assert verdict(asked, {"name": "dim"}, reports=("all arguments",)).verdict is Verdict.RIGHT
    told = {"name": "dim", "description": "No further ones."}
    assert verdict(asked, told).verdict is Verdict.RIGHT


@pytest.mark.parametrize(
    ("step", "value", "wanted"),
    [
        ({"type": "NUMBER"}, 2.0, Verdict.RIGHT),
        ({"type": "NUMBER"}, True, Verdict.WRONG),
        ({"type": "BOOLEAN", "nullable": True}, None, Verdict.RIGHT),
        ({"any_of": [{"type": "BOOLEAN"}, {"type": "NULL"}]}, None, Verdict.RIGHT),
        ({"type": "ARRAY", "items": {"type": "INTEGER"}, "minItems": "2"}, [1, 2], Verdict.RIGHT),
        ({"type": "ARRAY", "items": {"type": "INTEGER"}, "minItems": "2"}, [1], Verdict.WRONG),
        ({"type": "ARRAY", "items": {"type": "INTEGER"}}, ["a"], Verdict.WRONG),
        ({"type": "OBJECT"}, {"anything": [1]}, Verdict.RIGHT),
        ({"type": "OBJECT", "properties": {"a": TEXT}}, {"b": "c"}, Verdict.WRONG),
        ({"type": "OBJECT", "properties": {"type": TEXT}}, {"type": "c"}, Verdict.RIGHT),
    ],
)
def test_what_can_be_said(step: dict[str, Any], value: Any, wanted: Verdict) -> None:
    asked = case({"type": "object"}, ({"step": value},), refuses=(), says=())
    found = verdict(asked, declared(step))
    assert found.verdict is wanted, found.why


@pytest.mark.parametrize(
    ("step", "wanted"), [(TEXT, "arrives as"), ({"type": "NULL"}, "can't be expressed")]
)
def test_why_it_is_wrong(step: dict[str, Any], wanted: str) -> None:
    asked = case({"type": "object"}, ({"step": [1]},), refuses=(), says=())
    assert wanted in verdict(asked, declared(step)).why
