"""Monitor of what comes due, though the wall clock may be set at any moment.

A timer's end is kept as wall time, because only that outlasts a restart. While we run, the time
that has really passed (`Clock.since_boot`) says more: a box without a clock of its own may be hours
off until it has asked the network, and the clock then leaps.

- A timer that we saw begin counts real time; a leap changes what is kept, not when it rings.
- One from before our start has nothing but its wall time: a leap ahead brings it nearer. A leap
  back does not put it off: too early is less bad than too late.
- What was set for a time of day comes at that time, by whatever the clock shows.
- Whether one was due before our start is judged only once the clock can be believed.
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
    """One trouble of each kind at a time."""

    def __init__(self) -> None:
        self._now: dict[str, str] = {}

    def complain(self, kind: str, trouble: str) -> None:
        """It does not work; logged unless that was said already."""
        if self._now.get(kind) != trouble:
            _log.error("%s", trouble)
        self._now[kind] = trouble

    def over(self, kind: str) -> bool:
        """It works; whether it did not before."""
        return self._now.pop(kind, None) is not None

    async def safely(self, work: Awaitable[Any]) -> bool:
        """Return True where it worked; a store that fails now may work later."""
        try:
            await work
        except StoreError as error:
            self.complain("store", f"timers cannot be read or kept: {error}")
            return False
        return True


LEAP_S = 1.0  # the wall clock moved by more than this besides what passed: it was set


@dataclass(slots=True)
class _Armed:
    record: TimerRecord
    at_s: float  # of `since_boot`, when it is due
    inherited: bool  # it is from before our start
    missed: bool  # and was due then, by the clock of that moment

    def follow_wall_clock(self, now: datetime, passed_s: float, *, judged: bool) -> bool:
        """Take in that the wall clock was set; True where `record.due` has to be written anew."""
        by_wall = passed_s + (self.record.due - now).total_seconds()
        if self.missed and not judged:
            self.at_s, self.missed = by_wall, by_wall <= passed_s
            return False
        if self.at_s <= passed_s:
            return False  # it was due; the clock of that moment told when
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
        return [
            armed.record
            for armed in self._armed.values()
            if armed.follow_wall_clock(now, passed_s, judged=judged)
        ]

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
        """True where it came due while nobody was there to ring."""
        return self._armed[timer_id].missed

    def next_s(self, passed_s: float) -> float | None:
        """Seconds until the next one is due, None where none is to come."""
        coming = [armed.at_s for armed in self._armed.values() if armed.at_s > passed_s]
        return min(coming) - passed_s if coming else None


# What has come due, in the one process that stays: the store is read, clocks are looked at, and of
# what comes again one occurrence after the other is taken out.


READ_S = 30.0  # between two readings at the latest: two writes may look like one
BELIEVED_S = 60.0  # since the machine started: then its clock is as right as it will be
_NEARER_S = 60.0  # by which the sun must have moved to be worth a write
_SET, _CHANGED, _ENDED = "set", "changed", "ended"


@dataclass(frozen=True, slots=True)
class Due:
    """Something whose time has come."""

    timer: TimerRecord
    late_s: float  # for so long
    missed: bool  # it came due while nobody was there


@dataclass(frozen=True, slots=True)
class _Owed:
    """An occurrence that is not in the store yet."""

    again: TimerRecord
    occurrence: TimerRecord
    next_due: datetime | None
    missed: bool


class TimerMonitor:
    """Knows the timers that run, and which are due.

    What comes again never is: its occurrence is, under an id of its own. It is due from its moment
    on even while the store fails, and goes there once with the next moment of what it is of, so
    that no occurrence comes twice. Of several that were missed it is the last.
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
        """`synchronised`: whether the machine's clock is known to be right. `tell`: a timer was
        "set", "changed" or has "ended", in whichever process."""
        self._store = store
        self._clock = clock
        self._almanac = almanac
        self._synchronised = synchronised
        self._complaints = complaints
        self._tell = tell
        self._deadlines = Deadlines()
        self._believed = False  # the clock
        self._stamp: object = None
        self._read_s: float | None = None  # when the store was read last
        self._owed: dict[str, _Owed] = {}  # by the id of what comes again
        self._doubtful: set[str] = set()  # set here by a clock that may have been wrong
        self.timers: tuple[TimerRecord, ...] = ()  # as last read

    async def look(self) -> None:
        """Take in what has changed. Raises StoreError; `due` is right all the same."""
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
            self._stamp = stamp  # from before the reading: a later write is seen next time
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
        """Timers that are due now, the first due first."""
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
        """Seconds until the next one is due, None where none is to come."""
        return self._deadlines.next_s(self._clock.since_boot())

    # --- what comes again

    def _owe(self) -> None:
        """An occurrence for each whose moment has come."""
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
        """Bring what is owed into the store, and read it from there."""
        if not self._owed:
            return
        for owed in self._owed.values():
            await self._store.take_occurrence(owed.again, owed.occurrence, owed.next_due)
            self._doubtful.discard(owed.again.id)
        self._owed.clear()
        await self.read()

    async def _plan(self, which: Callable[[TimerRecord], bool]) -> None:
        """The clock or the sun tells something else than before: what is to come is set anew."""
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
