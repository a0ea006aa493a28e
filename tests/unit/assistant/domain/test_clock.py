"""Tests of the virtual clock: time passes only on request, and sleepers wake in order."""

import asyncio
from datetime import UTC, datetime, timedelta

from assistant.domain.clock import Clock, SystemClock, VirtualClock


async def test_sleepers_wake_in_order_each_at_its_own_instant() -> None:
    clock = VirtualClock()
    woken: list[tuple[str, float]] = []

    async def sleeper(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((name, clock.monotonic()))
        if name == "first":
            await clock.sleep(1)
            woken.append(("again", clock.monotonic()))

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(sleeper("last", 3))
        tasks.create_task(sleeper("first", 1))
        tasks.create_task(sleeper("same", 1))
        await clock.run(2.5)
        assert woken == [("first", 1.0), ("same", 1.0), ("again", 2.0)]
        assert clock.sleepers == 1
        await clock.run(0.5)
    assert woken[-1] == ("last", 3.0)


async def test_advance_jumps_and_cancelled_sleepers_are_forgotten() -> None:
    clock = VirtualClock(datetime(2026, 3, 1, 7, tzinfo=UTC))
    try:
        async with asyncio.timeout(0):
            await clock.sleep(5)
    except TimeoutError:
        assert clock.sleepers == 0
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(clock.sleep(10))
        await clock.settle()
        assert clock.sleepers == 1
        clock.advance(10)
    assert clock.now() == datetime(2026, 3, 1, 7, 0, 10, tzinfo=UTC)


async def test_no_time_needs_no_one_to_move_the_clock() -> None:
    await VirtualClock().sleep(0)


async def test_the_system_clock_knows_its_time_zone_and_never_goes_back() -> None:
    clock: Clock = SystemClock()
    before = clock.monotonic()
    await clock.sleep(0)
    assert clock.monotonic() >= before
    assert abs(clock.now() - datetime.now(UTC)) < timedelta(seconds=5)
    assert clock.now().utcoffset() is not None


def test_the_system_clock_tells_the_time_of_the_house() -> None:
    clock = SystemClock()
    clock.use_zone("America/New_York")
    clock.use_zone("Nowhere/At_All")
    assert clock.now().tzname() in ("EST", "EDT")
    assert abs(clock.now() - datetime.now(UTC)) < timedelta(seconds=5)


def test_the_wall_clock_may_be_set_and_the_machine_may_sleep() -> None:
    clock = VirtualClock(datetime(2026, 3, 1, 7, tzinfo=UTC))
    clock.advance(1)
    clock.set_ahead(-3600)
    clock.suspend(60)
    assert (clock.monotonic(), clock.since_boot()) == (1, 61)
    assert clock.now() == datetime(2026, 3, 1, 6, 1, 1, tzinfo=UTC)


def test_real_time_since_boot_never_goes_back() -> None:
    clock = SystemClock()
    assert 0 < clock.since_boot() <= clock.since_boot()
