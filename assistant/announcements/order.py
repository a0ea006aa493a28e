"""Which announcement comes first, and which is left out. Pure."""

from collections.abc import Iterable
from datetime import datetime
from enum import IntEnum

from assistant.domain.records import AnnouncementRecord


class Priority(IntEnum):
    """How much it matters. `high` goes before what waits; it cuts nothing that is being said."""

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
