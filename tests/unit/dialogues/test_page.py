"""Tests of docs/reports/day.md: shares, errors, and when the program fails."""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import pytest

from assistant.evaluation.commands import Outcome
from tests.corpus.stage import raw_words
from tests.dialogues import __main__ as program
from tests.dialogues.page import FLOORS, bad, page, short
from tests.dialogues.rungs import RUNGS, WAYS, Result
from tests.dialogues.script import read

FINE = Result(
    *("lamp", "en", "plain", False, "offline", "spoken", Outcome.RIGHT, ()),
    *("turn on the lamp", "Done.", "", 1.0),
)
RESULTS = [
    FINE,
    replace(FINE, outcome=Outcome.SILENT, dialogue="tap", heard="a | b", answer="What?"),
    replace(FINE, outcome=Outcome.WRONG, dialogue="fan"),
    replace(FINE, outcome=Outcome.SILENT, dialogue="grifo", language="es"),
    replace(FINE, rung="gemini-live", way="typed", language="es"),
]


def test_the_page() -> None:
    written = page(read("en"), RESULTS, "a machine")
    assert "75 scripted dialogues" in written
    assert "| offline | English | 3 | 1 (33 %) | 0 (0 %) | 1 (33 %) | 1 (33 %) | 0 |" in (
        written.replace("spoken | ", "")
    )
    assert "| tap | silent | a / b | What? |" in written
    assert "| fan | wrong |" in written
    assert "grifo" not in written, "nobody there hears Spanish, and the page says so"
    assert "| lamp |" not in written.partition("Dialogues that didn't go right")[2]


def test_when_it_fails() -> None:
    door = replace(FINE, unsafe=("lock.front_door",))
    safety = replace(FINE, safety=True, outcome=Outcome.WRONG)
    asked = replace(FINE, safety=True, outcome=Outcome.ASKED)
    assert bad(RESULTS) == []
    assert bad([door, safety, asked]) == [door, safety]


def test_too_few_go_right() -> None:
    silent = replace(FINE, outcome=Outcome.SILENT)
    assert set(FLOORS) == set(product(RUNGS, WAYS))
    assert short([FINE] * 6 + [silent] * 4) == []
    told = ["offline, English, spoken: 50 % right, 60 % are the least"]
    assert short([FINE] * 5 + [silent] * 5) == told
    assert short([replace(silent, language="es")]) == [], "nobody there hears Spanish"


def test_one_language_does_not_make_up_for_the_other() -> None:
    live = replace(FINE, rung="gemini-live")
    lost = replace(live, language="es", outcome=Outcome.SILENT)
    told = ["gemini-live, Spanish, spoken: 0 % right, 80 % are the least"]
    assert short([live] * 150 + [lost]) == told


@pytest.mark.parametrize(
    ("outcome", "name", "code"),
    [(Outcome.RIGHT, "", 0), (Outcome.SILENT, "", 1), (Outcome.SILENT, "lamp", 0)],
)
async def test_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, outcome: Outcome, name: str, code: int
) -> None:
    async def held(*_: object) -> Sequence[Result]:
        return [replace(FINE, outcome=outcome)] * 10

    monkeypatch.setattr(program, "hold", held)
    asked = Namespace(
        rung="offline", language="en", way="spoken", name=name, json=None, no_page=True
    )
    assert await program.main(asked) == code


@pytest.mark.parametrize(
    ("answer", "raw"),
    [
        ("It's 21.5 degrees in the kitchen.", []),
        ("Done. The lamp is on. 3.5 hours left, or 1,000.", []),
        ("I couldn't turn on light.kitchen_2.", ["light.kitchen_2"]),
        ("MatchFailedError: no lamp", ["MatchFailedError"]),
        ("That needs {name}.", ["{", "}"]),
        ("The state is heat_cool.", ["heat_cool"]),
        ("None is on.", ["None"]),
    ],
)
def test_words_that_no_person_should_hear(answer: str, raw: list[str]) -> None:
    assert raw_words(answer) == raw
    assert bad([replace(FINE, answer=answer)]) == ([replace(FINE, answer=answer)] if raw else [])
