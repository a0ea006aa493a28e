"""Tests of a machine with too little processor time, memory or files, or that was suspended."""

import asyncio
import os
import resource
import signal
import time
from pathlib import Path

import httpx
import pytest

from tests.chaos.daemon import Daemon, daemon, listener, until
from tests.chaos.faults import fault
from tests.chaos.line import line
from tests.chaos.served import announced, heard, served, written
from tests.chaos.squeeze import Memory, busy_core, memory, needs_memory_limits
from tests.chaos.unharmed import assert_nothing_broke, resident_mb, until_done

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]

NEIGHBOURS = 4  # programs that compute on the one core that is left to Hearth
SLOW_S = 150.0  # at most, for a sentence of two seconds and its answer
LONG_NEWS = "The washing machine in the basement is done, and so is the dryer. " * 6
NEWS = "The post is here."  # it waits until all of that is said
STANDARD_FILES = 3  # where so many are allowed none can be opened, whatever is closed meanwhile
STOOD_S = 8.0
AT_ONCE_S = 5.0


@fault(
    "Hearth has only one core, which four other programs use all the time",
    hears="the command works, and the answer comes later than usual",
    retried="nothing",
    kept="everything; the recogniser gets all audio",
)
async def test_a_slow_processor(tmp_path: Path, timer: Path, office: Path) -> None:
    core = max(os.sched_getaffinity(0))
    async with listener(tmp_path) as box:
        box.before = ("taskset", "--cpu-list", str(core))
        await box.up()
        await heard(box, timer)  # what is loaded at the first sentence is there
        async with busy_core(core, NEIGHBOURS), asyncio.timeout(SLOW_S):
            await served(box, office)
        assert_nothing_broke(box)
        print(box.turns[-1])


@needs_memory_limits
@fault(
    "memory runs out, and Linux kills the program that uses it",
    hears="nothing unusual; commands work",
    retried="nothing",
    kept="everything; the process keeps running",
)
async def test_memory_runs_short(tmp_path: Path, office: Path) -> None:
    with memory(limit_mb=520) as limited:
        async with listener(tmp_path) as box:
            box.before = limited.command
            await box.up()
            pid = box.pid
            async with asyncio.TaskGroup() as group:
                pressing = group.create_task(_press(limited))
                await served(box, office)
                await until(lambda: limited.killed() > 1)
                pressing.cancel()
            print(f"{limited.killed()} neighbours were ended")
            assert box.pid == pid
            await served(box, office)
            assert_nothing_broke(box)


async def _press(limited: Memory) -> None:
    """Run one greedy neighbour after the other."""
    while True:
        await _take_all(limited)


async def _take_all(limited: Memory) -> None:
    """Let a neighbour take all that is left, until Linux kills it."""
    before = limited.killed()
    with limited.greedy(every_s=0.01):
        await until(lambda: limited.killed() > before)


@needs_memory_limits
@fault(
    "memory runs out, and Linux kills Hearth",
    hears="nothing until systemd has restarted Hearth, which happens immediately",
    retried="announcements that hadn't started",
    kept="timers, announcements and all answered turns; no call is sent again",
)
async def test_killed_for_want_of_memory(tmp_path: Path) -> None:
    with memory(limit_mb=520) as limited:
        async with daemon(tmp_path / "box") as box:
            box.before = limited.command
            await box.up()
            await box.ask("turn on the office lights")
            await box.ask("set a timer for an hour")
            await _announce(box, LONG_NEWS, NEWS)
            with limited.greedy(every_s=0.005, rather=box.pid):
                assert await box.ended() == -signal.SIGKILL
            assert limited.killed()
            assert NEWS not in announced(box), "it was killed too late to show anything"
            await box.up()
            assert (await box.timer())["left_s"] > 3_000
            await until(lambda: NEWS in announced(box))
            await box.ask("turn off the office lights")
            assert await box.end() == 0
            assert announced(box).count(NEWS) == 1
            assert written(box, "turns WHERE source <> 'announcement'") == 3


async def _announce(box: Daemon, *texts: str) -> None:
    """Let a program announce these texts, one after the other."""
    async with box.client() as client:
        for text in texts:
            wanted = {"text": text, "persist": True, "preannounce": False}
            answer = await client.post("/v1/announce", json=wanted)
            assert answer.status_code == 202, answer.text


@fault(
    "the limit of open files is reached",
    hears="the wake word works, and so do commands that don't need other services, such as timers",
    retried="each connection separately",
    kept="everything; Hearth works normally once files can be opened again",
)
async def test_no_more_files(tmp_path: Path, timer: Path, office: Path) -> None:
    async with listener(tmp_path) as box:
        await box.up()
        pid = box.pid
        await heard(box, timer)
        plenty = resource.prlimit(box.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(box.pid, resource.RLIMIT_NOFILE, (STANDARD_FILES, plenty[1]))
        async with httpx.AsyncClient(timeout=2.0) as client:
            with pytest.raises(httpx.TimeoutException):  # the system takes it, the box cannot
                await client.get(f"http://127.0.0.1:{box.port}/healthz")
        await box.logged("Connections cannot be accepted")
        await heard(box, timer)
        resource.prlimit(box.pid, resource.RLIMIT_NOFILE, plenty)
        await box.serves()
        await until_done(box)
        await served(box, office)
        assert box.pid == pid
        assert_nothing_broke(box)


@fault(
    "the whole process stops for a while (a frozen machine, a suspended laptop)",
    hears="nothing during the stop; a timer that was due rings immediately afterwards",
    retried="the connections that broke",
    kept="everything; the wake word and commands work afterwards",
)
async def test_it_stood_still(tmp_path: Path, office: Path) -> None:
    async with (
        listener(tmp_path) as box,
        line(int(box.house.url.rpartition(":")[2])) as between,
    ):
        box.settings["HOME_ASSISTANT__URL"] = between.url()
        await box.up()
        async with box.client() as client:
            made = await client.post("/v1/timers", json={"seconds": 3, "name": "tea"})
            assert made.status_code == 201, made.text
            opened = between.met["opened"]
            os.kill(box.pid, signal.SIGSTOP)
            between.cut()  # the other end has given it up
            await between.mend()
            await asyncio.sleep(STOOD_S)
            os.kill(box.pid, signal.SIGCONT)
            began = time.monotonic()
            async with asyncio.timeout(AT_ONCE_S):
                while (await box.timer())["state"] != "rings":  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
            print(f"rang {time.monotonic() - began:.1f} s after it went on")
            gone = await client.delete(f"/v1/timers/{made.json()['id']}")
            assert gone.status_code == 204
        await until_done(box)
        assert between.met["opened"] > opened, "it has connected anew"
        await served(box, office)
        assert_nothing_broke(box)
        assert resident_mb(box.pid) < 600
        assert await box.end() == 0
