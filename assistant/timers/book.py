"""What a person may do with timers and the like, whichever process they speak to: all of it is in
the store."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Protocol

from assistant.domain.clock import Clock
from assistant.domain.records import TimerKind, TimerRecord, new_id
from assistant.timers.almanac import Almanac
from assistant.timers.deadlines import is_of_day
from assistant.timers.recurrence import Rule, rule_from

MOST = 24  # at once
SHORTEST_S, LONGEST_S = 1, 30 * 24 * 3600
LONGEST_NAME = 60  # characters
SNOOZE_S = 9 * 60  # where nobody says how long
RINGING: tuple[TimerKind, ...] = ("timer", "alarm", "reminder")  # the others do something


class Store(Protocol):
    """Where timers are kept (`assistant.journal.store.Store`). Each may raise StoreError."""

    async def add_timer(self, timer: TimerRecord) -> None:
        """Keep a running timer; on the disk when this returns."""
        ...

    async def timers(self) -> list[TimerRecord]:
        """Timers that run or ring, the first due first."""
        ...

    async def change_timer(self, timer: TimerRecord) -> bool:
        """Give it another end, or let it stand still or go on."""
        ...

    async def acknowledge_timer(self, timer_id: str) -> bool:
        """It has rung and was heard."""
        ...

    async def cancel_timer(self, timer_id: str) -> bool:
        """It is no longer wanted."""
        ...


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to happen: after so many seconds, or by a rule."""

    kind: TimerKind = "timer"
    seconds: float = 0.0  # from now on; 0: by the rule
    rule: Rule | None = None
    name: str = ""
    text: str = ""
    language: str = "en"
    payload: dict[str, Any] | None = None
    caller: str = ""


class TimerBook:
    """Starts, changes and ends timers. Whoever rings them finds the change in the store.

    Every method may raise StoreError. Those that change a timer say False where it has ended.
    """

    def __init__(self, store: Store, clock: Clock, almanac: Almanac) -> None:
        self._store = store
        self._clock = clock
        self._almanac = almanac

    async def all(self) -> list[TimerRecord]:
        """Those that run, stand still or ring, the first due first."""
        return await self._store.timers()

    async def start(self, seconds: float, name: str, language: str) -> TimerRecord:
        """Let a new timer run from now on."""
        timer = await self.set(Wanted(seconds=seconds, name=name, language=language))
        assert timer is not None
        return timer

    async def set(self, wanted: Wanted) -> TimerRecord | None:
        """Let a new one run. None: its moment never comes, or the sun's is not known."""
        now = self._clock.now()
        due: datetime | None = now + timedelta(seconds=wanted.seconds)
        if wanted.rule is not None:
            await self._almanac.look()
            due = self._almanac.next_after(wanted.rule, now)
        if due is None:
            return None
        timer = TimerRecord(
            id=new_id(now),
            due=due,
            duration_s=wanted.seconds,
            created_at=now,
            name=wanted.name[:LONGEST_NAME],
            language=wanted.language,
            kind=wanted.kind,
            rule=wanted.rule.as_json() if wanted.rule is not None else None,
            text=wanted.text,
            payload=wanted.payload,
            caller=wanted.caller,
        )
        await self._store.add_timer(timer)
        return timer

    async def add(self, timer: TimerRecord, seconds: float) -> TimerRecord | None:
        """More time, or with a negative number less; from now on where it rings. None: it has
        ended."""
        left_s = max(0.0, left_of(timer, self._clock.now()) + seconds)
        return await self._with(timer, left_s, paused=timer.paused_s is not None)

    async def pause(self, timer: TimerRecord) -> TimerRecord | None:
        """Let it stand still, until `resume`. None: it has ended."""
        return await self._with(timer, left_of(timer, self._clock.now()), paused=True)

    async def resume(self, timer: TimerRecord) -> TimerRecord | None:
        """Let it go on from where it stood. None: it has ended."""
        return await self._with(timer, left_of(timer, self._clock.now()), paused=False)

    async def end(self, timer: TimerRecord) -> bool:
        """It is not wanted, or was heard."""
        if is_over(timer, self._clock.now()):
            return await self._store.acknowledge_timer(timer.id)
        return await self._store.cancel_timer(timer.id)

    async def _with(self, timer: TimerRecord, left_s: float, *, paused: bool) -> TimerRecord | None:
        now = self._clock.now()
        # What has rung goes on as it was changed, whatever it was set by.
        rule = None if is_over(timer, now) else timer.rule
        due = now + timedelta(seconds=left_s)
        changed = replace(timer, due=due, paused_s=left_s if paused else None, rule=rule)
        return changed if await self._store.change_timer(changed) else None


def left_of(timer: TimerRecord, now: datetime) -> float:
    """Seconds that it still has; 0 where it rings."""
    if timer.paused_s is not None:
        return timer.paused_s
    return max(0.0, (timer.due - now).total_seconds())


def is_over(timer: TimerRecord, now: datetime) -> bool:
    """Whether its time has come, so that it rings or soon will."""
    return timer.paused_s is None and timer.due <= now and not comes_again(timer)


def comes_again(timer: TimerRecord) -> bool:
    """Whether it goes on to another moment when its own has come."""
    return timer.rule is not None and rule_from(timer.rule).repeats


def is_occurrence(timer: TimerRecord) -> bool:
    """Whether it is the one occurrence of something that comes again."""
    return is_of_day(timer) and timer.rule is None
