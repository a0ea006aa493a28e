"""The registry of faults: what is broken on purpose, and what a person notices of it.

A fault is a mark on the test that proves it:

    @fault("the name of the house does not resolve", hears="…", retried="…", kept="…")
    async def test_…

or on one of a test's rows: `pytest.param(…, marks=fault("…", …))`. `python -m tests.chaos` runs all
that are marked so, and writes the table of docs/reports/faults.md from them and from how they
went. A test with several rows under one mark is one fault, and all its rows must pass.
"""

from dataclasses import dataclass

import pytest

MARK = "fault"


@dataclass(frozen=True, slots=True)
class Fault:
    """One row of the table. Every text is a sentence or a few words, in Markdown of one line."""

    name: str  # what is broken: "the broker is killed and started again"
    hears: str  # what a person hears of it, in quotes what is spoken
    retried: str  # what is tried again, how often; "nothing" where that is the point
    kept: str  # what is there afterwards

    def __post_init__(self) -> None:
        """Raise ValueError for an invalid row."""
        for text in (self.name, self.hears, self.retried, self.kept):
            if not text.strip() or "\n" in text or "|" in text:
                raise ValueError(f"not a cell of a table: {text!r}")


def fault(name: str, *, hears: str, retried: str, kept: str) -> pytest.MarkDecorator:
    """Declare that this test, or this row of it, proves the handling of a fault."""
    return pytest.mark.fault(Fault(name, hears, retried, kept))


def fault_of(item: pytest.Item) -> Fault | None:
    """Return the fault of a collected test; the row's own has precedence over the test's."""
    mark = item.get_closest_marker(MARK)
    return None if mark is None else mark.args[0]
