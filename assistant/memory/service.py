"""Remembered facts for the console's memory page and for transfer to another device."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from assistant.domain.clock import Clock
from assistant.domain.records import MemoryRecord
from assistant.journal.tables import MemoryRows
from assistant.memory.facts import MAX_KEYWORDS, MAX_LENGTH, MAX_NAME, corrected, given_by
from integrations.cleaning import one_line

# Export and import of facts as JSON, for transfer to another machine.


_MAX_ID = 64
_TEXTS = {
    "id": _MAX_ID,
    "text": MAX_LENGTH,
    "created_at": 64,
    "who": MAX_NAME,
    "about": MAX_NAME,
    "language": 35,  # longest language tag (RFC 5646)
    "english": MAX_KEYWORDS,
    "spanish": MAX_KEYWORDS,
}
_NEEDED = ("id", "text", "created_at")


async def export_rows(store: MemoryRows) -> list[dict[str, Any]]:
    """Return all facts as JSON objects with every field, oldest first. Raises StoreError."""
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
    """Convert exported facts to records. Raises ValueError if they are invalid."""
    if not isinstance(rows, Sequence) or isinstance(rows, str | bytes):
        raise ValueError("The memory must be a list of facts")
    facts = tuple(_fact(row, number) for number, row in enumerate(rows, start=1))
    if len({fact.id for fact in facts}) < len(facts):
        raise ValueError("Two facts have the same id")
    return facts


def _fact(row: object, number: int) -> MemoryRecord:
    if not isinstance(row, Mapping):
        raise ValueError(f"Fact {number} must be an object")
    unknown = sorted(str(key) for key in row if key not in {*_TEXTS, "sensitive"})
    if unknown:
        raise ValueError(f"Fact {number} has an unknown key: {unknown[0]}")
    texts = {key: _text(row, key, number) for key in _TEXTS}
    sensitive = row.get("sensitive", False)
    if not isinstance(sensitive, bool):
        raise ValueError(f"Fact {number}: sensitive must be true or false")
    try:
        created_at = datetime.fromisoformat(texts.pop("created_at"))
    except ValueError:
        created_at = None
    if created_at is None or created_at.tzinfo is None:
        raise ValueError(f"Fact {number}: created_at must be a time with a time zone")
    return MemoryRecord(**texts, created_at=created_at, sensitive=sensitive)


def _text(row: Mapping[Any, Any], key: str, number: int) -> str:
    value = row.get(key, "")
    if not isinstance(value, str) or (key in _NEEDED and not value.strip()):
        raise ValueError(f"Fact {number} has no {key}")
    if one_line(value, _TEXTS[key]) != value:
        raise ValueError(f"Fact {number}: {key} is too long, or not plain text on one line")
    return value


class NoFact(Exception):
    """The text can't be stored as a fact. The message says what to change."""


@dataclass(frozen=True, slots=True)
class MemoryService:
    """Lists, corrects and erases facts by id. Every method can raise StoreError.

    `private` returns True while facts must not be shown, for example while there are guests.
    """

    store: MemoryRows
    clock: Clock
    private: Callable[[], bool]

    async def rows(self) -> list[dict[str, Any]]:
        """Return all facts as JSON objects, oldest first, or [] while `private` returns True."""
        if self.private():
            return []
        return [
            {
                "id": fact.id,
                "text": fact.text,
                "who": fact.who,
                "about": fact.about,
                "sensitive": fact.sensitive,
                "created_at": fact.created_at.isoformat(),
            }
            for fact in await self.store.all()
        ]

    async def correct(self, memory_id: str, text: str) -> bool:
        """Replace a fact's text. Return False if the id is unknown. Raises NoFact if the text is
        empty or too long."""
        given = given_by({"fact": text})
        if not given.text:
            raise NoFact("There was nothing to remember in that; send the fact as text.")
        if given.too_long:
            raise NoFact(f"A fact can have at most {MAX_LENGTH} characters; make it shorter.")
        fact = next((one for one in await self.store.all() if one.id == memory_id), None)
        if fact is None:
            return False
        await self.store.keep(corrected(fact, given, self.clock.now()))
        return True

    async def forget(self, memory_id: str) -> bool:
        """Erase a fact. Return False if the id is unknown."""
        return await self.store.forget(memory_id)

    async def forget_all(self) -> int:
        """Erase all facts and return their number."""
        return await self.store.forget_all()
