"""A very small `streamGenerateContent` over TLS on loopback: each request gets the next reply.

Strict: a request without a reply and an unused reply both fail the test (`check`).
"""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from integrations.gemini.access import Access
from tests.simulators.certificate import Certificate
from tests.unit.integrations.gemini.loopback import KEY, access_to

Json = dict[str, Any]


@dataclass(frozen=True)
class Refuse:
    """Answer with this status instead of a stream."""

    status: int
    message: str


@dataclass(frozen=True)
class Stall:
    """Send nothing more, and keep the connection until the client has gone."""


@dataclass(frozen=True)
class Drop:
    """Cut the connection."""


Step = Json | Refuse | Stall | Drop


class Service:
    """Answer requests in order and record them."""

    def __init__(self) -> None:
        self.access = Access(KEY)
        self.requests: list[Json] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.stalling = asyncio.Event()  # a request is waiting
        self.left = asyncio.Event()  # its client has gone
        self._replies: list[Sequence[Step]] = []
        self._unexpected = 0

    def reply(self, *steps: Step) -> None:
        """Script the next request."""
        self._replies.append(steps)

    def check(self) -> None:
        """Fail if a request was unexpected or missing."""
        assert not self._unexpected, "an unexpected request"
        assert not self._replies, "a reply was not asked for"

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Handle one request."""
        self.requests.append(await request.json())
        self.paths.append(request.path_qs)
        self.headers.append(dict(request.headers))
        if not self._replies:
            self._unexpected += 1
            return web.Response(status=500)
        steps = self._replies.pop(0)
        if steps and isinstance(steps[0], Refuse):
            error = {"code": steps[0].status, "message": steps[0].message, "status": "ERROR"}
            return web.json_response({"error": error}, status=steps[0].status)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for step in steps:
            match step:
                case Stall():
                    self.stalling.set()
                    try:
                        await asyncio.Event().wait()  # cancelled when the client has closed
                    finally:
                        self.left.set()
                case Drop():
                    assert request.transport is not None
                    request.transport.abort()
                    return response
                case dict():
                    await response.write(f"data: {json.dumps(step)}\r\n\r\n".encode())
        return response


@asynccontextmanager
async def serving(certificate: Certificate) -> AsyncIterator[Service]:
    """Run a service on a free port; it is checked when the context ends."""
    service = Service()
    application = web.Application()
    application.router.add_post("/{path:.*}", service.serve)
    runner = web.AppRunner(
        application, shutdown_timeout=0.1, access_log=None, handler_cancellation=True
    )
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=certificate.server_context())
        await site.start()
        service.access = access_to(runner.addresses[0][1], certificate)
        yield service
        service.check()
    finally:
        with suppress(ConnectionResetError):
            await runner.cleanup()


def text(words: str, **more: Any) -> Json:
    """Make a piece of an answer."""
    return parts({"text": words}, **more)


def parts(*given: Json, finish: str | None = None, usage: Json | None = None) -> Json:
    """Make a piece of an answer from parts."""
    candidate: Json = {"content": {"role": "model", "parts": list(given)}}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], **({"usageMetadata": usage} if usage else {})}
