"""The HTTP interface for programs: how the box stands, as it changes, and its buttons.

Every path needs the token; every error is `{"error": {"kind": …, "message": …}}`.
"""

from collections.abc import Awaitable, Mapping
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from integrations.web.events import EventLog
from integrations.web.guard import Guard, problem

Mode = Literal["trusting", "normal", "ask", "guest"]
_MOST_MINUTES = 366 * 24 * 60


class NotKept(Exception):
    """It was done, but the disk did not take it: it does not hold over a restart."""


class Box(Protocol):
    """What the interface can ask of the box."""

    @property
    def events(self) -> EventLog:
        """What happens."""
        ...

    def state(self) -> Mapping[str, Any]:
        """How it stands, as JSON."""
        ...

    async def mute(self, on: bool) -> None:
        """Listen to nothing, or listen again; on the disk when this returns. Raises NotKept."""
        ...

    async def set_mode(self, mode: Mode, minutes: int | None) -> None:
        """Switch `policy.mode`, for so long or for good. Raises NotKept."""
        ...

    def listen(self) -> bool:
        """Listen as after the wake word. False: it cannot, being muted or without microphone."""
        ...

    def stop(self) -> None:
        """Silence at once."""
        ...


class MuteRequest(BaseModel):
    """Body of `POST /v1/mute`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    muted: bool


class ModeRequest(BaseModel):
    """Body of `POST /v1/mode`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    mode: Mode
    minutes: int | None = Field(default=None, ge=1, le=_MOST_MINUTES)


def api_routes(box: Box, token: str) -> list[Route]:
    """The paths under /v1."""
    guard = Guard(token)
    buttons = _Buttons(box)
    return [
        Route("/v1/state", guard(buttons.state), methods=["GET"]),
        Route("/v1/events", guard(buttons.events), methods=["GET"]),
        Route("/v1/mute", guard(buttons.mute), methods=["POST"]),
        Route("/v1/mode", guard(buttons.mode), methods=["POST"]),
        Route("/v1/listen", guard(buttons.listen), methods=["POST"]),
        Route("/v1/stop", guard(buttons.stop), methods=["POST"]),
    ]


class _Buttons:
    """The handlers; each gives the state after what it did."""

    def __init__(self, box: Box) -> None:
        self._box = box

    async def state(self, request: Request) -> Response:
        return JSONResponse(dict(self._box.state()))

    async def events(self, request: Request) -> Response:
        log = self._box.events
        first = log.now("state", self._box.state())
        stream = log.since(request.headers.get("last-event-id"), first)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(stream, media_type="text/event-stream", headers=headers)

    async def mute(self, request: Request) -> Response:
        try:
            wanted = MuteRequest.model_validate_json(await request.body())
        except ValidationError:
            return problem(422, "bad_request", 'Send {"muted": true} or {"muted": false}.')
        return await self._kept(request, self._box.mute(wanted.muted))

    async def mode(self, request: Request) -> Response:
        try:
            wanted = ModeRequest.model_validate_json(await request.body())
        except ValidationError:
            form = '{"mode": "trusting|normal|ask|guest", "minutes": 120}; minutes may be left out'
            return problem(422, "bad_request", f"Send {form}.")
        return await self._kept(request, self._box.set_mode(wanted.mode, wanted.minutes))

    async def listen(self, request: Request) -> Response:
        if not self._box.listen():
            message = "It cannot listen now: it is muted, busy, or has no microphone."
            return problem(409, "cannot_listen", message)
        return await self.state(request)

    async def stop(self, request: Request) -> Response:
        self._box.stop()
        return await self.state(request)

    async def _kept(self, request: Request, change: Awaitable[None]) -> Response:
        try:
            await change
        except NotKept as error:
            return problem(507, "not_kept", str(error))
        return await self.state(request)
