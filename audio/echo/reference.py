"""The reference for the echo canceller: the audio that the loudspeaker played, cut into the
microphone's frames.

The loudspeaker's thread adds blocks, and the microphone's thread takes one frame for each frame
that it recorded. The number of samples between the two sides (the fill) is left alone while it
stays within a band. If clock drift moves it out of the band, it is corrected by single samples
during pauses.

The echo canceller finds the delay itself, up to about half a second, but the reference must be
ahead of its echo. The loudspeaker's latency ensures this, so the fill is kept as small as the block
sizes of both sides allow.
"""

from collections import deque

import numpy as np
import soxr
from numpy.typing import NDArray

from audio.frames import FRAME_SAMPLES, SAMPLE_RATE, SAMPLES_PER_MS

Samples = NDArray[np.int16]

# This quality returns a steady 20 ms for each 20 ms; better ones return bursts and are 20 ms late.
# Echo cancellation works as well with it (measured: the same residual within 0.3 dB from 22.05 and
# 48 kHz).
_QUALITY = "QQ"
_BLOCKS = 500  # most waiting blocks (5 s of 10 ms); older ones are dropped
# Longest stall that is filled with silence. After a longer one, the fill is set again.
_LONGEST_STALL_S = 2.0
# Initial fill, after the frames of the microphone's block are taken.
_LEFT = 30 * SAMPLES_PER_MS
_MOST_LEFT = _LEFT + 40 * SAMPLES_PER_MS
# Band for the lowest fill after a frame is taken. As the blocks of the two sides slide past each
# other, it varies by one block of the loudspeaker (20 ms) without any loss.
_LOWEST = 2 * SAMPLES_PER_MS
_MIDDLE = 15 * SAMPLES_PER_MS
_HIGHEST = 32 * SAMPLES_PER_MS
_BROKEN = 80 * SAMPLES_PER_MS  # more than drift; audio was lost on one side
_NARROW = 10 * SAMPLES_PER_MS  # with this fill, some frames are late in every window
_LATE = 2 * FRAME_SAMPLES  # if audio is later than this, the device may have been silent
_WINDOW = 50  # frames (1 s) over which the lowest fill is determined ...
_HICCUPS = 3  # ... without the lowest few, when one side was briefly delayed
_SETTLING = 2  # windows after an opening in which one is enough to set the fill again
_SURE = 3  # windows that must agree before a running stream's fill is set again
_LONG = 10  # windows that must agree before a drift is believed
_NUDGE_EVERY = 10  # frames between corrections by one sample: 312 ppm, more than clocks differ
_GONE = 25  # frames without a new block after which the output counts as closed
_SILENCE = np.zeros(FRAME_SAMPLES, np.int16)


class PlayedSound:
    """A bounded buffer of played audio.

    Only the loudspeaker's thread may call `put` and `stall`. All other methods are for the
    microphone's thread.
    """

    def __init__(self, block_ms: int) -> None:
        self.missing = 0  # frames requested before they were played
        self.realigned = 0  # times that the fill was set again
        self.opened = 0  # times that an output began to play
        self.stalls = 0  # times that the open output had nothing to play
        self.nudged = 0  # samples dropped or repeated because the clocks drift
        self._blocks: deque[tuple[bytes, int]] = deque(maxlen=_BLOCKS)
        self._put_rate = 0  # Hz, of the last block put in
        self._block = block_ms * SAMPLES_PER_MS
        self._left = _LEFT
        self._open = False
        self._waited = 0  # frames since the last block
        self._fill = 0  # samples in `_sound`; negative if that many are overdue
        self._late = 0  # times that blocks came much too late
        self._close()

    @property
    def breaks(self) -> int:
        """Number of times that the reference may have stopped matching the recorded echo."""
        return self.opened + self.stalls + self._late

    def put(self, pcm: bytes, rate: int) -> None:
        """Add a block of mono int16 at `rate` Hz. Never blocks."""
        self._put_rate = rate
        self._blocks.append((pcm, rate))

    def stall(self, seconds: float) -> None:
        """Report that the output was silent for `seconds` before the next block. Never blocks."""
        if silence := bytes(2 * round(min(seconds, _LONGEST_STALL_S) * self._put_rate)):
            self._blocks.append((silence, self._put_rate))
        self.stalls += 1

    def take(self) -> Samples | None:
        """Return the next frame (int16, shape (320,), 16 kHz), or None while no output is open."""
        lost = len(self._blocks) == _BLOCKS
        news = self._drain()
        self._waited = 0 if news else self._waited + 1
        if not self._open:
            if not news:
                return None
            self.opened += 1
            self._begin()
        elif self._waited >= _GONE and self._fill <= 0:
            self._close()
            return None
        elif lost:
            self._begin()
        frame = self._cut()
        self._watch(silent=not frame.any())
        return frame

    def restart(self) -> None:
        """Start over after the microphone has been reopened."""
        self._blocks.clear()
        self._close()

    def _close(self) -> None:
        self._open = False
        self._waited = 0
        self._sound: Samples = _SILENCE[:0]
        self._fill = 0
        self._rate = 0
        self._resampler: soxr.ResampleStream | None = None
        self._forget()
        self._windows = 0

    def _forget(self) -> None:
        self._fills: list[int] = []  # of the window, after each frame
        self._leasts: deque[int] = deque(maxlen=_LONG)  # of the previous windows
        self._worsts: deque[int] = deque(maxlen=_SURE)  # the same including hiccups

    def _drain(self) -> bool:
        pieces = [self._sound]
        while self._blocks:
            pieces.append(self._at_our_rate(*self._blocks.popleft()))
        if len(pieces) == 1:
            return False
        self._fill += sum(len(piece) for piece in pieces[1:])
        sound = np.concatenate(pieces)
        # Drop the samples that are too late.
        self._sound = sound[len(sound) - max(0, self._fill) :]
        return True

    def _at_our_rate(self, pcm: bytes, rate: int) -> Samples:
        if rate != self._rate:
            self._rate = rate
            self._resampler = (
                None
                if rate == SAMPLE_RATE
                else soxr.ResampleStream(rate, SAMPLE_RATE, 1, dtype="int16", quality=_QUALITY)
            )
        samples = np.frombuffer(pcm, np.int16)
        if self._resampler is None:
            return samples
        resampled: Samples = self._resampler.resample_chunk(samples)
        return resampled

    def _begin(self) -> None:
        self._open = True
        self._windows = 0
        self._forget()
        self._move(self._block + self._left - self._fill)

    def _cut(self) -> Samples:
        frame = self._sound[:FRAME_SAMPLES]
        self._sound = self._sound[FRAME_SAMPLES:]
        self._late += self._fill > -_LATE >= self._fill - FRAME_SAMPLES
        self._fill -= FRAME_SAMPLES
        if len(frame) == FRAME_SAMPLES:
            return frame
        self.missing += 1
        return np.concatenate([frame, _SILENCE[len(frame) :]])

    def _watch(self, *, silent: bool) -> None:
        self._fills.append(self._fill)
        if silent and len(self._fills) % _NUDGE_EVERY == 0:
            # Only during a pause, because to the canceller it looks like a moving loudspeaker.
            self._nudge()
        if len(self._fills) == _WINDOW:
            fills = sorted(self._fills)
            self._judge(fills[_HICCUPS], fills[0])

    def _nudge(self) -> None:
        if len(self._leasts) < _LONG or _LOWEST <= min(self._leasts) <= _HIGHEST:
            return
        self.nudged += 1
        self._move(-1 if min(self._leasts) > _HIGHEST else 1)

    def _judge(self, least: int, worst: int) -> None:
        """End a window. `worst` is its lowest fill, and `least` is its lowest fill apart from brief
        interruptions."""
        self._windows += 1
        self._fills.clear()
        self._leasts.append(least)
        self._worsts.append(worst)
        last = sorted(list(self._leasts)[-_SURE:])
        settling = self._windows <= _SETTLING and not 0 <= least <= _BROKEN
        broken = len(last) == _SURE and (last[-1] < 0 or last[0] > _BROKEN)
        # Hiccups in every window mean that the blocks of the two sides are badly aligned.
        narrow = len(last) == _SURE and max(self._worsts) < 0 and last[-1] < _NARROW
        if settling or broken or narrow:
            step = _MIDDLE - (least if settling else last[len(last) // 2])
            self._forget()
            self.realigned += 1
            self._move(step)
            if settling or step > 0:  # the next opening starts with the fill found here
                self._left = min(self._left + step, _MOST_LEFT)

    def _move(self, samples: int) -> None:
        self._fill += samples
        if samples < 0:
            self._sound = self._sound[-samples:]
        else:
            more = max(0, self._fill) - len(self._sound)
            filler = self._sound[:1] if more == 1 else np.zeros(more, np.int16)
            self._sound = np.concatenate([filler, self._sound])
