"""The HTTP interface for programs: how the box stands, as it changes, and its buttons.

Every path needs the token; every error is `{"error": {"kind": …, "message": …}}`.
"""

from collections.abc import Awaitable, Mapping
from typing import Annotated, Any, Literal, Protocol

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from integrations.cleaning import one_line
from integrations.web.events import EventLog
from integrations.web.guard import Guard, problem

Mode = Literal["trusting", "normal", "ask", "guest"]
_MOST_MINUTES = 366 * 24 * 60
LONGEST_TEXT = 1_000  # characters of an announcement; a minute and more
_LONGEST_S = 7 * 24 * 3600


class NotKept(Exception):
    """The disk did not take it: it does not hold over a restart."""


class NotAnnounced(Exception):
    """It will not be said, for a reason that is no fault of the request."""


def _said(text: str) -> str:
    """On one line, without signs that nobody can say."""
    plain = one_line(text, LONGEST_TEXT)
    if not any(sign.isalnum() for sign in plain):
        raise ValueError("must have words")
    return plain


class AnnounceRequest(BaseModel):
    """Body of `POST /v1/announce`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    text: Annotated[str, Field(max_length=LONGEST_TEXT), AfterValidator(_said)]
    preannounce: bool = True  # a tone goes before
    volume: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False)
    priority: Literal["low", "normal", "high"] = "normal"
    expire_s: float | None = Field(default=None, ge=1, le=_LONGEST_S, allow_inf_nan=False)
    persist: bool = False  # it outlives a restart
    language: str | None = Field(default=None, pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$")


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

    async def announce(self, wanted: AnnounceRequest) -> str:
        """Say it once the conversation rests. Gives its id; where it is to outlive a restart, it is
        on the disk by then. Raises NotKept and NotAnnounced: then it is not said."""
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
        Route("/v1/announce", guard(buttons.announce), methods=["POST"]),
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

    async def announce(self, request: Request) -> Response:
        body = await request.body()
        try:
            wanted = AnnounceRequest.model_validate_json(body)
        except ValidationError as error:
            return _not_announced(error)
        try:
            name = await self._box.announce(wanted)
        except NotKept as error:
            return problem(507, "not_kept", str(error))
        except NotAnnounced as error:
            return problem(503, "not_announced", str(error))
        return JSONResponse({"id": name}, status_code=202)

    async def _kept(self, request: Request, change: Awaitable[None]) -> Response:
        try:
            await change
        except NotKept as error:
            return problem(507, "not_kept", str(error))
        return await self.state(request)


def _not_announced(error: ValidationError) -> Response:
    """What is wrong with the body, for whoever wrote it."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    if any(fault["loc"] == ("media",) for fault in faults):
        return problem(422, "unsupported", "Only text can be announced, no media: send a text.")
    wrong = ", ".join(
        name
        for name in AnnounceRequest.model_fields
        if any(fault["loc"][:1] == (name,) for fault in faults)
    )
    form = (
        f'{{"text": "at most {LONGEST_TEXT} characters", "preannounce": true, "volume": 0 to 1, '
        '"priority": "low|normal|high", "expire_s": 600, "persist": false, "language": "en"}'
    )
    told = f" Look at {wrong}." if wrong else ""
    return problem(422, "bad_request", f"Send {form}; all but text may be left out.{told}")
