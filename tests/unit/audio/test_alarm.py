"""It wakes at the moment asked for, or for news."""

import asyncio

from assistant.domain.clock import VirtualClock
from audio.timing import Alarm


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
