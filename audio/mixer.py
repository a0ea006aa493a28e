"""Sample-by-sample mixing of the loudspeaker's streams, without a device, clock or event loop."""

import math
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from audio.player import StreamName

RATE = 48_000  # Hz
CAPACITY = 3 * RATE  # most samples that a stream can hold
SMOOTH_MS = 5  # time over which a step in the audio is smoothed

Samples = NDArray[np.int16]
Wave = NDArray[np.float32]

_SMOOTH = (
    0.5 + 0.5 * np.cos(np.pi * np.arange(1, RATE * SMOOTH_MS // 1000) * 1000 / (RATE * SMOOTH_MS))
).astype(np.float32)
_PAST_BLOCKS = 128  # blocks that can be counted and taken back; more than any device holds


@dataclass(frozen=True, slots=True)
class _Handed:
    begin: int  # samples of the stream before this part
    sounds_at: float  # time in seconds at which its first sample leaves the loudspeaker
    sound: Samples


class Track:
    """The queue and the playback position of one stream. One thread calls `put`, `end` and `stop`;
    the device's thread calls `take` and `smooth`."""

    def __init__(self) -> None:
        self.underruns = 0  # times that it ran dry and continued afterwards
        self._lock = threading.Lock()
        self._pieces: deque[Samples] = deque()
        self.waiting = 0  # samples not yet passed to the device
        self.handed = 0  # samples passed to the device so far
        self._past: deque[_Handed] = deque(maxlen=_PAST_BLOCKS)
        self._told = 0  # the last reported position
        self._dry = False  # True if it ran dry before its audio was complete
        self._ended = True
        self._joined = False  # True if the next sample continues from the last one
        self._sounds = False  # True if the last sample was audio of the stream
        self._last = 0.0  # the last sample passed to the mix
        self._step = 0.0  # the step that is being smoothed
        self._spread = len(_SMOOTH)  # samples smoothed so far

    @property
    def quiet(self) -> bool:
        """True if no samples are queued and no fade is running."""
        return not self.waiting and not self._fades

    def put(self, sound: Samples) -> None:
        """Queue mono int16 samples at RATE. Raises OverflowError beyond CAPACITY."""
        if not len(sound):
            return
        with self._lock:
            if self.waiting + len(sound) > CAPACITY:
                raise OverflowError(f"a stream holds at most {CAPACITY} samples")
            self._pieces.append(sound)
            self.waiting += len(sound)
            self.underruns += self._dry
            self._dry = self._ended = False

    def end(self) -> None:
        """Mark the audio as complete, so that silence after it doesn't count as an underrun."""
        with self._lock:
            self._ended, self._dry = True, False

    def stop(self) -> None:
        """Drop the queued samples. Samples that the device already has count as played."""
        with self._lock:
            self._pieces.clear()
            self.waiting = 0
            self._past.clear()
            self._joined = False
            self._ended, self._dry = True, False

    def position(self, now: float) -> int:
        """Return how many samples have left the loudspeaker by the time `now`. Never decreases."""
        with self._lock:
            self._told = max(self._told, self._heard(now))
            return self._told

    def rewind(self, at: float) -> None:
        """Queue again the samples that had not left the loudspeaker when the device was lost, at
        time `at`."""
        with self._lock:
            heard = self._heard(at)
            for block in reversed(self._past):
                if block.begin + len(block.sound) <= heard:
                    break
                unheard = block.sound[max(0, heard - block.begin) :]
                self._pieces.appendleft(unheard)
                self.waiting += len(unheard)
            self.handed = heard
            self._past.clear()
            self._sounds, self._last, self._spread = False, 0.0, len(_SMOOTH)

    def take(self, samples: int, sounds_at: float) -> tuple[Samples | None, bool]:
        """Take up to `samples` samples from the queue, or None if it is empty. The second value is
        False for the first block, and for the first one after `stop`."""
        with self._lock:
            joined, self._joined = self._joined, True
            self._dry = self.waiting < samples and not self._ended
            if not self.waiting:
                return None, joined
            parts, room = [], samples
            while self._pieces and room:
                piece = self._pieces.popleft()
                parts.append(piece[:room])
                if len(piece) > room:
                    self._pieces.appendleft(piece[room:])
                room -= len(parts[-1])
            sound = parts[0] if len(parts) == 1 else np.concatenate(parts)
            self._past.append(_Handed(self.handed, sounds_at, sound))
            self.handed += len(sound)
            self.waiting -= len(sound)
            return sound, joined

    def smooth(self, sound: Samples | None, samples: int, *, joined: bool) -> Wave | None:
        """Return the block as floats, padded with silence, or None if it is all silence. Where the
        audio begins or ends abruptly, the step is smoothed over SMOOTH_MS to avoid clicks."""
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
        heard = self.handed
        for block in reversed(self._past):
            into = math.floor((now - block.sounds_at) * RATE)
            if into >= len(block.sound):
                break
            heard = block.begin + max(0, into)
        return heard


DUCK_DB = -18.0
DOWN_MS = 50
UP_MS = 150  # must be a multiple of DOWN_MS
HOLD_MS = 400  # keeps ringing quiet during pauses between words
KNEE = 0.9  # share of full scale above which loud sums are compressed instead of clipped

_FULL = 32767.0
_HOLD = RATE * HOLD_MS // 1000  # samples
_WORDS: tuple[StreamName, ...] = ("voice", "announcements")


class Ramp:
    """A gain that changes linearly between 1 and DUCK_DB, independently of block sizes."""

    def __init__(self) -> None:
        self._length = RATE * UP_MS // 1000
        self._stride = UP_MS // DOWN_MS
        self._at = 0  # 0: full gain; self._length: fully ducked
        depth = 1.0 - 10 ** (DUCK_DB / 20)
        self._gains = (1.0 - depth * np.arange(self._length + 1) / self._length).astype(np.float32)

    def run(self, samples: int, *, down: bool) -> Wave:
        """Return the gains of the next samples on the way down or up: float32, shape (samples,)."""
        if self._at == (self._length if down else 0):
            return np.full(samples, self._gains[self._at])
        step = self._stride if down else -1
        path = np.clip(self._at + step * np.arange(1, samples + 1), 0, self._length)
        self._at = int(path[-1]) if samples else self._at
        return np.asarray(self._gains[path])


class Mixer:
    """Mixes all streams. The device's thread calls `mix`, and one other thread calls the other
    methods."""

    def __init__(self) -> None:
        self.tracks: Mapping[StreamName, Track] = {name: Track() for name in get_args(StreamName)}
        self._lead_in = 0  # samples of silence to insert first
        self._ducked = False
        self._words_gain = Ramp()
        self._ringing_gain = Ramp()
        self._since_words = _HOLD  # samples since the last speech, at most _HOLD

    @property
    def quiet(self) -> bool:
        return all(track.quiet for track in self.tracks.values())

    def duck(self, on: bool) -> None:
        """Lower speech by DUCK_DB within DOWN_MS, or restore it within UP_MS."""
        self._ducked = on

    def lead_in(self, samples: int) -> None:
        """Begin playback with this many samples of silence. Must not be called during a call of
        `mix`."""
        self._lead_in = samples

    def rewind(self, at: float) -> None:
        """Prepare for another device, on which playback resumes where the audio was last heard, at
        time `at`."""
        for track in self.tracks.values():
            track.rewind(at)

    def mix(self, samples: int, sounds_at: float = 0.0) -> bytes:
        """Return the next block of mono int16 at RATE. Its first sample will be heard at
        `sounds_at`."""
        lead = min(self._lead_in, samples)
        self._lead_in -= lead
        if lead == samples:
            return bytes(2 * samples)
        return bytes(2 * lead) + self._mixed(samples - lead, sounds_at + lead / RATE)

    def _mixed(self, samples: int, sounds_at: float) -> bytes:
        taken = {name: track.take(samples, sounds_at) for name, track in self.tracks.items()}
        gains = self._gains(samples, max(_length(taken[name][0]) for name in _WORDS))
        total: Wave | None = None
        for name, (sound, joined) in taken.items():
            wave = self.tracks[name].smooth(sound, samples, joined=joined)
            if wave is None:
                continue
            if name in gains:
                wave *= gains[name]
            total = wave if total is None else total + wave
        if total is None:
            return bytes(2 * samples)
        return np.rint(limited(total)).astype("<i2").tobytes()

    def _gains(self, samples: int, words: int) -> dict[StreamName, Wave]:
        gain = self._words_gain.run(samples, down=self._ducked)
        if words:
            self._since_words = 0
        held = min(samples - words, _HOLD - self._since_words)
        self._since_words += held
        down = self._ringing_gain.run(words + held, down=True)
        up = self._ringing_gain.run(samples - words - held, down=False)
        return {**dict.fromkeys(_WORDS, gain), "ringing": np.concatenate((down, up))}


def _length(sound: Samples | None) -> int:
    return 0 if sound is None else len(sound)


def limited(mix: Wave) -> Wave:
    """Compress levels above KNEE so that they don't exceed full scale. Modifies `mix` in place."""
    knee = KNEE * _FULL
    over = np.abs(mix) - knee
    loud = over > 0
    if loud.any():
        room = _FULL - knee
        mix[loud] = np.sign(mix[loud]) * (knee + room * over[loud] / (over[loud] + room))
    return mix
