"""The table of faults and outcomes, as Markdown between two marks of a page. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tests.chaos.faults import Fault
from tests.chaos.noting import Note

BEGIN = "<!-- Made by `python -m tests.chaos`; do not edit. -->"
END = "<!-- end of the generated part -->"
_HEAD = (
    "| fault | effect for a person | retries | preserved | test | outcome |",
    "|---|---|---|---|---|---|",
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One fault, and the results of all its tests in all runs."""

    fault: Fault
    tests: tuple[str, ...]
    runs: tuple[str, ...]  # of each: "passed", "failed" or "not run"
    seconds: float  # of the longest run
    reason: str = ""  # of the first that did not pass

    @property
    def red(self) -> bool:
        """Return whether it failed in any run."""
        return "failed" in self.runs

    @property
    def green(self) -> bool:
        """Return whether it passed in every run."""
        return set(self.runs) == {"passed"}


class Twice(Exception):
    """Two faults of one name that differ."""


def outcomes(collected: Sequence[Note], runs: Sequence[Sequence[Note]]) -> list[Outcome]:
    """Return outcomes in the order of collection. Raises Twice."""
    faults: dict[str, Fault] = {}
    for note in collected:
        if faults.setdefault(note.name, note.fault) != note.fault:
            raise Twice(f"the fault {note.name!r} says two things: see {note.test}")
    return [_outcome(fault, collected, runs) for fault in faults.values()]


def _outcome(fault: Fault, collected: Sequence[Note], runs: Sequence[Sequence[Note]]) -> Outcome:
    wanted = [note for note in collected if note.name == fault.name]
    states, seconds, reason = [], 0.0, ""
    for run in runs:
        met = [note for note in run if note.name == fault.name]
        states.append(_state(met, len(wanted)))
        seconds = max(seconds, sum(note.seconds for note in met))
        wrong = [note.reason for note in met if note.state != "passed"]
        missing = "" if len(met) == len(wanted) else "it was not reached"
        reason = reason or next(iter(wrong), missing)
    tests = tuple(dict.fromkeys(note.test for note in wanted))
    return Outcome(fault, tests, tuple(states), seconds, reason)


def _state(met: Sequence[Note], wanted: int) -> str:
    """Return the state of one run, in which all rows must have passed."""
    if any(note.state == "failed" for note in met):
        return "failed"
    if any(note.state == "skipped" for note in met):
        return "not run"
    return "passed" if len(met) == wanted else "failed"  # the run ended before the others


def table(rows: Sequence[Outcome]) -> str:
    """Return a line for each."""
    return "\n".join((*_HEAD, *(_line(row) for row in rows)))


def _line(row: Outcome) -> str:
    fault = row.fault
    tests = ", ".join(f"`{test.partition(': ')[2]}`" for test in row.tests)
    cells = (fault.name, fault.hears, fault.retried, fault.kept, tests, told(row))
    return f"| {' | '.join(cells)} |"


def told(row: Outcome) -> str:
    """Return the result in a few words."""
    if row.green:
        times = f" {len(row.runs)} times" if len(row.runs) > 1 else ""
        return f"passed{times}, {row.seconds:.0f} s"
    if row.red:
        return f"**failed** in {row.runs.count('failed')} of {len(row.runs)}"
    return f"not run here: {_cell(row.reason)}"


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "/")


def summary(rows: Sequence[Outcome], where: str) -> str:
    """Return one paragraph: how many faults, their results, and the machine."""
    green, red = sum(row.green for row in rows), sum(row.red for row in rows)
    runs = max((len(row.runs) for row in rows), default=0)
    times = {1: "one run", 2: "two consecutive runs"}.get(runs, f"{runs} consecutive runs")
    left = len(rows) - green - red
    parts = [f"{len(rows)} faults, {green} passed in {times}"]
    parts += [f"**{red} failed**"] if red else []
    parts += [f"{left} not run here"] if left else []
    return f"{', '.join(parts)}. {where}"


def with_table(page: str, made: str) -> str:
    """Return the page with that between its marks. Raises ValueError if it has none."""
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        raise ValueError("the page has no place for the table")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{made}\n\n{END}{after}"
