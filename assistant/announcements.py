"""What Hearth says although nobody asked: one queue, spoken between the turns, each once."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from types import TracebackType
from typing import Any, Protocol, Self

from assistant.announcement_order import first, is_news, left_out
from assistant.clock import Clock, SystemClock
from assistant.journal.records import AnnouncementRecord, StoreError, new_id
from assistant.journal.store import Store
from assistant.speech.manner import Manner
from integrations.owner import OwnedTasks

TRIES = 3  # of one announcement, at a loudspeaker that comes and goes
AGAIN_S = 30.0  # after which a store that failed is asked again
KEEP = timedelta(minutes=10)  # what nobody could hear for so long is news no more
UNKEPT = 16  # that wait at most, of those that are not in the store
KEPT = 64  # of those that are
PREANNOUNCE = "announce"  # the tone before what comes from outside
_UNHEARD = "an announcement was not heard: there was no loudspeaker"
_log = logging.getLogger(__name__)


class Speaker(Protocol):
    """Whoever says it, such as the turn's `Runner`."""

    def announce(self, text: str, language: str, manner: Manner) -> None:
        """Say it like that once the conversation rests."""
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
    """Speaks what waits, the most important first and of these the oldest, one at a time.

    It begins between the turns only: nobody who talks to us is talked over, no answer is cut. What
    was kept and had not begun when the process ended is spoken by the next one; what was only held
    is gone with its process. What has expired while it waited is left out. Beyond UNKEPT held ones
    and KEPT kept ones the least important is left out, and of these the oldest.

    What had begun is never said again by another process. Without a loudspeaker nothing is begun;
    where it goes in the middle, the whole is said again when it is back, unless it has expired.

    Of a record's options these count: `priority` (see `announcement_order`), `language` (a code),
    and `sound`, `volume` and `alarm` as in `assistant.speech.manner.Manner`.
    """

    def __init__(
        self,
        store: Store,
        speaker: Speaker,
        language_of: Callable[[str], str],
        loudspeaker: Loudspeaker | None = None,
        clock: Clock | None = None,
    ) -> None:
        """`language_of`: a text, for what names no language. `loudspeaker`: None: there always is
        one."""
        self._store = store
        self._speaker = speaker
        self._language_of = language_of
        self._loudspeaker = loudspeaker
        self._clock = clock or SystemClock()
        self._more = asyncio.Event()
        self._more.set()  # what an earlier process has left
        self._waiting: dict[str, AnnouncementRecord] = {}  # by id
        self._kept: set[str] = set()  # of these, what the store has
        self._loaded = False  # `_waiting` has all that the store has
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

    async def keep(self, record: AnnouncementRecord) -> bool:
        """It is on the disk when this returns, and is spoken soon, if need be after a restart.

        False: it is left out, since much waits that is more important. Raises StoreError.
        """
        await self._store.add_announcement(record)
        return record.id not in await self._take_in([record])

    def hold(self, record: AnnouncementRecord) -> bool:
        """Speak it soon; it does not outlive the process. On the loop. False: as `keep`, or
        everything ends."""
        if self._over:
            _log.info("an announcement came too late: everything ends")
            return False
        self._waiting[record.id] = record
        for one in self._too_many(kept=False):
            del self._waiting[one.id]
        self._more.set()
        return record.id in self._waiting

    def say(self, text: str, language: str) -> None:
        """Hold it, at most for KEEP."""
        now = self._clock.now()
        self.hold(AnnouncementRecord(new_id(now), text, now, now + KEEP, {"language": language}))

    async def _speak_all(self) -> None:
        while True:
            await self._until_more()
            self._more.clear()
            await self._load()
            while self._waiting:
                await self._wait()
                self._leave_out_old()
                record = first(self._waiting.values())  # only now: others may have come meanwhile
                if record is not None:
                    del self._waiting[record.id]
                    await self._speak(record)

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
        """What the store has; where it cannot be read, it is tried again later."""
        if self._loaded:
            return
        try:
            pending = await self._store.pending_announcements()
        except StoreError as error:
            _log.error("announcements cannot be read: %s", error)
            return
        self._loaded = True
        await self._take_in(pending)

    async def _take_in(self, records: Iterable[AnnouncementRecord]) -> set[str]:
        """They are in the store, and wait now. The ids of what is left out for them."""
        for record in records:
            self._waiting[record.id] = record
            self._kept.add(record.id)
        self._more.set()
        over = {one.id for one in self._too_many(kept=True)}
        for name in over:
            del self._waiting[name]
            self._kept.discard(name)
        try:
            for name in over:
                await self._store.finish_announcement(name)
        except StoreError as error:  # then the next process may say it
            _log.error("what was left out cannot be written down: %s", error)
        return over

    def _too_many(self, *, kept: bool) -> list[AnnouncementRecord]:
        alike = [one for one in self._waiting.values() if (one.id in self._kept) is kept]
        over = left_out(alike, KEPT if kept else UNKEPT)
        if over:
            _log.warning("too much waits to be announced; the least and oldest is left out")
        return over

    def _leave_out_old(self) -> None:
        now = self._clock.now()
        for record in [one for one in self._waiting.values() if not is_news(one, now)]:
            del self._waiting[record.id]
            self._kept.discard(record.id)
            _log.warning("an announcement was not heard: it expired while it waited")

    async def _speak(self, record: AnnouncementRecord) -> None:
        kept = record.id in self._kept
        self._kept.discard(record.id)
        try:
            if kept and not await self._store.start_announcement(record.id):
                return
            await self._until_heard(record)
            if kept:
                await self._store.finish_announcement(record.id)
        except StoreError as error:
            self._loaded = False  # if it has not begun, it is found again
            _log.error("an announcement cannot be written down: %s", error)

    async def _until_heard(self, record: AnnouncementRecord) -> None:
        """Say it, and again where the loudspeaker goes in the middle, while it is news."""
        for tries in range(TRIES):
            if tries:
                await self._wait()
                if not is_news(record, self._clock.now()):
                    break
            if await self._say(record):
                return
        _log.warning(_UNHEARD)

    async def _wait(self) -> None:
        """Until it may be said and can be heard."""
        if self._loudspeaker is not None:
            await self._loudspeaker.audible()
        await self._speaker.rest()

    async def _say(self, record: AnnouncementRecord) -> bool:
        """Whether nothing of it was dropped for want of a loudspeaker."""
        before = self._drops
        self._saying, self._played = record.text, True
        language = str(record.options.get("language") or self._language_of(record.text))
        self._speaker.announce(record.text, language, _manner_of(record.options))
        await self._speaker.rest()
        # A voice that cannot be made is no sound either, and no better with a loudspeaker.
        return self._played or self._drops == before

    def _ended(self, text: str, played: bool) -> None:
        if text == self._saying:
            self._played = played

    @property
    def _drops(self) -> int:
        return 0 if self._loudspeaker is None else self._loudspeaker.drops


def _manner_of(options: Mapping[str, Any]) -> Manner:
    volume = options.get("volume")
    return Manner(
        sound=str(options.get("sound") or ""),
        volume=float(volume) if isinstance(volume, int | float) else None,
        alarm=options.get("alarm") is True,
    )
