"""Tests that requirements on named files name existing files."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_file_that_tests_must_run_whole_is_there() -> None:
    listed = (ROOT / "tests" / "covered_whole.txt").read_text("utf-8").split()
    assert len(listed) == len(set(listed)) > 0
    assert [name for name in listed if not (ROOT / name).is_file()] == []


def test_everything_that_is_broken_on_purpose_is_there() -> None:
    mutmut = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["mutmut"]
    tests = [
        name for name in mutmut["pytest_add_cli_args_test_selection"] if not name.startswith("-")
    ]
    assert tests
    assert [name for name in (*mutmut["only_mutate"], *tests) if not [*ROOT.glob(name)]] == []
