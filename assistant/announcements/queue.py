"""The queue of waiting announcements: their priority, order and limits. The queue does no I/O."""

from collections.abc import Iterable
from datetime import datetime
from enum import IntEnum

from assistant.domain.records import AnnouncementRecord


class Priority(IntEnum):
    """The urgency of an announcement. Even `HIGH` interrupts nothing."""

    LOW = 0
    NORMAL = 1
    HIGH = 2


def priority_of(record: AnnouncementRecord) -> Priority:
    """Return the priority in the record's options, or NORMAL if they don't name one."""
    named = record.options.get("priority")
    return Priority.__members__.get(str(named).upper(), Priority.NORMAL)


def first(waiting: Iterable[AnnouncementRecord]) -> AnnouncementRecord | None:
    """Return the oldest of the most urgent announcements, or None if `waiting` is empty."""
    return min(waiting, key=lambda one: (-priority_of(one), one.created_at), default=None)


def left_out(waiting: Iterable[AnnouncementRecord], most: int) -> list[AnnouncementRecord]:
    """Return the announcements to drop so that at most `most` remain: the least urgent first, and
    among these the oldest first."""
    ranked = sorted(waiting, key=lambda one: (priority_of(one), one.created_at))
    return ranked[: max(0, len(ranked) - most)]


def is_news(record: AnnouncementRecord, now: datetime) -> bool:
    return record.expires_at is None or now < record.expires_at


UNKEPT = 16  # most waiting announcements that are not in the store
KEPT = 64  # most waiting announcements that are in the store


class AnnouncementQueue:
    """Waiting announcements by id. Some are only in memory, and others are also in the store."""

    def __init__(self) -> None:
        self._waiting: dict[str, AnnouncementRecord] = {}
        self._kept: set[str] = set()  # ids of those in the store

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, name: str) -> bool:
        return name in self._waiting

    def put(self, records: Iterable[AnnouncementRecord], *, kept: bool) -> list[AnnouncementRecord]:
        """Add announcements, and return those that were dropped to make room. `kept` is True if the
        announcements are in the store."""
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
        """Remove and return the next announcement, and True if it is in the store. Return None if
        the queue is empty."""
        record = first(self._waiting.values())
        if record is None:
            return None
        return record, self._remove(record)

    def take_old(self, now: datetime) -> list[tuple[AnnouncementRecord, bool]]:
        """Remove and return the expired announcements, each with True if it is in the store."""
        old = [one for one in self._waiting.values() if not is_news(one, now)]
        return [(one, self._remove(one)) for one in old]

    def withdraw(self, name: str) -> AnnouncementRecord | None:
        """Remove and return the announcement with this id, or return None if it is not waiting."""
        record = self._waiting.get(name)
        if record is not None:
            self._remove(record)
        return record

    def _remove(self, record: AnnouncementRecord) -> bool:
        del self._waiting[record.id]
        kept = record.id in self._kept
        self._kept.discard(record.id)
        return kept
