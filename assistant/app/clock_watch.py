"""Notices that the machine's clock was set, and says so while that may be wrong."""

import logging
from collections.abc import Callable

from assistant.domain.clock import Clock

LEAP_S = 60.0  # less than that is the clock being put right
_log = logging.getLogger(__name__)


class ClockWatch:
    """Compares the wall clock with the time that has passed. `problem` is to be asked often."""

    def __init__(self, clock: Clock, synchronised: Callable[[], bool]) -> None:
        """`synchronised`: whether the machine's clock is known to be right."""
        self._clock = clock
        self._synchronised = synchronised
        self._offset_s = self._offset()
        self._behind_s = 0.0  # by how much it was set back in all, never less than nothing

    def problem(self) -> str:
        """One sentence while the clock stands where it was set back to, and nobody keeps it right;
        "" else. Each leap is logged once."""
        before_s, self._offset_s = self._offset_s, self._offset()
        moved_s = self._offset_s - before_s
        if abs(moved_s) >= LEAP_S:
            way = "ahead" if moved_s > 0 else "back"
            _log.warning("the machine's clock was set %s by %s", way, _length(abs(moved_s)))
            self._behind_s = max(0.0, self._behind_s - moved_s)
        if self._behind_s < LEAP_S or self._synchronised():
            return ""
        return (
            f"The machine's clock was set back by {_length(self._behind_s)}, and nobody keeps it "
            "right: alarms come by the new time; set it by the network (timedatectl set-ntp true)."
        )

    def _offset(self) -> float:
        """Wall clock less time passed."""
        return self._clock.now().timestamp() - self._clock.since_boot()


def _length(seconds: float) -> str:
    """In the largest unit of which there are two or more."""
    for unit, size in (("days", 86_400), ("hours", 3_600)):
        if seconds >= 2 * size - LEAP_S:
            return f"{round(seconds / size)} {unit}"
    return f"{max(1, round(seconds / 60))} minutes"
