"""What is read at the moment somebody looks: depths, connections, frames, memory."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

Health = str  # "ok", "degraded" or "dead"

_STATM = Path("/proc/self/statm")


@dataclass(frozen=True, slots=True)
class Standing:
    """Each as it is now. Counters count since the start of the process."""

    health: Health
    lag_s: float  # of the event loop, the worst of the last minute
    frames: Mapping[tuple[str, str], int] = field(default_factory=dict)  # stage, what -> frames
    connections: Mapping[str, int] = field(default_factory=dict)  # with what -> openings
    connected: Mapping[str, bool] = field(default_factory=dict)  # with what -> whether now
    queues: Mapping[str, int] = field(default_factory=dict)  # name -> what waits
    # None: the journal did not tell
    timers: int | None = None  # that run, stand still or ring
    cost_today_usd: float | None = None  # of all processes


Look = Callable[[], Standing]


def resident_bytes() -> int:
    """The memory of this process that is not swapped out; 0 where the system does not tell."""
    try:
        pages = int(_STATM.read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
