"""A browser's side of `/v1/speech`, without a browser."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from audio.frames import FRAME_BYTES, FRAME_MS

_WAIT_S = 60.0


class Page:
    """One connection: what the page was told, and the sound that it got."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.told: list[dict[str, Any]] = []
        self.sound = bytearray()
        self.first_sound_at: float | None = None  # of the event loop, in s

    async def press(self, **more: str) -> None:
        await self.send("press", **more)

    async def send(self, kind: str, **more: str) -> None:
        await self.socket.send(json.dumps({"type": kind, **more}))

    async def say(self, pcm: bytes, pace: float = 1.0) -> None:
        """Send the sound in real time, or `pace` times as fast."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        for place in range(0, len(pcm), FRAME_BYTES):
            await self.socket.send(pcm[place : place + FRAME_BYTES])
            due = began + (place / FRAME_BYTES + 1) * FRAME_MS / 1000 / pace
            await asyncio.sleep(max(0.0, due - loop.time()))

    async def until(self, kind: str, **wanted: Any) -> dict[str, Any]:
        """Read until this message, and return it."""
        loop = asyncio.get_running_loop()
        until = loop.time() + _WAIT_S
        while True:
            try:
                async with asyncio.timeout_at(until):
                    message = await self.socket.recv()
            except TimeoutError:
                raise AssertionError(f"no {kind} {wanted} after {self.told}") from None
            if isinstance(message, bytes):
                if self.first_sound_at is None:
                    self.first_sound_at = loop.time()
                self.sound += message
                continue
            told = json.loads(message)
            self.told.append(told)
            if told["type"] == kind and wanted.items() <= told.items():
                return dict(told)

    def states(self) -> list[str]:
        return [one["state"] for one in self.told if one["type"] == "state"]


@asynccontextmanager
async def page(port: int, headers: dict[str, str]) -> AsyncIterator[Page]:
    """Connect, and wait until Hearth is ready."""
    url = f"ws://127.0.0.1:{port}/v1/speech"
    async with connect(url, additional_headers=headers, compression=None) as socket:
        page = Page(socket)
        await page.until("ready")
        yield page
