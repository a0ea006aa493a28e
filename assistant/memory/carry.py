"""The memory as rows of JSON, to be carried to another machine."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from assistant.domain.records import MemoryRecord
from assistant.memory.facts import MAX_KEYWORDS, MAX_LENGTH, MAX_NAME
from assistant.memory.tools import Keeping
from integrations.cleaning import one_line

_MAX_ID = 64
_TEXTS = {
    "id": _MAX_ID,
    "text": MAX_LENGTH,
    "created_at": 64,
    "who": MAX_NAME,
    "about": MAX_NAME,
    "language": 35,  # BCP 47's longest, as RFC 5646 reckons
    "english": MAX_KEYWORDS,
    "spanish": MAX_KEYWORDS,
}
_NEEDED = ("id", "text", "created_at")


async def export_rows(store: Keeping) -> list[dict[str, Any]]:
    """All facts, oldest first, with everything that is known of each. Raises StoreError."""
    return [
        {
            "id": fact.id,
            "text": fact.text,
            "created_at": fact.created_at.isoformat(),
            "who": fact.who,
            "about": fact.about,
            "language": fact.language,
            "sensitive": fact.sensitive,
            "english": fact.english,
            "spanish": fact.spanish,
        }
        for fact in await store.all()
    ]


def checked_rows(rows: object) -> tuple[MemoryRecord, ...]:
    """The facts of an export. Raises ValueError, with the number of the row that is at fault."""
    if not isinstance(rows, Sequence) or isinstance(rows, str | bytes):
        raise ValueError("The memory is a list of facts")
    facts = tuple(_fact(row, number) for number, row in enumerate(rows, start=1))
    if len({fact.id for fact in facts}) < len(facts):
        raise ValueError("Two facts have the same id")
    return facts


def _fact(row: object, number: int) -> MemoryRecord:
    if not isinstance(row, Mapping):
        raise ValueError(f"Fact {number} is no object")
    unknown = sorted(str(key) for key in row if key not in {*_TEXTS, "sensitive"})
    if unknown:
        raise ValueError(f"Fact {number} has something unknown: {unknown[0]}")
    texts = {key: _text(row, key, number) for key in _TEXTS}
    sensitive = row.get("sensitive", False)
    if not isinstance(sensitive, bool):
        raise ValueError(f"Fact {number}: sensitive is true or false")
    try:
        created_at = datetime.fromisoformat(texts.pop("created_at"))
    except ValueError:
        created_at = None
    if created_at is None or created_at.tzinfo is None:
        raise ValueError(f"Fact {number}: created_at is no time with its zone")
    return MemoryRecord(**texts, created_at=created_at, sensitive=sensitive)


def _text(row: Mapping[Any, Any], key: str, number: int) -> str:
    """One line of text, no longer than it may be."""
    value = row.get(key, "")
    if not isinstance(value, str) or (key in _NEEDED and not value.strip()):
        raise ValueError(f"Fact {number} has no {key}")
    if one_line(value, _TEXTS[key]) != value:
        raise ValueError(f"Fact {number}: {key} is too long, or not plain text on one line")
    return value
