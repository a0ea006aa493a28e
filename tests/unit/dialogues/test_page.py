"""docs/day.md: shares, what went wrong, and when the program fails."""

from dataclasses import replace

from assistant.evaluation.wishes import Outcome
from tests.dialogues.page import bad, page
from tests.dialogues.rungs import Result
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
    assert "| lamp |" not in written.partition("What did not go right")[2]


def test_when_it_fails() -> None:
    door = replace(FINE, unsafe=("lock.front_door",))
    safety = replace(FINE, safety=True, outcome=Outcome.WRONG)
    asked = replace(FINE, safety=True, outcome=Outcome.ASKED)
    assert bad(RESULTS) == []
    assert bad([door, safety, asked]) == [door, safety]
