"""The memory as a page of it shows and changes it."""

from collections.abc import Callable
from typing import Any

from assistant.domain.clock import Clock
from assistant.memory.facts import MAX_LENGTH, corrected, given_by
from assistant.memory.tools import Keeping


class NoFact(Exception):
    """A text that cannot be kept; one sentence that names the mend."""


class MemoryDesk:
    """Lists, corrects and forgets facts by their ids. Every method may raise StoreError."""

    def __init__(self, store: Keeping, clock: Clock, private: Callable[[], bool]) -> None:
        """`private`: nothing that was remembered may be told now, as while guests are there."""
        self._store = store
        self._clock = clock
        self._private = private

    async def rows(self) -> list[dict[str, Any]]:
        """All facts, oldest first, each as JSON; none while nothing may be told."""
        if self._private():
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
            for fact in await self._store.all()
        ]

    async def correct(self, memory_id: str, text: str) -> bool:
        """Give a fact another text. False if there is none of that id. Raises NoFact."""
        given = given_by({"fact": text})
        if not given.text:
            raise NoFact("There was nothing to remember in that; send the fact as text.")
        if given.too_long:
            raise NoFact(f"A fact has {MAX_LENGTH} characters at the most; make it shorter.")
        fact = next((one for one in await self._store.all() if one.id == memory_id), None)
        if fact is None:
            return False
        await self._store.keep(corrected(fact, given, self._clock.now()))
        return True

    async def forget(self, memory_id: str) -> bool:
        """Erase one. False if there is none of that id."""
        return await self._store.forget(memory_id)

    async def forget_all(self) -> int:
        """Erase all; how many there were."""
        return await self._store.forget_all()
