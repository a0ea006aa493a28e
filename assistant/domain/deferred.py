"""A value that is made later than those who need it."""

import asyncio
from collections.abc import Callable
from typing import Generic, Self, TypeVar

_T = TypeVar("_T")


class Deferred(Generic[_T]):
    """Hold a value that is set once, as soon as it could be made. On the loop's thread.

    Hearth listens before the house, its tools and the brains are there: what begins early takes
    a `Deferred` of what it needs, and waits for it.
    """

    def __init__(self) -> None:
        self._value: _T | None = None
        self._ready = asyncio.Event()
        self._waiting: list[Callable[[_T], object]] = []

    @classmethod
    def of(cls, value: _T) -> Self:
        """Return one whose value is there already."""
        deferred = cls()
        deferred.set(value)
        return deferred

    @property
    def value(self) -> _T | None:
        """The value, or None before it is set."""
        return self._value

    def get(self) -> _T:
        """Return the value. Raises LookupError before it is set."""
        if self._value is None:
            raise LookupError("This is needed before it was made.")
        return self._value

    def set(self, value: _T) -> None:
        """Set the value, and call everyone who registered with `when_set`, in their order.

        Raises ValueError where it was set before.
        """
        if self._value is not None:
            raise ValueError("This was made before.")
        self._value = value
        self._ready.set()
        waiting, self._waiting = self._waiting, []
        for use in waiting:
            use(value)

    async def wait(self) -> _T:
        """Return the value once it is set."""
        await self._ready.wait()
        return self.get()

    def when_set(self, use: Callable[[_T], object]) -> None:
        """Call `use` with the value: at once where it is set, else as soon as it is."""
        if self._value is None:
            self._waiting.append(use)
        else:
            use(self._value)
