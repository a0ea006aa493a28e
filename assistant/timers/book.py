"""Stored timers: find, set, change and cancel them from any process."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta, tzinfo
from typing import TYPE_CHECKING, Any

from assistant.domain.clock import Clock
from assistant.domain.records import StoreError, TimerKind, TimerRecord, new_id
from assistant.journal.store import Store
from assistant.timers.recurrence import Almanac, Rule, rule_from, rule_of
from assistant.tools.house.targets import visible
from integrations.cleaning import one_line
from integrations.web.box import NotKept, NotPossible
from integrations.web.requests import LONGEST_TEXT, TimerRequest

if TYPE_CHECKING:
    from assistant.timers.service import TimerService


# Timers as JSON, for models and programs.


def row_of(timer: TimerRecord, now: datetime) -> dict[str, Any]:
    """Return a timer as JSON-compatible data for models and programs. Times are ISO 8601, in the
    time zone of `now`."""
    return {
        "id": timer.id,
        "kind": timer.kind,
        "name": timer.name,
        "text": timer.text,
        "due": timer.due.astimezone(now.tzinfo).isoformat(timespec="seconds"),
        "set_for_s": round(timer.duration_s),
        "left_s": round(left_of(timer, now)),
        "state": state_of(timer, now),
        "repeat": _repeat(timer),
        "caller": timer.caller,
    }


def state_of(timer: TimerRecord, now: datetime) -> str:
    """Return "runs", "paused" or "rings"."""
    if timer.paused_s is not None:
        return "paused"
    return "rings" if is_over(timer, now) else "runs"


def _repeat(timer: TimerRecord) -> dict[str, Any] | None:
    rule = timer.rule
    if rule is None or not (rule["weekdays"] or len(rule["dates"]) > 1):
        return None
    return {"weekdays": rule["weekdays"], "dates": rule["dates"]}


@dataclass(frozen=True, slots=True)
class Which:
    """Criteria for finding a timer. An empty `Which` matches every timer."""

    name: str = ""  # name, words of the text, or id
    duration_s: float | None = None  # the duration that the timer was set for
    kind: TimerKind | None = None
    at: time | None = None  # time of day at which it is due

    def __bool__(self) -> bool:
        return bool(self.name or self.kind or self.at) or self.duration_s is not None


def choose(timers: Sequence[TimerRecord], which: Which, zone: tzinfo) -> list[TimerRecord]:
    meant = list(timers)
    if which.kind is not None:
        meant = [timer for timer in meant if timer.kind == which.kind]
    if which.duration_s is not None:
        meant = [timer for timer in meant if abs(timer.duration_s - which.duration_s) < 1]
    if which.at is not None:
        meant = [timer for timer in meant if _time_of(timer, zone) == which.at]
    return _called(which.name, meant) if which.name else meant


def _time_of(timer: TimerRecord, zone: tzinfo) -> time:
    return timer.due.astimezone(zone).time().replace(second=0, microsecond=0)


def _called(said: str, timers: list[TimerRecord]) -> list[TimerRecord]:
    wanted = visible(said)
    for fits in (
        lambda timer: timer.id == said,
        lambda timer: visible(timer.name) == wanted,
        lambda timer: _alike(wanted, visible(timer.name)),
        lambda timer: _alike(wanted, visible(timer.text)),
    ):
        found = [timer for timer in timers if fits(timer)]
        if found:
            return found
    return []


def _alike(said: str, name: str) -> bool:
    """Return True if every word of the shorter phrase matches a word of the longer one by prefix:
    "egg" matches "eggs", but "tea" does not match "steak"."""
    fewer, more = sorted((said.split(), name.split()), key=len)
    return bool(fewer) and all(
        any(one.startswith(other) or other.startswith(one) for other in more) for one in fewer
    )


MOST = 24  # timers at the same time
SHORTEST_S, LONGEST_S = 1, 30 * 24 * 3600
LONGEST_NAME = 60  # characters
SNOOZE_S = 9 * 60  # default snooze
RINGING: tuple[TimerKind, ...] = ("timer", "alarm", "reminder")  # the other kinds run something


@dataclass(frozen=True, slots=True)
class Wanted:
    kind: TimerKind = "timer"
    seconds: float = 0.0  # from now; 0 if there is a rule
    rule: Rule | None = None
    name: str = ""
    text: str = ""
    language: str = "en"
    payload: dict[str, Any] | None = None
    caller: str = ""


class TimerBook:
    """Sets, changes and cancels timers in the store, where the ringing process picks them up.

    Every method can raise StoreError. `add`, `pause` and `resume` return None if the timer has
    already ended.
    """

    def __init__(self, store: Store, clock: Clock, almanac: Almanac) -> None:
        self._store = store
        self._clock = clock
        self._almanac = almanac

    async def all(self) -> list[TimerRecord]:
        return await self._store.timers()

    async def start(self, seconds: float, name: str, language: str) -> TimerRecord:
        timer = await self.set(Wanted(seconds=seconds, name=name, language=language))
        assert timer is not None
        return timer

    async def set(self, wanted: Wanted) -> TimerRecord | None:
        """Set a timer. Returns None if its rule has no future time, or needs a sunrise or sunset
        that is unknown."""
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
        """Extend the time left by `seconds`, or shorten it if `seconds` is negative. A timer that
        is already ringing runs for another `seconds` from now."""
        left_s = max(0.0, left_of(timer, self._clock.now()) + seconds)
        return await self._with(timer, left_s, paused=timer.paused_s is not None)

    async def pause(self, timer: TimerRecord) -> TimerRecord | None:
        return await self._with(timer, left_of(timer, self._clock.now()), paused=True)

    async def resume(self, timer: TimerRecord) -> TimerRecord | None:
        return await self._with(timer, left_of(timer, self._clock.now()), paused=False)

    async def end(self, timer: TimerRecord) -> bool:
        """Cancel a timer, or acknowledge it if it is ringing. Returns False if it has already
        ended."""
        if is_over(timer, self._clock.now()):
            return await self._store.acknowledge_timer(timer.id)
        return await self._store.cancel_timer(timer.id)

    async def _with(self, timer: TimerRecord, left_s: float, *, paused: bool) -> TimerRecord | None:
        now = self._clock.now()
        # Drop the rule of a timer that has rung, so that a snoozed one rings once more.
        rule = None if is_over(timer, now) else timer.rule
        due = now + timedelta(seconds=left_s)
        changed = replace(timer, due=due, paused_s=left_s if paused else None, rule=rule)
        return changed if await self._store.change_timer(changed) else None


def left_of(timer: TimerRecord, now: datetime) -> float:
    """Return the seconds left, or 0 if the timer is due."""
    if timer.paused_s is not None:
        return timer.paused_s
    return max(0.0, (timer.due - now).total_seconds())


def is_over(timer: TimerRecord, now: datetime) -> bool:
    """Return True if the timer is due and doesn't repeat: it is ringing or about to ring."""
    return timer.paused_s is None and timer.due <= now and not comes_again(timer)


def comes_again(timer: TimerRecord) -> bool:
    return timer.rule is not None and rule_from(timer.rule).repeats


def is_occurrence(timer: TimerRecord) -> bool:
    """Return True for a single occurrence of a repeating timer, or for a snoozed alarm."""
    return is_of_day(timer) and timer.rule is None


# Timers for programs: the interface behind HTTP, MQTT, MCP and Home Assistant.


_SUNLESS = "Home Assistant does not report sunrise and sunset; use `at` instead."


class ProgramTimers:
    """Timers as programs see and change them. Programs can't schedule commands, because they have
    automations for that."""

    def __init__(
        self,
        book: TimerBook,
        keeper: "TimerService",
        almanac: Almanac,
        clock: Clock,
        language_of: Callable[[str], str],
    ) -> None:
        """`language_of` guesses a text's language when the request specifies none."""
        self._book = book
        self._keeper = keeper
        self._almanac = almanac
        self._clock = clock
        self._language_of = language_of

    async def rows(self) -> list[dict[str, Any]]:
        """Return all running, paused and ringing timers, ordered by due time. Raises NotKept."""
        try:
            timers = await self._book.all()
        except StoreError as error:
            raise NotKept(f"The timers cannot be read: {error}") from error
        now = self._now()
        return [row_of(timer, now) for timer in timers]

    async def set(self, wanted: TimerRequest, caller: str) -> dict[str, Any]:
        """Set a timer and return it as `row_of` does. Raises NotPossible and NotKept."""
        try:
            if len(await self._book.all()) >= MOST:
                raise NotPossible("There are too many timers already; cancel one first.")
            timer = await self._book.set(self._wanted(wanted, caller))
        except StoreError as error:
            raise NotKept(f"Not set, because it cannot be saved: {error}") from error
        if timer is None:
            raise NotPossible(_SUNLESS if wanted.sun else "That time is already past.")
        return row_of(timer, self._now())

    async def end(self, timer_id: str) -> bool:
        """Cancel or silence a timer. Returns False if there is no timer with that id. Raises
        NotKept."""
        try:
            for timer in await self._book.all():
                if timer.id == timer_id:
                    return await self._book.end(timer)
        except StoreError as error:
            raise NotKept(f"Not cancelled, because that cannot be saved: {error}") from error
        return False

    async def snooze(self, timer_id: str, seconds: float) -> dict[str, Any] | None:
        """Silence a ringing timer, which rings again in `seconds`, and return it as `row_of` does.
        Returns None if there is no timer with that id. Raises NotPossible if it isn't ringing, and
        NotKept."""
        try:
            for timer in await self._book.all():
                if timer.id != timer_id:
                    continue
                if not is_over(timer, self._now()):
                    raise NotPossible("That timer isn't ringing.")
                later = await self._book.add(timer, seconds)
                return None if later is None else row_of(later, self._now())
        except StoreError as error:
            raise NotKept(f"Not snoozed, because that cannot be saved: {error}") from error
        return None

    def next(self) -> tuple[datetime | None, int]:
        """Return the time at which the next timer will ring, or None, and the number of timers,
        alarms and reminders that are set."""
        now = self._now()
        ringing = [timer for timer in self._keeper.timers if timer.kind in RINGING]
        coming = [
            timer.due for timer in ringing if timer.paused_s is None and not is_over(timer, now)
        ]
        return min(coming).astimezone(now.tzinfo) if coming else None, len(ringing)

    def follow(self, tell: Callable[[], None]) -> Callable[[], None]:
        """Call `tell` whenever the result of `next` may have changed. Returns a function that
        unregisters `tell`."""
        return self._keeper.watch(tell)

    def _now(self) -> datetime:
        return self._clock.now().astimezone(self._almanac.zone)

    def _wanted(self, wanted: TimerRequest, caller: str) -> Wanted:
        rule, name, text = None, one_line(wanted.name, LONGEST_NAME), _plain(wanted.text)
        if (wanted.seconds, wanted.at, wanted.sun).count(None) != 2:
            raise NotPossible("Give one of `seconds`, `at` and `sun`.")
        if wanted.kind == "timer" and wanted.seconds is None:
            raise NotPossible("A timer needs `seconds`; for a time of day set an alarm.")
        if wanted.kind in ("reminder", "request") and not text:
            raise NotPossible(f"A {wanted.kind} needs `text`.")
        if wanted.repeat is not None and wanted.seconds is not None:
            raise NotPossible("`repeat` needs `at` or `sun`.")
        if wanted.seconds is None:
            repeat: Mapping[str, Any] = wanted.repeat.model_dump() if wanted.repeat else {}
            days, dates = repeat.get("weekdays", ()), repeat.get("dates", ())
            if wanted.repeat is not None and not days and not dates:
                days = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
            at, dates = self._moment(wanted.at or "", dates)
            rule = rule_of(
                self._now(),
                at=at,
                sun=wanted.sun,
                offset_min=wanted.offset_min,
                days=days,
                dates=dates,
            )
            if rule is None:
                raise NotPossible("`at` must be a time of day such as 07:30, or an ISO 8601 time.")
        return Wanted(
            wanted.kind,
            wanted.seconds or 0.0,
            rule,
            name,
            text,
            wanted.language or self._language_of(text or name),
            caller=caller,
        )

    def _moment(self, at: str, dates: Sequence[str]) -> tuple[str, Sequence[str]]:
        """Split an ISO 8601 date and time into the local time of day and a tuple with the date.
        Anything else is returned unchanged."""
        try:
            moment = datetime.fromisoformat(at)
        except ValueError:
            return at, dates
        if len(at) <= len("07:30:00"):  # a time without a date
            return at, dates
        if moment.tzinfo is not None:
            moment = moment.astimezone(self._almanac.zone)
        return f"{moment:%H:%M}", (f"{moment:%Y-%m-%d}",)


def _plain(text: str) -> str:
    return one_line(text, LONGEST_TEXT).strip(" .")


def is_of_day(timer: TimerRecord) -> bool:
    return timer.duration_s == 0
