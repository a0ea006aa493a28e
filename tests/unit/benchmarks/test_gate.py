"""Tests of the gate: what it accepts, what it rejects and by which name, and what it keeps."""

import asyncio
import itertools
import threading
import tomllib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from assistant.conversation.endpointing import Endings
from assistant.domain.clock import SystemClock
from assistant.domain.records import StoreError, TurnRecord
from assistant.journal.store import Store
from assistant.speech.speakable import speakable
from tests.benchmarks import gate, gate_delays, gate_page, gate_ratio, gate_works
from tests.benchmarks.end_of_turn import Setup
from tests.benchmarks.gate_ratio import Pair, in_turns, quickest
from tests.benchmarks.gate_store import stores_without_threads
from tests.benchmarks.markdown import renewed


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
    """Yield a measurement of which every other round is disturbed."""
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
    monkeypatch.setattr(gate.measure, "__defaults__", ([gate_works.speech], 3, 120.0))
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
    assert [line.strip().partition(":")[0] for line in failed] == ["converting text for speech"]


def test_without_anything_kept_it_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gate.judged(tmp_path / "gate.toml") == 2
    assert "make it with --write" in capsys.readouterr().out


async def test_a_ratio_is_of_the_least_of_ours_by_the_least_of_the_plain_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    took = iter((2.0, 9.0, 3.0, 7.0, 2.5, 6.0, 4.0, 8.0))  # plain, ours, plain, ...

    async def cpu_s(work: object) -> float:
        return next(took)

    monkeypatch.setattr(gate_ratio, "cpu_s", cpu_s)
    round_of = in_turns(Pair("pair", lambda: None, lambda: None))
    assert await round_of() == {"pair": 3.0}


async def test_work_that_is_awaited_counts_to_its_end() -> None:
    done = []

    async def work() -> None:
        await asyncio.sleep(0)
        done.append(sum(range(100_000)))

    assert await gate_ratio.cpu_s(work) > 0
    assert await gate_ratio.cpu_s(lambda: done.append(0)) >= 0
    assert len(done) == 2


def test_the_same_costs_are_kept_for_every_python() -> None:
    document = tomllib.loads(gate.FILE.read_text("utf-8"))
    on = document.pop("on")
    names = {frozenset(section) for section in document.values()}
    assert len(names) == 1
    assert {"python-3.11", "python-3.13"} <= set(document)
    assert set(on) == set(document)


@asynccontextmanager
async def endless(folder: Path) -> AsyncIterator[Callable[[], Awaitable[Mapping[str, float]]]]:
    """Yield the measurement of a machine that never finishes its second round."""
    rounds = itertools.count()

    async def one() -> Mapping[str, float]:
        if next(rounds):
            await asyncio.Event().wait()
        return {"wave": 1.3}

    yield one


@pytest.mark.parametrize(
    ("load", "kept", "code", "said"),
    [
        (9.0, 1.1, 3, "the machine has too much else to do."),
        (9.0, 1.0, 1, "wave: 1.3, 30% more than 1."),  # dearer even in the best of its rounds
        (0.2, 1.1, 1, "something hangs, or has become much slower"),
    ],
)
def test_where_there_are_too_few_rounds_the_reason_counts(
    load: float,
    kept: float,
    code: int,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "gate.toml"
    gate.keep({"wave": kept}, file)
    monkeypatch.setattr(gate.measure, "__defaults__", ([endless], 5, 0.05))
    monkeypatch.setattr("os.getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert gate.judged(file) == code
    told = capsys.readouterr().out
    assert f"3 rounds take more than {gate.MOST_S:.0f} s" in told
    assert said in told


async def test_a_work_that_gives_up_by_itself_is_no_busy_machine() -> None:
    @asynccontextmanager
    async def late(folder: Path) -> AsyncIterator[Callable[[], Awaitable[Mapping[str, float]]]]:
        async def one() -> Mapping[str, float]:
            raise TimeoutError

        yield one

    with pytest.raises(TimeoutError):
        await gate.measure([late])


def test_what_was_won_is_to_be_kept() -> None:
    assert gate.won({"a": 0.5, "b": 0.9, "new": 0.1}, {"a": 1.0, "b": 1.0}) == [
        "a: 0.5, 50% less than 1: keep it with --write."
    ]


def test_of_each_batch_the_quickest_counts() -> None:
    """A delay of every second batch is not hidden by the others."""
    assert quickest([1.0, 5.0, 3.0, 4.0, 9.0, 3.5], 2) == 3.0


async def test_where_five_rounds_would_take_too_long_three_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ticks = itertools.count(0.0, 30.0)  # every look at the clock is half a minute later
    monkeypatch.setattr(gate, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    found = await gate.measure([waves])
    assert found == {"wave": [1.0, 9.0, 1.1]}


def test_how_far_the_ratios_lie_apart_is_written_into_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "gate.md"
    page.write_text(f"# Gate\n\n{gate_page.BEGIN}\nold\n{gate_page.END}\n\nMore.\n")
    quiet = [{"wave": ratio} for ratio in (1.0, 0.9, 1.2)]
    busy = [{"wave": 2.0}] * 3
    gate_page.write(quiet, busy, page)
    written = page.read_text()
    assert "| wave | 1 (-10%, +20%) | 2 (+0%, +0%) |" in written
    assert "medians of 3 measurements" in written
    assert "old" not in written
    assert written.endswith(f"{gate_page.END}\n\nMore.\n")
    gate_page.write(quiet, busy, page)
    assert page.read_text() == written


def test_the_page_has_its_place_for_the_table() -> None:
    page = gate_page.PAGE.read_text("utf-8")
    assert renewed(page, "x", gate_page.BEGIN, gate_page.END) != page


def test_the_spread_is_measured_quiet_and_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "gate.md"
    page.write_text(f"{gate_page.BEGIN}\n{gate_page.END}\n")
    monkeypatch.setattr(gate.measure, "__defaults__", ([waves], 3, 60.0))
    monkeypatch.setattr(gate, "write_figures", lambda name, figures: None)
    working = []

    @contextmanager
    def other_work() -> Iterator[None]:
        working.append(True)
        yield

    monkeypatch.setattr(gate, "_other_work", other_work)
    gate.scatter(2, page)
    assert working == [True]
    assert "| wave | 1.1 (+0%, +0%) | 1.1 (+0%, +0%) |" in page.read_text()
    assert "one core busy, 2 of 2" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["--spread", "0"], ["--spread", "many"], ["--write=now"]])
def test_a_wrong_command_is_told(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        gate.command(arguments)
    assert "usage: python -m tests.benchmarks.gate" in capsys.readouterr().err


async def test_a_store_without_a_thread_keeps_what_it_is_given(tmp_path: Path) -> None:
    threads = set(threading.enumerate())
    clock = SystemClock()
    with stores_without_threads():
        store = Store(tmp_path / "journal.db", clock)
    async with store:
        await store.record_turn(TurnRecord("turn-1", clock.now(), "voice", "en", heard="hello"))
        assert set(threading.enumerate()) <= threads  # those of other tests may end meanwhile
        found = await store.turn("turn-1")
        with pytest.raises(StoreError):
            await store.record_turn(TurnRecord("turn-2", clock.now(), None, "en"))  # type: ignore[arg-type]
    assert found is not None
    assert found.heard == "hello"


@pytest.mark.parametrize(
    ("pause_ms", "late", "cut"), [(600, False, True), (1200, False, False), (1800, True, False)]
)
async def test_turns_that_end_later_or_too_early_are_seen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pause_ms: int, late: bool, cut: bool
) -> None:
    other = Setup("other", Endings(pause_ms))
    monkeypatch.setattr(gate_delays, "adaptive", lambda slower: other)
    async with gate_delays.delays(tmp_path) as one:
        found = await one()
    ends = [ratio for name, ratio in found.items() if name.startswith("from the last word")]
    assert [ratio > 1 + gate.MORE for ratio in ends] == [late, late]
    assert (found["cut-offs of 12 sentences, plus one"] > 1 + gate.MORE) is cut


async def test_a_wake_word_that_is_not_heard_is_seen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(gate_delays, "WAKE_WORD", "good morning")
    monkeypatch.setattr(gate_delays, "EACH", 1)
    async with gate_delays.delays(tmp_path) as one:
        found = await one()
    [said] = gate.judge(found, {**found, "from the start of the wake word to its detection": 1.0})
    assert said.startswith("from the start of the wake word to its detection: inf")
