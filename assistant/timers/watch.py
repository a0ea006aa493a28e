"""What has come due, in the one process that stays: the store is read, clocks are looked at, and of
what comes again one occurrence after the other is taken out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import Any, Protocol

from assistant.domain.clock import Clock
from assistant.domain.records import SmallValues, TimerRecord
from assistant.speech.catalogue import Catalogue
from assistant.timers.book import Complaints, TimerBookStore, comes_again, is_occurrence
from assistant.timers.deadlines import Deadlines
from assistant.timers.recurrence import Almanac, Rule, rule_from
from assistant.timers.words import missed_of, unheard_of

# What rang and nobody heard, and what was missed altogether: told once, when somebody is there.


_NAME = "timers.unheard"
_MOST = 5  # the newest; more is no news


class SaysUnheard(Protocol):
    """Whoever says it."""

    def announce(self, text: str, language: str) -> None:
        """Say it once the conversation rests."""
        ...

    async def rest(self) -> None:
        """Return when no turn is under way."""
        ...


class Unheard:
    """Keeps them over a restart. All methods may raise StoreError."""

    def __init__(
        self,
        store: SmallValues,
        speaker: SaysUnheard,
        catalogue: Catalogue,
        clock: Clock,
        zone: tzinfo,
    ) -> None:
        self._store = store
        self._speaker = speaker
        self._catalogue = catalogue
        self._clock = clock
        self._zone = zone
        self._any = True  # as far as we know; an earlier process may have left some

    async def add(self, timer: TimerRecord, *, rang: bool = True) -> None:
        """It has rung long enough; or it has not even begun, being too late. Once for each id."""
        rows = await self._store.kept(_NAME) or []
        rows = [row for row in rows if row["id"] != timer.id]
        await self._store.keep(_NAME, [*rows, _row(timer, rang)][-_MOST:])
        self._any = True

    async def tell(self) -> None:
        """Say it behind the turn under way, and never again."""
        if not self._any:
            return
        self._any = False
        rows = await self._store.kept(_NAME)
        if not rows:
            return
        await self._speaker.rest()
        await self._store.drop_kept(_NAME)
        for row in rows:
            timer, words = _timer(row), unheard_of if row.get("rang", True) else missed_of
            told = words(timer, self._clock.now().astimezone(self._zone), self._catalogue)
            self._speaker.announce(told, self._catalogue.own(timer.language))


def _row(timer: TimerRecord, rang: bool) -> dict[str, Any]:
    return {
        "id": timer.id,
        "due": timer.due.isoformat(),
        "duration_s": timer.duration_s,
        "name": timer.name,
        "language": timer.language,
        "kind": timer.kind,
        "text": timer.text,
        "rang": rang,
    }


def _timer(row: dict[str, Any]) -> TimerRecord:
    due = datetime.fromisoformat(row["due"])
    return TimerRecord(
        row["id"],
        due,
        row["duration_s"],
        due,
        row["name"],
        row["language"],
        kind=row.get("kind", "timer"),  # an earlier version of Hearth knew timers alone
        text=row.get("text", ""),
    )


READ_S = 30.0  # between two readings at the latest: two writes may look like one
BELIEVED_S = 60.0  # since the machine started: then its clock is as right as it will be
_NEARER_S = 60.0  # by which the sun must have moved to be worth a write
_SET, _CHANGED, _ENDED = "set", "changed", "ended"


class WatchStore(TimerBookStore, Protocol):
    """What is needed of the store."""

    def stamp(self) -> object:
        """Something else than before once any process has written."""
        ...

    async def take_occurrence(
        self, timer: TimerRecord, occurrence: TimerRecord, due: datetime | None
    ) -> bool:
        """One occurrence becomes a timer of its own, and `timer` goes on to `due`, if to any."""
        ...


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


class TimerWatch:
    """Knows the timers that run, and which are due.

    What comes again never is: its occurrence is, under an id of its own. It is due from its moment
    on even while the store fails, and goes there once with the next moment of what it is of, so
    that no occurrence comes twice. Of several that were missed it is the last.
    """

    def __init__(
        self,
        store: WatchStore,
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
        """What is due now, the first due first."""
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
