"""CPU time and memory of a process and its descendants, from the kernel's own figures."""

import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_OF_ALL_THREADS = 2  # CPUCLOCK_SCHED of include/linux/posix-timers.h


def family(pid: int) -> list[int]:
    """Return that process and all its running descendants."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(child) for child in task.read_text().split()]
        except OSError:
            continue  # the thread has just ended
        for child in children:
            found += family(child)
    return found


def cpu_s(pids: Iterable[int]) -> float:
    """Return the CPU time of all their threads, including ended ones; 0 for an ended process."""
    used = 0.0
    for pid in pids:
        # The clock of another process, as clock_getcpuclockid(3) makes it; nanoseconds, where
        # /proc/PID/stat counts hundredths of a second.
        with suppress(OSError):
            used += time.clock_gettime((~pid << 3) | _OF_ALL_THREADS)
    return used


def pss_mb(pids: Iterable[int]) -> float:
    """Return the memory that they alone hold, and their share of shared memory."""
    return sum(_field(pid, "Pss:") for pid in pids) / 1024


def rss_mb(pids: Iterable[int]) -> float:
    """Return the memory that they hold; shared memory counts in full for each."""
    return sum(_field(pid, "Rss:") for pid in pids) / 1024


def _field(pid: int, name: str) -> int:
    try:
        told = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0  # it has just ended
    for line in told.splitlines():
        if line.startswith(name):
            return int(line.split()[1])
    raise RuntimeError(f"the kernel tells no {name} of process {pid}")
