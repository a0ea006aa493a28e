"""How loud it is at the microphone: a meter for people who look whether it hears them.

It keeps figures, and no more of the sound than a tenth of a second. Levels are in dB of full scale
(a square wave of all the range is 0 dBFS), so they are at most 0.
"""

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from audio.frames import FRAME_MS, SAMPLES_PER_MS, Frame

_TOGETHER = 5  # frames that are looked at together: each look costs as much as 200 samples do
_SECOND = 1000 // FRAME_MS // _TOGETHER  # looks
_FLOOR_S = 30
_QUIETEST = 0.1  # the share of the time that counts as the noise of the room
_FULL = 32_768.0
_CLIPS = 32_767  # a sample at the end of the range
_SILENT_DB = -96.0  # a lower level than 16 bits can tell
_FRESH_S = 1.0  # an older frame tells nothing of now


@dataclass(frozen=True, slots=True)
class Reading:
    """Of the last second; all None where the microphone gives nothing."""

    rms_db: float | None = None  # dBFS
    peak_db: float | None = None  # dBFS, of the loudest sample
    clipped: int | None = None  # samples at the end of the range
    noise_floor_db: float | None = None  # dBFS, of the quietest tenth of the last 30 s
    at_ms: float | None = None  # the newest sample looked at, counted from the source's first


class Level:
    """Takes every frame, a few microseconds each. On one thread."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """`now`: seconds of a clock that is never set."""
        self._now = now
        self._waiting: list[bytes] = []  # frames that were not looked at yet
        self._powers: deque[float] = deque(maxlen=_FLOOR_S * _SECOND)  # mean squares
        self._tops: deque[tuple[int, int]] = deque(maxlen=_SECOND)  # peak and clipped of each look
        self._end = 0  # samples
        self._at_s = -math.inf

    def take(self, frame: Frame) -> None:
        """The next one. After a pause the meter begins anew."""
        now = self._now()
        if now - self._at_s > _FRESH_S:
            self._waiting.clear()
            self._powers.clear()
            self._tops.clear()
        self._at_s = now
        self._waiting.append(frame.pcm)
        if len(self._waiting) == _TOGETHER:
            self._look(b"".join(self._waiting))
            self._waiting.clear()
            self._end = frame.end

    def read(self) -> Reading:
        """How it stands."""
        if self._now() - self._at_s > _FRESH_S or not self._powers:
            return Reading()
        lately = list(self._powers)[-_SECOND:]
        quiet = sorted(self._powers)[: max(1, int(len(self._powers) * _QUIETEST))]
        return Reading(
            rms_db=_db(math.sqrt(sum(lately) / len(lately))),
            peak_db=_db(max(peak for peak, _ in self._tops)),
            clipped=sum(clipped for _, clipped in self._tops),
            noise_floor_db=_db(math.sqrt(sum(quiet) / len(quiet))),
            at_ms=round(self._end / SAMPLES_PER_MS, 1),
        )

    def _look(self, pcm: bytes) -> None:
        samples = np.frombuffer(pcm, "<i2").astype(np.float32)
        self._powers.append(float(samples.dot(samples)) / len(samples))
        peak = max(int(samples.max()), -int(samples.min()))
        clipped = 0 if peak < _CLIPS else int(np.count_nonzero(np.abs(samples) >= _CLIPS))
        self._tops.append((peak, clipped))


def _db(amplitude: float) -> float:
    if amplitude <= 0:
        return _SILENT_DB
    return round(max(_SILENT_DB, 20 * math.log10(amplitude / _FULL)), 1)
