"""Which timer is meant by a name or by the time that it was set for. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from assistant.journal.records import TimerRecord
from assistant.tools.resolve import visible


@dataclass(frozen=True, slots=True)
class Which:
    """What was said about the timer; nothing at all is fine too."""

    name: str = ""  # its name or id
    duration_s: float | None = None  # what it was set for

    def __bool__(self) -> bool:
        return bool(self.name) or self.duration_s is not None


def choose(timers: Sequence[TimerRecord], which: Which) -> list[TimerRecord]:
    """Those that may be meant, all where nothing was said. One: it is that one."""
    meant = list(timers)
    if which.duration_s is not None:
        meant = [timer for timer in meant if abs(timer.duration_s - which.duration_s) < 1]
    return _called(which.name, meant) if which.name else meant


def _called(said: str, timers: list[TimerRecord]) -> list[TimerRecord]:
    """By id, else by the whole name, else by words of it."""
    wanted = visible(said)
    for fits in (
        lambda timer: timer.id == said,
        lambda timer: visible(timer.name) == wanted,
        lambda timer: _alike(wanted, visible(timer.name)),
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
