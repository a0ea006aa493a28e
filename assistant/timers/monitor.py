"""Detection of due timers, even if the wall clock is adjusted while they run.

A timer's end is stored as wall-clock time, because only wall-clock time survives a restart. While
Hearth runs, elapsed time (`Clock.since_boot`) is more reliable: the clock of a device without a
real-time clock can be hours off until it is synchronised over the network, and then it jumps.

- A timer that was set while this process was running counts elapsed time.
- A timer that was set before this process started follows the wall clock if the clock jumps
  forward, but not if it jumps back, because too early is better than too late.
- A timer for a time of day is due at that time by the current clock.
- A timer that seems to have been due before the process started rings only once the clock can be
  trusted.
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
    """Logs each kind of problem once, until it is resolved or its message changes."""

    def __init__(self) -> None:
        self._now: dict[str, str] = {}

    def complain(self, kind: str, trouble: str) -> None:
        if self._now.get(kind) != trouble:
            _log.error("%s", trouble)
        self._now[kind] = trouble

    def over(self, kind: str) -> bool:
        """Mark a kind of problem as resolved. Returns True if a problem of this kind existed."""
        return self._now.pop(kind, None) is not None

    async def safely(self, work: Awaitable[Any]) -> bool:
        """Await `work`. Returns False and logs the error if it raises StoreError, so that the
        caller can try again later."""
        try:
            await work
        except StoreError as error:
            self.complain("store", f"timers cannot be read or saved: {error}")
            return False
        return True


LEAP_S = 1.0  # the wall clock was set if it steps by more than this


@dataclass(slots=True)
class _Armed:
    record: TimerRecord
    at_s: float  # due time, by `since_boot`
    inherited: bool  # set before this process started
    missed: bool  # was already due when this process started

    def follow_wall_clock(self, now: datetime, passed_s: float, *, judged: bool) -> bool:
        """Adjust to a step of the wall clock. Returns True if `record.due` has changed and must be
        stored."""
        by_wall = passed_s + (self.record.due - now).total_seconds()
        if self.missed and not judged:
            self.at_s, self.missed = by_wall, by_wall <= passed_s
            return False
        if self.at_s <= passed_s:
            return False  # It is already due, so later clock steps don't matter.
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
    """Deadlines of the running timers.

    Deadlines and `passed_s` are readings of `Clock.since_boot`; `now` and `TimerRecord.due` are
    wall-clock times.
    """

    def __init__(self) -> None:
        self._armed: dict[str, _Armed] = {}
        self._offset_s: float | None = None  # wall clock minus elapsed time, at the last check
        self.leapt = False  # the wall clock was set between the last two checks

    def hold(
        self, records: Sequence[TimerRecord], now: datetime, passed_s: float, *, inherited: bool
    ) -> None:
        """Replace the tracked timers. `inherited` is True if the timers were set before this
        process started."""
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
        """Check for a step of the wall clock, and return the timers whose new `due` must be stored.
        See `due` for `judged`."""
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
        """Return the due timers, earliest first.

        `judged` is True once the clock can be trusted. Before that, timers that seem to have been
        due before the process started are left out.
        """
        over = [
            armed
            for armed in self._armed.values()
            if armed.at_s <= passed_s and (judged or not armed.missed)
        ]
        return [armed.record for armed in sorted(over, key=lambda armed: armed.at_s)]

    def late_s(self, timer_id: str, passed_s: float) -> float:
        return passed_s - self._armed[timer_id].at_s

    def missed(self, timer_id: str) -> bool:
        return self._armed[timer_id].missed

    def next_s(self, passed_s: float) -> float | None:
        coming = [armed.at_s for armed in self._armed.values() if armed.at_s > passed_s]
        return min(coming) - passed_s if coming else None


# Monitoring in `hearth run`: reads the store, checks the clocks and creates occurrences of
# repeating timers.


READ_S = 30.0  # longest time between readings; needed because `stamp` can miss a write
BELIEVED_S = 60.0  # since boot; after this, the clock is trusted even if it isn't synchronised
_NEARER_S = 60.0  # smaller changes of sunrise or sunset are not stored
_SET, _CHANGED, _ENDED = "set", "changed", "ended"


@dataclass(frozen=True, slots=True)
class Due:
    timer: TimerRecord
    late_s: float  # seconds since it was due
    missed: bool  # it was already due when this process started


@dataclass(frozen=True, slots=True)
class _Owed:
    """An occurrence of a repeating timer that is not in the store yet."""

    again: TimerRecord
    occurrence: TimerRecord
    next_due: datetime | None
    missed: bool


class TimerMonitor:
    """Tracks the running timers and finds the due ones.

    When a repeating timer is due, the monitor creates an occurrence with its own id, and that
    occurrence rings.
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

        `tell` is called with "set", "changed" or "ended" whenever any process sets, changes or ends
        a timer.
        """
        self._store = store
        self._clock = clock
        self._almanac = almanac
        self._zone = almanac.zone  # time zone of the due times
        self._synchronised = synchronised
        self._complaints = complaints
        self._tell = tell
        self._deadlines = Deadlines()
        self._believed = False  # the clock can be trusted
        self._stamp: object = None
        self._read_s: float | None = None  # when the store was last read, by `since_boot`
        self._owed: dict[str, _Owed] = {}  # by id of the repeating timer
        self._doubtful: set[str] = set()  # ids of timers set while the clock may have been wrong
        self.timers: tuple[TimerRecord, ...] = ()  # from the last reading

    async def look(self) -> None:
        """Check the clocks, sunrise and sunset, and the store for changes. Raises StoreError, but
        `due` returns the right timers even then."""
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
        if (zone := self._almanac.zone) != self._zone:
            await self._plan(lambda timer: True)
            self._zone = zone
        if old or stamp != self._stamp:
            await self.read()
            # Use the stamp from before the reading, so that a write meanwhile is noticed later.
            self._stamp = stamp
        await self._take()

    async def read(self) -> None:
        """Read the timers from the store and report changes to `tell`. Raises StoreError."""
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
        """Return the timers that are due now, including occurrences that could not be
        stored yet."""
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
        return self._deadlines.next_s(self._clock.since_boot())

    # --- repeating timers

    def _owe(self) -> None:
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
        if not self._owed:
            return
        for owed in self._owed.values():
            await self._store.take_occurrence(owed.again, owed.occurrence, owed.next_due)
            self._doubtful.discard(owed.again.id)
        self._owed.clear()
        await self.read()

    async def _plan(self, which: Callable[[TimerRecord], bool]) -> None:
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
