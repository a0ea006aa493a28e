"""Tests of the plugin that records the results of faults, in a separate run of pytest."""

import os
import subprocess
import sys
from pathlib import Path

from tests.chaos.noting import Note, read_notes

ROOT = Path(__file__).parents[3]
TESTS = """
import pytest
from tests.chaos.faults import fault

row = fault("two rows", hears="a", retried="b", kept="c")

@fault("goes well", hears="a", retried="b", kept="c")
def test_good(): pass

@pytest.mark.parametrize("good", [pytest.param(good, marks=row) for good in (True, False)])
def test_rows(good): assert good, "not good"

@pytest.mark.devices
@fault("left out", hears="a", retried="b", kept="c")
def test_out(): pytest.skip("needs a sound card")

def test_no_fault(): assert False
"""


def run(folder: Path, *options: str) -> list[Note]:
    (folder / "test_some.py").write_text(TESTS)
    notes = folder / "notes"
    command = (sys.executable, "-m", "pytest", "-q", "-c", ROOT / "pyproject.toml")
    plugin = ("-p", "tests.chaos.noting", f"--fault-notes={notes}")
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""}
    done = subprocess.run(
        (*command, *plugin, *options, folder), env=surroundings, capture_output=True, timeout=60
    )
    assert done.returncode in (0, 1), done.stdout
    return read_notes(notes)


def test_each_is_noted_and_nothing_else(tmp_path: Path) -> None:
    notes = run(tmp_path)
    assert [(note.name, note.state) for note in notes] == [
        ("goes well", "passed"),
        ("two rows", "passed"),
        ("two rows", "failed"),
        ("left out", "skipped"),
    ]
    assert "not good" in notes[2].reason
    assert notes[3].reason.endswith("needs a sound card")
    assert [note.needs for note in notes[2:]] == ["this machine", "simulated sound devices"]
    assert notes[1].test == "test_some.py: test_rows"


def test_by_words(tmp_path: Path) -> None:
    assert {note.name for note in run(tmp_path, "--fault-words=ROWS")} == {"two rows"}


def test_collected_alone(tmp_path: Path) -> None:
    notes = run(tmp_path, "--collect-only")
    assert [note.state for note in notes] == ["collected"] * 4
