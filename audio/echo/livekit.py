"""Echo cancellation, noise suppression and gain by livekit's AudioProcessingModule (WebRTC's).

It lives in the wheel's own library and opens no connection. It works in place on exactly 10 ms.
"""

import logging
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audio.echo.reference import PlayedSound
from audio.echo.residual import Residual
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
    """What became of the microphone's frames (20 ms) since the start."""

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
