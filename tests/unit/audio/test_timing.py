"""A call that does not return blocks nothing else."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from assistant.domain.clock import VirtualClock
from audio.timing import MOST_STUCK, Alarm, BoundedCalls, CallStuck

SHORT_S = 0.02


class Door:
    """A call that waits until it is released; it fails if one is left waiting."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.open = threading.Event()
        self.undone = threading.Event()

    def go(self) -> str:
        self.entered.set()
        assert self.open.wait(10)
        return "through"

    def undo(self) -> None:
        self.undone.set()


@pytest.fixture
def door() -> Iterator[Door]:
    door = Door()
    yield door
    door.open.set()


async def test_what_it_gives_and_what_it_raises() -> None:
    def fails() -> None:
        raise ValueError("no")

    calls = BoundedCalls()
    assert await calls.call(lambda: threading.current_thread().name) == "sound-call"
    with pytest.raises(ValueError, match="no"):
        await calls.call(fails)
    assert (calls.abandoned, calls.stuck, calls.exhausted) == (0, 0, False)


async def test_one_that_is_stuck_is_left_and_undone_when_it_comes_back(door: Door) -> None:
    calls = BoundedCalls(SHORT_S)
    with pytest.raises(CallStuck):
        await calls.call(door.go, late=door.undo)
    assert (calls.abandoned, calls.stuck) == (1, 1)
    calls._longest_s = 20.0  # this one returns once its thread gets its turn
    assert await calls.call(lambda: "another") == "another"
    door.open.set()
    assert await asyncio.to_thread(door.undone.wait, 10)
    await until(lambda: calls.stuck == 0)
    assert calls.abandoned == 1


async def test_after_a_few_none_is_begun(door: Door) -> None:
    calls = BoundedCalls(SHORT_S)
    for _ in range(MOST_STUCK):
        with pytest.raises(CallStuck):
            await calls.call(door.go)
    assert calls.exhausted
    with pytest.raises(CallStuck):
        await calls.call(lambda: pytest.fail("it was begun"))
    assert calls.abandoned == MOST_STUCK
    door.open.set()
    await until(lambda: not calls.exhausted)


async def test_one_that_is_cancelled_is_undone_before_the_rest(door: Door) -> None:
    calls = BoundedCalls()
    task = asyncio.create_task(calls.call(door.go, late=door.undo))
    assert await asyncio.to_thread(door.entered.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    resting = asyncio.create_task(calls.rest())
    await asyncio.sleep(0)
    assert not resting.done()
    door.open.set()
    await resting
    assert door.undone.is_set()
    assert calls.abandoned == 0


async def test_one_that_is_cancelled_as_it_returns_is_undone(door: Door) -> None:
    calls = BoundedCalls()
    door.open.set()
    task = asyncio.create_task(calls.call(door.go, late=door.undo))
    await asyncio.sleep(0)
    assert door.entered.wait(10)
    threads = [thread for thread in threading.enumerate() if thread.name == "sound-call"]
    for thread in threads:
        thread.join(10)  # it has returned, but the event loop does not know yet
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await calls.rest()
    assert door.undone.is_set()


async def until(condition) -> None:  # type: ignore[no-untyped-def]
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110  (a thread's end is told to nobody)
            await asyncio.sleep(0.001)


# It wakes at the requested time, or for a signal.


async def test_it_wakes_at_the_latest_moment_asked_for() -> None:
    clock = VirtualClock()
    alarm = Alarm(clock)
    woken: list[float] = []

    async def waits() -> None:
        for until in (1.0, 3.0, 3.5):
            await alarm.wait(until)
            woken.append(clock.monotonic())

    task = asyncio.create_task(waits())
    await clock.run(10)
    await task
    assert woken == [1.0, 3.0, 3.5]
    alarm.close()


async def test_news_ends_a_wait_and_an_earlier_moment_is_not_missed() -> None:
    clock = VirtualClock()
    alarm = Alarm(clock)
    long = asyncio.create_task(alarm.wait(100))
    await clock.run(1)
    assert not long.done()
    alarm.ring()
    await clock.settle()
    assert long.done()
    short = asyncio.create_task(alarm.wait(2))
    await clock.run(1)
    assert short.done()
    assert clock.sleepers == 0
    alarm.close()


async def test_news_that_came_before_ends_the_next_wait_once() -> None:
    clock = VirtualClock()
    alarm = Alarm(clock)
    alarm.ring()
    await alarm.wait(100)
    again = asyncio.create_task(alarm.wait(5))
    await clock.settle()
    assert not again.done()
    await clock.run(5)
    assert again.done()
    alarm.close()


async def test_setting_a_later_moment_again_and_again_makes_no_new_sleeper() -> None:
    clock = VirtualClock()
    alarm = Alarm(clock)
    for number in range(50):
        task = asyncio.create_task(alarm.wait(1 + number / 100))
        await clock.settle()
        alarm.ring()
        await task
    assert clock.sleepers == 1
    alarm.close()
    await clock.settle()
    assert clock.sleepers == 0
