"""Accept announcements from programs, as text, a sound file or raw audio."""

import asyncio
import hashlib
import logging
import os
import wave
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from assistant.announcements.speaking import KEEP, PREANNOUNCE, Announcements
from assistant.domain.clock import Clock
from assistant.domain.records import AnnouncementRecord, StoreError, new_id
from audio.errors import AudioError
from audio.sound_files import Clip, decoded, levelled
from integrations.cleaning import one_line
from integrations.errors import IntegrationError, Unavailable
from integrations.home_assistant.media import MAX_SOUND_BYTES, SCHEME, HomeSounds, SoundFile
from integrations.web.box import Caller, NotAnnounced, NotKept, NotPossible
from integrations.web.requests import AnnounceRequest

_log = logging.getLogger(__name__)
FOLDER = "announcements"  # in the data folder
MOST_S = 300.0  # seconds of audio in memory; 29 MB
MOST_KEPT_S = 1_200.0  # seconds of audio in the folder; 115 MB


class TooMuchSound(Exception):
    """The waiting announcements already contain too much audio."""


class WaitingSounds:
    """The audio clips of waiting announcements, by announcement id."""

    def __init__(self, folder: Path) -> None:
        """`folder` is created when it is needed and must not contain anything else."""
        self._folder = folder
        self._held: dict[str, Clip] = {}
        self._kept: set[str] = set()  # ids of the clips that this process has written

    def hold(self, name: str, clip: Clip) -> None:
        """Store a clip in memory. Raises TooMuchSound if there is no room."""
        if sum(one.seconds for one in self._held.values()) + clip.seconds > MOST_S:
            raise TooMuchSound
        self._held[name] = clip

    async def keep(self, name: str, clip: Clip) -> None:
        """Write a clip to the disk. Raises StoreError, or TooMuchSound if there is no room."""
        self._kept.add(name)
        try:
            await asyncio.to_thread(_write, self._file(name), clip)
        except OSError as error:
            raise StoreError(f"the sound cannot be saved: {error.strerror}.") from error

    async def take(self, name: str, title: str) -> Clip | None:
        """Return an announcement's clip, or None if it is lost. `title` is its display name."""
        if name in self._held:
            return self._held[name]
        try:
            return await asyncio.to_thread(_read, self._file(name), title)
        except (OSError, EOFError, wave.Error) as error:
            _log.error("an announcement's sound is lost: %s", error)
            return None

    def let_go(self, name: str) -> None:
        """Release the clip that `hold` has stored, if there is one."""
        self._held.pop(name, None)

    async def drop(self, name: str) -> None:
        """Delete the clip that `keep` has written, if there is one."""
        self._kept.discard(name)
        await asyncio.to_thread(_delete, self._file(name))

    async def drop_others(self, names: Collection[str]) -> None:
        """Delete the clips of earlier processes, except those for the announcements in `names`."""
        needed = {self._file(name) for name in self._kept.union(names)}
        await asyncio.to_thread(_delete_others, self._folder, needed)

    def _file(self, name: str) -> Path:
        # A hash, because programs can choose the ids.
        return self._folder / f"{hashlib.sha256(name.encode()).hexdigest()[:32]}.wav"


def _write(file: Path, clip: Clip) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    bytes_a_second = 2 * clip.rate
    there = sum(one.stat().st_size for one in file.parent.glob("*.wav") if one != file)
    if there + len(clip.pcm) > MOST_KEPT_S * bytes_a_second:
        raise TooMuchSound
    with file.open("wb") as plain:
        with wave.open(plain, "wb") as sound:
            sound.setnchannels(1)
            sound.setsampwidth(2)
            sound.setframerate(clip.rate)
            sound.writeframes(clip.pcm)
        plain.flush()
        os.fsync(plain.fileno())


def _read(file: Path, title: str) -> Clip:
    with wave.open(str(file), "rb") as sound:
        return Clip(title, sound.readframes(sound.getnframes()), sound.getframerate())


def _delete(file: Path) -> None:
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        _log.warning("an announcement's sound could not be deleted: %s", error)


def _delete_others(folder: Path, needed: Collection[Path]) -> None:
    if folder.is_dir():
        for file in folder.glob("*.wav"):
            if file not in needed:
                _delete(file)


MEDIA_FOLDER = "media"  # in the data folder; can be a link to another folder
_FROM_HOME = ("http:", "https:", f"{SCHEME}:", "/local/", "/media/", "/api/")
_WHERE = (
    "Put the file into Home Assistant's /config/www and send /local/NAME, or into the folder "
    f"{MEDIA_FOLDER} in Hearth's data folder and send NAME."
)


class SoundFiles:
    """Loads sound files by name from the media folder, or by URL or path from Home Assistant."""

    def __init__(self, folder: Path, home: HomeSounds) -> None:
        self._folder = folder
        self._home = home

    async def fetch(self, media: str) -> Clip:
        """Return the file's audio at the loudness of Hearth's voice.

        Raises NotPossible if the file does not exist or can't be played, and NotAnnounced if Home
        Assistant is unreachable.
        """
        if media.startswith(_FROM_HOME):
            file = await self._fetch(media)
        else:
            file = await asyncio.to_thread(_read_media, self._folder, media)
        try:
            return await asyncio.to_thread(decoded, file.data, file.name)
        except AudioError as error:
            raise NotPossible(str(error)) from error

    async def _fetch(self, media: str) -> SoundFile:
        try:
            return await self._home.fetch(media)
        except Unavailable as error:
            raise NotAnnounced(f"Not announced: {error}") from error
        except IntegrationError as error:
            raise NotPossible(f"{error} {_WHERE}") from error


def _read_media(folder: Path, media: str) -> SoundFile:
    try:
        # The folder can be a symbolic link, but files outside the folder are refused.
        root = folder.resolve()
        file = (root / media).resolve()
        if not file.is_relative_to(root) or not file.is_file():
            raise NotPossible(f"That sound does not exist. {_WHERE}")
        with file.open("rb") as opened:
            data = opened.read(MAX_SOUND_BYTES + 1)
    # A null byte or circular links raise these errors too.
    except (OSError, ValueError, RuntimeError) as error:
        raise NotPossible(f"The sound cannot be read. {_WHERE}") from error
    if len(data) > MAX_SOUND_BYTES:
        raise NotPossible(f"The sound is larger than {MAX_SOUND_BYTES // 1_000_000} MB.")
    return SoundFile(one_line(file.name, 100) or "sound", data)


class AnnouncementService:
    """Accepts announcements from programs. Audio is fetched and decoded first, so that the program
    learns immediately if it can't be used."""

    def __init__(
        self, announcements: Announcements, sounds: "SoundFiles | None", clock: Clock
    ) -> None:
        self._announcements = announcements
        self._sounds = sounds
        self._clock = clock

    async def announce(
        self, wanted: AnnounceRequest, caller: Caller, *, announcement_id: str = ""
    ) -> str:
        """Queue an announcement to be spoken between turns, and return its id, which is new if
        `announcement_id` is "".

        With `wanted.persist`, the announcement is on the disk when this method returns, and an
        announcement with a known id is not repeated. Raises NotAnnounced, NotPossible or NotKept.
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
        """Queue audio (mono int16 at `rate` Hz) that this process supplies, and return the
        announcement's id.

        The audio is played at the loudness of Hearth's voice, and is kept only in memory. `name`
        appears in the journal. Raises NotAnnounced and NotPossible.
        """
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
        """Wait until an announcement has been spoken or dropped (see `Announcements.over`). Return
        True if it was spoken."""
        return await self._announcements.over(announcement_id)

    async def _fetch(self, media: str) -> Clip:
        if self._sounds is None:
            raise NotPossible("This process cannot play sound files: send text instead.")
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
        raise NotAnnounced("Not announced: everything that is waiting is at least as important.")
    return record.id


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except StoreError as error:
        raise NotKept(f"Not announced, because it cannot be saved: {error}") from error
    except TooMuchSound as error:
        raise NotAnnounced(
            "Not announced: too much sound is waiting already. Send it again later."
        ) from error
