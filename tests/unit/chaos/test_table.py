"""Tests of the table of faults: rows, runs and their outcomes as Markdown."""

from dataclasses import replace

import pytest

from tests.chaos.faults import Fault
from tests.chaos.noting import Note
from tests.chaos.table import BEGIN, END, Twice, outcomes, summary, table, told, with_table

NOTE = Note("the cable is cut", "nothing", "the connection", "all", "test_a.py: test_it", "here")
PASSED = replace(NOTE, state="passed", seconds=2.0)
FAILED = replace(NOTE, state="failed", reason="it was deaf")
SKIPPED = replace(NOTE, state="skipped", reason="needs | root")
OTHER = replace(PASSED, name="the disk is full", test="test_b.py: test_that")


def test_passed_twice() -> None:
    [row] = outcomes([NOTE], [[PASSED], [replace(PASSED, seconds=4.0)]])
    assert row.green
    assert told(row) == "passed 2 times, 4 s"
    assert table([row]).splitlines()[-1] == (
        "| the cable is cut | nothing | the connection | all | `test_it` | passed 2 times, 4 s |"
    )


def test_failed_once() -> None:
    [row] = outcomes([NOTE], [[PASSED], [FAILED]])
    assert (row.red, row.green, row.reason) == (True, False, "it was deaf")
    assert told(row) == "**failed** in 1 of 2"


def test_what_could_not_be_had() -> None:
    [row] = outcomes([NOTE], [[SKIPPED]])
    assert (row.red, row.green) == (False, False)
    assert told(row) == "not run here: needs / root"


def test_a_run_that_ended_before_it() -> None:
    [row] = outcomes([NOTE], [[]])
    assert row.red, "else a run that breaks at its first test is all well"
    assert row.reason == "it was not reached"


def test_one_of_its_rows_is_missing() -> None:
    [row] = outcomes([NOTE, NOTE], [[PASSED]])
    assert (row.red, row.reason) == (True, "it was not reached")


def test_one_of_its_rows_was_left_out() -> None:
    [row] = outcomes([NOTE, NOTE], [[PASSED, SKIPPED]])
    assert told(row).startswith("not run here")


def test_a_name_that_says_two_things() -> None:
    with pytest.raises(Twice, match="the cable is cut"):
        outcomes([NOTE, replace(NOTE, hears="a tone")], [])


def test_the_summary_names_what_is_not_green() -> None:
    rows = outcomes([NOTE, OTHER], [[PASSED, OTHER]])
    assert summary(rows, "Here.") == "2 faults, 2 passed in one run. Here."
    left = replace(OTHER, state="skipped")
    rows = outcomes([NOTE, OTHER], [[FAILED, left], [FAILED, left]])
    told = "2 faults, 0 passed in two consecutive runs, **1 failed**, 1 not run here. Here."
    assert summary(rows, "Here.") == told


def test_the_page_keeps_what_stands_around_it() -> None:
    page = with_table(f"Before.\n{BEGIN}\nold\n{END}\nAfter.", "new")
    assert page == f"Before.\n{BEGIN}\n\nnew\n\n{END}\nAfter."
    with pytest.raises(ValueError, match="no place"):
        with_table("Nothing.", "new")


@pytest.mark.parametrize("text", ["", " ", "a | b", "a\nb"])
def test_what_cannot_be_a_cell(text: str) -> None:
    with pytest.raises(ValueError, match="not a cell"):
        Fault("a", text, "b", "c")
