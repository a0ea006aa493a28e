"""One of the loudspeaker's streams: a bounded queue of samples, and how many of them were heard."""

import math
import threading
from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RATE = 48_000  # Hz
CAPACITY = 3 * RATE  # samples that one stream may hold
SMOOTH_MS = 5  # over which a step in the sound is spread

Samples = NDArray[np.int16]
Wave = NDArray[np.float32]

_SMOOTH = (
    0.5 + 0.5 * np.cos(np.pi * np.arange(1, RATE * SMOOTH_MS // 1000) * 1000 / (RATE * SMOOTH_MS))
).astype(np.float32)
_PAST_BLOCKS = 128  # that can be counted and called back; more than any device holds


@dataclass(frozen=True, slots=True)
class _Handed:
    """A stream's part of one block."""

    begin: int  # samples of the stream before it
    sounds_at: float  # seconds: when its first sample leaves the loudspeaker
    sound: Samples


class Track:
    """One stream: its queue and its position. `put`, `end`, `stop` are for one thread, `take` and
    `smooth` for the device's."""

    def __init__(self) -> None:
        self.underruns = 0  # times that it ran dry and went on afterwards
        self._lock = threading.Lock()
        self._pieces: deque[Samples] = deque()
        self._waiting = 0
        self._handed = 0
        self._past: deque[_Handed] = deque(maxlen=_PAST_BLOCKS)
        self._told = 0  # the position as it was told last
        self._dry = False  # it ran dry, and more was to come
        self._ended = True
        self._joined = False  # the next sample goes on where the last one was
        self._sounds = False  # that sample was of its sound
        self._last = 0.0  # the last sample that was given to the mix
        self._step = 0.0  # in the sound, that is being spread
        self._spread = len(_SMOOTH)  # samples of that which are over

    @property
    def waiting(self) -> int:
        """Samples not yet handed over."""
        return self._waiting

    @property
    def handed(self) -> int:
        """Samples handed over since the beginning."""
        return self._handed

    @property
    def quiet(self) -> bool:
        """Nothing waits and nothing fades."""
        return not self._waiting and not self._fades

    def put(self, sound: Samples) -> None:
        """Queue mono samples at RATE. Raises OverflowError beyond CAPACITY."""
        if not len(sound):
            return
        with self._lock:
            if self._waiting + len(sound) > CAPACITY:
                raise OverflowError(f"a stream holds {CAPACITY} samples at most")
            self._pieces.append(sound)
            self._waiting += len(sound)
            self.underruns += self._dry
            self._dry = self._ended = False

    def end(self) -> None:
        """What was put is whole: when it has been played, silence is no underrun."""
        with self._lock:
            self._ended, self._dry = True, False

    def stop(self) -> None:
        """Drop what waits. What the device holds already counts as played: it will be heard."""
        with self._lock:
            self._pieces.clear()
            self._waiting = 0
            self._past.clear()
            self._joined = False
            self._ended, self._dry = True, False

    def position(self, now: float) -> int:
        """Samples that have left the loudspeaker by then; never fewer than were told before."""
        with self._lock:
            self._told = max(self._told, self._heard(now))
            return self._told

    def rewind(self, at: float) -> None:
        """The device has gone at that moment: what had not left the loudspeaker waits again."""
        with self._lock:
            heard = self._heard(at)
            for block in reversed(self._past):
                if block.begin + len(block.sound) <= heard:
                    break
                unheard = block.sound[max(0, heard - block.begin) :]
                self._pieces.appendleft(unheard)
                self._waiting += len(unheard)
            self._handed = heard
            self._past.clear()
            self._sounds, self._last, self._spread = False, 0.0, len(_SMOOTH)

    def take(self, samples: int, sounds_at: float) -> tuple[Samples | None, bool]:
        """Up to so many samples, None for none, and whether they go on where the last ones were."""
        with self._lock:
            joined, self._joined = self._joined, True
            self._dry = self._waiting < samples and not self._ended
            if not self._waiting:
                return None, joined
            parts, room = [], samples
            while self._pieces and room:
                piece = self._pieces.popleft()
                parts.append(piece[:room])
                if len(piece) > room:
                    self._pieces.appendleft(piece[room:])
                room -= len(parts[-1])
            sound = parts[0] if len(parts) == 1 else np.concatenate(parts)
            self._past.append(_Handed(self._handed, sounds_at, sound))
            self._handed += len(sound)
            self._waiting -= len(sound)
            return sound, joined

    def smooth(self, sound: Samples | None, samples: int, *, joined: bool) -> Wave | None:
        """A block of the stream: its sound, then silence, without a step. None: all silence.

        Where a stream begins, ends or is cut off with a step, that step dies away over SMOOTH_MS;
        sound that begins and goes on without one is untouched.
        """
        taken = 0 if sound is None else len(sound)
        if not taken and not self._fades:
            return None
        block = np.zeros(samples, np.float32)
        if sound is not None:
            block[:taken] = sound
            if not (joined and self._sounds):
                self._begin_spread(self._last - float(block[0]))
            self._spread_over(block[:taken])
            self._sounds = True
        if taken < samples:
            if self._sounds:
                self._begin_spread(self._last)
                self._sounds = False
            self._spread_over(block[taken:])
        return block

    @property
    def _fades(self) -> bool:
        return self._sounds or self._spread < len(_SMOOTH)

    def _begin_spread(self, step: float) -> None:
        self._step, self._spread = step, 0 if step else len(_SMOOTH)

    def _spread_over(self, block: Wave) -> None:
        part = _SMOOTH[self._spread : self._spread + len(block)]
        block[: len(part)] += self._step * part
        self._spread += len(part)
        self._last = float(block[-1])

    def _heard(self, now: float) -> int:
        heard = self._handed
        for block in reversed(self._past):
            into = math.floor((now - block.sounds_at) * RATE)
            if into >= len(block.sound):
                break
            heard = block.begin + max(0, into)
        return heard
