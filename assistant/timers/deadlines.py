"""When which timer is due, though the wall clock may be set at any moment. Pure.

A timer's end is kept as wall time, because only that outlasts a restart. While we run, the time
that has really passed (`Clock.since_boot`) says more: a box without a clock of its own may be hours
off until it has asked the network, and the clock then leaps.

- A timer that we saw begin counts real time; a leap changes what is kept, not when it rings.
- One from before our start has nothing but its wall time: a leap ahead brings it nearer. A leap
  back does not put it off: too early is less bad than too late.
- What was set for a time of day comes at that time, by whatever the clock shows.
- Whether one was due before our start is judged only once the clock can be believed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from assistant.domain.records import TimerRecord

LEAP_S = 1.0  # the wall clock moved by more than this besides what passed: it was set


@dataclass(slots=True)
class _Armed:
    record: TimerRecord
    at_s: float  # of `since_boot`, when it is due
    inherited: bool  # it is from before our start
    missed: bool  # and was due then, by the clock of that moment


class Deadlines:
    """The timers that run. All `passed_s` are readings of `Clock.since_boot`."""

    def __init__(self) -> None:
        self._armed: dict[str, _Armed] = {}
        self._offset_s: float | None = None  # wall clock less time passed, at the last look
        self.leapt = False  # the wall clock was set since the look before

    def hold(
        self, records: Sequence[TimerRecord], now: datetime, passed_s: float, *, inherited: bool
    ) -> None:
        """Count for these and no others; for those that are known already just as before."""
        running = [record for record in records if record.paused_s is None]
        before, self._armed = self._armed, {}
        for record in running:
            known = before.get(record.id)
            if known is not None and known.record.due == record.due:
                self._armed[record.id] = known
            else:
                at_s = passed_s + (record.due - now).total_seconds()
                missed = inherited and at_s <= passed_s
                self._armed[record.id] = _Armed(record, at_s, inherited, missed)

    def set_right(
        self, now: datetime, passed_s: float, *, judged: bool = True
    ) -> list[TimerRecord]:
        """Look whether the wall clock was set; the timers whose `due` has to be kept anew.

        `judged`: as in `due`; until then what seemed to be due may turn out not to be.
        """
        offset_s = now.timestamp() - passed_s
        self.leapt = self._offset_s is not None and abs(offset_s - self._offset_s) > LEAP_S
        self._offset_s = offset_s
        if not self.leapt:
            return []
        moved: list[TimerRecord] = []
        for armed in self._armed.values():
            by_wall = passed_s + (armed.record.due - now).total_seconds()
            if armed.missed and not judged:
                armed.at_s, armed.missed = by_wall, by_wall <= passed_s
                continue
            if armed.at_s <= passed_s:
                continue  # it was due; when it was is told by the clock of that moment
            if is_of_day(armed.record):
                armed.at_s = by_wall
                continue
            if armed.inherited:
                armed.at_s = min(armed.at_s, by_wall)
            due = now + timedelta(seconds=armed.at_s - passed_s)
            if armed.at_s > passed_s and abs((due - armed.record.due).total_seconds()) > LEAP_S:
                armed.record = replace(armed.record, due=due)
                moved.append(armed.record)
        return moved

    def due(self, passed_s: float, *, judged: bool = True) -> list[TimerRecord]:
        """Those whose time has come, the first due first. `judged`: the clock can be believed; else
        those are left out that seem to have been due before our start."""
        over = [
            armed
            for armed in self._armed.values()
            if armed.at_s <= passed_s and (judged or not armed.missed)
        ]
        return [armed.record for armed in sorted(over, key=lambda armed: armed.at_s)]

    def late_s(self, timer_id: str, passed_s: float) -> float:
        """For how long it has been due."""
        return passed_s - self._armed[timer_id].at_s

    def missed(self, timer_id: str) -> bool:
        """Whether it came due while nobody was there to ring."""
        return self._armed[timer_id].missed

    def next_s(self, passed_s: float) -> float | None:
        """Seconds until the next one is due, None where none is to come."""
        coming = [armed.at_s for armed in self._armed.values() if armed.at_s > passed_s]
        return min(coming) - passed_s if coming else None


def is_of_day(timer: TimerRecord) -> bool:
    """Whether it was set for a time of day, not for a length of time."""
    return timer.duration_s == 0
