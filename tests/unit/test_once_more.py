"""Tests that failed are run once more by themselves: who may pass by it, and who may not."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# A test passes once it has failed as often as its name says.
TESTS = """
import pytest
from pathlib import Path

ONCE, TWICE, RUNS = {once}, {twice}, Path({runs!r})

def fail(name, times):
    runs = RUNS / name
    runs.open("a").write("x")
    assert len(runs.read_text()) > times

def test_well(): fail("well", 0)

@pytest.mark.parametrize("one", range(ONCE))
def test_once(one): fail(f"once{{one}}", 1)

@pytest.mark.parametrize("one", range(TWICE))
def test_twice(one): fail(f"twice{{one}}", 2)

def test_last(): {last}
"""


@dataclass(frozen=True)
class Ran:
    code: int
    named: list[str]
    runs: dict[str, int]
    """How often each was run."""


def run(folder: Path, once: int = 0, twice: int = 0, last: str = "pass") -> Ran:
    """Runs `.ci/once-more` over that many tests that fail once, and twice."""
    runs, names = folder / "runs", folder / "names"
    runs.mkdir()
    (folder / "conftest.py").write_text("from tests.conftest import pytest_sessionfinish\n")
    (folder / "pytest.ini").write_text("[pytest]\n")
    text = TESTS.format(once=once, twice=twice, runs=str(runs), last=last)
    (folder / "test_made.py").write_text(text)
    asyncio = ["-p", "no:asyncio", "-p", "no:xdist"]
    done = subprocess.run(
        [ROOT / ".ci/once-more", names, sys.executable, "-m", "pytest", *asyncio, folder],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
    )  # fmt: skip
    named = names.read_text().split() if names.exists() else []
    return Ran(done.returncode, named, {one.name: one.stat().st_size for one in runs.iterdir()})


def test_what_passes_is_run_once(tmp_path: Path) -> None:
    assert run(tmp_path) == Ran(0, [], {"well": 1})


def test_who_passes_at_the_second_try_is_named(tmp_path: Path) -> None:
    ran = run(tmp_path, once=2)
    assert ran.code == 0
    assert ran.named == ["test_made.py::test_once[0]", "test_made.py::test_once[1]"]
    assert ran.runs == {"well": 1, "once0": 2, "once1": 2}


def test_who_fails_twice_has_failed(tmp_path: Path) -> None:
    ran = run(tmp_path, once=1, twice=1)
    assert ran.code != 0
    assert ran.named == []
    assert ran.runs == {"well": 1, "once0": 2, "twice0": 2}


def test_many_that_fail_are_no_chance(tmp_path: Path) -> None:
    ran = run(tmp_path, once=3)
    assert ran.code != 0
    assert set(ran.runs.values()) == {1}


@pytest.mark.parametrize("last", ["raise KeyboardInterrupt", "import os; os._exit(1)"])
def test_a_run_that_broke_off_has_failed(tmp_path: Path, last: str) -> None:
    ran = run(tmp_path, once=1, last=last)
    assert ran.code != 0
    assert ran.runs == {"well": 1, "once0": 1}
