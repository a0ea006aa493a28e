"""What waits to be announced. Pure: no clock, no store, no sound."""

from collections.abc import Iterable
from datetime import datetime
from enum import IntEnum

from assistant.domain.records import AnnouncementRecord


class Priority(IntEnum):
    """Urgency of an announcement. `high` goes before what waits; it does not interrupt."""

    LOW = 0
    NORMAL = 1
    HIGH = 2


def priority_of(record: AnnouncementRecord) -> Priority:
    """As its option `priority` says: "low", "normal" or "high"; normal where it says nothing."""
    named = record.options.get("priority")
    return Priority.__members__.get(str(named).upper(), Priority.NORMAL)


def first(waiting: Iterable[AnnouncementRecord]) -> AnnouncementRecord | None:
    """The most important, and of these the oldest; of two equally old ones the first given."""
    return min(waiting, key=lambda one: (-priority_of(one), one.created_at), default=None)


def left_out(waiting: Iterable[AnnouncementRecord], most: int) -> list[AnnouncementRecord]:
    """So that `most` are left: the least important, and of these the oldest."""
    ranked = sorted(waiting, key=lambda one: (priority_of(one), one.created_at))
    return ranked[: max(0, len(ranked) - most)]


def is_news(record: AnnouncementRecord, now: datetime) -> bool:
    """It has not expired."""
    return record.expires_at is None or now < record.expires_at


UNKEPT = 16  # that wait at most, of those that are not in the store
KEPT = 64  # of those that are


class AnnouncementQueue:
    """Held ones and kept ones, by id."""

    def __init__(self) -> None:
        self._waiting: dict[str, AnnouncementRecord] = {}
        self._kept: set[str] = set()  # of these, what the store has

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, name: str) -> bool:
        return name in self._waiting

    def put(self, records: Iterable[AnnouncementRecord], *, kept: bool) -> list[AnnouncementRecord]:
        """They wait now. What is left out for them: of the held or the kept ones, as they are,
        the least important beyond UNKEPT or KEPT, and of these the oldest."""
        for record in records:
            self._waiting[record.id] = record
            if kept:
                self._kept.add(record.id)
        alike = [one for one in self._waiting.values() if (one.id in self._kept) is kept]
        over = left_out(alike, KEPT if kept else UNKEPT)
        for one in over:
            self._remove(one)
        return over

    def take(self) -> tuple[AnnouncementRecord, bool] | None:
        """What comes next, which waits no more, and whether the store has it."""
        record = first(self._waiting.values())
        if record is None:
            return None
        return record, self._remove(record)

    def take_old(self, now: datetime) -> list[tuple[AnnouncementRecord, bool]]:
        """What has expired, which waits no more, each with whether the store has it."""
        old = [one for one in self._waiting.values() if not is_news(one, now)]
        return [(one, self._remove(one)) for one in old]

    def _remove(self, record: AnnouncementRecord) -> bool:
        """Whether the store has it."""
        del self._waiting[record.id]
        kept = record.id in self._kept
        self._kept.discard(record.id)
        return kept
