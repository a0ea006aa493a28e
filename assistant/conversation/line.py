"""A line of programs that want the conversation for themselves: one at a time."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal

from assistant.domain.clock import Clock
from integrations.web.problems import Busy

WAITING = 8  # at most, beside the one whose turn it is
_RANK = {"high": 0, "normal": 1, "low": 2}


@dataclass(slots=True, eq=False)
class _Ticket:
    rank: int
    called: asyncio.Event = field(default_factory=asyncio.Event)


class Line:
    """The most important is called first, and of these the one that came first. On the loop."""

    def __init__(self, clock: Clock, most: int = WAITING) -> None:
        self._clock = clock
        self._most = most
        self._waiting: list[_Ticket] = []
        self._served: _Ticket | None = None
        self._closed = False

    @asynccontextmanager
    async def place(
        self, seconds: float, priority: Literal["low", "normal", "high"] = "normal"
    ) -> AsyncIterator[None]:
        """Wait to be called, at most so long, and keep the place until the block is left.

        Raises Busy: too many wait, it was not called in time, or the line is closed.
        """
        if self._closed or self.full:
            raise Busy("Too much waits to be asked or said already.")
        ticket = _Ticket(_RANK[priority])
        self._waiting.append(ticket)
        self._call()
        try:
            if not await done_within(self._clock, seconds, ticket.called.wait()) or self._closed:
                raise Busy("It was not its turn in time.")
            yield
        finally:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
            if self._served is ticket:
                self._served = None
            self._call()

    @property
    def full(self) -> bool:
        """As many wait as may."""
        return len(self._waiting) >= self._most

    def close(self) -> None:
        """Nobody is called any more, and whoever waits is told."""
        self._closed = True
        for ticket in self._waiting:
            ticket.called.set()

    def _call(self) -> None:
        if self._served is None and self._waiting and not self._closed:
            self._served = min(self._waiting, key=lambda ticket: ticket.rank)
            self._waiting.remove(self._served)
            self._served.called.set()


async def done_within(clock: Clock, seconds: float, work: Awaitable[object]) -> bool:
    """Whether it is done in that time; else it is cancelled. What it raises is raised."""
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
