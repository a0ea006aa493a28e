"""A set-up, and a receiver of events, for the tests of a session."""

import asyncio

from integrations.gemini.events import Closed, LiveEvent
from integrations.gemini.models import model_row
from integrations.gemini.setup import LiveSetup
from tests.unit.integrations.gemini.loopback import Peer

SETUP = LiveSetup(model_row("gemini-3.8-live")[0], "Be brief.", ())
RESUMING = LiveSetup(SETUP.row, "Be brief.", (), handle="h-1")


class Inbox:
    """Collect events; `of` waits for the next one."""

    def __init__(self) -> None:
        self.events: list[LiveEvent] = []
        self._queue: asyncio.Queue[LiveEvent] = asyncio.Queue()

    def __call__(self, event: LiveEvent) -> None:
        assert not any(isinstance(before, Closed) for before in self.events), "after Closed"
        self.events.append(event)
        self._queue.put_nowait(event)

    async def next(self) -> LiveEvent:
        async with asyncio.timeout(20):
            return await self._queue.get()

    async def closed(self) -> Closed:
        while not isinstance(event := await self.next(), Closed):
            pass
        return event


def never(event: LiveEvent) -> None:
    raise AssertionError(f"unexpected {event}")


async def accept_and_wait(peer: Peer) -> None:
    await peer.accept()
    await peer.gone()
