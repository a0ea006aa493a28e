"""Mixes the loudspeaker's streams, sample by sample. No device, no clock, no loop in here."""

from collections.abc import Mapping
from typing import get_args

import numpy as np

from audio.player import StreamName
from audio.track import RATE, Samples, Track, Wave

DUCK_DB = -18.0
DOWN_MS = 50
UP_MS = 150  # a multiple of DOWN_MS
HOLD_MS = 400  # ringing stays down in pauses between words
KNEE = 0.9  # of full scale; above it loud sums are bent instead of cut

_FULL = 32767.0
_HOLD = RATE * HOLD_MS // 1000  # samples
_WORDS: tuple[StreamName, ...] = ("voice", "announcements")


class Ramp:
    """A gain between 1 and DUCK_DB that moves in straight lines, whatever the blocks' sizes."""

    def __init__(self) -> None:
        self._length = RATE * UP_MS // 1000
        self._stride = UP_MS // DOWN_MS
        self._at = 0  # 0: as loud as it is; self._length: all the way down
        depth = 1.0 - 10 ** (DUCK_DB / 20)
        self._gains = (1.0 - depth * np.arange(self._length + 1) / self._length).astype(np.float32)

    def run(self, samples: int, *, down: bool) -> Wave:
        """The gain of each of the next samples, on the way down or up."""
        if self._at == (self._length if down else 0):
            return np.full(samples, self._gains[self._at])
        step = self._stride if down else -1
        path = np.clip(self._at + step * np.arange(1, samples + 1), 0, self._length)
        self._at = int(path[-1]) if samples else self._at
        return np.asarray(self._gains[path])


class Mixer:
    """All streams in one. `mix` belongs to the device's thread, all else to one other thread.

    What comes out does not depend on how it is cut into blocks.
    """

    def __init__(self) -> None:
        self.tracks: Mapping[StreamName, Track] = {name: Track() for name in get_args(StreamName)}
        self._lead_in = 0  # samples of silence to come first
        self._ducked = False
        self._words_gain = Ramp()
        self._ringing_gain = Ramp()
        self._since_words = _HOLD  # samples without words, no more than that

    @property
    def quiet(self) -> bool:
        """Nothing waits and nothing sounds any more."""
        return all(track.quiet for track in self.tracks.values())

    def duck(self, on: bool) -> None:
        """Bring words down by DUCK_DB within DOWN_MS, or back up within UP_MS."""
        self._ducked = on

    def lead_in(self, samples: int) -> None:
        """Give so many samples of silence before anything else. Only while nobody mixes."""
        self._lead_in = samples

    def rewind(self, at: float) -> None:
        """The device has gone: its next one goes on where this one was heard last, at `at`."""
        for track in self.tracks.values():
            track.rewind(at)

    def mix(self, samples: int, sounds_at: float = 0.0) -> bytes:
        """The next block of int16; its first sample leaves the loudspeaker at that second."""
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
        """Of a block in which words sound for its first `words` samples."""
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
    """Bend what is louder than KNEE so that it never passes full scale. In place."""
    knee = KNEE * _FULL
    over = np.abs(mix) - knee
    loud = over > 0
    if loud.any():
        room = _FULL - knee
        mix[loud] = np.sign(mix[loud]) * (knee + room * over[loud] / (over[loud] + room))
    return mix
