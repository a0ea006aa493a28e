"""Recordings of wake words, near misses and commands, for troubleshooting. Off by default.

A recording consists of a WAV file and a `.json` file. They are in a folder that only its owner can
read. PINs, other answers to Hearth's questions and anything said in guest mode are never recorded.
"""

import asyncio
import json
import logging
import os
import queue
import re
import threading
import wave
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from assistant.config.sound import Recordings as Keep
from assistant.conversation.record import TurnListener
from assistant.conversation.rules.state import Standing, State
from assistant.domain.clock import Clock
from audio.frames import SAMPLE_RATE
from audio.wake import NearMiss

if TYPE_CHECKING:
    from assistant.conversation.turn import Turn

FOLDER = "recordings"  # in the data folder
WAITING = 16  # recordings waiting to be written; further ones are dropped
# After an answer, the ring buffer, which holds 3 s, may contain its audio for this long.
AFTER_ANSWER_S = 3.5
LOOK_S = 600.0  # seconds between deletions of old recordings
_END_S = 5.0  # seconds allowed for the last recordings to be written
_STAMP = "%Y%m%dT%H%M%S.%f"
_ENDINGS = (".json", ".wav")
_NAME = re.compile(r"(\d{8}T\d{6}\.\d{6})Z-(wake|near|turn)-[\w.-]+")

Kind = Literal["wake", "near", "turn"]
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Recording:
    """Metadata of one recording, as stored in its `.json` file."""

    name: str  # file name without suffix
    kind: Kind
    at: datetime  # when the recording ended; timezone-aware
    word: str  # the wake word; for a turn without one, its source, such as "follow_up"
    score: float | None  # score of the wake word, 0 to 1; None if there was none
    seconds: float  # seconds of audio, 16 kHz mono int16
    turn_id: str = ""  # only for a turn
    closeness: float | None = None  # only for a near miss: its score as a share of the threshold


class Recordings:
    """Saves recordings and keeps the newest of each kind. Use it as a context manager. Entering it
    deletes all recordings if the settings keep none. `wake`, `near_miss` and `turn` can be called
    on any thread and don't block."""

    def __init__(
        self,
        folder: Path,
        keep: Keep,
        clock: Clock,
        may_keep: Callable[[], bool] = lambda: True,
    ) -> None:
        """`folder` is the data folder. `may_keep` returns False in guest mode; it is called for
        each recording."""
        self._folder = folder / FOLDER
        self._keep = keep
        self._clock = clock
        self._may_keep = may_keep
        self._answering = False  # Hearth is waiting for an answer or hearing it
        self._private_until_s = 0.0  # monotonic time
        self._queue: queue.Queue[tuple[Recording, bytes] | None] = queue.Queue(WAITING)
        self._thread: threading.Thread | None = None
        self.left_out = 0  # recordings dropped because the disk was too slow

    async def __aenter__(self) -> Self:
        if self._keep.keep:
            self._thread = threading.Thread(target=self._work, name="recordings", daemon=True)
            self._thread.start()
        else:
            await asyncio.to_thread(delete_all, self._folder)
        return self

    async def __aexit__(self, *error: Any) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            await asyncio.to_thread(self._end, thread)

    @property
    def on(self) -> bool:
        """True if recordings are being saved. Lets callers avoid copying audio for nothing."""
        return self._thread is not None

    def stand(self, standing: Standing) -> None:
        answering = standing.state is State.CONFIRMING
        if self._answering and not answering:
            self._private_until_s = self._clock.monotonic() + AFTER_ANSWER_S
        self._answering = answering

    def wake(self, word: str, score: float, pcm: bytes) -> None:
        """Record a detected wake word. `pcm` is the audio up to the detection, 16 kHz
        mono int16."""
        if not self._private:
            self._take("wake", pcm, word, score)

    def near_miss(self, heard: NearMiss, pcm: bytes) -> None:
        if not self._private:
            self._take("near", pcm, heard.word, heard.score, closeness=heard.closeness)

    def turn(self, turn_id: str, pcm: bytes, word: str, score: float | None = None) -> None:
        """Record the sentence that started a turn. Call this at the end of the sentence, before
        Hearth asks a question.

        `word` is the wake word, or the turn's source, such as "follow_up", if there was none.
        `score` is the wake word's score.
        """
        if not self._answering:
            self._take("turn", pcm, word, score, turn_id=turn_id)

    @property
    def _private(self) -> bool:
        """True while the ring buffer may contain the answer to a question."""
        return self._answering or self._clock.monotonic() < self._private_until_s

    def _take(
        self,
        kind: Kind,
        pcm: bytes,
        word: str,
        score: float | None,
        *,
        turn_id: str = "",
        closeness: float | None = None,
    ) -> None:
        if self._thread is None or not pcm or not self._may_keep():
            return
        now = self._clock.now().astimezone(UTC)
        plain = re.sub(r"\W+", "_", Path(word).stem)[:40] or "unknown"
        ending = "" if score is None else f"-{score:.2f}"
        name = f"{now.strftime(_STAMP)}Z-{kind}-{plain}{ending}"
        seconds = round(len(pcm) / 2 / SAMPLE_RATE, 3)
        recording = Recording(name, kind, now, word, score, seconds, turn_id, closeness)
        try:
            self._queue.put_nowait((recording, bytes(pcm)))
        except queue.Full:
            self.left_out += 1
            _log.warning("the disk is too slow: a recording was not saved")

    # --- on the writer thread

    def _work(self) -> None:
        failed = ""
        while True:
            try:
                self._delete_old()
                taken = self._queue.get(timeout=LOOK_S)
                if taken is None:
                    return
                write(self._folder, *taken)
                failed = ""
            except queue.Empty:
                continue
            except OSError as error:
                if str(error) != failed:
                    failed = str(error)
                    _log.error("a recording could not be saved: %s", error)

    def _delete_old(self) -> None:
        oldest = self._clock.now() - timedelta(hours=self._keep.keep_hours)
        kept: dict[str, int] = {}
        names = {path.stem for ending in _ENDINGS for path in _files(self._folder, ending)}
        for name in sorted(names, reverse=True):
            stamp, kind = _told_by(name)
            kept[kind] = kept.get(kind, 0) + 1
            if kept[kind] > self._keep.keep or stamp < oldest:
                for ending in _ENDINGS:
                    (self._folder / f"{name}{ending}").unlink(missing_ok=True)

    def _end(self, thread: threading.Thread) -> None:
        with suppress(queue.Full):
            self._queue.put(None, timeout=_END_S)
        thread.join(_END_S)


def listed(folder: Path) -> list[Recording]:
    """Return the recordings in the data folder, oldest first, without those that can't be read."""
    found = []
    for path in sorted(_files(folder / FOLDER, ".json")):
        try:
            row = json.loads(path.read_text(encoding="utf-8"))
            recording = Recording(**{**row, "at": datetime.fromisoformat(row["at"])})
        except (OSError, KeyError, TypeError, ValueError) as error:
            _log.warning("%s cannot be read: %s", path, error)
            continue
        if recording.name == path.stem and path_of(folder, recording).is_file():
            found.append(recording)
    return found


def path_of(folder: Path, recording: Recording) -> Path:
    return folder / FOLDER / f"{recording.name}.wav"


def write(folder: Path, recording: Recording, pcm: bytes) -> None:
    """Write a recording's two files, the `.json` file last. Raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    path = folder / f"{recording.name}.wav"
    with os.fdopen(_create(path), "wb") as plain, wave.open(plain, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE)
        file.writeframes(pcm)
    row = {**asdict(recording), "at": recording.at.isoformat()}
    with os.fdopen(_create(path.with_suffix(".json")), "w", encoding="utf-8") as file_:
        json.dump(row, file_, ensure_ascii=False)


def delete_all(folder: Path) -> None:
    """Delete all recordings in the folder, and then the folder if it is empty. Errors
    are logged."""
    try:
        for ending in _ENDINGS:
            for path in _files(folder, ending):
                path.unlink(missing_ok=True)
        with suppress(FileNotFoundError):
            folder.rmdir()
    except OSError as error:
        _log.error("old recordings in %s could not be deleted: %s", folder, error)


def _create(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)


def _files(folder: Path, ending: str) -> Iterator[Path]:
    for path in list(folder.iterdir()) if folder.is_dir() else ():
        if path.suffix == ending and _NAME.fullmatch(path.stem):
            yield path


def _told_by(name: str) -> tuple[datetime, str]:
    found = _NAME.fullmatch(name)
    assert found is not None
    return datetime.strptime(found[1], _STAMP).replace(tzinfo=UTC), found[2]


class Recorder(TurnListener):
    """Passes turns and near misses to `Recordings`, on the event loop. Each call copies a few
    seconds of audio unless recording is off."""

    def __init__(self, recordings: Recordings, recent: Callable[[], bytes]) -> None:
        """`recent` returns the ring buffer's audio: 16 kHz mono int16."""
        self._recordings = recordings
        self._recent = recent

    def opened(self, turn: "Turn") -> None:
        wake = turn.opening.wake
        if self._recordings.on and wake is not None and not wake.pressed:
            self._recordings.wake(wake.word, wake.score, self._recent())

    def missed(self, miss: NearMiss) -> None:
        if self._recordings.on:
            self._recordings.near_miss(miss, self._recent())

    def whole(self, turn: "Turn") -> None:
        """Record the sentence that has just ended. Later, `turn.audio` may contain an answer
        instead."""
        if not self._recordings.on or turn.audio is None or turn.opening.held:
            return
        wake = turn.opening.wake
        word = wake.word if wake is not None else turn.opening.source
        score = wake.score if wake is not None and not wake.pressed else None
        self._recordings.turn(turn.turn_id, turn.audio.pcm, word, score)
