"""Tasks that end with their owner."""

import asyncio
import gc
import weakref

import pytest

from integrations.owner import OwnedTasks


async def forever() -> None:
    await asyncio.Event().wait()


async def test_what_runs_is_cancelled_in_the_end() -> None:
    async with OwnedTasks() as owner:
        task = owner.start(forever(), "forever")
        await asyncio.sleep(0)
    assert task.cancelled()


async def test_the_bodys_error_passes_unchanged() -> None:
    async def body() -> None:
        async with OwnedTasks() as owner:
            owner.start(forever(), "forever")
            raise KeyError

    with pytest.raises(KeyError):
        await body()


async def test_a_task_that_fails_ends_the_body() -> None:
    async def fail() -> None:
        raise ZeroDivisionError

    async def body() -> None:
        async with OwnedTasks() as owner:
            owner.start(fail(), "fail")
            await forever()

    with pytest.raises(ExceptionGroup) as caught:
        await body()
    assert caught.group_contains(ZeroDivisionError)


async def test_what_has_ended_is_not_kept() -> None:
    class Large:
        """Something that a result holds."""

    async def make() -> Large:
        return Large()

    async with OwnedTasks() as owner:
        large = weakref.ref(await owner.start(make(), "make"))
        await asyncio.sleep(0)
        gc.collect()
        assert large() is None


async def test_work_is_done_each_time_that_its_event_is_set() -> None:
    event, free, runs = asyncio.Event(), asyncio.Event(), list[bool]()

    async def work() -> None:
        runs.append(event.is_set())
        await free.wait()

    async with OwnedTasks() as owner:
        task = owner.start_on(event, work, "work")
        await asyncio.sleep(0)
        assert runs == []
        event.set()
        await asyncio.sleep(0.01)
        event.set()  # while it runs: one more run afterwards
        event.set()
        await asyncio.sleep(0.01)
        assert runs == [False]
        free.set()
        await asyncio.sleep(0.01)
        assert runs == [False, False]
    assert task.cancelled()
