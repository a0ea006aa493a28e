"""A queue for programs that want to use the conversation, and a helper that waits with a time
limit."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from operator import itemgetter
from typing import Literal

from assistant.domain.clock import Clock
from integrations.web.box import Busy

WAITING = 8  # most waiting requests, besides the one being served
_RANK = {"high": 0, "normal": 1, "low": 2}


class RequestQueue:
    """Lets programs use the conversation one at a time, by priority and then in order of arrival.
    Use it on the event loop."""

    def __init__(self, clock: Clock, most: int = WAITING) -> None:
        self._clock = clock
        self._most = most
        self._waiting: list[tuple[int, asyncio.Event]] = []  # rank, and the event set when served
        self._served: asyncio.Event | None = None
        self._closed = False

    @asynccontextmanager
    async def place(
        self, seconds: float, priority: Literal["low", "normal", "high"] = "normal"
    ) -> AsyncIterator[None]:
        """Wait up to `seconds` for a place at the front of the queue, and keep it until the block
        ends. Raises Busy if too many requests are waiting, the time runs out or the queue is
        closed."""
        if self._closed or self.full:
            raise Busy("Too many questions and announcements are already waiting.")
        ticket = (_RANK[priority], called := asyncio.Event())
        self._waiting.append(ticket)
        self._call()
        try:
            if not await done_within(self._clock, seconds, called.wait()) or self._closed:
                raise Busy("Too many other requests came first.")
            yield
        finally:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
            if self._served is called:
                self._served = None
            self._call()

    @property
    def full(self) -> bool:
        return len(self._waiting) >= self._most

    def close(self) -> None:
        self._closed = True
        for _, called in self._waiting:
            called.set()

    def _call(self) -> None:
        if self._served is None and self._waiting and not self._closed:
            first = min(self._waiting, key=itemgetter(0))
            self._waiting.remove(first)
            self._served = first[1]
            self._served.set()


async def done_within(clock: Clock, seconds: float, work: Awaitable[object]) -> bool:
    """Return True if the work finishes in time. Otherwise cancel it and return False. Errors that
    the work raises are passed on."""
    doing = asyncio.ensure_future(work)
    late = asyncio.ensure_future(clock.sleep(seconds))
    try:
        await asyncio.wait({doing, late}, return_when=asyncio.FIRST_COMPLETED)
        if doing.done():
            doing.result()
        return doing.done()
    finally:
        late.cancel()
        doing.cancel()
