"""Announcements: taken in from programs, and spoken between the turns, each once."""

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from assistant.announcements.queue import AnnouncementQueue, TooMuchSound, WaitingSounds, is_news
from assistant.domain.clock import Clock, SystemClock
from assistant.domain.events import EventBus
from assistant.domain.records import AnnouncementRecord, StoreError, new_id
from assistant.journal.store import Store
from assistant.speech.sink import Manner, Speaker
from audio.errors import AudioError
from audio.sound_files import Clip, levelled
from integrations.owner import OwnedTasks
from integrations.web.box import Caller, NotAnnounced, NotKept, NotPossible
from integrations.web.requests import AnnounceRequest

if TYPE_CHECKING:
    from assistant.announcements.sound_files import SoundFiles
    from assistant.speech.output import SpeechOutput

_log = logging.getLogger(__name__)

TRIES = 3  # of one announcement, at a loudspeaker that comes and goes
AGAIN_S = 30.0  # after which a store that failed is asked again
KEEP = timedelta(minutes=10)  # what nobody could hear for so long is news no more
PREANNOUNCE = "announce"  # the tone before what comes from outside
_UNHEARD = "an announcement was not heard: there was no loudspeaker"


class Announcements:
    """Speaks what waits, the most important first and of these the oldest, one at a time.

    It begins between the turns only: nobody who talks to us is talked over, no answer is cut. What
    was kept and had not begun when the process ended is spoken by the next one; what was only held
    is gone with its process. What has expired while it waited is left out, and where too much waits
    (see `announcement_queue`) the least important.

    What had begun is never said again by another process, and an id that was kept is never said
    again for as long as the store has it. Without a loudspeaker nothing is begun; where it goes in
    the middle, the whole is said again when it is back, unless it has expired.

    Of a record's options these count: `priority` (see `order`), `language` (a code),
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
        sounds: WaitingSounds | None = None,
        happenings: EventBus | None = None,
    ) -> None:
        """`language_of`: a text, for what names no language. `loudspeaker`: None: there always is
        one. `sounds`: where clips wait; None: there are none. `happenings`: told of each."""
        self._store = store
        self._speaker = speaker
        self._language_of = language_of
        self._loudspeaker = loudspeaker
        self._clock = clock or SystemClock()
        self._sounds = sounds
        self._happenings = happenings
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
        """How many wait to be said."""
        return len(self._queue)

    @property
    def unsaid(self) -> bool:
        """Something is being said, or comes next; not while only a loudspeaker is missing."""
        return (self._speaking or bool(self._queue)) and not self._inaudible

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
        """Whether an announcement of that id was kept before. Raises StoreError."""
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
        if self._happenings is not None:
            caller = str(record.options.get("caller") or "")
            self._happenings.tell("announcement", id=record.id, what=what, caller=caller)

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
        """What the store has; where it cannot be read, it is tried again later."""
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
        """Whether nothing of it was dropped for want of a loudspeaker."""
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


# Where programs have something said: a text, a sound file or sound of their own.


class AnnouncementService:
    """Takes in what programs want said; every interface for programs uses it.

    A sound is fetched and decoded before it is taken, so that whoever sent it is told at once where
    it will not do.
    """

    def __init__(
        self, announcements: Announcements, sounds: "SoundFiles | None", clock: Clock
    ) -> None:
        """`sounds`: None where no sound files are to be had."""
        self._announcements = announcements
        self._sounds = sounds
        self._clock = clock

    async def announce(
        self, wanted: AnnounceRequest, caller: Caller, *, announcement_id: str = ""
    ) -> str:
        """Have it said once the conversation rests. Gives its id: the given one, or a new one.

        With `wanted.persist` it is on the disk when this returns, and one whose id was kept before
        is not said again. Raises NotAnnounced, NotPossible and NotKept: then it is not said.
        """
        with _told():
            may_be_known = announcement_id != "" and wanted.persist
            if may_be_known and await self._announcements.knows(announcement_id):
                return announcement_id
        record = self._record_of(wanted, caller, announcement_id)
        clip = None if wanted.media is None else await self._fetch(wanted.media)
        if clip is not None:
            record.options["media"] = clip.name
        with _told():
            if wanted.persist:
                taken = await self._announcements.keep(record, clip)
            else:
                taken = self._announcements.hold(record, clip)
        return _id_of(record, taken=taken)

    async def play(
        self,
        pcm: bytes,
        rate: int,
        caller: Caller,
        *,
        name: str = "sound",
        preannounce: bool = False,
        volume: float | None = None,
    ) -> str:
        """The same with sound of this process: mono int16 at `rate` Hz, as loud as it may be. It
        does not outlive the process. `name`: for the journal. Raises NotAnnounced, NotPossible."""
        wanted = AnnounceRequest(media=name, preannounce=preannounce, volume=volume)
        try:
            clip = await asyncio.to_thread(levelled, pcm, rate, name)
        except AudioError as error:
            raise NotPossible(str(error)) from error
        record = self._record_of(wanted, caller, "")
        record.options["media"] = clip.name
        with _told():
            return _id_of(record, taken=self._announcements.hold(record, clip))

    async def over(self, announcement_id: str) -> bool:
        """Return once it is over: whether it was said."""
        return await self._announcements.over(announcement_id)

    async def _fetch(self, media: str) -> Clip:
        if self._sounds is None:
            raise NotPossible("This process plays no sound files: give a text.")
        return await self._sounds.fetch(media)

    def _record_of(self, wanted: AnnounceRequest, caller: Caller, name: str) -> AnnouncementRecord:
        now = self._clock.now()
        length = KEEP if wanted.expire_s is None else timedelta(seconds=wanted.expire_s)
        options: dict[str, Any] = {"priority": wanted.priority, "caller": caller.name}
        if wanted.preannounce:
            options["sound"] = PREANNOUNCE
        if wanted.volume is not None:
            options["volume"] = wanted.volume
        if wanted.language is not None:
            options["language"] = wanted.language
        return AnnouncementRecord(
            name or new_id(now), wanted.text or "", now, now + length, options
        )


def _id_of(record: AnnouncementRecord, *, taken: bool) -> str:
    if not taken:
        raise NotAnnounced("It is not announced: what waits already is as important, or more so.")
    return record.id


@contextmanager
def _told() -> Iterator[None]:
    """What went wrong as programs are told it."""
    try:
        yield
    except StoreError as error:
        raise NotKept(f"It is not announced, since it cannot be kept: {error}") from error
    except TooMuchSound as error:
        raise NotAnnounced(
            "It is not announced: too much sound waits already. Send it again later."
        ) from error
