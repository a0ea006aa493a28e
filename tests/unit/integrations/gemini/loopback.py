"""A very small Gemini Live over TLS on loopback: each connection plays the next script.

Strict: a connection without a script, a script that was not played, and a message that the script
did not read all fail the test (`check`).
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from aiohttp import WSCloseCode, WSMsgType, web

from integrations.gemini.access import Access
from tests.simulators.certificate import Certificate

KEY = "a-key-of-the-tests-0123"
PATH = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"

Json = dict[str, Any]


class Peer:
    """The service's end of one connection."""

    def __init__(self, request: web.Request, socket: web.WebSocketResponse) -> None:
        self.headers = request.headers
        self.setup: Json = {}
        self._request = request
        self._socket = socket

    async def accept(self) -> None:
        """Read the set-up and confirm it."""
        await self.take_setup()
        await self.send({"setupComplete": {}})

    async def take_setup(self) -> None:
        """Read the set-up without an answer."""
        self.setup = (await self.take())["setup"]

    async def take(self) -> Json:
        """Return the client's next message; ConnectionResetError if it has gone."""
        message = await self._socket.receive()
        if message.type is not WSMsgType.TEXT:
            raise ConnectionResetError(message.type)
        taken: Json = json.loads(message.data)
        return taken

    async def gone(self) -> int | None:
        """Wait until the client has closed with this code; an earlier message fails the test."""
        message = await self._socket.receive()
        assert message.type in (WSMsgType.CLOSE, WSMsgType.CLOSING, WSMsgType.CLOSED), message
        return self._socket.close_code

    async def send(self, *frames: Json) -> None:
        """Send each as one message."""
        for frame in frames:
            await self._socket.send_str(json.dumps(frame))

    async def send_raw(self, text: str) -> None:
        """Send text that may not be JSON."""
        await self._socket.send_str(text)

    async def close(self, code: int, reason: str = "") -> None:
        """Close as the service does."""
        await self._socket.close(code=code, message=reason.encode())

    def drop(self) -> None:
        """Cut the connection without a close frame."""
        transport = self._request.transport
        assert transport is not None
        transport.abort()

    def hold(self) -> None:
        """Read nothing more, not even a close."""
        transport = self._request.transport
        assert isinstance(transport, asyncio.Transport)
        transport.pause_reading()


Script = Callable[[Peer], Awaitable[None]]


class Service:
    """Play scripts, one per connection, in order."""

    def __init__(self, access: Access) -> None:
        self.access = access
        self.open = 0  # number of sockets
        self.changed = asyncio.Condition()
        self._scripts: list[Script] = []
        self._faults: list[str] = []
        self._repeat: Script | None = None

    def play(self, *scripts: Script) -> None:
        """Script the next connections."""
        self._scripts += scripts

    def play_always(self, script: Script) -> None:
        """Play this script for every connection."""
        self._repeat = script

    async def until_open(self, count: int) -> None:
        """Wait until `count` sockets are open."""
        async with self.changed:
            await self.changed.wait_for(lambda: self.open == count)

    def check(self) -> None:
        """Fail if anything unexpected happened, or anything expected did not."""
        assert not self._faults, self._faults
        assert not self._scripts, "a script was not played"

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Handle one upgrade."""
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        if self._repeat is None and not self._scripts:
            self._faults.append("an unexpected connection")
            await socket.close(code=WSCloseCode.TRY_AGAIN_LATER)
            return socket
        script = self._repeat or self._scripts.pop(0)
        await self._count(1)
        try:
            await script(Peer(request, socket))
        except ConnectionResetError as error:
            self._faults.append(f"the client went too early ({error})")
        except AssertionError as error:
            self._faults.append(str(error))
        finally:
            await self._count(-1)
        return socket

    async def _count(self, change: int) -> None:
        async with self.changed:
            self.open += change
            self.changed.notify_all()


@asynccontextmanager
async def serving(certificate: Certificate) -> AsyncIterator[Service]:
    """Run a service on a free port; it is checked when the context ends."""
    application = web.Application()
    runner = web.AppRunner(application, shutdown_timeout=0.1, access_log=None)
    site_port = 0
    service = Service(Access(KEY))
    application.router.add_get(PATH, service.serve)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=certificate.server_context())
        await site.start()
        site_port = runner.addresses[0][1]
        service.access = access_to(site_port, certificate)
        yield service
        service.check()
    finally:
        with suppress(ConnectionResetError):
            await runner.cleanup()


def access_to(port: int, certificate: Certificate) -> Access:
    """Return the tests' key and authority for `port`."""
    return Access(KEY, f"https://127.0.0.1:{port}", str(certificate.ca_file))
