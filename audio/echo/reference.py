"""Sound that the loudspeaker played, cut to the microphone's frames.

Two clocks meet here: the loudspeaker's thread puts blocks in, the microphone's side takes a frame
for every frame that it heard. Neither is measured in time: both are counted in samples, and how
much lies between the two tells everything. Running streams keep their place against each other,
apart from a drift of the clocks; so the fill is left alone while it stays within a band, is moved
by single samples, in pauses, when it drifts out of it, and is set anew when a stream broke. What
drift there is in between the canceller follows by itself (measured: 200 ppm cost it 3 dB of 48).
Silence that the device made by itself, because this process was not there in time, is put in too:
without it everything that follows would be heard later than it was counted.

The echo canceller finds the delay between the two by itself, up to about half a second, but the
reference must come before its echo (measured: 5 ms before will do, 0 ms will not). It comes out
of the loudspeaker's latency, so the fill is kept as small as the blocks of both sides allow.
"""

from collections import deque

import numpy as np
import soxr
from numpy.typing import NDArray

from audio.frames import FRAME_SAMPLES, SAMPLE_RATE, SAMPLES_PER_MS

Samples = NDArray[np.int16]

# Steady 20 ms out for 20 ms in, where better qualities give in bursts and hold back 20 ms. Echo
# cancellation with it is as good (measured: the same residual within 0.3 dB from 22.05 and 48 kHz).
_QUALITY = "QQ"
_BLOCKS = 500  # that wait at most, 5 s of 10 ms; older ones are dropped
_LONGEST_STALL_S = 2.0  # that is made up for; behind a longer one all is set anew
_LEFT = 30 * SAMPLES_PER_MS  # when the frames of the microphone's block are taken at the start
_MOST_LEFT = _LEFT + 40 * SAMPLES_PER_MS
# The band of the least fill that is left after a frame was taken. As the blocks of the two sides
# slide past each other it wanders by one block of the loudspeaker, 20 ms, without any loss.
_LOWEST = 2 * SAMPLES_PER_MS
_MIDDLE = 15 * SAMPLES_PER_MS
_HIGHEST = 32 * SAMPLES_PER_MS
_BROKEN = 80 * SAMPLES_PER_MS  # no drift: sound was lost on one side
_NARROW = 10 * SAMPLES_PER_MS  # a fill with which some frames come too late in every window
_LATE = 2 * FRAME_SAMPLES  # sound that comes later than that may mean a device that was silent
_WINDOW = 50  # frames, 1 s, over which the least fill is looked for ...
_HICCUPS = 3  # ... without that of so many frames, in which one side was held up for a moment
_SETTLING = 2  # windows after an opening in which one is enough to set the fill anew
_SURE = 3  # windows that must agree before a running stream is set anew: a hiccup heals by itself
_LONG = 10  # windows that must agree before a drift is believed
_NUDGE_EVERY = 10  # frames between single samples: 312 ppm, more than clocks differ by
_GONE = 25  # frames without a new block after which the output counts as closed
_SILENCE = np.zeros(FRAME_SAMPLES, np.int16)


class PlayedSound:
    """A bounded buffer of what was played, at the microphone's pace.

    `put` belongs to the loudspeaker's thread, all else to the microphone's.
    """

    def __init__(self, block_ms: int) -> None:
        """`block_ms`: of the microphone, whose frames are taken so many at a time."""
        self.missing = 0  # frames that were asked for before they were played
        self.realigned = 0  # how often the fill was set anew
        self.opened = 0  # how often an output began to play
        self.stalls = 0  # times that the output had nothing to play, though it was open
        self.nudged = 0  # samples left out or repeated because the clocks drift
        self._blocks: deque[tuple[bytes, int]] = deque(maxlen=_BLOCKS)
        self._put_rate = 0  # Hz, of the last block that was put
        self._block = block_ms * SAMPLES_PER_MS
        self._left = _LEFT
        self._open = False
        self._waited = 0  # frames since the last block
        self._fill = 0  # samples in `_sound`, or less than 0: so many are to come too late
        self._late = 0  # times that they came much too late
        self._close()

    @property
    def breaks(self) -> int:
        """Times that what was taken may not have been what was heard, frame by frame."""
        return self.opened + self.stalls + self._late

    def put(self, pcm: bytes, rate: int) -> None:
        """The next block of mono int16 at `rate` Hz. Any thread; never blocks."""
        self._put_rate = rate
        self._blocks.append((pcm, rate))

    def stall(self, seconds: float) -> None:
        """The output was silent so long before the next block. As `put`."""
        if silence := bytes(2 * round(min(seconds, _LONGEST_STALL_S) * self._put_rate)):
            self._blocks.append((silence, self._put_rate))
        self.stalls += 1

    def take(self) -> Samples | None:
        """The next frame, silence where nothing was played; None while no output is open."""
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
        """The microphone was opened anew: its frames lie elsewhere against what is played."""
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
        self._fills: list[int] = []  # of the window, behind each frame
        self._leasts: deque[int] = deque(maxlen=_LONG)  # of the windows before
        self._worsts: deque[int] = deque(maxlen=_SURE)  # the same with the hiccups

    def _drain(self) -> bool:
        """Take over what was put; whether there was anything."""
        pieces = [self._sound]
        while self._blocks:
            pieces.append(self._at_our_rate(*self._blocks.popleft()))
        if len(pieces) == 1:
            return False
        self._fill += sum(len(piece) for piece in pieces[1:])
        sound = np.concatenate(pieces)
        self._sound = sound[len(sound) - max(0, self._fill) :]  # without what comes too late
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
        """Place the first frame: the newest sound but for the fill to start with."""
        self._open = True
        self._windows = 0
        self._forget()
        self._move(self._block + self._left - self._fill)

    def _cut(self) -> Samples:
        """The next frame, which may be partly or wholly yet to come."""
        frame = self._sound[:FRAME_SAMPLES]
        self._sound = self._sound[FRAME_SAMPLES:]
        self._late += self._fill > -_LATE >= self._fill - FRAME_SAMPLES
        self._fill -= FRAME_SAMPLES
        if len(frame) == FRAME_SAMPLES:
            return frame
        self.missing += 1
        return np.concatenate([frame, _SILENCE[len(frame) :]])

    def _watch(self, *, silent: bool) -> None:
        """Look at the fill that is left, and put it right where it must be."""
        self._fills.append(self._fill)
        if silent and len(self._fills) % _NUDGE_EVERY == 0:
            self._nudge()  # in a pause: the canceller would take it for a move of the loudspeaker
        if len(self._fills) == _WINDOW:
            fills = sorted(self._fills)
            self._judge(fills[_HICCUPS], fills[0])

    def _nudge(self) -> None:
        if len(self._leasts) < _LONG or _LOWEST <= min(self._leasts) <= _HIGHEST:
            return
        self.nudged += 1
        self._move(-1 if min(self._leasts) > _HIGHEST else 1)

    def _judge(self, least: int, worst: int) -> None:
        """The end of a window, in which the fill was not below `least` but for hiccups, with them
        not below `worst`."""
        self._windows += 1
        self._fills.clear()
        self._leasts.append(least)
        self._worsts.append(worst)
        last = sorted(list(self._leasts)[-_SURE:])
        settling = self._windows <= _SETTLING and not 0 <= least <= _BROKEN
        broken = len(last) == _SURE and (last[-1] < 0 or last[0] > _BROKEN)
        # Hiccups in every window are none: the two sides' blocks lie badly against each other.
        narrow = len(last) == _SURE and max(self._worsts) < 0 and last[-1] < _NARROW
        if settling or broken or narrow:
            step = _MIDDLE - (least if settling else last[len(last) // 2])
            self._forget()
            self.realigned += 1
            self._move(step)
            if settling or step > 0:  # the next opening begins with what this one came to
                self._left = min(self._left + step, _MOST_LEFT)

    def _move(self, samples: int) -> None:
        """Change the fill: less leaves sound out, more puts silence in, or one sample twice."""
        self._fill += samples
        if samples < 0:
            self._sound = self._sound[-samples:]
        else:
            more = max(0, self._fill) - len(self._sound)
            filler = self._sound[:1] if more == 1 else np.zeros(more, np.int16)
            self._sound = np.concatenate([filler, self._sound])
