"""Finds due timers, even though the wall clock may be set at any moment.

The end of a timer is stored as wall time, because only that survives a restart. While Hearth runs,
the elapsed time (`Clock.since_boot`) is more reliable: a device without a real-time clock may be
hours off until it has asked the network, and its clock then jumps.

- A timer that this process saw start counts elapsed time; a jump changes the stored time, not when
  it rings.
- A timer from before the start has only its wall time: a jump ahead brings it closer. A jump back
  does not delay it, because too early is better than too late.
- A timer for a time of day is due at that time, by the current clock.
- Timers that were due before the start are judged only once the clock can be trusted.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from assistant.domain.clock import Clock
from assistant.domain.records import StoreError, TimerRecord
from assistant.journal.store import Store
from assistant.timers.book import comes_again, is_occurrence, is_of_day
from assistant.timers.recurrence import Almanac, Rule, rule_from

_log = logging.getLogger(__name__)


class Complaints:
    """Logs each kind of problem once, until it is over or changes."""

    def __init__(self) -> None:
        self._now: dict[str, str] = {}

    def complain(self, kind: str, trouble: str) -> None:
        """Log a problem, unless it was logged already."""
        if self._now.get(kind) != trouble:
            _log.error("%s", trouble)
        self._now[kind] = trouble

    def over(self, kind: str) -> bool:
        """Clear a problem. Returns True if there was one."""
        return self._now.pop(kind, None) is not None

    async def safely(self, work: Awaitable[Any]) -> bool:
        """Return True if the work succeeded. Logs a StoreError, because the store may work
        later."""
        try:
            await work
        except StoreError as error:
            self.complain("store", f"timers cannot be read or saved: {error}")
            return False
        return True


LEAP_S = 1.0  # a larger step of the wall clock means that it was set


@dataclass(slots=True)
class _Armed:
    record: TimerRecord
    at_s: float  # due time, by `since_boot`
    inherited: bool  # set before this process started
    missed: bool  # was due before the start, by the clock at that time

    def follow_wall_clock(self, now: datetime, passed_s: float, *, judged: bool) -> bool:
        """Adjust to a step of the wall clock. Returns True if `record.due` must be stored again."""
        by_wall = passed_s + (self.record.due - now).total_seconds()
        if self.missed and not judged:
            self.at_s, self.missed = by_wall, by_wall <= passed_s
            return False
        if self.at_s <= passed_s:
            return False  # It was due by the clock of that time, so later steps do not count.
        if is_of_day(self.record):
            self.at_s = by_wall
            return False
        if self.inherited:
            self.at_s = min(self.at_s, by_wall)
        due = now + timedelta(seconds=self.at_s - passed_s)
        if self.at_s <= passed_s or abs((due - self.record.due).total_seconds()) <= LEAP_S:
            return False
        self.record = replace(self.record, due=due)
        return True


class Deadlines:
    """Deadlines of the running timers. All `passed_s` are readings of `Clock.since_boot`."""

    def __init__(self) -> None:
        self._armed: dict[str, _Armed] = {}
        self._offset_s: float | None = None  # wall clock minus elapsed time, at the last check
        self.leapt = False  # the wall clock was set since the check before

    def hold(
        self, records: Sequence[TimerRecord], now: datetime, passed_s: float, *, inherited: bool
    ) -> None:
        """Track these timers and no others. Timers that are already known keep their deadlines."""
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
        """Check for a step of the wall clock, and return the timers whose `due` must be stored
        again.

        `judged` is as in `due`; until it is True, timers that seemed due may turn out not to be.
        """
        offset_s = now.timestamp() - passed_s
        self.leapt = self._offset_s is not None and abs(offset_s - self._offset_s) > LEAP_S
        self._offset_s = offset_s
        if not self.leapt:
            return []
        return [
            armed.record
            for armed in self._armed.values()
            if armed.follow_wall_clock(now, passed_s, judged=judged)
        ]

    def due(self, passed_s: float, *, judged: bool = True) -> list[TimerRecord]:
        """Return the timers that are due, earliest first.

        `judged` says that the clock can be trusted. If not, timers that seem to have been due
        before the start are left out.
        """
        over = [
            armed
            for armed in self._armed.values()
            if armed.at_s <= passed_s and (judged or not armed.missed)
        ]
        return [armed.record for armed in sorted(over, key=lambda armed: armed.at_s)]

    def late_s(self, timer_id: str, passed_s: float) -> float:
        """Return the number of seconds since the timer was due."""
        return passed_s - self._armed[timer_id].at_s

    def missed(self, timer_id: str) -> bool:
        """Return True if the timer came due while no process was running."""
        return self._armed[timer_id].missed

    def next_s(self, passed_s: float) -> float | None:
        """Return the seconds until the next timer is due, or None if there is none."""
        coming = [armed.at_s for armed in self._armed.values() if armed.at_s > passed_s]
        return min(coming) - passed_s if coming else None


# Due timers in the one long-running process: it reads the store, checks the clocks and splits
# single occurrences off repeating timers.


READ_S = 30.0  # longest time between two readings, because two writes may look like one
BELIEVED_S = 60.0  # since boot; the clock does not get more accurate after this
_NEARER_S = 60.0  # smaller shifts of the sun are not worth a write
_SET, _CHANGED, _ENDED = "set", "changed", "ended"


@dataclass(frozen=True, slots=True)
class Due:
    """A timer that is due."""

    timer: TimerRecord
    late_s: float  # seconds since it was due
    missed: bool  # it came due while no process was running


@dataclass(frozen=True, slots=True)
class _Owed:
    """An occurrence that is not in the store yet."""

    again: TimerRecord
    occurrence: TimerRecord
    next_due: datetime | None
    missed: bool


class TimerMonitor:
    """Tracks the running timers and finds the due ones.

    A repeating timer is never due itself; its occurrence is, under an id of its own. The occurrence
    is due at its time even while the store fails. It is stored together with the timer's next time,
    so that no occurrence comes twice. If several were missed, only the last one counts.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        almanac: Almanac,
        synchronised: Callable[[], bool],
        complaints: Complaints,
        tell: Callable[[str, TimerRecord], None],
    ) -> None:
        """`synchronised` returns True if the system clock is known to be right.

        `tell` is called when a timer was "set", "changed" or "ended", by any process.
        """
        self._store = store
        self._clock = clock
        self._almanac = almanac
        self._synchronised = synchronised
        self._complaints = complaints
        self._tell = tell
        self._deadlines = Deadlines()
        self._believed = False  # the clock can be trusted
        self._stamp: object = None
        self._read_s: float | None = None  # last reading of the store
        self._owed: dict[str, _Owed] = {}  # by id of the repeating timer
        self._doubtful: set[str] = set()  # ids of timers set while the clock may have been wrong
        self.timers: tuple[TimerRecord, ...] = ()  # from the last reading

    async def look(self) -> None:
        """Take in all changes. Raises StoreError, but `due` is correct even then."""
        now, passed_s = self._clock.now(), self._clock.since_boot()
        moved = self._deadlines.set_right(now, passed_s, judged=self._believed)
        self._believed = self._believed or passed_s >= BELIEVED_S or self._synchronised()
        stamp = self._store.stamp()
        old = self._read_s is None or passed_s - self._read_s >= READ_S
        self._owe()
        for timer in moved:
            await self._store.change_timer(timer)
        if self._deadlines.leapt:
            await self._plan(lambda timer: timer.id in self._doubtful)
        if await self._almanac.look():
            await self._plan(lambda timer: _rule(timer).sun is not None)
        if old or stamp != self._stamp:
            await self.read()
            # From before the reading, so that a later write is noticed next time.
            self._stamp = stamp
        await self._take()

    async def read(self) -> None:
        """Read the store. Raises StoreError."""
        inherited = self._read_s is None
        records = await self._store.timers()
        self._complaints.over("store")
        now, passed_s = self._clock.now(), self._clock.since_boot()
        self._read_s = passed_s
        self._deadlines.hold(records, now, passed_s, inherited=inherited)
        before, self.timers = self.timers, tuple(records)
        if not inherited:
            self._tell_changes(before)
        self._owe()

    def due(self) -> list[Due]:
        """Return the timers that are due now, earliest first."""
        passed_s = self._clock.since_boot()
        found = [
            Due(timer, self._deadlines.late_s(timer.id, passed_s), self._deadlines.missed(timer.id))
            for timer in self._deadlines.due(passed_s, judged=self._believed)
            if not comes_again(timer)
        ]
        now, known = self._clock.now(), {one.timer.id for one in found}
        for owed in self._owed.values():
            if owed.occurrence.id not in known:
                late_s = (now - owed.occurrence.due).total_seconds()
                found.append(Due(owed.occurrence, late_s, owed.missed))
        return found

    def next_s(self) -> float | None:
        """Return the seconds until the next timer is due, or None if there is none."""
        return self._deadlines.next_s(self._clock.since_boot())

    # --- repeating timers

    def _owe(self) -> None:
        """Create an occurrence for each repeating timer that is due."""
        passed_s, now = self._clock.since_boot(), self._clock.now()
        for timer in self._deadlines.due(passed_s, judged=self._believed):
            owed = self._owed.get(timer.id)
            if comes_again(timer) and (owed is None or owed.again.due != timer.due):
                missed = self._deadlines.missed(timer.id)
                self._owed[timer.id] = self._occurrence(timer, now, missed)

    def _occurrence(self, timer: TimerRecord, now: datetime, missed: bool) -> _Owed:
        rule, last = _rule(timer), timer.due
        following = self._almanac.next_after(rule, last)
        while following is not None and following <= now:
            last, following = following, self._almanac.next_after(rule, following)
        name = f"{timer.id}-{last.astimezone(UTC):%Y%m%d%H%M}"
        return _Owed(timer, replace(timer, id=name, due=last, rule=None), following, missed)

    async def _take(self) -> None:
        """Store the new occurrences, and read the store again."""
        if not self._owed:
            return
        for owed in self._owed.values():
            await self._store.take_occurrence(owed.again, owed.occurrence, owed.next_due)
            self._doubtful.discard(owed.again.id)
        self._owed.clear()
        await self.read()

    async def _plan(self, which: Callable[[TimerRecord], bool]) -> None:
        """Compute new due times, because the clock or the times of the sun have changed."""
        now = self._clock.now()
        for timer in self.timers:
            if timer.rule is None or timer.due <= now or not which(timer):
                continue
            due = self._almanac.next_after(_rule(timer), now)
            if due is not None and abs((due - timer.due).total_seconds()) >= _NEARER_S:
                await self._store.change_timer(replace(timer, due=due))

    def _tell_changes(self, before: Sequence[TimerRecord]) -> None:
        gone = {timer.id: timer for timer in before}
        for timer in self.timers:
            known = gone.pop(timer.id, None)
            if known is None:
                if timer.rule is not None and not self._synchronised():
                    self._doubtful.add(timer.id)
                if not is_occurrence(timer):
                    self._tell(_SET, timer)
            elif (known.due, known.paused_s) != (timer.due, timer.paused_s):
                self._tell(_CHANGED, timer)
        for timer in gone.values():
            self._doubtful.discard(timer.id)
            self._tell(_ENDED, timer)


def _rule(timer: TimerRecord) -> Rule:
    return rule_from(timer.rule) if timer.rule is not None else Rule()
