"""Tests of the repository's figures: all parts are measured, and missed bounds are known."""

from tests.benchmarks.report.__main__ import DOCS, parts
from tests.benchmarks.report.line import Line, Verdict
from tests.benchmarks.report.whole import Report, kept

# The lines that miss their bound, and that we know of: docs/reports/figures.md says why.
KNOWN = frozenset({"memory, after 10 turns"})


def _report() -> Report:
    report = kept(DOCS / "figures.json")
    assert report is not None, "docs/reports/figures.json cannot be read"
    return report


def _lines() -> list[Line]:
    return [line for one in _report().entries if one.part is not None for line in one.part.lines]


def test_every_part_was_measured() -> None:
    entries = _report().entries
    assert [entry.name for entry in entries] == parts()
    assert {entry.name: entry.failure for entry in entries if entry.part is None} == {}


def test_the_bounds_that_are_missed_are_those_that_are_known() -> None:
    missed = {line.subject for line in _lines() if line.verdict is Verdict.MISSED}
    assert missed == KNOWN


def test_whoever_misses_a_bound_says_why() -> None:
    missed = [line for line in _lines() if line.verdict is Verdict.MISSED]
    assert [line.subject for line in missed if not line.remark] == []
