"""Where programs have something said: a text, a sound file or sound of their own."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, Protocol

from assistant.announcements.queue_speaker import KEEP, PREANNOUNCE
from assistant.announcements.waiting_sounds import TooMuchSound
from assistant.domain.clock import Clock
from assistant.domain.records import AnnouncementRecord, StoreError, new_id
from audio.errors import AudioError
from audio.sound_files import Clip, levelled
from integrations.web.box import Caller, NotAnnounced, NotKept, NotPossible
from integrations.web.requests import AnnounceRequest


class Queue(Protocol):
    """Speaker of announcements (`assistant.announcements.queue_speaker.Announcements`)."""

    async def keep(self, record: AnnouncementRecord, clip: Clip | None = None) -> bool:
        """Say it, if need be after a restart. False: much waits that is more important. Raises
        StoreError and TooMuchSound."""
        ...

    def hold(self, record: AnnouncementRecord, clip: Clip | None = None) -> bool:
        """Say it in this process. False: as `keep`. Raises TooMuchSound."""
        ...

    async def knows(self, name: str) -> bool:
        """Whether one of that id was kept before. Raises StoreError."""
        ...

    async def over(self, name: str) -> bool:
        """Return once it is over: whether it was said."""
        ...


class Sounds(Protocol):
    """Finder of sound files (`assistant.announcements.sound_files.SoundFiles`)."""

    async def fetch(self, media: str) -> Clip:
        """The sound of that name or address. Raises NotPossible and NotAnnounced."""
        ...


class Announcing(Protocol):
    """Who takes in what is to be said (`AnnounceDesk`)."""

    async def announce(
        self, wanted: AnnounceRequest, caller: Caller, *, announcement_id: str = ...
    ) -> str:
        """Have it said; its id. One of an id that was kept before is not said again. Raises
        NotAnnounced, NotPossible and NotKept."""
        ...


class AnnounceDesk:
    """Takes in what programs want said; every interface for programs uses it.

    A sound is fetched and decoded before it is taken, so that whoever sent it is told at once where
    it will not do.
    """

    def __init__(self, announcements: Queue, sounds: Sounds | None, clock: Clock) -> None:
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
