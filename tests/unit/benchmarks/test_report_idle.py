"""Tests of the report's part on waiting: which figures are compared, and the targets."""

import asyncio
import os
import sys

import pytest

from tests.benchmarks.peers.listeners import HEARTH, OPENWAKEWORD_LOOP, PYMICRO_LOOP, Listener
from tests.benchmarks.report.idle import (
    SILENT,
    TALK,
    Cost,
    ear_lines,
    live_lines,
    measure,
    memory_lines,
    processes_table,
)
from tests.benchmarks.report.line import Verdict


def _cost(silent: float, talk: float, memory: float) -> Cost:
    held = {"PSS": [memory], "RSS": [memory + 30]}
    return Cost({SILENT: [silent], TALK: [talk]}, held, processes=1)


COSTS = {
    HEARTH: _cost(1.0, 2.0, 100.0),
    OPENWAKEWORD_LOOP: _cost(4.0, 4.0, 150.0),
    PYMICRO_LOOP: _cost(0.8, 0.8, 30.0),
}


def test_the_processor_stands_beside_each_peer_in_each_room() -> None:
    silent, silent_micro, talk, _ = live_lines(COSTS)
    assert (silent.ratio, silent.most_ratio, silent.verdict) == (0.25, 0.35, Verdict.KEPT)
    assert (silent_micro.ratio, silent_micro.verdict) == (1.25, Verdict.NONE)
    assert (talk.ratio, talk.verdict) == (0.5, Verdict.NONE)


def test_a_bound_that_is_missed_is_missed_with_a_reason() -> None:
    line = next(iter(live_lines({**COSTS, HEARTH: _cost(5.0, 5.0, 100.0)})))
    assert line.verdict is Verdict.MISSED
    assert "the complete assistant" in line.remark


def test_where_ours_costs_more_the_reason_stands() -> None:
    less, more, whole, _ = memory_lines(COSTS)
    assert less.remark == ""
    assert "the complete assistant" in more.remark
    assert (whole.subject, whole.ours.values) == (
        "memory (RSS) when idle, all of hearth run",
        (130.0,),
    )


def test_hearth_alone_has_lines_without_peers() -> None:
    alone = {HEARTH: COSTS[HEARTH]}
    assert [line.theirs for line in live_lines(alone)] == [None, None]
    assert [line.theirs for line in memory_lines(alone)] == [None, None]
    assert [line.theirs for line in ear_lines({SILENT: {HEARTH: [0.1]}})] == [None]


def test_the_ear_stands_beside_each_loop() -> None:
    shares = {HEARTH: [0.5], "openwakeword": [2.5], "pymicro-wakeword": [0.25]}
    less, more = ear_lines({TALK: shares})
    assert (less.ours.values, less.peer, less.ratio) == ((0.5,), "openwakeword 0.6.0", 0.2)
    assert less.remark == ""
    assert "the level meter" in more.remark


async def test_a_listener_that_has_ended_is_no_figure() -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "pass")
    await process.wait()
    gone = Listener("one", (process.pid,))
    with pytest.raises(RuntimeError, match="one has ended"):
        await measure([gone], {"one": Cost()}, SILENT, 1, 0.0)


async def test_each_interval_has_its_share_and_what_is_held() -> None:
    costs = {"this": Cost()}
    await measure([Listener("this", (os.getpid(),))], costs, SILENT, 2, 0.01)
    assert len(costs["this"].cpu[SILENT]) == len(costs["this"].memory["PSS"]) == 2
    assert min(costs["this"].memory["RSS"]) > 10
    assert costs["this"].cpu[TALK] == []


def test_the_table_tells_of_processes() -> None:
    assert processes_table({HEARTH: COSTS[HEARTH]}).rows == [(HEARTH, 1)]
