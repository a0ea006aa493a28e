"""What is written down, as programs read it."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from assistant.journal.records import AuditRecord, CallRecord, MemoryRecord, TurnRecord
from assistant.journal.turn_object import turn_object, turn_row
from integrations.web.box import Unknown

_MOST = 1000  # rows of one turn


class Store(Protocol):
    """What is needed of `assistant.journal.store.Store`. Each raises StoreError."""

    async def turns(self, limit: int) -> list[TurnRecord]:
        """The last turns, newest first."""
        ...

    async def turn(self, turn_id: str) -> TurnRecord | None:
        """One of them."""
        ...

    async def calls(self, turn_id: str) -> list[CallRecord]:
        """Its calls."""
        ...

    async def audited(self, *, turn_id: str | None = ..., limit: int = ...) -> list[AuditRecord]:
        """How they were decided."""
        ...

    async def memories(self) -> list[MemoryRecord]:
        """What people asked to remember, oldest first."""
        ...

    async def forget_memory(self, memory_id: str) -> bool:
        """Erase one."""
        ...


class Records:
    """Reads the store. Of guests nothing is told while they are there."""

    def __init__(self, store: Store, private: Callable[[], bool]) -> None:
        """`private`: nothing that was remembered may be told now."""
        self._store = store
        self._private = private

    async def turns(self, limit: int) -> Sequence[dict[str, Any]]:
        """The last turns, newest first, without their calls."""
        return [turn_row(record) for record in await self._store.turns(limit)]

    async def turn(self, turn_id: str) -> dict[str, Any]:
        """One turn with its calls. Raises Unknown."""
        record = await self._store.turn(turn_id)
        if record is None:
            raise Unknown("There is no such turn (any more).")
        calls = await self._store.calls(turn_id)
        audited = await self._store.audited(turn_id=turn_id, limit=_MOST)
        return turn_object(record, calls, audited)

    async def memories(self) -> Sequence[dict[str, Any]]:
        """What people asked to remember."""
        if self._private():
            return []
        return [
            {"id": one.id, "text": one.text, "created_at": one.created_at.isoformat()}
            for one in await self._store.memories()
        ]

    async def forget(self) -> int:
        """Forget all of it; how many there were."""
        gone = [await self._store.forget_memory(one.id) for one in await self._store.memories()]
        return sum(gone)
