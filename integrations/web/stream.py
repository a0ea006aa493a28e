"""`GET /v1/events`: what happens, for as long as somebody listens."""

from collections.abc import AsyncGenerator

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from integrations.web.box import Box
from integrations.web.callers import Caller
from integrations.web.guard import Guard
from integrations.web.paths import Call
from integrations.web.problems import Refused

LISTENERS = 16  # at once; a house has a few panels, lamps and automations


class EventStreams:
    """Gives them, so many at once."""

    def __init__(self, box: Box, guard: Guard) -> None:
        self._box = box
        self._guard = guard
        self._open = 0

    async def open(self, call: Call) -> Response:
        """Raises Refused where as many listen as may."""
        if self._open >= LISTENERS:
            message = f"At most {LISTENERS} programs may follow the events at once; end one."
            raise Refused(503, "too_many_listeners", message, {"Retry-After": "60"})
        log = self._box.events
        first = log.now("state", self._box.state())
        told = log.since(call.request.headers.get("last-event-id"), first)
        return _Stream(self, self._while_welcome(told, call.caller))

    async def _while_welcome(
        self, told: AsyncGenerator[bytes, None], caller: Caller
    ) -> AsyncGenerator[bytes, None]:
        """Until the token is revoked, which at the latest the next heartbeat notices."""
        try:
            async for piece in told:
                if not self._guard.holds(caller):
                    return
                yield piece
        finally:
            await told.aclose()

    def entered(self, by: int) -> None:
        """So many more listen."""
        self._open += by


class _Stream(StreamingResponse):
    """An answer that has a place among the listeners while it is sent."""

    def __init__(self, streams: EventStreams, content: AsyncGenerator[bytes, None]) -> None:
        super().__init__(
            content, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"}
        )
        self._streams = streams
        self._content = content

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._streams.entered(1)
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._streams.entered(-1)
            await self._content.aclose()
