"""Context managers that own background tasks or resources and clean them up on exit."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Self, TypeVar

Result = TypeVar("Result")


class OwnedTasks:
    """A task group that cancels its tasks when its context ends, and raises an error of the body
    unchanged. As in a TaskGroup, a failing task cancels the body."""

    def __init__(self) -> None:
        self._group = asyncio.TaskGroup()
        self._tasks: set[asyncio.Task[Any]] = set()  # unfinished tasks

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        return self

    def start(self, work: Coroutine[Any, Any, Result], name: str) -> asyncio.Task[Result]:
        """Run `work` until it finishes or the context ends."""
        task = self._group.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def start_on(
        self, event: asyncio.Event, work: Callable[[], Awaitable[None]], name: str
    ) -> asyncio.Task[None]:
        """Run `work` each time `event` is set, one run at a time. Each run clears `event` first."""

        async def repeat() -> None:
            while True:
                await event.wait()
                event.clear()
                await work()

        return self.start(repeat(), name)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for task in list(self._tasks):
            task.cancel()
        # If a task failed, the group itself cancelled the body. It must see that cancellation to
        # report the failure.
        if isinstance(error, asyncio.CancelledError):
            await self._group.__aexit__(kind, error, traceback)
        else:
            await self._group.__aexit__(None, None, None)


class Opened:
    """The base class of context managers. `_enter` puts resources on a stack, which is closed on
    exit."""

    async def _enter(self, stack: AsyncExitStack) -> None:
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            await self._enter(stack)
            self._opened = stack.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._opened.__aexit__(kind, error, traceback)
