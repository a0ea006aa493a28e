"""Announcements that wait: their order, and the sound clips that belong to them."""

import asyncio
import hashlib
import logging
import os
import wave
from collections.abc import Collection, Iterable
from datetime import datetime
from enum import IntEnum
from pathlib import Path

from assistant.domain.records import AnnouncementRecord, StoreError
from audio.sound_files import Clip


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
        """What comes next, which waits no more, and whether the store has it."""
        record = first(self._waiting.values())
        if record is None:
            return None
        return record, self._remove(record)

    def take_old(self, now: datetime) -> list[tuple[AnnouncementRecord, bool]]:
        """What has expired, which waits no more, each with whether the store has it."""
        old = [one for one in self._waiting.values() if not is_news(one, now)]
        return [(one, self._remove(one)) for one in old]

    def _remove(self, record: AnnouncementRecord) -> bool:
        """Whether the store has it."""
        del self._waiting[record.id]
        kept = record.id in self._kept
        self._kept.discard(record.id)
        return kept


# The sound of announcements that wait: of held ones in memory, of kept ones in the data folder.


FOLDER = "announcements"  # in the data folder
MOST_S = 300.0  # of sound that is held in memory; 29 MB
MOST_KEPT_S = 1_200.0  # of sound that lies in the folder; 115 MB
_log = logging.getLogger(__name__)


class TooMuchSound(Exception):
    """So much waits already that there is no room for it."""


class WaitingSounds:
    """One clip for each id. Of the ids, which come from outside, no file is named."""

    def __init__(self, folder: Path) -> None:
        """`folder`: it need not be there; nothing else may lie in it."""
        self._folder = folder
        self._held: dict[str, Clip] = {}
        self._kept: set[str] = set()  # ids of what this process has kept

    def hold(self, name: str, clip: Clip) -> None:
        """For as long as the process lives. Raises TooMuchSound."""
        if sum(one.seconds for one in self._held.values()) + clip.seconds > MOST_S:
            raise TooMuchSound
        self._held[name] = clip

    async def keep(self, name: str, clip: Clip) -> None:
        """On the disk when this returns. Raises StoreError and TooMuchSound."""
        self._kept.add(name)
        try:
            await asyncio.to_thread(_write, self._file(name), clip)
        except OSError as error:
            raise StoreError(f"the sound cannot be written: {error.strerror}.") from error

    async def take(self, name: str, title: str) -> Clip | None:
        """The clip of that id, None where there is none any more. `title`: its name for people."""
        if name in self._held:
            return self._held[name]
        try:
            return await asyncio.to_thread(_read, self._file(name), title)
        except (OSError, EOFError, wave.Error) as error:
            _log.error("the sound of an announcement is lost: %s", error)
            return None

    def let_go(self, name: str) -> None:
        """Forget the clip held under that id; harmless where there is none."""
        self._held.pop(name, None)

    async def drop(self, name: str) -> None:
        """Delete the clip kept under that id; harmless where there is none."""
        self._kept.discard(name)
        await asyncio.to_thread(_delete, self._file(name))

    async def drop_others(self, names: Collection[str]) -> None:
        """Of what earlier processes have kept nothing is needed but that of these ids."""
        needed = {self._file(name) for name in self._kept.union(names)}
        await asyncio.to_thread(_delete_others, self._folder, needed)

    def _file(self, name: str) -> Path:
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
        _log.warning("the sound of an announcement stays on the disk: %s", error)


def _delete_others(folder: Path, needed: Collection[Path]) -> None:
    if folder.is_dir():
        for file in folder.glob("*.wav"):
            if file not in needed:
                _delete(file)
