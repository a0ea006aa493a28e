"""Speak waiting announcements one at a time, between turns."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

from assistant.announcements.queue import AnnouncementQueue, is_news
from assistant.domain.clock import Clock, SystemClock
from assistant.domain.events import EventBus
from assistant.domain.records import AnnouncementRecord, StoreError, new_id
from assistant.journal.store import Store
from assistant.speech.sink import Manner, Speaker
from audio.sound_files import Clip
from integrations.owner import Opened, OwnedTasks

if TYPE_CHECKING:
    from assistant.announcements.service import WaitingSounds
    from assistant.speech.output import SpeechOutput


_log = logging.getLogger(__name__)
TRIES = 3  # attempts per announcement if the loudspeaker disappears
AGAIN_S = 30.0  # seconds before a failed store is read again
KEEP = timedelta(minutes=10)  # default time until an announcement expires
PREANNOUNCE = "announce"  # tone before a program's announcement
_UNHEARD = "an announcement was not heard: there was no loudspeaker"


class Announcements(Opened):
    """Speaks waiting announcements one at a time between turns: the most urgent first, and among
    these the oldest first.

    Expired announcements are dropped. If the loudspeaker disappears during an announcement, the
    whole announcement is repeated when the loudspeaker is back.

    These options of a record are used: `priority` (see `Priority`), `language` (a code), `sound`,
    `volume`, `alarm` and `caller` (see `Manner`), and `media`, the name of a clip that is played
    instead of a text.
    """

    def __init__(
        self,
        store: Store,
        speaker: Speaker,
        language_of: Callable[[str], str],
        loudspeaker: "SpeechOutput | None" = None,
        clock: Clock | None = None,
        *,
        sounds: "WaitingSounds | None" = None,
        bus: EventBus | None = None,
    ) -> None:
        """`language_of` detects the language of a text if the options don't name one. `sounds`
        contains the clips of waiting announcements. `bus` receives an event for each change to an
        announcement."""
        self._store = store
        self._speaker = speaker
        self._language_of = language_of
        self._loudspeaker = loudspeaker
        self._clock = clock or SystemClock()
        self._sounds = sounds
        self._bus = bus
        self._more = asyncio.Event()
        self._more.set()  # load the announcements of an earlier process
        self._queue = AnnouncementQueue()
        self._loaded = False  # the queue holds everything in the store
        self._owner = OwnedTasks()
        self._over = False
        self._saying = ""  # the text being spoken
        self._played = True  # False if some of it could not be played
        self._speaking = False  # an announcement is being spoken
        self._inaudible = False  # waiting for a loudspeaker
        # Set when the announcement with this id has been spoken or dropped.
        self._ends: dict[str, asyncio.Future[bool]] = {}

    @property
    def waiting(self) -> int:
        return len(self._queue)

    @property
    def unsaid(self) -> bool:
        """True if an announcement is being spoken or is waiting, unless there is no loudspeaker."""
        return (self._speaking or bool(self._queue)) and not self._inaudible

    async def _enter(self, stack: AsyncExitStack) -> None:
        stack.callback(self._give_up)
        await stack.enter_async_context(self._owner)
        stack.callback(self._close)
        self._speaker.follow_announcements(self._ended)
        self._owner.start(self._speak_all(), "announcements")

    def _close(self) -> None:
        self._over = True

    def _give_up(self) -> None:
        for end in self._ends.values():
            end.set_result(False)
        self._ends.clear()

    async def keep(self, record: AnnouncementRecord, clip: Clip | None = None) -> bool:
        """Store an announcement and queue it, so that the next process speaks it if this one ends
        first.

        An announcement whose id is already in the store is not repeated. Return False if the
        announcement was dropped in favour of more urgent ones. Raises StoreError, and TooMuchSound
        if there is no room for the clip.
        """
        if clip is not None and self._sounds is not None:
            await self._sounds.keep(record.id, clip)
        if await self._store.add_announcement(record):
            over = self._take_in([record], kept=True)
            await self._write_down(over)
            return record not in over
        if clip is not None and self._sounds is not None and record.id not in self._ends:
            await self._sounds.drop(record.id)  # it was already over
        return True

    def hold(self, record: AnnouncementRecord, clip: Clip | None = None) -> bool:
        """Queue an announcement only in memory. Must be called on the event loop.

        Return False if the announcement was dropped in favour of more urgent ones or the process is
        ending. Raises TooMuchSound if there is no room for the clip.
        """
        if self._over:
            _log.info("an announcement was dropped: Hearth is shutting down")
            return False
        if clip is not None and self._sounds is not None:
            self._sounds.hold(record.id, clip)
        self._take_in([record], kept=False)
        return record.id in self._queue

    def withdraw(self, name: str) -> None:
        """Remove an announcement from the queue, if it is still waiting."""
        record = self._queue.withdraw(name)
        if record is not None:
            self._end(record, said=False)

    def say(self, text: str, language: str) -> None:
        """Queue a text in memory. It is dropped if it has to wait longer than KEEP."""
        now = self._clock.now()
        self.hold(AnnouncementRecord(new_id(now), text, now, now + KEEP, {"language": language}))

    async def knows(self, name: str) -> bool:
        """Return True if an announcement with this id is or was in the store. Raises StoreError."""
        return await self._store.knows_announcement(name)

    async def over(self, name: str) -> bool:
        """Wait until an announcement has been spoken or dropped, and return True if it was spoken.
        Return False immediately if it is already over or the id is unknown."""
        end = self._ends.get(name)
        return end is not None and await asyncio.shield(end)

    # --- the queue

    def _take_in(
        self, records: Sequence[AnnouncementRecord], *, kept: bool
    ) -> list[AnnouncementRecord]:
        over = self._queue.put(records, kept=kept)
        for record in records:
            if record.id not in self._ends:
                self._ends[record.id] = asyncio.get_running_loop().create_future()
                self._tell(record, "waits")
        if over:
            _log.warning(
                "too many announcements are waiting; the oldest of the least important was dropped"
            )
        for record in over:
            self._end(record, said=False)
        self._more.set()
        return over

    def _end(self, record: AnnouncementRecord, *, said: bool) -> None:
        if self._sounds is not None:
            self._sounds.let_go(record.id)
        end = self._ends.pop(record.id, None)
        if end is not None:
            end.set_result(said)
        self._tell(record, "said" if said else "left_out")

    async def _write_down(self, records: Sequence[AnnouncementRecord]) -> None:
        try:
            for record in records:
                await self._store.finish_announcement(record.id)
                if record.options.get("media") and self._sounds is not None:
                    await self._sounds.drop(record.id)
        except StoreError as error:  # the next process repeats announcements that had not started
            _log.error("the end of an announcement cannot be saved: %s", error)

    def _tell(self, record: AnnouncementRecord, what: Literal["waits", "said", "left_out"]) -> None:
        if self._bus is not None:
            caller = str(record.options.get("caller") or "")
            self._bus.publish("announcement", id=record.id, what=what, caller=caller)

    # --- speaking

    async def _speak_all(self) -> None:
        while True:
            await self._until_more()
            self._more.clear()
            await self._load()
            while self._queue:
                await self._wait()
                await self._leave_out_old()
                if self._speaker.ending:
                    return  # the next process speaks those in the store
                # Taken as late as possible, because more urgent ones may have arrived.
                taken = self._queue.take()
                if taken is not None:
                    await self._speak(*taken)

    async def _until_more(self) -> None:
        if self._loaded:
            await self._more.wait()
            return
        async with asyncio.TaskGroup() as group:
            later = group.create_task(self._clock.sleep(AGAIN_S))
            more = group.create_task(self._more.wait())
            await asyncio.wait({later, more}, return_when=asyncio.FIRST_COMPLETED)
            later.cancel()
            more.cancel()

    async def _load(self) -> None:
        if self._loaded:
            return
        try:
            pending = await self._store.pending_announcements()
        except StoreError as error:
            _log.error("announcements cannot be read: %s", error)
            return
        self._loaded = True
        await self._write_down(self._take_in(pending, kept=True))
        if self._sounds is not None:
            await self._sounds.drop_others([record.id for record in pending])

    async def _leave_out_old(self) -> None:
        for record, kept in self._queue.take_old(self._clock.now()):
            _log.warning("an announcement was not heard: it expired while it waited")
            if kept:
                await self._write_down([record])
            self._end(record, said=False)

    async def _speak(self, record: AnnouncementRecord, kept: bool) -> None:
        self._speaking = True
        try:
            await self._say_once(record, kept)
        finally:
            self._speaking = False

    async def _say_once(self, record: AnnouncementRecord, kept: bool) -> None:
        try:
            if kept and not await self._store.start_announcement(record.id):
                self._end(record, said=False)  # another process has spoken it
                return
        except StoreError as error:
            self._loaded = False  # not started, so it will be loaded again
            _log.error("an announcement cannot be saved: %s", error)
            return
        said = await self._until_heard(record)
        if kept:
            await self._write_down([record])
        self._end(record, said=said)

    async def _until_heard(self, record: AnnouncementRecord) -> bool:
        clip, media = None, record.options.get("media")
        if media and self._sounds is not None:
            clip = await self._sounds.take(record.id, str(media))
        if clip is None and not record.text:
            return False
        for tries in range(TRIES):
            if tries:
                await self._wait()
                if not is_news(record, self._clock.now()):
                    break
            if await self._say(record, clip):
                return True
        _log.warning(_UNHEARD)
        return False

    async def _wait(self) -> None:
        if self._loudspeaker is not None:
            self._inaudible = True
            await self._loudspeaker.audible()
            self._inaudible = False
        await self._speaker.rest()

    async def _say(self, record: AnnouncementRecord, clip: Clip | None) -> bool:
        before = self._drops
        self._saying, self._played = record.text, True
        language = str(record.options.get("language") or self._language_of(record.text))
        self._speaker.announce(record.text, language, _manner_of(record.options, clip))
        await self._speaker.rest()
        # If the voice failed, it would not help to repeat the announcement.
        return self._played or self._drops == before

    def _ended(self, text: str, played: bool) -> None:
        if text == self._saying:
            self._played = played

    @property
    def _drops(self) -> int:
        return 0 if self._loudspeaker is None else self._loudspeaker.drops


def _manner_of(options: Mapping[str, Any], clip: Clip | None) -> Manner:
    volume = options.get("volume")
    return Manner(
        sound=str(options.get("sound") or ""),
        volume=float(volume) if isinstance(volume, int | float) else None,
        alarm=options.get("alarm") is True,
        clip=clip,
        caller=str(options.get("caller") or ""),
    )
