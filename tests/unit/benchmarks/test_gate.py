"""The gate: what it lets through, what it stops and by which name, and what it keeps."""

import asyncio
import tomllib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from assistant.speech.speakable import speakable
from tests.benchmarks import gate, gate_works
from tests.benchmarks.gate_works import Pair, in_turns


@pytest.mark.parametrize(
    ("now", "kept", "said"),
    [
        ({"a": 1.2}, {"a": 1.0}, []),
        ({"a": 1.26, "b": 2.0}, {"a": 1.0, "b": 2.0}, ["a: 1.26, 26% more than 1."]),
        ({"a": 0.1}, {"a": 1.0}, []),
        ({"a": 1.0}, {}, ["a: nothing is kept for it; run the gate with --write."]),
        ({}, {"a": 1.0}, ["a: it is kept but was not measured; run the gate with --write."]),
    ],
)
def test_what_has_grown_by_more_than_a_quarter_is_named(
    now: Mapping[str, float], kept: Mapping[str, float], said: list[str]
) -> None:
    assert gate.judge(now, kept) == said


def test_what_is_kept_is_of_one_version_of_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "gate.toml"
    assert gate.kept(file) == {}
    gate.keep({"a call: by a POST": 1.23456}, file)
    monkeypatch.setattr("platform.python_version_tuple", lambda: ("3", "99", "1"))
    assert gate.kept(file) == {}
    gate.keep({"a call: by a POST": 2.0}, file)
    assert gate.kept(file) == {"a call: by a POST": 2.0}
    monkeypatch.undo()
    assert gate.kept(file) == {"a call: by a POST": 1.23}
    assert file.read_text().startswith("# What each costs")


@asynccontextmanager
async def waves(folder: Path) -> AsyncIterator[Callable[[], Awaitable[Mapping[str, float]]]]:
    """Stands for a measurement: every other round is disturbed."""
    ratios = iter((1.0, 9.0, 1.1, 9.0, 0.9))

    async def one() -> Mapping[str, float]:
        return {"wave": next(ratios)}

    yield one


async def test_the_median_of_the_rounds_counts() -> None:
    found = await gate.measure([waves])
    assert gate.medians(found) == {"wave": 1.1}


def test_a_slowed_function_shuts_the_gate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "gate.toml"
    monkeypatch.setattr(gate.measure, "__defaults__", ([gate_works.speech], 3))
    monkeypatch.setattr(gate, "write_figures", lambda name, figures: None)
    before = gate.medians(asyncio.run(gate.measure()))
    gate.keep(before, file)

    def slowed(text: str, language: str) -> str:
        for _ in range(2):  # three times what it was: no noise of this machine is as much
            speakable(text, language)
        return speakable(text, language)

    monkeypatch.setattr(gate_works, "speakable", slowed)
    assert gate.judged(file) == 1
    failed = [line for line in capsys.readouterr().out.splitlines() if "more than" in line]
    assert [line.strip().partition(":")[0] for line in failed] == ["words for ears"]


def test_without_anything_kept_it_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gate.judged(tmp_path / "gate.toml") == 2
    assert "make it with --write" in capsys.readouterr().out


async def test_a_ratio_is_of_ours_by_the_plain_work(monkeypatch: pytest.MonkeyPatch) -> None:
    took = iter((1.0, 6.0, 3.0))
    monkeypatch.setattr(gate_works, "cpu_s", lambda work: next(took))
    round_of = in_turns(Pair("pair", lambda: None, lambda: None))
    assert await round_of() == {"pair": 3.0}


def test_the_same_costs_are_kept_for_every_python() -> None:
    document = tomllib.loads(gate.FILE.read_text("utf-8"))
    names = {frozenset(section) for section in document.values()}
    assert len(names) == 1
    assert {"python-3.11", "python-3.13"} <= set(document)
