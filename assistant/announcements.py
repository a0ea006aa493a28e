"""What Hearth says although nobody asked: kept in the store until it is spoken, spoken once."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Protocol, Self

from assistant.clock import Clock, SystemClock
from assistant.journal.records import AnnouncementRecord, StoreError
from assistant.journal.store import Store
from audio.errors import AudioError
from integrations.owner import OwnedTasks

TRIES = 3  # of one announcement, at a loudspeaker that comes and goes
_log = logging.getLogger(__name__)

Ring = Callable[[str], Awaitable[None]]  # plays a sound of `audio.earcons`


class Speaker(Protocol):
    """Whoever says it, such as the turn's `Runner`."""

    def announce(self, text: str, language: str) -> None:
        """Say it once the conversation rests."""
        ...

    async def rest(self) -> None:
        """Return when no turn is under way."""
        ...


class Loudspeaker(Protocol):
    """Where it sounds (`assistant.speech.mouth.Mouth`)."""

    @property
    def drops(self) -> int:
        """How often sound was dropped because there was no loudspeaker."""
        ...

    async def audible(self) -> None:
        """Return once there is one, as far as is known."""
        ...


class Announcements:
    """Speaks what the store holds, the oldest first, one at a time, between the turns.

    What was kept and had not begun when the process ended is spoken by the next one, unless it has
    expired. What had begun is never said again by another process. Without a loudspeaker nothing
    is begun; where it goes in the middle, the whole is said again when it is back, unless it has
    expired by then. Of the record's options `language` (a code) and `sound` (a tone that goes
    before) count here.
    """

    def __init__(
        self,
        store: Store,
        speaker: Speaker,
        ring: Ring,
        language: str,
        loudspeaker: Loudspeaker | None = None,
        clock: Clock | None = None,
    ) -> None:
        """`language`: of what names none. `loudspeaker`: None: there always is one."""
        self._store = store
        self._speaker = speaker
        self._ring = ring
        self._language = language
        self._loudspeaker = loudspeaker
        self._clock = clock or SystemClock()
        self._more = asyncio.Event()
        self._more.set()  # what an earlier process has left
        self._owner = OwnedTasks()

    async def __aenter__(self) -> Self:
        await self._owner.__aenter__()
        self._owner.start(self._speak_all(), "announcements")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._owner.__aexit__(kind, error, trace)

    async def keep(self, record: AnnouncementRecord) -> None:
        """It is on the disk when this returns, and is spoken soon. Raises StoreError."""
        await self._store.add_announcement(record)
        self._more.set()

    async def _speak_all(self) -> None:
        while True:
            await self._more.wait()
            self._more.clear()
            try:
                while pending := await self._store.pending_announcements():
                    await self._speak(pending[0])
            except StoreError as error:
                _log.error("announcements cannot be read: %s", error)  # until the next one comes

    async def _speak(self, record: AnnouncementRecord) -> None:
        """Between the turns; what has expired while it waited is left out."""
        await self._wait()
        if record.id not in {still.id for still in await self._store.pending_announcements()}:
            return
        if not await self._store.start_announcement(record.id):
            return
        for left in reversed(range(TRIES)):
            if await self._say(record):
                break
            if left:
                await self._wait()
            expired = record.expires_at is not None and self._clock.now() >= record.expires_at
            if expired or not left:
                _log.warning("an announcement was not heard: there was no loudspeaker")
                break
        await self._store.finish_announcement(record.id)

    async def _wait(self) -> None:
        """Until it may be said and can be heard."""
        if self._loudspeaker is not None:
            await self._loudspeaker.audible()
        await self._speaker.rest()

    async def _say(self, record: AnnouncementRecord) -> bool:
        """Whether nothing of it was dropped for want of a loudspeaker."""
        options = record.options
        if sound := options.get("sound"):
            try:
                await self._ring(str(sound))
            except AudioError as error:
                _log.warning("the %s sound could not be played: %s", sound, error)
        before = self._drops
        self._speaker.announce(record.text, str(options.get("language") or self._language))
        await self._speaker.rest()
        return self._drops == before

    @property
    def _drops(self) -> int:
        return 0 if self._loudspeaker is None else self._loudspeaker.drops
