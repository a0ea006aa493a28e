"""Manages the process: its lock, memory, event loop, clock and start-up time."""

import asyncio
import ctypes
import errno
import fcntl
import gc
import logging
import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from assistant.config.errors import ConfigError
from assistant.domain.clock import Clock
from integrations.owner import OwnedTasks

_NAME = "lock"  # lock file that allows only one daemon per data folder
_TRIES, _AGAIN_S = 5, 0.02  # `is_held` in another process takes the lock for an instant


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock. Raises ConfigError if the folder is unusable or already locked. The
    kernel releases the lock even after a crash."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = _open(folder / _NAME)
    except OSError as error:
        raise ConfigError(
            f"The data folder {folder} cannot be used ({error.strerror}); set assistant.data to a "
            "folder that you own"
        ) from error
    try:
        if not _taken(handle):
            raise ConfigError(
                f"Another hearth run uses the data folder {folder}; stop it, or set assistant.data"
            )
        yield
    finally:
        os.close(handle)


def _open(file: Path) -> int:
    """Open the lock file, or the folder if the disk is full or read-only and there is no file.
    Raises OSError."""
    try:
        return os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        if error.errno not in (errno.EROFS, errno.ENOSPC):
            raise
    try:
        return os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:  # the disk is not writable, so lock the folder instead
        return os.open(file.parent, os.O_RDONLY | os.O_CLOEXEC)


def is_held(folder: Path) -> bool:
    """Return True if any `hearth run`, including this process, is using the folder."""
    try:
        handle = os.open(folder / _NAME, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def _taken(handle: int) -> bool:
    for left in reversed(range(_TRIES)):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if left:
                time.sleep(_AGAIN_S)
    return False


_M_ARENA_MAX = -8  # malloc.h


def share_heap() -> None:
    """Make all threads allocate from one heap, because a separate heap for each thread wastes
    memory. Does nothing without glibc."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


# Python's full garbage collection visits every object, and meanwhile nothing else runs and no audio
# is processed. That takes 0.15 s in a small house and 0.3 s in one with 5,000 entities
# (docs/reports/scale.md), usually in the middle of a turn, when many objects are created. Nearly
# all of the objects live as long as the process, so `long_lived` excludes them.

# Registers a callback for finished turns and returns a function that unregisters it.
Follow = Callable[[Callable[[Any], None]], Callable[[], None]]


@contextmanager
def long_lived(follow: Follow) -> Iterator[None]:
    """Freeze all existing objects, so that the garbage collector skips them until exit. Enter the
    context when everything is open.

    The objects of the first turn are frozen as well, because Hearth imports the brain and loads the
    recogniser only then.
    """
    following = ExitStack()

    def turned(turn: object) -> None:
        following.close()  # follow only the first turn
        gc.freeze()

    gc.freeze()
    following.callback(follow(turned))
    try:
        yield
    finally:
        following.close()
        gc.unfreeze()


EVERY_S = 0.5  # between two measurements of the event loop's lag
_KEPT = 120  # measurements of the last minute


class LoopLag:
    """Measures how late the event loop runs. Enter the context on that loop."""

    def __init__(self, every_s: float = EVERY_S) -> None:
        self._every_s = every_s
        self._lags: deque[float] = deque(maxlen=_KEPT)
        self.on_lag: Callable[[float], None] = lambda lag_s: None  # must not block
        self._owner = OwnedTasks()

    async def __aenter__(self) -> Self:
        await self._owner.__aenter__()
        self._owner.start(self._look(), "loop lag")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._owner.__aexit__(kind, error, trace)

    @property
    def worst_s(self) -> float:
        return max(self._lags, default=0.0)

    async def _look(self) -> None:
        while True:
            due = time.monotonic() + self._every_s
            await asyncio.sleep(self._every_s)
            lag_s = max(0.0, time.monotonic() - due)
            self._lags.append(lag_s)
            self.on_lag(lag_s)


LEAP_S = 60.0  # smaller jumps are normal corrections
_log = logging.getLogger(__name__)


class ClockWatch:
    """Detects changes of the system clock by comparing it with the time since boot. It notices a
    change only when `problem` is called."""

    def __init__(self, clock: Clock, synchronised: Callable[[], bool]) -> None:
        """`synchronised` returns True if the system clock is known to be right."""
        self._clock = clock
        self._synchronised = synchronised
        self._offset_s = self._offset()
        self._behind_s = 0.0  # how far the clock was set back in total, at least 0

    def problem(self) -> str:
        """Return a warning if the clock was set back and isn't synchronised, otherwise "". Logs
        each jump once."""
        before_s, self._offset_s = self._offset_s, self._offset()
        moved_s = self._offset_s - before_s
        if abs(moved_s) >= LEAP_S:
            way = "ahead" if moved_s > 0 else "back"
            _log.warning("the machine's clock was set %s by %s", way, _length(abs(moved_s)))
            self._behind_s = max(0.0, self._behind_s - moved_s)
        if self._behind_s < LEAP_S or self._synchronised():
            return ""
        return (
            f"The machine's clock was set back by {_length(self._behind_s)} and is not "
            "synchronised: alarms follow the new time. Synchronise it over the network: "
            "timedatectl set-ntp true"
        )

    def _offset(self) -> float:
        return self._clock.now().timestamp() - self._clock.since_boot()


def _length(seconds: float) -> str:
    for unit, size in (("days", 86_400), ("hours", 3_600)):
        if seconds >= 2 * size - LEAP_S:
            return f"{round(seconds / size)} {unit}"
    return f"{max(1, round(seconds / 60))} minutes"


class Startup:
    """The start-up stages in the order in which they were reached, with their times."""

    def __init__(self, began_s: float | None = None) -> None:
        """`began_s` is the start in seconds of the monotonic clock; None means now."""
        self._began_s = time.monotonic() if began_s is None else began_s
        self.stages: dict[str, float] = {}  # stage -> ms since the start

    @classmethod
    def of_process(cls) -> Self:
        """Measure from the time when the kernel started this process, accurate to 10 ms."""
        return cls(time.monotonic() - _age_s())

    def reach(self, stage: str) -> None:
        """Record when a stage was first reached."""
        if stage not in self.stages:
            self.stages[stage] = (time.monotonic() - self._began_s) * 1000
            _log.debug("start: %s after %.0f ms", stage, self.stages[stage])

    def __str__(self) -> str:
        return ", ".join(f"{stage} {ms / 1000:.2f} s" for stage, ms in self.stages.items())


def _age_s() -> float:
    # The fields after the process name, which can contain spaces and parentheses: field 3 is the
    # state, field 22 the start time in ticks (proc_pid_stat(5)).
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    started_s = int(fields[22 - 3]) / os.sysconf("SC_CLK_TCK")
    return time.clock_gettime(time.CLOCK_BOOTTIME) - started_s
