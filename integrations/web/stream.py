"""API paths that speak or keep a connection open: events, announcements, questions and turns."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from integrations.owner import OwnedTasks
from integrations.web.box import ON_REQUEST, Box, Caller, Told
from integrations.web.guard import Guard
from integrations.web.paths import Call, Path
from integrations.web.problems import Name, Refused, gone, read_name
from integrations.web.replies import NamedReply, QuestionReply, TurnReply
from integrations.web.requests import (
    AnnounceRequest,
    AskRequest,
    ConverseRequest,
    QuestionRequest,
)

Result = TypeVar("Result")


async def while_waited_for(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """Return the result of `work`, cancelling it if the client disconnects. The request's body must
    have been read. Raises Refused if the client disconnects, and any error of `work`."""
    try:
        async with OwnedTasks() as tasks, asyncio.timeout(None) as there:
            tasks.start(_end_when_gone(request, there), "hanging up")
            return await work
    except TimeoutError:
        if not there.expired():
            raise
        raise gone() from None


async def _end_when_gone(request: Request, there: asyncio.Timeout) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    there.reschedule(asyncio.get_running_loop().time())


LISTENERS = 16  # listeners at once; a house has a few panels, lamps and automations


_SEEN = frozenset({"confirmation", "house", "state", "timer"})  # without other people's words
KIND = Name("kind")


class EventStreams:
    def __init__(self, box: Box, guard: Guard) -> None:
        self._box = box
        self._guard = guard
        self._open = 0

    async def open(self, call: Call) -> Response:
        """Return a response that streams events. Raises Refused if there are too many listeners."""
        if self._open >= LISTENERS:
            message = f"At most {LISTENERS} programs can follow the events at once; close one."
            raise Refused(503, "too_many_listeners", message, {"Retry-After": "60"})
        log = self._box.events
        first: Told | None = log.now("state", self._box.state())
        kinds = None if call.caller.may("read") else _SEEN - ON_REQUEST
        if (only := read_name(call.request, KIND)) is not None:
            kinds = frozenset({only}) if kinds is None else _SEEN & {only}
            first = None if only != "state" else first
        told = log.since(call.request.headers.get("last-event-id"), first, kinds)
        return _Stream(self, self._while_welcome(told, call.caller))

    async def _while_welcome(
        self, told: AsyncGenerator[bytes, None], caller: Caller
    ) -> AsyncGenerator[bytes, None]:
        """Yield events until the caller's token or session is no longer valid."""
        try:
            async for piece in told:
                if not self._guard.holds(caller):
                    return
                yield piece
        finally:
            await told.aclose()

    def entered(self, by: int) -> None:
        self._open += by


class _Stream(StreamingResponse):
    """A response that counts as a listener while it is being sent."""

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


_NOT_SAID = {
    503: "Not announced: too many announcements are waiting, or the sound is not available."
}
_NOT_BEGUN = {503: "Not started: too many requests are already waiting."}


def speaking_paths(box: Box) -> Sequence[Path]:
    async def announce(call: Call) -> Mapping[str, Any]:
        return {"id": await box.announce(call.wanted, call.caller)}

    async def question(call: Call) -> Mapping[str, Any]:
        # If the client disconnects, the question is cancelled.
        asking = box.question(call.wanted, call.caller)
        answer = await while_waited_for(call.request, asking)
        return answer.model_dump(mode="json")

    async def converse(call: Call) -> Mapping[str, Any]:
        return {"id": await box.converse(call.wanted, call.caller)}

    return (
        Path(
            *(
                "POST",
                "/v1/announce",
                "speak",
                "Say a text or play a sound as soon as nobody is talking.",
            ),
            *(announce, 202, NamedReply),
            body=AnnounceRequest,
            problems={**_NOT_SAID, 507: "Not announced, because it could not be saved."},
        ),
        Path(
            *(
                "POST",
                "/v1/question",
                "speak",
                "Ask the people in the room and wait for an answer.",
            ),
            *(question, 200, QuestionReply),
            body=QuestionRequest,
        ),
        Path(
            *("POST", "/v1/converse", "speak", "Say an opening line, then listen."),
            *(converse, 202, NamedReply),
            body=ConverseRequest,
            problems=_NOT_BEGUN,
        ),
        Path(
            *("POST", "/v1/ask", "ask", "Run a typed turn; its answer is not spoken."),
            *(lambda call: box.ask(call.wanted, call.caller), 200, TurnReply),
            body=AskRequest,
            problems={409: "Another turn is in progress."},
        ),
    )
