"""What Hearth says although nobody asked: kept in the store until it is spoken, spoken once."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from datetime import timedelta
from types import TracebackType
from typing import Protocol, Self

from assistant.clock import Clock, SystemClock
from assistant.journal.records import AnnouncementRecord, StoreError, new_id
from assistant.journal.store import Store
from audio.errors import AudioError
from integrations.owner import OwnedTasks

TRIES = 3  # of one announcement, at a loudspeaker that comes and goes
KEEP = timedelta(minutes=10)  # what nobody could hear for so long is news no more
UNKEPT = 16  # that wait at most, of those that are not in the store
_UNHEARD = "an announcement was not heard: there was no loudspeaker"
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

    def follow_announcements(self, ended: Callable[[str, bool], None]) -> None:
        """Call it with the text of each that is over, before `rest` returns, and whether all of
        its sound could be played; what somebody stops could be."""
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
        self._unkept: deque[AnnouncementRecord] = deque()
        self._owner = OwnedTasks()
        self._over = False
        self._saying = ""
        self._played = True  # all of it, as far as is known

    async def __aenter__(self) -> Self:
        await self._owner.__aenter__()
        self._speaker.follow_announcements(self._ended)
        self._owner.start(self._speak_all(), "announcements")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over = True
        await self._owner.__aexit__(kind, error, trace)

    async def keep(self, record: AnnouncementRecord) -> None:
        """It is on the disk when this returns, and is spoken soon. Raises StoreError."""
        await self._store.add_announcement(record)
        self._more.set()

    def say(self, text: str, language: str) -> None:
        """Speak it soon, and at most KEEP late; it does not outlive the process. On the loop.

        Beyond UNKEPT the oldest that waits is left out.
        """
        if self._over:
            _log.info("an announcement came too late: everything ends")
            return
        if len(self._unkept) >= UNKEPT:
            _log.warning("too much waits to be announced; the oldest is left out")
            self._unkept.popleft()
        now = self._clock.now()
        options = {"language": language}
        self._unkept.append(AnnouncementRecord(new_id(now), text, now, now + KEEP, options))
        self._more.set()

    async def _speak_all(self) -> None:
        while True:
            await self._more.wait()
            self._more.clear()
            while self._unkept:
                await self._wait()
                record = self._unkept.popleft()  # only now: too many may have come meanwhile
                if self._is_news(record):
                    await self._until_heard(record)
                else:
                    _log.warning(_UNHEARD)
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
        await self._until_heard(record)
        await self._store.finish_announcement(record.id)

    async def _until_heard(self, record: AnnouncementRecord) -> None:
        """Say it, and again where the loudspeaker goes in the middle, while it is news."""
        for tries in range(TRIES):
            if tries:
                await self._wait()
                if not self._is_news(record):
                    break
            if await self._say(record):
                return
        _log.warning(_UNHEARD)

    def _is_news(self, record: AnnouncementRecord) -> bool:
        """It has not expired."""
        return record.expires_at is None or self._clock.now() < record.expires_at

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
        self._saying, self._played = record.text, True
        self._speaker.announce(record.text, str(options.get("language") or self._language))
        await self._speaker.rest()
        # A voice that cannot be made is no sound either, and no better with a loudspeaker.
        return self._played or self._drops == before

    def _ended(self, text: str, played: bool) -> None:
        if text == self._saying:
            self._played = played

    @property
    def _drops(self) -> int:
        return 0 if self._loudspeaker is None else self._loudspeaker.drops
