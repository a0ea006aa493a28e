"""How long the start takes, stage by stage."""

import logging
import os
import time
from pathlib import Path
from typing import Self

_log = logging.getLogger(__name__)


class Startup:
    """Stages in the order in which they were reached."""

    def __init__(self, began_s: float | None = None) -> None:
        """`began_s`: seconds of the monotonic clock; None: now."""
        self._began_s = time.monotonic() if began_s is None else began_s
        self.stages: dict[str, float] = {}  # name -> ms since the beginning

    @classmethod
    def of_process(cls) -> Self:
        """Counts from the moment at which the kernel started this process, to 10 ms."""
        return cls(time.monotonic() - _age_s())

    def reach(self, stage: str) -> None:
        """It is reached now; each counts once."""
        if stage not in self.stages:
            self.stages[stage] = (time.monotonic() - self._began_s) * 1000
            _log.debug("start: %s after %.0f ms", stage, self.stages[stage])

    def __str__(self) -> str:
        return ", ".join(f"{stage} {ms / 1000:.2f} s" for stage, ms in self.stages.items())


def _age_s() -> float:
    """How old this process is, in s."""
    # Behind the name, which may hold anything: state is field 3, the start field 22, in ticks.
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    started_s = int(fields[22 - 3]) / os.sysconf("SC_CLK_TCK")
    return time.clock_gettime(time.CLOCK_BOOTTIME) - started_s
