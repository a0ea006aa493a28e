"""How loud a microphone is while somebody tries it: from samples to a sentence. Pure."""

from collections import deque
from dataclasses import dataclass

import numpy as np

from audio.devices import SILENCE_DBFS
from audio.devices.level import level_of
from audio.frames import FRAME_MS

_WINDOW = 100 // FRAME_MS  # frames of the level that is shown: short enough to follow a syllable
_FLOOR_PART = 0.1  # the quietest part of all windows tells the room
_FULL = 32_700  # from here on a sample counts as clipped
_CLIPPED = 0.001  # the part of samples that may be, of what was spoken
_SILENT_DBFS = -90.0  # one step of 16 bits: no microphone is so quiet by itself
_QUIET_DBFS = -45.0  # speech below that is often missed
_LOUD_OVER_ROOM_DB = 10.0  # less than that, and words drown


@dataclass(frozen=True, slots=True)
class Loudness:
    """What was heard so far, all in dBFS."""

    now: float  # the last 100 ms
    loudest: float  # the loudest 100 ms
    room: float  # the quietest tenth
    clipped: float  # the part of the samples at full scale, 0 to 1


class Meter:
    """Takes frames one by one."""

    def __init__(self) -> None:
        self._window: deque[bytes] = deque(maxlen=_WINDOW)
        self._levels: list[float] = []
        self._samples = 0
        self._full = 0

    def take(self, pcm: bytes) -> Loudness:
        """The next frame: mono int16."""
        self._window.append(pcm)
        samples = np.frombuffer(pcm, "<i2")
        self._samples += len(samples)
        self._full += int(np.count_nonzero(np.abs(samples.astype(np.int32)) >= _FULL))
        self._levels.append(level_of(b"".join(self._window)))
        return self.told

    @property
    def told(self) -> Loudness:
        """All so far; SILENCE_DBFS where nothing was heard yet."""
        if not self._levels:
            return Loudness(SILENCE_DBFS, SILENCE_DBFS, SILENCE_DBFS, 0.0)
        ordered = sorted(self._levels)
        return Loudness(
            now=self._levels[-1],
            loudest=ordered[-1],
            room=ordered[int(len(ordered) * _FLOOR_PART)],
            clipped=self._full / self._samples,
        )


def verdict(heard: Loudness) -> tuple[bool, str]:
    """Whether that will do, and a sentence; where it will not, the sentence names the mend."""
    if heard.loudest <= _SILENT_DBFS:
        return False, "The microphone gives no sound: switch it on, unmute it, or take another."
    figures = f"your voice {heard.loudest:.0f} dB, the room {heard.room:.0f} dB"
    if heard.clipped > _CLIPPED:
        return False, f"Too loud, it is cut off ({figures}): lower the microphone's level."
    if heard.loudest < _QUIET_DBFS:
        return False, f"Very quiet ({figures}): raise the microphone's level, or come nearer."
    if heard.loudest - heard.room < _LOUD_OVER_ROOM_DB:
        return False, f"Hardly louder than the room ({figures}): speak up, or find the noise."
    return True, f"The level is good: {figures}, nothing cut off."


def bar(dbfs: float, width: int) -> str:
    """A level as a bar: empty at -60 dBFS, full at 0."""
    filled = round(width * min(1.0, max(0.0, 1 + dbfs / 60)))
    return "█" * filled + "░" * (width - filled)
