"""The box as a satellite of Home Assistant: sound that comes is played, and none ever goes.

Home Assistant announces by sending PCM between `audio-start` and `audio-stop`, and waits for
`played`. A satellite may also send its microphone's sound and ask for a pipeline; this one does
neither, whatever it is told.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from wyoming.event import Event

from integrations.cleaning import one_line
from integrations.web.box import NotAnnounced, NotPossible
from integrations.wyoming_face.session import CHANNELS, WIDTH, DescribedSession
from integrations.wyoming_face.wire import BadEvent

LONGEST_S = 120.0  # of one announcement
_RATES = range(8_000, 48_001)  # Hz
_MOST_TIMERS = 64  # whose names are known
_LONGEST_NAME = 60

_log = logging.getLogger(__name__)


class Room(Protocol):
    """Where it sounds."""

    async def play(self, pcm: bytes, rate: int) -> None:
        """Play mono int16 once the conversation rests; return when it is over.

        Raises NotAnnounced and NotPossible.
        """
        ...

    async def timer_rang(self, name: str) -> None:
        """A timer of Home Assistant's for this satellite is over. `name`: "" for none."""
        ...


class SatelliteSession(DescribedSession):
    """One connection of Home Assistant's."""

    def __init__(self, send: Callable[[Event], Awaitable[None]], info: Event, room: Room) -> None:
        super().__init__(send, info)
        self._room = room
        self._sound: bytearray | None = None  # what came since `audio-start`
        self._rate = 0
        self._timers: dict[str, str] = {}  # id -> name

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
                _log.debug("a Wyoming event is passed over: %s", other[:40])

    def _begin(self, data: dict[str, Any]) -> None:
        rate, form = data.get("rate"), (data.get("width"), data.get("channels"))
        if not isinstance(rate, int) or rate not in _RATES or form != (WIDTH, CHANNELS):
            raise BadEvent("sound must be mono int16 of 8,000 to 48,000 Hz")
        self._sound, self._rate = bytearray(), rate

    def _add(self, event: Event) -> None:
        if self._sound is None:
            raise BadEvent("sound came without its begin")
        self._sound += event.payload or b""
        if len(self._sound) > LONGEST_S * self._rate * WIDTH:
            raise BadEvent(f"an announcement is longer than {LONGEST_S:g} s")

    def _end(self) -> None:
        sound, self._sound = self._sound, None
        if sound:
            whole = bytes(sound[: len(sound) // WIDTH * WIDTH])
            self._tasks.start(self._play(whole, self._rate), "wyoming announcement")

    async def _play(self, pcm: bytes, rate: int) -> None:
        """Say when it is over, also where it could not be played: somebody waits for that."""
        try:
            await self._room.play(pcm, rate)
        except (NotAnnounced, NotPossible) as error:
            _log.warning("Home Assistant's announcement is not played: %s", error)
        await self._tell_played()

    async def _tell_played(self) -> None:
        try:
            await self._send(Event("played"))
        except OSError as error:
            _log.debug("nobody waits for the announcement any more: %s", error)

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
            await self._room.timer_rang(name)
        except (NotAnnounced, NotPossible) as error:
            _log.warning("a timer of Home Assistant's does not ring here: %s", error)
