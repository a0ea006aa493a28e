"""Which messages were taken, so that one that the broker sends again is not spoken again.

A message with an id of its own, or with the time at which it was sent, is known by that. Any other
is known by its packet's number and its bytes, and only where the broker says that it sends it
again: the same text sent twice on purpose is two announcements.
"""

import hashlib
from typing import Any, Protocol

from assistant.domain.clock import Clock
from assistant.domain.records import new_id
from integrations.mqtt.messages import Arrival

KEPT = "mqtt_taken"  # the name under which the store keeps it
_REMEMBERED = 32  # the broker has half as many under way at once


class TakenStore(Protocol):
    """Where it is kept (`assistant.journal.store.Store`). Each raises StoreError."""

    async def keep(self, name: str, value: Any) -> None:
        """Keep a JSON value."""
        ...

    async def kept(self, name: str) -> Any | None:
        """What is kept under that name."""
        ...


class Taken:
    """Names messages. Belongs to one task."""

    def __init__(self, store: TakenStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._names: dict[str, str] | None = None  # number and digest -> name; None: not read yet

    async def name(self, message: Arrival, own: str) -> str:
        """The same for the same message, and on the disk when this returns. Raises StoreError.

        `own`: what the message calls itself, or "".
        """
        if own or not message.number:
            return own or new_id(self._clock.now())
        names = await self._read()
        digest = hashlib.sha256(message.payload).hexdigest()[:32]
        key = f"{message.number} {digest}"
        if message.again and key in names:
            return names[key]
        names.pop(key, None)
        names[key] = name = new_id(self._clock.now())
        for old in list(names)[:-_REMEMBERED]:
            del names[old]
        await self._store.keep(KEPT, names)
        return name

    async def _read(self) -> dict[str, str]:
        if self._names is None:
            kept = await self._store.kept(KEPT)
            told = kept.items() if isinstance(kept, dict) else ()
            self._names = {str(key): str(name) for key, name in told}
        return self._names
