"""The simulator in its own thread and event loop, for code that runs its own loop."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

Simulator = TypeVar("Simulator", bound=AbstractAsyncContextManager[Any, Any])

_START_WITHIN_S = 20.0


@contextlib.contextmanager
def in_thread(simulator: Simulator) -> Iterator[Simulator]:
    """Serve until the context ends, which raises AssertionError as the simulator's own does.

    Its records may be read from any thread; `ConnectionRecord`'s methods and `Gate` are
    thread-safe, and `wait_until` waits in another thread.
    """
    thread = _Thread(simulator)
    thread.start()
    try:
        yield simulator
    except BaseException:
        thread.stop()  # its findings are useless beside the error at hand
        raise
    thread.stop()
    if thread.error:
        raise thread.error


class _Thread:
    """A thread with an event loop, in which the simulator serves."""

    def __init__(self, simulator: AbstractAsyncContextManager[Any, Any]) -> None:
        self._simulator = simulator
        self._thread = threading.Thread(target=self._run, name="simulator", daemon=True)
        self._begun = threading.Event()  # it serves, or has failed
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self.error: BaseException | None = None  # of the simulator

    def start(self) -> None:
        """Return once it serves. Raises the error if it cannot."""
        self._thread.start()
        assert self._begun.wait(_START_WITHIN_S), "the simulator did not start"
        if self.error:
            raise self.error

    def stop(self) -> None:
        """Return once it has ended."""
        if self._loop and self._stop and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            self.error = error  # raised in the thread that waits
        finally:
            self._begun.set()

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        async with self._simulator:
            self._begun.set()
            await self._stop.wait()
