"""What is to be remembered, as programs read it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from assistant.domain.clock import Clock
from assistant.memory.desk import MemoryDesk, NoFact
from integrations.web.box import NotPossible, Unknown

if TYPE_CHECKING:
    from assistant.journal.store import Store


_NO_FACT = "There is no such fact (any more); see GET /v1/memory."


class Records:
    """Reads the store. Of guests nothing is told while they are there."""

    def __init__(self, store: "Store", private: Callable[[], bool], clock: Clock) -> None:
        """`private`: nothing that was remembered may be told now."""
        self._store = store
        self._memory = MemoryDesk(store.memory, clock, private)

    async def memories(self) -> Sequence[dict[str, Any]]:
        """What people asked to remember, oldest first."""
        return await self._memory.rows()

    async def forget(self) -> int:
        """Forget all of it; how many there were."""
        return await self._memory.forget_all()

    async def forget_one(self, memory_id: str) -> None:
        """Forget one fact. Raises Unknown."""
        if not await self._memory.forget(memory_id):
            raise Unknown(_NO_FACT)

    async def correct(self, memory_id: str, text: str) -> None:
        """Give a fact another text. Raises Unknown, and NotPossible where that is no fact."""
        try:
            found = await self._memory.correct(memory_id, text)
        except NoFact as error:
            raise NotPossible(str(error)) from None
        if not found:
            raise Unknown(_NO_FACT)
