"""The toolbox's journal while guests are in the house: what was done is kept, no words are."""

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from assistant.domain.outcome import ToolOutcome
from assistant.domain.records import AuditRecord, CallRecord


class Journal(Protocol):
    """Where calls are kept (`assistant.journal.store.Store`)."""

    async def start_call(self, call: CallRecord) -> None:
        """Before it is sent."""
        ...

    async def finish_call(self, turn_id: str, outcome: ToolOutcome) -> None:
        """After it ended, or instead of running it."""
        ...

    async def audit(self, record: AuditRecord) -> None:
        """When it was decided, and when it ended."""
        ...


class Discreet:
    """Passes everything on, without words and arguments where `keep_words` says no."""

    def __init__(self, journal: Journal, keep_words: Callable[[], bool]) -> None:
        self._journal = journal
        self._keep_words = keep_words

    async def start_call(self, call: CallRecord) -> None:
        """As of the store."""
        kept = call if self._keep_words() else replace(call, arguments={}, sentence=None)
        await self._journal.start_call(kept)

    async def finish_call(self, turn_id: str, outcome: ToolOutcome) -> None:
        """As of the store."""
        kept = outcome if self._keep_words() else replace(outcome, arguments={}, sentence="")
        await self._journal.finish_call(turn_id, kept)

    async def audit(self, record: AuditRecord) -> None:
        """As of the store."""
        wordless = replace(record, heard=None, arguments={}, sentence=None)
        await self._journal.audit(record if self._keep_words() else wordless)
