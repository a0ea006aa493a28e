"""Two sources of the person's words, one verdict."""

from pathlib import Path

import pytest

from assistant.confirmation.forms import Forms
from assistant.confirmation.witness import weigh

ROWS = [
    tuple(line.replace("\\u200b", "\u200b").split("\t"))  # a space of no width
    for line in Path(__file__).with_name("verdicts.tsv").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
FORMS = Forms(["en", "es"])
THINGS = ["Front Door"]
ASKED = "Unlock Front Door?"


@pytest.mark.parametrize(("transcript", "recognised", "tier", "verdict", "always"), ROWS)
def test_the_verdict(
    transcript: str, recognised: str, tier: str, verdict: str, always: str
) -> None:
    told, own = (None if text == "-" else text for text in (transcript, recognised))
    result = weigh(told, own, tier == "secure", FORMS, THINGS, ASKED)
    assert result == (verdict, always == "always")


def test_the_table_is_long_enough_and_has_no_row_twice() -> None:
    assert len(ROWS) >= 60
    assert len({row[:3] for row in ROWS}) == len(ROWS)


NO_YES = [
    row[0] for row in ROWS if row[1:3] == ("-", "secure") and row[3] != "yes" and row[0] != "-"
]


@pytest.mark.parametrize("other", NO_YES)
def test_where_both_exist_one_yes_is_not_enough_for_secure(other: str) -> None:
    assert weigh("yes", other, True, FORMS, THINGS, ASKED)[0] in ("no", "unclear")
    assert weigh(other, "yes", True, FORMS, THINGS, ASKED)[0] in ("no", "unclear")


def test_without_the_question_the_echo_is_of_opening() -> None:
    assert weigh("yes, unlock it", None, True, FORMS, THINGS) == ("yes", False)
    assert weigh("yes, lock it", None, True, FORMS, THINGS) == ("new_command", False)
