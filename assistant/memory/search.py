"""Which facts are meant by some words, and which are like them."""

from collections.abc import Sequence
from typing import Protocol

from assistant.domain.records import MemoryRecord
from assistant.memory.words import content_words, plain, query_of

MAX_FOUND = 50  # rows of one search


class Index(Protocol):
    """The index of words (`assistant.journal.memory_rows.MemoryRows`)."""

    async def found(self, query: str, limit: int) -> list[tuple[MemoryRecord, float]]:
        """Those that fit, the likest first, each with its likeness. Raises StoreError."""
        ...


async def like(about: str, index: Index) -> list[MemoryRecord]:
    """The facts that share words with `about`, the likest first and of equal ones the newest.

    What is less than half as like as the likest is left out. Raises StoreError.
    """
    query = query_of(about)
    if not query:
        return []
    found = await index.found(query, MAX_FOUND)
    least = max((likeness for _, likeness in found), default=0.0) / 2
    return [fact for fact, likeness in found if likeness >= least]


def meant(about: str, known: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    """The facts that are plainly meant: that very one, else those that have every word."""
    whole = [fact for fact in known if plain(fact.text) == plain(about)]
    words = content_words(about)
    return whole or [fact for fact in known if words and words <= _all_words(fact)]


def _all_words(fact: MemoryRecord) -> frozenset[str]:
    return content_words(f"{fact.text} {fact.about} {fact.who} {fact.english} {fact.spanish}")
