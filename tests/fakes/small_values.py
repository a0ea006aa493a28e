"""An in-memory replacement for the store's `SmallValues`."""

from typing import Any

from assistant.domain.records import StoreError


class FakeValues:
    """Values by name. Its disk can be full or unreadable."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.readable = True
        self.writable = True

    async def keep(self, name: str, value: Any) -> None:
        if not self.writable:
            raise StoreError("The disk is full.")
        self.values[name] = value

    async def kept(self, name: str) -> Any | None:
        if not self.readable:
            raise StoreError("The disk cannot be read.")
        return self.values.get(name)

    async def drop_kept(self, name: str) -> None:
        if not self.writable:
            raise StoreError("The disk is full.")
        self.values.pop(name, None)
