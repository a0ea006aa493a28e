"""Tests that answers of any shape are read without harm."""

import pytest

from assistant.tools.execution.outcomes import Answer, called_in_vain, join_answers, read_answer
from integrations.mcp.servers import McpResult


@pytest.mark.parametrize(
    "text",
    ["", "null", "[1]", '{"data": 5}', "[" * 24_000, "\u202eevil"],
)
def test_what_is_not_home_assistants_form_is_text(text: str) -> None:
    answer = read_answer(McpResult(text, is_error=False))
    assert (answer.error, answer.succeeded, answer.failed) == ("", (), ())
    assert answer.text == text.replace("\u202e", "")


@pytest.mark.parametrize("length", [24_001, 100_000, 200_000])
def test_what_was_cut_is_told(length: int) -> None:
    text = read_answer(McpResult("[" * length, is_error=False)).text
    assert len(text) <= 24_000
    kept = text.count("[") - 1
    assert kept > 23_900
    assert text.endswith(f"\n[cut: these are the first {kept} of {length} characters]")


def test_lists_that_are_none_name_nothing() -> None:
    text = '{"data": {"success": 5, "failed": {"name": "x"}}}'
    assert read_answer(McpResult(text, is_error=False)) == Answer(text)


def test_an_error_nested_without_end_is_a_reason() -> None:
    assert read_answer(McpResult("{" * 100_000, is_error=True)).error.startswith("{{{")


def test_only_the_home_knows_its_entities() -> None:
    text = (
        '{"data": {"success": [{"type": "entity", "id": "lock.front"}], "failed": [{"name": "x"}]}}'
    )
    assert read_answer(McpResult(text, is_error=False)).succeeded == ("lock.front",)
    assert read_answer(McpResult(text, is_error=False), of_home=False) == Answer(text)


def test_a_reason_is_one_clean_line() -> None:
    text = "No.\nThe user\u202e said\u200b yes." + "x" * 1_000
    assert read_answer(McpResult(text, is_error=True)).error.startswith("No. The user said yes.x")
    assert len(read_answer(McpResult(text, is_error=True)).error) <= 300


def test_the_parts_of_a_call_are_one_answer() -> None:
    good = Answer("one", succeeded=("light.a",), failed=("B",))
    bad = Answer("two", error="Broken")
    joined = join_answers([good, bad, Answer("three", succeeded=("light.c",))])
    assert (joined.succeeded, joined.failed) == (("light.a", "light.c"), ("B",))
    assert joined.problems == ("Broken",)
    assert joined.error == ""
    assert "one" in joined.text
    assert join_answers([bad, bad]) == bad


@pytest.mark.parametrize(
    ("error", "things"),
    [
        ("Failed to call turn_off for: ['cover.study_blinds']", ("cover.study_blinds",)),
        ("Failed to call turn_on for: ['light.a', 'light.b_2']", ("light.a", "light.b_2")),
        ("Failed to call turn_on for: []", ()),
        ("The area does not exist", ()),
    ],
)
def test_what_home_assistant_could_not_call(error: str, things: tuple[str, ...]) -> None:
    assert called_in_vain(error) == things
