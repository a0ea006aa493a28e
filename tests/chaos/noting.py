"""A pytest plugin that records the result of each fault; `python -m tests.chaos` loads it.

It keeps the tests that prove a fault (those whose name contains one of the words, if words are
given), and appends one line of JSON for each to a file.
"""

import json
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import pytest

from tests.chaos.faults import Fault, fault_of
from tests.chaos.surroundings import needed_by

State = Literal["collected", "passed", "failed", "skipped"]
Append = Callable[["Note"], None]
_KEY = pytest.StashKey["Note"]()


@dataclass(slots=True)
class Note:
    """One test of a fault, and its result."""

    name: str
    hears: str
    retried: str
    kept: str
    test: str  # "test_house_faults.py: test_it_answers_with_500"
    needs: str  # the surroundings
    state: State = "collected"
    seconds: float = 0.0
    reason: str = ""  # why it was skipped, or the last line of what failed

    @property
    def fault(self) -> Fault:
        """Return the row that it belongs to."""
        return Fault(self.name, self.hears, self.retried, self.kept)


def read_notes(file: Path) -> list[Note]:
    """Return all notes in the file, or none if nothing was run."""
    if not file.exists():
        return []
    return [Note(**json.loads(line)) for line in file.read_text("utf-8").splitlines()]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add options for the file of notes, and for the wanted faults."""
    parser.addoption("--fault-notes", metavar="FILE", help="append how each fault went to it")
    parser.addoption(
        "--fault-words", default="", help="only faults whose name holds one, by commas"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Drop tests that prove no wanted fault. With collection alone, note all of the others."""
    words = [word for word in config.getoption("--fault-words").split(",") if word]
    kept, left = [], []
    for item in items:
        fault = fault_of(item)
        if fault is None or not _named(fault, words):
            left.append(item)
            continue
        item.stash[_KEY] = Note(**asdict(fault), test=_place(item), needs=needed_by(item))
        kept.append(item)
    config.hook.pytest_deselected(items=left)
    items[:] = kept
    if config.option.collectonly:
        with _file(config) as append:
            for item in kept:
                append(item.stash[_KEY])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Record the worst result of set-up, test and end."""
    report = yield
    note = item.stash[_KEY]
    note.seconds += call.duration
    if report.failed:
        note.state, note.reason = "failed", _last_line(report)
    elif report.skipped:
        note.state, note.reason = "skipped", _why(report)
    elif note.state == "collected":
        note.state = "passed"
    if call.when == "teardown":
        with _file(item.config) as append:
            append(note)
    return report


def _named(fault: Fault, words: Sequence[str]) -> bool:
    return not words or any(word.casefold() in fault.name.casefold() for word in words)


def _place(item: pytest.Item) -> str:
    name = getattr(item, "originalname", None) or item.name
    return f"{item.path.name}: {name}"


def _last_line(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    told = crash.message if crash is not None else str(report.longrepr)
    return told.strip().splitlines()[0][:300] if told.strip() else "failed"


def _why(report: pytest.TestReport) -> str:
    told = report.longrepr
    return str(told[2] if isinstance(told, tuple) else told).removeprefix("Skipped: ")


@contextmanager
def _file(config: pytest.Config) -> Iterator[Append]:
    """Open the file for appending; do nothing if no file was named."""
    path = config.getoption("--fault-notes")
    if path is None:
        yield lambda note: None
        return
    with Path(path).open("a", encoding="utf-8") as file:
        yield lambda note: print(json.dumps(asdict(note)), file=file, flush=True)
