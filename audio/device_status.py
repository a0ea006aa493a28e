"""Status of the microphone and the loudspeaker, for whoever wants to know."""

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
    """Status of the microphone."""

    OPENING = auto()  # at the start, nothing was tried yet; and on the way back to listening
    LISTENING = auto()  # frames arrive
    MISSING = auto()  # it cannot be opened, or has stopped; it is looked for
    SILENT = auto()  # frames arrive, all of them digital silence: it is muted at the device
    ELSEWHERE = auto()  # the sound server moved us to what is no microphone; we wait
    CLOSED = auto()  # by the person: nothing is listened to


@dataclass(frozen=True, slots=True)
class MicrophoneChange:
    """It stands otherwise from now on."""

    status: MicrophoneStatus
    sentence: str  # for a person, in English; "" where there is nothing to say


SETTLE_S = 0.3  # after news of the devices, before one looks: they come in bursts
AGAIN_S = 2.0  # between two looks for one that is missing, where no news come
DOUBT_S = 30.0  # after it could not be used, one that only looks as if it were there does not count

_log = logging.getLogger(__name__)


class SpeakerStatus(Enum):
    """Status of the loudspeaker."""

    READY = auto()  # it plays; or it rests, and nothing is known against it
    MISSING = auto()  # it cannot be opened, or has gone; it is looked for


@dataclass(frozen=True, slots=True)
class SpeakerChange:
    """It stands otherwise from now on."""

    status: SpeakerStatus
    sentence: str  # for a person, in English; "" where all is well


class Presence:
    """Tell whether there is a loudspeaker, though it is open only while something sounds.

    Whoever opens it tells what came of it (`found`, `missed`). While it rests it is looked for
    after each change among the devices, and every AGAIN_S once it is missing.
    """

    def __init__(self, name: str, look: Callable[[], Awaitable[bool]], clock: Clock) -> None:
        """`name`: what a person calls it. `look`: opens nothing; False where it need not look,
        because it is open. Raises AudioError where there is none."""
        # Told on the loop of every change; must not block.
        self.on_change: Callable[[SpeakerChange], None] = lambda change: None
        self._on_unlisted: Callable[[], None] = lambda: None
        self._name = name
        self._look = look
        self._clock = clock
        self.status = SpeakerStatus.READY  # how it stands
        self.sentence = ""  # why it is missing, "" where it is not
        self._since = clock.monotonic()
        self._there = asyncio.Event()
        self._there.set()
        self._alarm = Alarm(clock)
        self._news = False
        self._doubt_until = 0.0  # seconds of the clock
        self._looking: asyncio.Task[None] | None = None
        self._forget: Callable[[], None] = lambda: None

    @property
    def since_s(self) -> float:
        """Seconds since it stands so."""
        return self._clock.monotonic() - self._since

    def follow(self, watch: "DeviceWatch", on_unlisted: Callable[[], None] = lambda: None) -> None:
        """Look now, and after each change that this tells of, until `close`. On the loop.

        `on_unlisted`: told at each look where only a new list of the devices would show it, and a
        stream is in the way of that: whoever has it open may let go. Must not block.
        """
        self._on_unlisted = on_unlisted
        self._forget()
        self._forget = watch.listen(self._changed)
        self._changed()

    def found(self) -> None:
        """It could be opened."""
        if self._become(SpeakerStatus.READY, ""):
            _log.info("the loudspeaker (%s) is back", self._name)

    def missed(self, error: AudioError, *, unusable: bool = False) -> None:
        """It has gone, or, `unusable`, could not be opened or takes no sound."""
        if unusable:
            self._doubt_until = self._clock.monotonic() + DOUBT_S
        self._miss(error)
        self._begin()

    async def there(self) -> None:
        """Return once nothing is known against it."""
        await self._there.wait()

    async def close(self) -> None:
        """Look no more."""
        self._forget()
        self._forget = lambda: None
        looking, self._looking = self._looking, None
        if looking is not None:
            looking.cancel()
            await asyncio.wait([looking])
        self._alarm.close()

    def _changed(self) -> None:
        """Something is different among the sound devices."""
        self._news = True
        self._doubt_until = 0.0
        self._alarm.ring()
        self._begin()

    def _begin(self) -> None:
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._keep_looking(), name="speaker-looking")

    async def _keep_looking(self) -> None:
        """As long as there are news, or it is missing."""
        while self._news or self.status is SpeakerStatus.MISSING:
            await self._alarm.wait(self._clock.monotonic() + (0.0 if self._news else AGAIN_S))
            if self._news:
                await self._clock.sleep(SETTLE_S)
            self._news = False
            try:
                if await self._look() and self._clock.monotonic() >= self._doubt_until:
                    self.found()
            except AudioError as error:
                self._doubt_until = 0.0  # it really is not there: once it is, that is news
                self._miss(error)
                if isinstance(error, Unlisted):
                    self._on_unlisted()

    def _miss(self, error: AudioError) -> None:
        if self._become(SpeakerStatus.MISSING, str(error)):
            _log.warning("%s", error)

    def _become(self, status: SpeakerStatus, sentence: str) -> bool:
        """Tell whether that is a change."""
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
