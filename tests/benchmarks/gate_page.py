"""How far the gate's ratios lie apart, as a table of docs/reports/gate.md."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from tests.benchmarks.__main__ import machine
from tests.benchmarks.markdown import renewed, rows

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reports" / "gate.md"
BEGIN = "<!-- up to the next mark by `python -m tests.benchmarks.gate --spread N` -->"
END = "<!-- from here on by hand -->"
SAID = """\
Medians of five rounds each, {times} of them on a quiet machine and {times} beside a program that
keeps one core busy: their median, and in brackets the least and the most by it.
{machine}.
"""

# Measurements: of each the ratios by name.
Runs = Sequence[Mapping[str, float]]


def cells(quiet: Runs, busy: Runs) -> list[tuple[str, str, str]]:
    """A row for each ratio: its name, and how it lies in either."""
    return [(name, _apart(name, quiet), _apart(name, busy)) for name in quiet[0]]


def write(quiet: Runs, busy: Runs, page: Path = PAGE) -> None:
    """Make the page's table anew. Raises ValueError where it has no place for one."""
    said = SAID.format(times=len(quiet), machine=machine())
    made = "\n".join((said, *rows(("cost", "quiet", "one core busy"), cells(quiet, busy)), ""))
    page.write_text(renewed(page.read_text("utf-8"), made, BEGIN, END), "utf-8")


def _apart(name: str, runs: Runs) -> str:
    ratios = [run[name] for run in runs]
    middle = median(ratios)
    least, most = (end / middle - 1 for end in (min(ratios), max(ratios)))
    return f"{middle:.3g} ({least:+.0%}, {most:+.0%})"
