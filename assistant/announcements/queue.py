"""The queue of announcements, spoken between the turns, each once."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import datetime, timedelta
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Literal

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


class Priority(IntEnum):
    """Urgency of an announcement. `high` goes before what waits; it does not interrupt."""

    LOW = 0
    NORMAL = 1
    HIGH = 2


def priority_of(record: AnnouncementRecord) -> Priority:
    """As its option `priority` says: "low", "normal" or "high"; normal where it says nothing."""
    named = record.options.get("priority")
    return Priority.__members__.get(str(named).upper(), Priority.NORMAL)


def first(waiting: Iterable[AnnouncementRecord]) -> AnnouncementRecord | None:
    """The most important, and of these the oldest; of two equally old ones the first given."""
    return min(waiting, key=lambda one: (-priority_of(one), one.created_at), default=None)


def left_out(waiting: Iterable[AnnouncementRecord], most: int) -> list[AnnouncementRecord]:
    """So that `most` are left: the least important, and of these the oldest."""
    ranked = sorted(waiting, key=lambda one: (priority_of(one), one.created_at))
    return ranked[: max(0, len(ranked) - most)]


def is_news(record: AnnouncementRecord, now: datetime) -> bool:
    """It has not expired."""
    return record.expires_at is None or now < record.expires_at


UNKEPT = 16  # that wait at most, of those that are not in the store
KEPT = 64  # of those that are


class AnnouncementQueue:
    """Held ones and kept ones, by id."""

    def __init__(self) -> None:
        self._waiting: dict[str, AnnouncementRecord] = {}
        self._kept: set[str] = set()  # of these, what the store has

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, name: str) -> bool:
        return name in self._waiting

    def put(self, records: Iterable[AnnouncementRecord], *, kept: bool) -> list[AnnouncementRecord]:
        """They wait now. What is left out for them: of the held or the kept ones, as they are,
        the least important beyond UNKEPT or KEPT, and of these the oldest."""
        for record in records:
            self._waiting[record.id] = record
            if kept:
                self._kept.add(record.id)
        alike = [one for one in self._waiting.values() if (one.id in self._kept) is kept]
        over = left_out(alike, KEPT if kept else UNKEPT)
        for one in over:
            self._remove(one)
        return over

    def take(self) -> tuple[AnnouncementRecord, bool] | None:
        """Take out what comes next; with it, whether the store has it."""
        record = first(self._waiting.values())
        if record is None:
            return None
        return record, self._remove(record)

    def take_old(self, now: datetime) -> list[tuple[AnnouncementRecord, bool]]:
        """Take out what has expired; with each, whether the store has it."""
        old = [one for one in self._waiting.values() if not is_news(one, now)]
        return [(one, self._remove(one)) for one in old]

    def _remove(self, record: AnnouncementRecord) -> bool:
        """Remove it; True where the store has it."""
        del self._waiting[record.id]
        kept = record.id in self._kept
        self._kept.discard(record.id)
        return kept


_log = logging.getLogger(__name__)
TRIES = 3  # of one announcement, at a loudspeaker that comes and goes
AGAIN_S = 30.0  # after which a store that failed is asked again
KEEP = timedelta(minutes=10)  # what nobody could hear for so long is news no more
PREANNOUNCE = "announce"  # the tone before what comes from outside
_UNHEARD = "an announcement was not heard: there was no loudspeaker"


class Announcements(Opened):
    """Speaks what waits, the most important first and of these the oldest, one at a time.

    It begins between the turns only: nobody who talks to us is talked over, no answer is cut. What
    was kept and had not begun when the process ended is spoken by the next one; what was only held
    is gone with its process. What has expired while it waited is left out, and where too much waits
    (see `AnnouncementQueue`) the least important.

    What had begun is never said again by another process, and an id that was kept is never said
    again for as long as the store has it. Without a loudspeaker nothing is begun; where it goes in
    the middle, the whole is said again when it is back, unless it has expired.

    Of a record's options these count: `priority` (see `Priority`), `language` (a code),
    `sound`, `volume`, `alarm` and `caller` as in `Manner`, and `media`, the
    name of the clip that sounds in place of a text.
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
        """`language_of`: a text, for what names no language. `loudspeaker`: None: there always is
        one. `sounds`: where clips wait; None: there are none. `bus`: told of each."""
        self._store = store
        self._speaker = speaker
        self._language_of = language_of
        self._loudspeaker = loudspeaker
        self._clock = clock or SystemClock()
        self._sounds = sounds
        self._bus = bus
        self._more = asyncio.Event()
        self._more.set()  # what an earlier process has left
        self._queue = AnnouncementQueue()
        self._loaded = False  # the queue has all that the store has
        self._owner = OwnedTasks()
        self._over = False
        self._saying = ""  # the text of what is being said
        self._played = True  # all of it, as far as is known
        self._speaking = False  # one has been taken from the queue and is not over
        self._inaudible = False  # a loudspeaker is waited for
        self._ends: dict[str, asyncio.Future[bool]] = {}  # of what waits or is being said, by id

    @property
    def waiting(self) -> int:
        """Number of those that wait to be said."""
        return len(self._queue)

    @property
    def unsaid(self) -> bool:
        """Something is being said, or comes next; not while only a loudspeaker is missing."""
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
        """End what waits unsaid, for those who wait for its end."""
        for end in self._ends.values():
            end.set_result(False)
        self._ends.clear()

    async def keep(self, record: AnnouncementRecord, clip: Clip | None = None) -> bool:
        """It is on the disk when this returns, and is spoken soon, if need be after a restart.

        One whose id was kept before is not said again. False: it is left out, since much waits
        that is more important. Raises StoreError, and TooMuchSound for a clip.
        """
        if clip is not None and self._sounds is not None:
            await self._sounds.keep(record.id, clip)
        if await self._store.add_announcement(record):
            over = self._take_in([record], kept=True)
            await self._write_down(over)
            return record not in over
        if clip is not None and self._sounds is not None and record.id not in self._ends:
            await self._sounds.drop(record.id)  # it was over before
        return True

    def hold(self, record: AnnouncementRecord, clip: Clip | None = None) -> bool:
        """Speak it soon; it does not outlive the process. On the loop. False: as `keep`, or
        everything ends. Raises TooMuchSound for a clip."""
        if self._over:
            _log.info("an announcement came too late: everything ends")
            return False
        if clip is not None and self._sounds is not None:
            self._sounds.hold(record.id, clip)
        self._take_in([record], kept=False)
        return record.id in self._queue

    def say(self, text: str, language: str) -> None:
        """Hold it, at most for KEEP."""
        now = self._clock.now()
        self.hold(AnnouncementRecord(new_id(now), text, now, now + KEEP, {"language": language}))

    async def knows(self, name: str) -> bool:
        """Return True where an announcement of that id was kept before. Raises StoreError."""
        return await self._store.knows_announcement(name)

    async def over(self, name: str) -> bool:
        """Return once that announcement is over: whether it was said. At once where none of that id
        waits or is being said."""
        end = self._ends.get(name)
        return end is not None and await asyncio.shield(end)

    # --- what comes and goes

    def _take_in(
        self, records: Sequence[AnnouncementRecord], *, kept: bool
    ) -> list[AnnouncementRecord]:
        """They wait now. What is left out for them."""
        over = self._queue.put(records, kept=kept)
        for record in records:
            if record.id not in self._ends:
                self._ends[record.id] = asyncio.get_running_loop().create_future()
                self._tell(record, "waits")
        if over:
            _log.warning("too much waits to be announced; the least and oldest is left out")
        for record in over:
            self._end(record, said=False)
        self._more.set()
        return over

    def _end(self, record: AnnouncementRecord, *, said: bool) -> None:
        """It is over, whatever the store has of it."""
        if self._sounds is not None:
            self._sounds.let_go(record.id)
        end = self._ends.pop(record.id, None)
        if end is not None:
            end.set_result(said)
        self._tell(record, "said" if said else "left_out")

    async def _write_down(self, records: Sequence[AnnouncementRecord]) -> None:
        """They are over, of those that were kept: for every process, and without their sound."""
        try:
            for record in records:
                await self._store.finish_announcement(record.id)
                if record.options.get("media") and self._sounds is not None:
                    await self._sounds.drop(record.id)
        except StoreError as error:  # then the next process may say it, unless it had begun
            _log.error("an announcement that is over cannot be written down: %s", error)

    def _tell(self, record: AnnouncementRecord, what: Literal["waits", "said", "left_out"]) -> None:
        if self._bus is not None:
            caller = str(record.options.get("caller") or "")
            self._bus.publish("announcement", id=record.id, what=what, caller=caller)

    # --- one after the other

    async def _speak_all(self) -> None:
        while True:
            await self._until_more()
            self._more.clear()
            await self._load()
            while self._queue:
                await self._wait()
                await self._leave_out_old()
                if self._speaker.ending:
                    return  # what was kept is for the next one
                taken = self._queue.take()  # only now: others may have come meanwhile
                if taken is not None:
                    await self._speak(*taken)

    async def _until_more(self) -> None:
        """Until something has come, or the store, which failed, may be asked again."""
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
        """Read what the store has; where it cannot be read, it is tried again later."""
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
                self._end(record, said=False)  # another process has said it
                return
        except StoreError as error:
            self._loaded = False  # it has not begun, and is found again
            _log.error("an announcement cannot be written down: %s", error)
            return
        said = await self._until_heard(record)
        if kept:
            await self._write_down([record])
        self._end(record, said=said)

    async def _until_heard(self, record: AnnouncementRecord) -> bool:
        """Say it, and again where the loudspeaker goes in the middle, while it is news."""
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
        """Until it may be said and can be heard."""
        if self._loudspeaker is not None:
            self._inaudible = True
            await self._loudspeaker.audible()
            self._inaudible = False
        await self._speaker.rest()

    async def _say(self, record: AnnouncementRecord, clip: Clip | None) -> bool:
        """Say it; True where nothing of it was dropped for want of a loudspeaker."""
        before = self._drops
        self._saying, self._played = record.text, True
        language = str(record.options.get("language") or self._language_of(record.text))
        self._speaker.announce(record.text, language, _manner_of(record.options, clip))
        await self._speaker.rest()
        # A voice that cannot be made is no sound either, and no better with a loudspeaker.
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
