"""Tests of counting which mutants the tests notice."""

import json
import sys
import tomllib
from pathlib import Path

import pytest

from tests.mutation.__main__ import main
from tests.mutation.score import (
    PARTS,
    Score,
    note,
    of_part,
    read,
    sample,
    score,
    survivors,
    table,
)

REPOSITORY = Path(__file__).resolve().parents[3]

CODES: dict[str, int | None] = {
    "assistant.conversation.rules.machine.x_reduce__mutmut_1": 1,
    "assistant.conversation.rules.machine.x_reduce__mutmut_2": 0,
    "assistant.conversation.rules.machine.x_reduce__mutmut_3": 33,
    "assistant.conversation.rules.machine.x_reduce__mutmut_4": -24,
    "assistant.tools.policy.targeting.x_judge__mutmut_1": None,
    "assistant.tools.policy.targeting.x_judge__mutmut_2": 3,
    "assistant.tools.policy.targeting.x_judge__mutmut_3": -11,
}


def test_what_is_not_tried_is_not_counted() -> None:
    assert score([1, 3, 36, 0, 33, None, -11]) == Score(7, 2, 1, 2, odd=1)
    assert score([1, 3, 36, 0, 33, None, -11]).tried == 6
    assert score([1, 3, 36, 0, 33, None, -11]).noticed == pytest.approx(50)


def test_no_mutant_tried_is_no_score() -> None:
    assert score([None, None]) == Score(2, 0, 0, 0)
    assert score([]).noticed == 0


def test_a_row_for_each_part() -> None:
    rows = [line.strip("| ").split(" | ") for line in table(CODES).splitlines()[2:]]
    assert rows[0] == ["the turn machine", "4", "4", "1", "1", "2", "50.0 %"]
    assert rows[1] == ["the policy", "3", "2", "1", "0", "1", "50.0 %"]
    assert rows[3] == ["what is spoken", "0", "0", "0", "0", "0", "-"]


def test_survivors_are_those_that_no_test_noticed() -> None:
    assert survivors(CODES) == [
        "assistant.conversation.rules.machine.x_reduce__mutmut_2",
        "assistant.conversation.rules.machine.x_reduce__mutmut_3",
    ]


def test_a_part_has_its_own_modules() -> None:
    assert {name.split(".")[1] for name in of_part(CODES, "policy")} == {"tools"}
    assert not of_part(CODES, "converter")


def test_what_must_be_run_whole_is_broken_too() -> None:
    config = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    broken = config["tool"]["mutmut"]["only_mutate"]
    whole = (REPOSITORY / "tests" / "covered_whole.txt").read_text("utf-8").split()
    assert set(whole) <= set(broken)
    modules = [name.replace("/", ".") for name in broken]
    parts = tuple(name for part in PARTS.values() for name in part.modules)
    assert all(name.startswith(parts) for name in modules)


def test_a_seed_gives_the_same_sample() -> None:
    assert sample(CODES, 3, 7) == sample(dict(reversed(CODES.items())), 3, 7)
    assert len({tuple(sample(CODES, 3, seed)) for seed in range(20)}) > 1
    assert sample(CODES, 99, 7) == sorted(CODES)


def kept(folder: Path, codes: dict[str, int | None]) -> Path:
    meta = folder / "assistant" / "tools" / "policy.py.meta"
    meta.parent.mkdir(parents=True)
    meta.write_text(json.dumps({"exit_code_by_key": codes, "durations_by_key": {}}))
    return meta


def test_every_meta_file_is_read(tmp_path: Path) -> None:
    kept(tmp_path, {"assistant.tools.policy.targeting.x_judge__mutmut_1": 0})
    assert read(tmp_path) == {"assistant.tools.policy.targeting.x_judge__mutmut_1": 0}
    assert read(tmp_path / "nowhere") == {}


def test_exit_codes_are_noted_where_they_belong(tmp_path: Path) -> None:
    noticed, missed = (
        f"assistant.tools.policy.targeting.x_judge__mutmut_{number}" for number in (1, 2)
    )
    meta = kept(tmp_path, {noticed: 0, missed: 0})
    note(tmp_path, {noticed: 1, "assistant.conversation.rules.machine.x_reduce__mutmut_1": 1})
    assert json.loads(meta.read_text()) == {
        "exit_code_by_key": {noticed: 1, missed: 0},
        "durations_by_key": {},
    }


def test_without_mutants_it_says_what_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["mutation"])
    assert main() == 2
    assert "make mutation" in capsys.readouterr().err
