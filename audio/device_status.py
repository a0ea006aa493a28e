"""The status of the microphone and the loudspeaker."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

from audio.errors import AudioError, Unlisted
from audio.timing import Alarm, Clock

if TYPE_CHECKING:
    from audio.devices.watch import DeviceWatch


class MicrophoneStatus(Enum):
    OPENING = auto()  # not opened yet, or being reopened
    LISTENING = auto()  # frames arrive
    MISSING = auto()  # can't be opened, or has stopped; being searched for
    SILENT = auto()  # frames arrive, but are digital silence: muted on the device
    ELSEWHERE = auto()  # the sound server moved the stream to something else
    CLOSED = auto()  # closed by the user; nothing is recorded


@dataclass(frozen=True, slots=True)
class MicrophoneChange:
    status: MicrophoneStatus
    sentence: str  # explanation in English for the user; "" if there is nothing to say


# Pause between a device event and the check that follows, because events come in bursts.
SETTLE_S = 0.3
AGAIN_S = 2.0  # interval between checks for a missing device without events
# After a failure, being listed isn't enough to count as present for this long.
DOUBT_S = 30.0

_log = logging.getLogger(__name__)


class SpeakerStatus(Enum):
    READY = auto()  # plays, or is closed with no known problem
    MISSING = auto()  # can't be opened, or was lost; being searched for


@dataclass(frozen=True, slots=True)
class SpeakerChange:
    status: SpeakerStatus
    sentence: str  # explanation in English for the user; "" if all is well


class Presence:
    """Tracks whether a loudspeaker is connected, even while it is closed. The code that opens the
    device reports the outcome with `found` or `missed`."""

    def __init__(self, name: str, look: Callable[[], Awaitable[bool]], clock: Clock) -> None:
        """`name` is the device's display name. `look` checks for the device without opening it. It
        returns False if the device is in use and needs no check, and raises AudioError if the
        device is missing."""
        # Called on the event loop for every change; must not block.
        self.on_change: Callable[[SpeakerChange], None] = lambda change: None
        self._on_unlisted: Callable[[], None] = lambda: None
        self._name = name
        self._look = look
        self._clock = clock
        self.status = SpeakerStatus.READY
        self.sentence = ""  # why it is missing; "" while it is ready
        self._since = clock.monotonic()
        self._there = asyncio.Event()
        self._there.set()
        self._alarm = Alarm(clock)
        self._news = False
        self._doubt_until = 0.0  # time by `clock`, in seconds
        self._looking: asyncio.Task[None] | None = None
        self._forget: Callable[[], None] = lambda: None

    @property
    def since_s(self) -> float:
        return self._clock.monotonic() - self._since

    def follow(self, watch: "DeviceWatch", on_unlisted: Callable[[], None] = lambda: None) -> None:
        """Check now and after each change that `watch` reports, until `close` is called. Call this
        on the event loop.

        `on_unlisted` is called if the device can't be checked until an open stream is closed. It
        must not block.
        """
        self._on_unlisted = on_unlisted
        self._forget()
        self._forget = watch.listen(self._changed)
        self._changed()

    def found(self) -> None:
        """Report that the device was opened successfully."""
        if self._become(SpeakerStatus.READY, ""):
            _log.info("the loudspeaker (%s) is back", self._name)

    def missed(self, error: AudioError, *, unusable: bool = False) -> None:
        """Report that the device is missing.

        `unusable` is True if the device could not be opened or accepts no audio.
        """
        if unusable:
            self._doubt_until = self._clock.monotonic() + DOUBT_S
        self._miss(error)
        self._begin()

    async def there(self) -> None:
        """Wait until the status is READY."""
        await self._there.wait()

    async def close(self) -> None:
        self._forget()
        self._forget = lambda: None
        looking, self._looking = self._looking, None
        if looking is not None:
            looking.cancel()
            await asyncio.wait([looking])
        self._alarm.close()

    def _changed(self) -> None:
        self._news = True
        self._doubt_until = 0.0
        self._alarm.ring()
        self._begin()

    def _begin(self) -> None:
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._keep_looking(), name="speaker-looking")

    async def _keep_looking(self) -> None:
        while self._news or self.status is SpeakerStatus.MISSING:
            await self._alarm.wait(self._clock.monotonic() + (0.0 if self._news else AGAIN_S))
            if self._news:
                await self._clock.sleep(SETTLE_S)
            self._news = False
            try:
                if await self._look() and self._clock.monotonic() >= self._doubt_until:
                    self.found()
            except AudioError as error:
                self._doubt_until = 0.0  # it really is missing, so if it is found again, trust that
                self._miss(error)
                if isinstance(error, Unlisted):
                    self._on_unlisted()

    def _miss(self, error: AudioError) -> None:
        if self._become(SpeakerStatus.MISSING, str(error)):
            _log.warning("%s", error)

    def _become(self, status: SpeakerStatus, sentence: str) -> bool:
        self.sentence = sentence
        if status is self.status:
            return False
        self.status = status
        self._since = self._clock.monotonic()
        if status is SpeakerStatus.READY:
            self._there.set()
        else:
            self._there.clear()
        self.on_change(SpeakerChange(status, sentence))
        return True
