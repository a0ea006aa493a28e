"""Which timer, alarm or the like is meant by its kind, name, words or time. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import time, tzinfo

from assistant.domain.records import TimerKind, TimerRecord
from assistant.tools.resolve import visible


@dataclass(frozen=True, slots=True)
class Which:
    """What was said about it; nothing at all is fine too."""

    name: str = ""  # its name, words of its text, or its id
    duration_s: float | None = None  # what it was set for
    kind: TimerKind | None = None
    at: time | None = None  # of the day, at which it comes

    def __bool__(self) -> bool:
        return bool(self.name or self.kind or self.at) or self.duration_s is not None


def choose(timers: Sequence[TimerRecord], which: Which, zone: tzinfo) -> list[TimerRecord]:
    """Those that may be meant, all where nothing was said. One: it is that one."""
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
    """By id, else by the whole name, else by words of it, else by words of its text."""
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
    """Does every word of the shorter begin a word of the longer, or the other way round?

    "the pasta" is "pasta", "egg" is "eggs"; "tea" is not "steak".
    """
    fewer, more = sorted((said.split(), name.split()), key=len)
    return bool(fewer) and all(
        any(one.startswith(other) or other.startswith(one) for other in more) for one in fewer
    )
