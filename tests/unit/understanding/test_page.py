"""Tests of the report docs/reports/understanding.md."""

import json

from tests.understanding.__main__ import KEPT, README, rows
from tests.understanding.cases import TALK, Half, parse
from tests.understanding.judge import Outcome, Result
from tests.understanding.page import (
    DEMO,
    REAL,
    Run,
    as_json,
    classes,
    figures_of,
    from_json,
    page,
    readme_row,
)


def result(number: int, outcome: Outcome, half: Half, sort: str = "plain") -> Result:
    case = parse(f"a-{number} | words {number} => same", "en", half, sort)
    return Result(case, outcome, "why", [(f"words {number}", "answer")])


RUN = Run(
    "offline",
    (
        result(1, Outcome.RIGHT, "development"),
        result(2, Outcome.WRONG, "development"),
        result(3, Outcome.ASKED, "held-out"),
        result(4, Outcome.REFUSED, "held-out"),
        result(5, Outcome.MISSED, "held-out"),
        result(6, Outcome.RIGHT, "held-out", TALK),
        result(7, Outcome.ACTED, "held-out", TALK),
    ),
    3,
)


FIGURES = figures_of([RUN], "a machine")


def test_each_half_has_its_shares() -> None:
    told = page({DEMO: FIGURES})
    assert (
        "| demo house | `offline` | English | development | 2 | 1 | 0 | 0 | 0 | 1 | 50.0 % |"
        in told
    )
    assert (
        "| demo house | `offline` | English | held-out | 3 | 0 | 1 | 1 | 1 | 0 | 66.7 % |" in told
    )
    assert "| plain | English | 5 | 1 | 1 | 1 | 1 | 1 | 60.0 % |" in told
    assert "Talk acted on: 1 of 2 in English." in told
    assert "5 dialogues of one to four sentences (5 in all)" in told
    assert "measured on a machine. 3 more dialogues are about things" in told


def test_figures_survive_their_file() -> None:
    again = from_json(json.loads(json.dumps(as_json(FIGURES))))
    assert again == FIGURES
    assert "| Home Assistant | `offline` | English | held-out | 3 |" in page({REAL: again})


def test_the_readme_quotes_the_figures() -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    row = readme_row({house: from_json(told) for house, told in kept.items()})
    assert row in README.read_text(encoding="utf-8").splitlines()


def test_nothing_shows_a_held_out_sentence() -> None:
    shown = (page({DEMO: FIGURES}), classes(FIGURES, "offline"), str(rows([RUN])))
    for told in shown:
        assert "words 5" not in told
        assert "a-5" not in told
    assert "words 2" in str(rows([RUN]))
