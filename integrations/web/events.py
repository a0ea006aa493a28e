"""Server-sent events: what happens is told to whoever listens, and can be caught up on.

The format is that of the HTML standard, section "Server-sent events".
"""

import asyncio
import json
import secrets
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

KEPT = 256  # events that a listener who was away can still get
WAITING = 256  # events for a listener who does not read; beyond that it is sent away
_LONGEST_NUMBER = 18  # digits of an event's number
BEAT_S = 15.0  # a comment this often, so that a connection that is gone is noticed


@dataclass(frozen=True, slots=True)
class Told:
    """One event."""

    id: str
    kind: str
    data: Mapping[str, Any]  # JSON

    def lines(self) -> bytes:
        """On the wire."""
        data = json.dumps(self.data, ensure_ascii=False)
        # Half a character, as JSON of a model's may hold, must not end the stream of everybody.
        return f"id: {self.id}\nevent: {self.kind}\ndata: {data}\n\n".encode(errors="replace")


class EventLog:
    """The newest events, and who listens. Belongs to the event loop's thread."""

    def __init__(self) -> None:
        self._run = secrets.token_hex(4)  # ids of another process are none of ours
        self._count = 0
        self._kept: deque[Told] = deque(maxlen=KEPT)
        self._listeners: set[asyncio.Queue[Told | None]] = set()

    def tell(self, kind: str, data: Mapping[str, Any]) -> None:
        """Tell everyone who listens."""
        self._count += 1
        event = Told(f"{self._run}-{self._count}", kind, data)
        self._kept.append(event)
        for listener in list(self._listeners):
            if listener.full():
                self._send_away(listener)
            else:
                listener.put_nowait(event)

    async def since(self, last_id: str | None, first: Told | None) -> AsyncGenerator[bytes, None]:
        """What goes to one listener, for ever or until it does not read.

        `last_id`: what it heard last, and what came after that is told first. Where that is not
        known any more, it gets `first` instead: how everything stands.
        """
        listener: asyncio.Queue[Told | None] = asyncio.Queue(WAITING)
        missed = self._after(last_id)
        self._listeners.add(listener)
        try:
            if missed is None and first is not None:
                yield first.lines()
            for event in missed or ():
                yield event.lines()
            while True:
                try:
                    async with asyncio.timeout(BEAT_S):
                        told = await listener.get()
                except TimeoutError:
                    yield b": still here\n\n"
                    continue
                if told is None:
                    return
                yield told.lines()
        finally:
            self._listeners.discard(listener)

    def now(self, kind: str, data: Mapping[str, Any]) -> Told:
        """An event for one listener alone: it stands where the newest one stands."""
        return Told(f"{self._run}-{self._count}", kind, data)

    def close(self) -> None:
        """Send everyone away: nothing more will be told."""
        for listener in list(self._listeners):
            self._send_away(listener)

    def _after(self, last_id: str | None) -> list[Told] | None:
        run, _, number = (last_id or "").partition("-")
        if run != self._run or not number.isdecimal() or len(number) > _LONGEST_NUMBER:
            return None
        missing = self._count - int(number)
        if not 0 <= missing <= len(self._kept):
            return None
        return list(self._kept)[len(self._kept) - missing :]

    def _send_away(self, listener: asyncio.Queue[Told | None]) -> None:
        self._listeners.discard(listener)
        with suppress(asyncio.QueueEmpty):
            while listener.full():
                listener.get_nowait()
        listener.put_nowait(None)
