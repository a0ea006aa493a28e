"""Echo cancellation, noise suppression and gain by livekit's AudioProcessingModule (WebRTC's).

It lives in the wheel's own library and opens no connection. It works in place on exactly 10 ms.
"""

import logging
from collections import deque
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audio.echo.reference import PlayedSound
from audio.errors import InputUnusable
from audio.frames import FRAME_BYTES, FRAME_SAMPLES, SAMPLE_RATE
from audio.microphone import BLOCK_MS

_log = logging.getLogger(__name__)

_HALF_BYTES = FRAME_BYTES // 2  # 10 ms
_HALF_SAMPLES = FRAME_SAMPLES // 2
# How much later a frame's sound comes out than it went in, in samples. Measured with noise.
ECHO_DELAY = 128  # 8 ms
NOISE_DELAY = 96  # 6 ms; gain alone has none
_HOLD = 150  # frames, 3 s, that are processed after the last sound: delay, echo, and a good margin
# What is left of our own voice is made so much quieter. With 40 dB a voice detector still found
# words in an echo that nothing else had taken down yet.
_OURS_GAIN = 10 ** (-60 / 20)
_NO_SOUND = bytes(FRAME_BYTES)

Samples = NDArray[np.int16]


@dataclass(frozen=True, slots=True)
class CleanCounts:
    """Counts of what became of the microphone's frames (20 ms) since the start."""

    processed: int = 0  # the echo was taken out
    bypassed: int = 0  # nothing was played, or no output was open: no echo to take out
    ours: int = 0  # of the processed: judged to be nothing but our own voice
    failed: int = 0  # given back as they came
    missing: int = 0  # of the processed: heard before the output had said what it plays
    realigned: int = 0  # how often the two streams were put together anew
    nudged: int = 0  # samples by which the clocks drifted apart
    stalls: int = 0  # times that the output had nothing to play
    renewed: int = 0  # times that the canceller lost the echo behind one, and was made anew


class LivekitCleaner:
    """A Cleaner and the Reference it needs. `played` may be called from any thread, else one.

    With echo cancellation all sound comes 8 ms late, with noise suppression 6 ms (or 6 ms more):
    the frames are as many and as long, and the delay is the same whether anything is played.
    """

    def __init__(
        self,
        *,
        echo: bool = True,
        noise_suppression: bool = False,
        automatic_gain: bool = False,
        block_ms: int = BLOCK_MS,
    ) -> None:
        """`block_ms`: the microphone's, whose frames come so many at a time.

        Raises InputUnusable when the extra is not installed or not usable on this machine.
        """
        self._echo = _Module(echo_cancellation=True) if echo else None
        tidy = noise_suppression or automatic_gain
        self._tidy = (
            _Module(noise_suppression=noise_suppression, auto_gain_control=automatic_gain)
            if tidy
            else None
        )
        self._played = PlayedSound(block_ms)
        self._residual = Residual()
        self._processed = self._bypassed = self._ours = self._failed = self._renewed = 0
        self._complained = False
        self._restart()

    @property
    def counts(self) -> CleanCounts:
        """The counts so far. Any thread."""
        return CleanCounts(
            processed=self._processed,
            bypassed=self._bypassed,
            ours=self._ours,
            failed=self._failed,
            missing=self._played.missing,
            realigned=self._played.realigned,
            nudged=self._played.nudged,
            stalls=self._played.stalls,
            renewed=self._renewed,
        )

    def played(self, pcm: bytes, rate: int) -> None:
        """The next block of mono int16 at `rate` Hz that the device took. Never blocks."""
        if self._echo is not None:
            self._played.put(pcm, rate)

    def stalled(self, seconds: float) -> None:
        """The device was silent so long before the next block. Never blocks."""
        if self._echo is not None:
            self._played.stall(seconds)

    def clean(self, pcm: bytes) -> bytes:
        """The frame without our own voice, as long as it was; never raises.

        What is no frame, and what the library refuses, comes back as it was.
        """
        try:
            if len(pcm) != FRAME_BYTES:
                raise ValueError(f"a frame of {len(pcm)} bytes, {FRAME_BYTES} are wanted")
            cleaned = pcm if self._echo is None else self._without_echo(self._echo, pcm)
            return cleaned if self._tidy is None else self._tidy.process(cleaned)
        except Exception as error:  # whatever it is, a frame uncleaned is better than no ear
            self._failed += 1
            if not self._complained:
                self._complained = True
                _log.warning("The microphone's sound cannot be cleaned (%s); as it is.", error)
            return pcm

    def restart(self) -> None:
        """The microphone was opened anew."""
        self._played.restart()
        self._restart()

    def _restart(self) -> None:
        self._hold = 0  # frames to be processed still
        self._before = _NO_SOUND  # the frame before this one
        self._gain = 1.0  # at the end of the frame before
        self._realigned = self._played.realigned  # when we last looked
        self._breaks, self._opened = self._played.breaks, self._played.opened
        self._residual.restart()

    def _without_echo(self, module: "_Module", pcm: bytes) -> bytes:
        reference = self._played.take()
        if self._played.realigned != self._realigned:
            self._realigned = self._played.realigned
            self._residual.restart()
            module.renew()  # it learns the path quicker than it finds out that it is another
        if self._played.breaks != self._breaks:
            self._breaks = self._played.breaks
            self._residual.moved(opened=self._played.opened != self._opened)
            self._opened = self._played.opened
        playing = reference is not None and bool(reference.any())
        if playing and not self._hold:
            # It stood still: what it still holds of then must not come out now.
            module.process(self._before, _NO_SOUND)
        self._hold = _HOLD if playing else max(0, self._hold - 1)
        late = self._before[-2 * ECHO_DELAY :] + pcm[: -2 * ECHO_DELAY]
        self._before = pcm
        if not self._hold:
            self._bypassed += 1
            return late
        sound = _NO_SOUND if reference is None else reference.tobytes()
        try:
            cleaned = module.process(pcm, sound)
        except Exception:
            self._hold = 0
            raise
        ours = self._residual.judge(_power(late), _power(cleaned), playing)
        if self._residual.lost:
            self._residual.renewed()
            self._renewed += 1
            module.renew()
        self._processed += 1
        self._ours += ours
        return self._quieter(cleaned, _OURS_GAIN if ours else 1.0)

    def _quieter(self, pcm: bytes, gain: float) -> bytes:
        """The frame at that gain, from the gain before without a step."""
        before, self._gain = self._gain, gain
        if before == gain == 1.0:
            return pcm
        slope = np.linspace(before, gain, FRAME_SAMPLES, dtype=np.float32)
        return (np.frombuffer(pcm, np.int16) * slope).astype(np.int16).tobytes()


class _Module:
    """One AudioProcessingModule, frame by frame."""

    def __init__(self, **switches: bool) -> None:
        try:
            from livekit.rtc import AudioFrame
            from livekit.rtc.apm import AudioProcessingModule
        except (ImportError, OSError) as error:
            raise InputUnusable(
                "Echo cancellation, noise suppression and gain need an extra that is not "
                "installed: `pip install hearth-voice[echo]`, or switch them off in [audio]."
            ) from error
        self._make: Any = partial(AudioProcessingModule, **switches)
        self._frame: Any = AudioFrame
        self.renew()

    def renew(self) -> None:
        """Forget all that was learnt."""
        self._module: Any = self._make()

    def process(self, pcm: bytes, reference: bytes | None = None) -> bytes:
        """A frame of 20 ms in, one out. Raises RuntimeError with the library's words."""
        done = bytearray()
        for at in (0, _HALF_BYTES):
            if reference is not None:
                self._module.process_reverse_stream(self._half(reference, at))
            half = self._half(pcm, at)
            self._module.process_stream(half)
            done += bytes(half.data.cast("B"))
        return bytes(done)

    def _half(self, pcm: bytes, at: int) -> Any:
        piece = bytearray(pcm[at : at + _HALF_BYTES])  # the library writes into it
        return self._frame(piece, SAMPLE_RATE, 1, _HALF_SAMPLES)


def _power(pcm: bytes) -> float:
    samples = np.frombuffer(pcm, np.int16).astype(np.float32)
    return float(np.dot(samples, samples)) / len(samples)


# Whether what the echo canceller left of a frame is still our own voice.
#
# It takes the echo down by 20 dB and more in 99 of 100 frames once it has found the path (measured:
# median 39 dB), and a person who speaks at the echo's level by 5 to 12 dB. So a frame that lost
# little is a person's, and only while something is played is there any doubt. Pure: no clock.


_PERSON_KEEPS = 10 ** (-12.0 / 10)  # share of the frame's power
_WITHIN = 10 ** (-18.0 / 10)  # of the echo's power: what is left below that is no talking over us
_AUDIBLE = 30.0**2  # int16 power below which nothing is speech
_RECENT = 5  # frames, of which so many must be a person's before we believe it ...
_ENOUGH = 3
_STAYS = 15  # frames, 300 ms: ... and then so long beyond the last of them
_TAIL = 25  # frames, 500 ms, of echo and delay after the last that was played
_LEARNED_AGAIN = 20  # as _LEARNED, where the path is almost the one that is known: 400 ms
_LEARNED = 50  # frames of echo, 1 s, that were taken down before the canceller is believed ...
_LEARNING = 150  # ... or so many in all, 3 s: then what is left is somebody who speaks
_RELEARNING = 60  # frames, 1.2 s: the same for another time
_TAKEN_DOWN = 10 ** (-15.0 / 10)
# Behind a break so many frames of echo are watched. Where of _LOOK in a row fewer than _SOME were
# taken down the canceller has lost the path. Medians of 24 breaks whose length was told 15 to 40 ms
# wrong: by itself it finds it again in 1.7 s, a new one in 0.65 s, with a fifth of the frames that
# were taken for a person's meanwhile. Behind breaks that were told right it stays.
_WATCHED = 50
_LOOK = 10
_SOME = 4
_MEMORY = 0.02  # of a frame in the running mean of the echo's power: 1 s


class Residual:
    """Judges frame after frame, on the microphone's side."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """The path of the echo is another: nothing is known of it."""
        self._learning, self._learned = _LEARNING, _LEARNED
        self._again = False  # it is learnt for another time
        self._watched = 0  # frames to be watched still
        self._downs: deque[bool] = deque(maxlen=_LOOK)  # of them: which were taken down
        self._echo = 0.0  # mean power at the microphone while something is played
        self._tail = 0
        self._stays = 0
        self._recent: deque[bool] = deque(maxlen=_RECENT)

    def moved(self, *, opened: bool = False) -> None:
        """The output was held up, or `opened` anew: the path is the same or a little longer.

        Without this pause in belief the canceller's mend of that was taken for a person in 6 of 24
        openings that differed by up to 15 ms, with it in none.
        """
        if self._learned <= 0 or self._learning <= 0:
            self._again = True
            self._learning, self._learned = _RELEARNING, _LEARNED_AGAIN
        # Over the beginning of an answer people talk, and that looks like a lost path.
        self._watched = _WATCHED if self._again and not opened else 0
        self._downs.clear()
        if self._tail:
            self._tail = _TAIL  # as long as nobody knows what is heard, it may be ours
        self._stays = 0
        self._recent.clear()

    @property
    def lost(self) -> bool:
        """The canceller does not find the path any more: a new one would, sooner. See `renewed`."""
        return len(self._downs) == _LOOK and sum(self._downs) < _SOME

    def renewed(self) -> None:
        """There is a new canceller, because this one had lost the path."""
        self._learning, self._learned = _RELEARNING, _LEARNED_AGAIN
        self._watched = 0
        self._downs.clear()

    def judge(self, heard: float, left: float, playing: bool) -> bool:
        """Tell whether the frame is ours alone: to be neither speech nor a wake word.

        `heard`, `left`: mean square of the microphone's frame and of the same frame cleaned, int16.
        `playing`: the reference of this frame is not silence.
        """
        self._tail = _TAIL if playing else max(0, self._tail - 1)
        if not self._tail:
            self._stays = 0
            self._recent.clear()
            return False
        if heard > _AUDIBLE:
            self._echo += _MEMORY * (heard - self._echo)
            if self._learn(left < heard * _TAKEN_DOWN, playing):
                return True
        elif self._learning > 0 and self._learned > 0:
            return True
        person = left > max(_AUDIBLE, heard * _PERSON_KEEPS, self._echo * _WITHIN)
        self._recent.append(person)
        if sum(self._recent) >= _ENOUGH:
            self._stays = _STAYS
        elif self._stays:
            self._stays -= 1
        return not self._stays

    def _learn(self, down: bool, playing: bool) -> bool:
        """An audible frame, taken down or not. Whether the canceller is not believed yet."""
        if self._watched and playing:
            self._watched -= 1
            self._downs.append(down)
            if not self._watched:
                self._downs.clear()
        if self._learning <= 0 or self._learned <= 0:
            return False
        self._learning -= playing
        if down:
            self._learned -= 1
        elif self._again and playing:
            self._learned = min(self._learned + 1, _LEARNED_AGAIN)
        return True
