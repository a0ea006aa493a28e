"""Timers and the like for programs: HTTP, MQTT, MCP and Home Assistant ask here."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from assistant.domain.clock import Clock
from assistant.domain.records import StoreError
from assistant.timers.book import LONGEST_NAME, MOST, RINGING, TimerBook, Wanted, is_over, row_of
from assistant.timers.recurrence import WEEKDAYS, Almanac, Rule, SunEvent
from integrations.cleaning import one_line
from integrations.web.box import NotKept, NotPossible
from integrations.web.requests import LONGEST_TEXT, TimerRequest

if TYPE_CHECKING:
    from assistant.timers.keeper import TimerService


# What is asked for by a time of day, the sun or days, as a rule: the same for people's words, for
# models and for programs. Pure.


TODAY, TOMORROW = "today", "tomorrow"


def rule_of(
    now: datetime,
    *,
    at: str = "",
    sun: SunEvent | None = None,
    offset_min: int = 0,
    days: Sequence[str] = (),
    dates: Sequence[str] = (),
) -> Rule | None:
    """The rule; None where there is no time in it, or one that there is not. `now` on the clock of
    the house; `days` as in `recurrence.WEEKDAYS`; `dates` ISO 8601, "today" or "tomorrow"."""
    moment = time_of(at)
    if (moment is None) is (sun is None):
        return None
    weekdays = tuple(sorted({WEEKDAYS.index(day) + 1 for day in days}))
    try:
        when = tuple(sorted({_date_of(text, now) for text in dates}))
    except ValueError:
        return None
    return Rule(moment, sun, offset_min if sun else 0, weekdays, when)


def time_of(text: str) -> time | None:
    """ "07:30", "7:30" or "7" as a time of day; None for anything else."""
    found = re.fullmatch(r"(\d{1,2})(?:[:.](\d{2}))?(?::\d{2})?", text.strip())
    if found is None or int(found[1]) > 23 or int(found[2] or 0) > 59:
        return None
    return time(int(found[1]), int(found[2] or 0))


def _date_of(text: str, now: datetime) -> date:
    """Raises ValueError."""
    if text in (TODAY, TOMORROW):
        return now.date() + timedelta(days=text == TOMORROW)
    return date.fromisoformat(text)


_SUNLESS = "Home Assistant does not tell when the sun rises and sets; give `at` instead."


class TimerDesk:
    """What programs may see of timers and do with them. What is to be done later is a person's
    alone: programs have automations for that."""

    def __init__(
        self,
        book: TimerBook,
        keeper: "TimerService",
        almanac: Almanac,
        clock: Clock,
        language_of: Callable[[str], str],
    ) -> None:
        """`language_of`: the words of one that names no language."""
        self._book = book
        self._keeper = keeper
        self._almanac = almanac
        self._clock = clock
        self._language_of = language_of

    async def rows(self) -> list[dict[str, Any]]:
        """All that run, stand still or ring, the first due first. Raises NotKept."""
        try:
            timers = await self._book.all()
        except StoreError as error:
            raise NotKept(f"The timers cannot be read: {error}") from error
        now = self._now()
        return [row_of(timer, now) for timer in timers]

    async def set(self, wanted: TimerRequest, caller: str) -> dict[str, Any]:
        """Set one; its row. Raises NotPossible and NotKept."""
        try:
            if len(await self._book.all()) >= MOST:
                raise NotPossible("There are too many timers already; end one first.")
            timer = await self._book.set(self._wanted(wanted, caller))
        except StoreError as error:
            raise NotKept(f"It is not set, since it cannot be kept: {error}") from error
        if timer is None:
            raise NotPossible(_SUNLESS if wanted.sun else "That moment is over already.")
        return row_of(timer, self._now())

    async def end(self, timer_id: str) -> bool:
        """End one, whether it rings or not; False: there is none of that id. Raises NotKept."""
        try:
            for timer in await self._book.all():
                if timer.id == timer_id:
                    return await self._book.end(timer)
        except StoreError as error:
            raise NotKept(f"It is not ended, since that cannot be kept: {error}") from error
        return False

    def next(self) -> tuple[datetime | None, int]:
        """When the next one rings, if any will; and how many there are that ring, run or stand
        still."""
        now = self._now()
        ringing = [timer for timer in self._keeper.timers if timer.kind in RINGING]
        coming = [
            timer.due for timer in ringing if timer.paused_s is None and not is_over(timer, now)
        ]
        return min(coming).astimezone(now.tzinfo) if coming else None, len(ringing)

    def follow(self, tell: Callable[[], None]) -> Callable[[], None]:
        """Have it told when `next` may have changed; what is returned ends that."""
        return self._keeper.watch(tell)

    def _now(self) -> datetime:
        return self._clock.now().astimezone(self._almanac.zone)

    def _wanted(self, wanted: TimerRequest, caller: str) -> Wanted:
        rule, name, text = None, one_line(wanted.name, LONGEST_NAME), _plain(wanted.text)
        if (wanted.seconds, wanted.at, wanted.sun).count(None) != 2:
            raise NotPossible("Give one of `seconds`, `at` and `sun`.")
        if wanted.kind == "timer" and wanted.seconds is None:
            raise NotPossible("A timer takes `seconds`; for a time of day set an alarm.")
        if wanted.kind in ("reminder", "request") and not text:
            raise NotPossible(f"A {wanted.kind} takes `text`.")
        if wanted.repeat is not None and wanted.seconds is not None:
            raise NotPossible("`repeat` goes with `at` or `sun`.")
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
        """An ISO 8601 date and time as a time of day on that date."""
        try:
            moment = datetime.fromisoformat(at)
        except ValueError:
            return at, dates
        if len(at) <= len("07:30:00"):  # it has no date
            return at, dates
        if moment.tzinfo is not None:
            moment = moment.astimezone(self._almanac.zone)
        return f"{moment:%H:%M}", (f"{moment:%Y-%m-%d}",)


def _plain(text: str) -> str:
    """On one line, without the full stop that the sentence around it has."""
    return one_line(text, LONGEST_TEXT).strip(" .")
