"""How long a silent brain is waited for."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Patience:
    """Counts only the time in which the brain alone is awaited, and begins anew with each word.

    While there is an excuse (the person speaks, a call runs, we are busy with what it said) its
    silence is not its fault.
    """

    def __init__(self, seconds: float) -> None:
        """`seconds`: of real time, without a word."""
        self.seconds = seconds
        self._excuses: set[str] = set()
        self._timeout: asyncio.Timeout | None = None

    @asynccontextmanager
    async def bound(self) -> AsyncIterator[None]:
        """A block that ends with TimeoutError when the patience is over."""
        async with asyncio.timeout(None) as self._timeout:
            self._reckon()
            try:
                yield
            finally:
                self._timeout = None

    def excuse(self, reason: str) -> None:
        """From now on its silence is not its fault."""
        self._excuses.add(reason)
        self._reckon()

    def expect(self, reason: str) -> None:
        """That excuse is over, if there was one."""
        self._excuses.discard(reason)
        self._reckon()

    def _reckon(self) -> None:
        if self._timeout is None or self._timeout.expired():
            return
        end = asyncio.get_running_loop().time() + self.seconds
        self._timeout.reschedule(None if self._excuses else end)
