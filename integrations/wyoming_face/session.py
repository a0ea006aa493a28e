"""Wyoming sessions for the satellite and the speech service, and a parser for their events."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing
from typing import Any

from wyoming.event import Event

from integrations.cleaning import one_line
from integrations.owner import Opened, OwnedTasks
from integrations.web.box import NotAnnounced, NotPossible
from integrations.web.requests import LONGEST_TEXT

MOST_DATA = 64 * 1024  # bytes of an event's first line, and of its additional data
MOST_PAYLOAD = 1024 * 1024  # bytes of audio per event; Home Assistant sends 2 KB
WIDTH, CHANNELS = 2, 1  # of all audio in both directions: int16, mono
LONGEST_S = 120.0  # longest announcement
_RATES = range(8_000, 48_001)  # Hz
_LONGEST_PING = 200  # characters to send back
_MOST_TIMERS = 64  # timers whose names are remembered
_LONGEST_NAME = 60
_CHUNK_BYTES = 8_192
_BUSY = "Send only one text at a time on a connection."

_log = logging.getLogger(__name__)

Send = Callable[[Event], Awaitable[None]]  # raises OSError
# Gets a text and the name of an announced voice or "", and yields mono int16 audio in chunks, all
# with the same rate in Hz. Raises NotSpoken.
Speech = Callable[[str, str], AsyncGenerator[tuple[bytes, int]]]


class BadEvent(Exception):
    """An event that is too large or violates the protocol."""


async def read_event(reader: asyncio.StreamReader) -> Event | None:
    """Read the next event, limiting its size. Returns None at the end of the stream. Raises
    BadEvent and OSError.

    The package `wyoming` would read any length that a sender claims, and senders are not
    authenticated. `reader` needs the limit MOST_DATA, as set by `asyncio.start_server(limit=…)`.
    """
    try:
        line = await reader.readline()
    except ValueError as error:  # the line exceeds the limit
        raise BadEvent("a line is too long") from error
    if not line:
        return None
    head = _object(line)
    kind, data = head.get("type"), head.get("data") or {}
    if not isinstance(kind, str) or not isinstance(data, dict):
        raise BadEvent("an event has no type, or its data is not an object")
    try:
        more = await reader.readexactly(_length(head, "data_length", MOST_DATA))
        payload = await reader.readexactly(_length(head, "payload_length", MOST_PAYLOAD))
    except asyncio.IncompleteReadError:
        return None
    return Event(kind, {**data, **_object(more)} if more else data, payload or None)


def _length(head: dict[str, Any], key: str, most: int) -> int:
    length = head.get(key) or 0
    if not isinstance(length, int) or not 0 <= length <= most:
        raise BadEvent(f"{key} must be a number of at most {most}")
    return length


def _object(text: bytes) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadEvent("an event is not valid JSON") from error
    if not isinstance(found, dict):
        raise BadEvent("an event is not a JSON object")
    return found


class DescribedSession(Opened):
    """A client's connection. Leaving the context cancels everything that the session started."""

    def __init__(self, send: Send, info: Event) -> None:
        self._send = send
        self._info = info
        self._tasks = OwnedTasks()

    async def _enter(self, stack: AsyncExitStack) -> None:
        await stack.enter_async_context(self._tasks)

    async def take(self, event: Event) -> None:
        """Handle an event. Longer work, such as an announcement, continues in the background.
        Raises BadEvent and OSError."""
        match event.type:
            case "describe":
                await self._send(self._info)
            case "ping":
                text = event.data.get("text")
                back = one_line(text, _LONGEST_PING) if isinstance(text, str) else None
                await self._send(Event("pong", {"text": back}))
            case _:
                await self._serve(event)

    async def _serve(self, event: Event) -> None:
        raise NotImplementedError


class SatelliteSession(DescribedSession):
    """A connection from Home Assistant, which uses Hearth as a satellite for playback only. To make
    an announcement, Home Assistant sends PCM between `audio-start` and `audio-stop` and waits for
    `played`."""

    def __init__(
        self,
        send: Send,
        info: Event,
        play: Callable[[bytes, int], Awaitable[None]],
        ring: Callable[[str], Awaitable[None]],
    ) -> None:
        """`play` plays mono int16 audio with a rate in Hz, and returns after it has been played.
        `ring` is called with the name of a finished Home Assistant timer, or "". Both can raise
        NotAnnounced and NotPossible."""
        super().__init__(send, info)
        self._play_sound = play
        self._ring_for = ring
        self._sound: bytearray | None = None  # the audio since `audio-start`
        self._rate = 0
        self._timers: dict[str, str] = {}  # names by id

    async def _serve(self, event: Event) -> None:
        match event.type:
            case "audio-start":
                self._begin(event.data)
            case "audio-chunk":
                self._add(event)
            case "audio-stop":
                self._end()
            case "timer-started" | "timer-cancelled" | "timer-finished":
                self._timer(event.type, event.data)
            case other:
                _log.debug("ignored a Wyoming event: %s", other[:40])

    def _begin(self, data: dict[str, Any]) -> None:
        rate, form = data.get("rate"), (data.get("width"), data.get("channels"))
        if not isinstance(rate, int) or rate not in _RATES or form != (WIDTH, CHANNELS):
            raise BadEvent("audio must be mono int16 at 8,000 to 48,000 Hz")
        self._sound, self._rate = bytearray(), rate

    def _add(self, event: Event) -> None:
        if self._sound is None:
            raise BadEvent("audio arrived before its start event")
        self._sound += event.payload or b""
        if len(self._sound) > LONGEST_S * self._rate * WIDTH:
            raise BadEvent(f"an announcement is longer than {LONGEST_S:g} s")

    def _end(self) -> None:
        sound, self._sound = self._sound, None
        if sound:
            whole = bytes(sound[: len(sound) // WIDTH * WIDTH])
            self._tasks.start(self._play(whole, self._rate), "wyoming announcement")

    async def _play(self, pcm: bytes, rate: int) -> None:
        """Play the audio and report that it has been played, even after an error, because Home
        Assistant waits for the report."""
        try:
            await self._play_sound(pcm, rate)
        except (NotAnnounced, NotPossible) as error:
            _log.warning("Home Assistant's announcement cannot be played: %s", error)
        await self._tell_played()

    async def _tell_played(self) -> None:
        try:
            await self._send(Event("played"))
        except OSError as error:
            _log.debug("the client stopped waiting for the announcement: %s", error)

    def _timer(self, kind: str, data: dict[str, Any]) -> None:
        name = str(data.get("id", ""))
        if kind == "timer-started":
            given = data.get("name")
            called = one_line(given, _LONGEST_NAME) if isinstance(given, str) else ""
            self._timers[name] = called
            if len(self._timers) > _MOST_TIMERS:
                del self._timers[next(iter(self._timers))]
            return
        called = self._timers.pop(name, "")
        if kind == "timer-finished":
            self._tasks.start(self._ring(called), "wyoming timer")

    async def _ring(self, name: str) -> None:
        try:
            await self._ring_for(name)
        except (NotAnnounced, NotPossible) as error:
            _log.warning("a timer from Home Assistant cannot ring here: %s", error)


class NotSpoken(Exception):
    """The voice cannot speak the text. The message gives the reason."""


class SpeechSession(DescribedSession):
    """A connection to Hearth's speech service, which receives a text and returns its audio."""

    def __init__(self, send: Send, info: Event, speech: Speech) -> None:
        super().__init__(send, info)
        self._speech = speech
        self._speaks = False

    async def _serve(self, event: Event) -> None:
        if event.type == "synthesize":
            await self._synthesize(event.data)

    async def _synthesize(self, data: dict[str, Any]) -> None:
        text, voice = data.get("text"), data.get("voice")
        name = voice.get("name") if isinstance(voice, dict) else None
        if not isinstance(text, str) or not text.strip() or len(text) > LONGEST_TEXT:
            await self._refuse(f"Send a text of at most {LONGEST_TEXT} characters.")
        elif self._speaks:
            await self._refuse(_BUSY)
        else:
            self._speaks = True
            voice_name = name if isinstance(name, str) else ""
            # Run it as a task, so that it ends when the connection is lost.
            self._tasks.start(self._speak(text, voice_name), "wyoming speech")

    async def _speak(self, text: str, voice: str) -> None:
        try:
            try:
                await self._send_sound(text, voice)
            except NotSpoken as error:
                await self._refuse(str(error))
        except OSError as error:
            _log.debug("the client stopped waiting for the speech: %s", error)
        finally:
            self._speaks = False

    async def _send_sound(self, text: str, voice: str) -> None:
        rate = 0
        async with aclosing(self._speech(text, voice)) as sound:
            async for pcm, given in sound:
                if not rate:
                    rate = given
                    await self._send(Event("audio-start", _form(rate)))
                for start in range(0, len(pcm), _CHUNK_BYTES):
                    chunk = pcm[start : start + _CHUNK_BYTES]
                    await self._send(Event("audio-chunk", _form(rate), chunk))
        if not rate:
            raise NotSpoken("The text contains nothing that can be spoken.")
        await self._send(Event("audio-stop"))

    async def _refuse(self, sentence: str) -> None:
        await self._send(Event("error", {"text": sentence, "code": "not_spoken"}))


def _form(rate: int) -> dict[str, Any]:
    return {"rate": rate, "width": WIDTH, "channels": CHANNELS}
