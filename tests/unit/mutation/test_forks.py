"""Tests of mutants in forks of one pytest that has collected the tests."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.mutation.again import again
from tests.mutation.forks import ACTIVE, NO_TESTS

REPOSITORY = Path(__file__).resolve().parents[3]
TESTS = """\
import functools
import os
import time
import warnings

@functools.cache
def active():
    return os.environ.get("MUTANT_UNDER_TEST", "")

def test_quick():
    assert active() != "m.x_f__mutmut_1"

def test_slow():
    assert active() not in ("m.x_f__mutmut_2", "m.x_g__mutmut_1")
    assert active() != "m.x_f__mutmut_1", "the quick one has failed before"
    if active() == "m.x_f__mutmut_3":
        os._exit(7)
    if active() == "m.x_f__mutmut_5":
        time.sleep(600)
    if active() == "m.x_f__mutmut_6":
        warnings.warn("it was taken back")

def test_other():
    assert not FAILS
"""
RUN = """\
import json, sys
import pytest
from tests.mutation.forks import Broken, Forks

found = {}
names = [*(f"m.x_f__mutmut_{n}" for n in range(1, 7)), "m.x_g__mutmut_1", "m.x_h__mutmut_1"]
quick, slow, other = (f"test_it.py::test_{name}" for name in ("quick", "slow", "other"))
reached = {"m.x_f": [slow, quick, "test_it.py::test_gone"], "m.x_g": [quick, other]}
forks = Forks(names, reached, {quick: 0.1, slow: 0.2}, found.__setitem__, children=2)
args = ["-q", "-s", "--rootdir=.", "--timeout=3", "-W", "error", "."]
args += ["-p", "no:cacheprovider", "-p", "no:asyncio"]
code = pytest.main(args, plugins=[forks])
print(json.dumps([int(code), found]))
"""


def ran(folder: Path, fails: bool) -> tuple[int, dict[str, int]]:
    """Return pytest's exit code, and that of each mutant."""
    (folder / "test_it.py").write_text(f"FAILS = {fails}\n\n{TESTS}", encoding="utf-8")
    told = subprocess.run(
        [sys.executable, "-c", RUN],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    code, found = json.loads(told.stdout.splitlines()[-1])
    return code, found


def test_each_mutant_meets_the_tests_that_reach_it(tmp_path: Path) -> None:
    code, found = ran(tmp_path, fails=False)
    assert code == 0
    assert found == {
        "m.x_f__mutmut_1": 1,
        "m.x_f__mutmut_2": 1,
        "m.x_f__mutmut_3": 7,  # the process died of it
        "m.x_f__mutmut_4": 0,
        "m.x_f__mutmut_5": 1,  # waits for ever, without the processor: pytest's time limit ends it
        "m.x_f__mutmut_6": 1,  # warns, which is an error here
        "m.x_g__mutmut_1": 0,  # only the slow one would notice it, and does not reach it
        "m.x_h__mutmut_1": NO_TESTS,
    }


def test_nothing_is_counted_where_the_tests_fail_anyway(tmp_path: Path) -> None:
    code, found = ran(tmp_path, fails=True)
    assert code != 0
    assert not found


def test_a_mutant_is_tried_again_in_a_process_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text(
        f"import os\n\ndef test_it():\n    assert os.environ['{ACTIVE}'] != 'm.x_f__mutmut_1'\n"
    )
    names = ["m.x_f__mutmut_1", "m.x_f__mutmut_2"]
    assert dict(again(names, ["tests"], tmp_path)) == {names[0]: 1, names[1]: 0}
