"""The WebSocket `/v1/speech`: a browser sends a person's speech, and gets the answer and its sound.

Text messages are JSON. Binary messages are mono int16: at 16 kHz from the browser, and to it at the
rate of the latest message `sound`.
"""

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from pydantic import ValidationError
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from integrations.web.box import Box, Caller
from integrations.web.guard import Guard
from integrations.web.problems import BROKE, Refused, fault_sentence, log_broken
from integrations.web.requests import SpeechCommand

PATH = "/v1/speech"
MOST_SOCKETS = 8  # at once; each needs about 10 MB while somebody speaks
MOST_OF_ONE = 2  # of one session or token
MAX_SOUND = 8_000  # bytes of a binary message: a quarter of a second
MAX_COMMAND = 1_000  # characters of a text message
_WAITING = 200  # messages from the browser that wait; more are sound that nobody listens to
_LOOK_S = 5.0  # between checks that the caller is still signed in
_TAKEN_WITHIN_S = 10.0  # for the browser to accept a message
# Close codes: those from 4000 on are Hearth's own, with the HTTP status in the last digits.
POLICY, BROKEN, SIGNED_OUT = 1008, 1011, 4401

_log = logging.getLogger(__name__)


class SpeechLine:
    """One browser's connection, as the conversation sees it."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.incoming: asyncio.Queue[bytes | SpeechCommand] = asyncio.Queue(_WAITING)
        self.outgoing: asyncio.Queue[str | bytes] = asyncio.Queue()  # paced by the player
        self.gone = asyncio.Event()  # the browser has left
        self._rate = 0  # Hz, as last told

    def tell(self, what: str, /, **data: Any) -> None:
        """Send a JSON message of the type `what`."""
        message = json.dumps({"type": what, **data}, ensure_ascii=False)
        # A model's text may contain an unpaired surrogate.
        self.outgoing.put_nowait(message.encode(errors="replace").decode())

    def fail(self, kind: str, message: str) -> None:
        """Tell the person in one sentence what went wrong."""
        self.tell("error", kind=kind, message=message)

    def play(self, pcm: bytes, rate: int) -> None:
        """Send the next part of the answer's sound, as mono int16."""
        if rate != self._rate:
            self._rate = rate
            self.tell("sound", rate=rate)
        self.outgoing.put_nowait(pcm)


class _Ended(Exception):
    """The connection is closed with this code and reason."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code


class SpeechSockets:
    """All browsers that are connected for speaking."""

    def __init__(self, box: Box, guard: Guard) -> None:
        self._box = box
        self._guard = guard
        self._open: Counter[tuple[str, str]] = Counter()

    async def serve(self, socket: WebSocket) -> None:
        try:
            caller = self._guard.admit(socket, "ask", browsers=True)
            with self._place(caller):
                await socket.accept()
                await self._talk(socket, SpeechLine(caller))
        except Refused as refused:
            await socket.send_denial_response(refused.answer())

    @contextmanager
    def _place(self, caller: Caller) -> Iterator[None]:
        who = (caller.name, caller.session or caller.token)
        if self._open.total() >= MOST_SOCKETS or self._open[who] >= MOST_OF_ONE:
            message = "Too many pages are open for speaking; close one."
            raise Refused(503, "too_many_listeners", message, {"Retry-After": "60"})
        self._open[who] += 1
        try:
            yield
        finally:
            self._open[who] -= 1
            self._open += Counter()  # drops names with a count of 0

    async def _talk(self, socket: WebSocket, line: SpeechLine) -> None:
        works = [
            asyncio.create_task(work)
            for work in (
                self._box.speech(line),
                _receive(socket, line),
                _send(socket, line),
                self._look(line),
            )
        ]
        try:
            done, _ = await asyncio.wait(works, return_when=asyncio.FIRST_COMPLETED)
        finally:
            line.gone.set()
            for work in works:
                work.cancel()
            ended = await asyncio.gather(*works, return_exceptions=True)
        first = next(one for work, one in zip(works, ended, strict=True) if work in done)
        await _close(socket, first)

    async def _look(self, line: SpeechLine) -> None:
        while self._guard.holds(line.caller):
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_S):
                    await line.gone.wait()
        raise _Ended(SIGNED_OUT, "The session has ended; sign in again.")


async def _close(socket: WebSocket, why: object) -> None:
    if isinstance(why, WebSocketDisconnect | TimeoutError | OSError):
        return  # the browser has left already, or reads nothing
    if not isinstance(why, _Ended):
        if isinstance(why, Exception):
            log_broken(PATH, why)
        why = _Ended(BROKEN, BROKE)
    try:
        await socket.close(why.code, str(why))
    except (WebSocketDisconnect, RuntimeError, OSError) as error:
        _log.debug("a browser left before it was told: %s", error)


async def _send(socket: WebSocket, line: SpeechLine) -> None:
    while True:
        message = await line.outgoing.get()
        async with asyncio.timeout(_TAKEN_WITHIN_S):
            if isinstance(message, bytes):
                await socket.send_bytes(message)
            else:
                await socket.send_text(message)


async def _receive(socket: WebSocket, line: SpeechLine) -> None:
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message.get("code", 1005))
        sound = message.get("bytes")
        try:
            line.incoming.put_nowait(_sound(sound) if sound else _command(message.get("text")))
        except asyncio.QueueFull:
            raise _Ended(POLICY, "The page sends faster than anybody speaks.") from None


def _sound(sound: bytes) -> bytes:
    if len(sound) > MAX_SOUND or len(sound) % 2:
        raise _Ended(POLICY, f"A message can have at most {MAX_SOUND} bytes of whole samples.")
    return sound


def _command(text: str | None) -> SpeechCommand:
    if not text or len(text) > MAX_COMMAND:
        raise _Ended(POLICY, f"A command is JSON of at most {MAX_COMMAND} characters.")
    try:
        return SpeechCommand.model_validate_json(text)
    except ValidationError as error:
        raise _Ended(POLICY, fault_sentence(error, SpeechCommand)[:120]) from None


def speech_route(box: Box, guard: Guard) -> WebSocketRoute:
    return WebSocketRoute(PATH, SpeechSockets(box, guard).serve)
