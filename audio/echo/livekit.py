"""Echo cancellation, noise suppression and gain control with livekit's AudioProcessingModule
(WebRTC).

The module comes with livekit's wheel and opens no network connection.
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
# Delay of the module's output in samples, measured with noise.
ECHO_DELAY = 128  # 8 ms
NOISE_DELAY = 96  # 6 ms; gain alone adds none
_HOLD = 150  # frames (3 s) processed after the last audio; covers delay and echo generously
# Attenuation of what is left of Hearth's own voice. With 40 dB, a voice detector still found words
# in an echo that the canceller had not reduced yet.
_OURS_GAIN = 10 ** (-60 / 20)
_NO_SOUND = bytes(FRAME_BYTES)

Samples = NDArray[np.int16]


@dataclass(frozen=True, slots=True)
class CleanCounts:
    """Counts since the start, in the microphone's frames of 20 ms unless stated otherwise."""

    processed: int = 0  # the echo was removed
    bypassed: int = 0  # nothing was played, or no output was open, so there was no echo
    ours: int = 0  # of the processed ones, judged to be only Hearth's own voice
    failed: int = 0  # returned unchanged because of an error
    missing: int = 0  # of the processed ones, captured before their reference arrived
    realigned: int = 0  # times that the two streams were aligned again
    nudged: int = 0  # samples inserted or dropped because the clocks drift
    stalls: int = 0  # times that the output had nothing to play
    renewed: int = 0  # times that the canceller lost the echo after a break and was replaced


class LivekitCleaner:
    """An echo canceller and noise filter. It is a Cleaner for the microphone, and a Reference that
    receives the played audio.

    Echo cancellation delays all audio by 8 ms, and noise suppression by 6 ms. `played` and
    `stalled` can be called from another thread, and `counts` can be read from any thread. Call all
    other methods on one thread.
    """

    def __init__(
        self,
        *,
        echo: bool = True,
        noise_suppression: bool = False,
        automatic_gain: bool = False,
        block_ms: int = BLOCK_MS,
    ) -> None:
        """`block_ms` is the length of the microphone's blocks, which can contain several frames.
        Raises InputUnusable if livekit is needed but can't be imported."""
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
        """Queue the next block that the device accepted: mono int16 at `rate` Hz. Never blocks."""
        if self._echo is not None:
            self._played.put(pcm, rate)

    def stalled(self, seconds: float) -> None:
        """Report that the device was silent for `seconds` before the next block. Never blocks."""
        if self._echo is not None:
            self._played.stall(seconds)

    def clean(self, pcm: bytes) -> bytes:
        """Return the cleaned frame, or the same frame if it can't be cleaned. Never raises."""
        try:
            if len(pcm) != FRAME_BYTES:
                raise ValueError(f"a frame of {len(pcm)} bytes instead of {FRAME_BYTES}")
            cleaned = pcm if self._echo is None else self._without_echo(self._echo, pcm)
            return cleaned if self._tidy is None else self._tidy.process(cleaned)
        except Exception as error:  # an uncleaned frame is better than none
            self._failed += 1
            if not self._complained:
                self._complained = True
                _log.warning(
                    "The microphone signal cannot be cleaned (%s), so it is used unchanged.", error
                )
            return pcm

    def restart(self) -> None:
        self._played.restart()
        self._restart()

    def _restart(self) -> None:
        self._hold = 0  # frames that are still to be processed
        self._before = _NO_SOUND  # the previous frame
        self._gain = 1.0  # at the end of the previous frame
        self._realigned = self._played.realigned  # the count at the last check
        self._breaks, self._opened = self._played.breaks, self._played.opened
        self._residual.restart()

    def _without_echo(self, module: "_Module", pcm: bytes) -> bytes:
        reference = self._played.take()
        if self._played.realigned != self._realigned:
            self._realigned = self._played.realigned
            self._residual.restart()
            # A new canceller learns the path faster than the old one adapts to the change.
            module.renew()
        if self._played.breaks != self._breaks:
            self._breaks = self._played.breaks
            self._residual.moved(opened=self._played.opened != self._opened)
            self._opened = self._played.opened
        playing = reference is not None and bool(reference.any())
        if playing and not self._hold:
            # The module was idle, so flush the old audio that it still holds.
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
        """Scale the frame to `gain`, with a ramp from the previous gain to avoid a click."""
        before, self._gain = self._gain, gain
        if before == gain == 1.0:
            return pcm
        slope = np.linspace(before, gain, FRAME_SAMPLES, dtype=np.float32)
        return (np.frombuffer(pcm, np.int16) * slope).astype(np.int16).tobytes()


class _Module:
    def __init__(self, **switches: bool) -> None:
        try:
            from livekit.rtc import AudioFrame
            from livekit.rtc.apm import AudioProcessingModule
        except (ImportError, OSError) as error:
            raise InputUnusable(
                "Echo cancellation, noise suppression and gain need an extra that is not "
                "installed: run `pip install hearth-voice[echo]`, or turn them off in [audio]."
            ) from error
        self._make: Any = partial(AudioProcessingModule, **switches)
        self._frame: Any = AudioFrame
        self.renew()

    def renew(self) -> None:
        self._module: Any = self._make()

    def process(self, pcm: bytes, reference: bytes | None = None) -> bytes:
        done = bytearray()
        for at in (0, _HALF_BYTES):
            if reference is not None:
                self._module.process_reverse_stream(self._half(reference, at))
            half = self._half(pcm, at)
            self._module.process_stream(half)
            done += bytes(half.data.cast("B"))
        return bytes(done)

    def _half(self, pcm: bytes, at: int) -> Any:
        piece = bytearray(pcm[at : at + _HALF_BYTES])  # a copy, because the library writes into it
        return self._frame(piece, SAMPLE_RATE, 1, _HALF_SAMPLES)


def _power(pcm: bytes) -> float:
    samples = np.frombuffer(pcm, np.int16).astype(np.float32)
    return float(np.dot(samples, samples)) / len(samples)


# Deciding whether a frame after echo cancellation still contains Hearth's own voice. Once the
# canceller has found the path, it reduces the echo by 20 dB or more in 99 of 100 frames (measured:
# median 39 dB), but a person who speaks at the echo's level by only 5 to 12 dB. So a frame that was
# reduced only a little is a person's. This matters only while something is playing.


_PERSON_KEEPS = 10 ** (-12.0 / 10)  # share of a frame's power that a person's voice keeps
_WITHIN = 10 ** (-18.0 / 10)  # less than this share of the echo's power isn't a person
_AUDIBLE = 30.0**2  # int16 power (mean square); anything below isn't speech
_RECENT = 5  # frames, of which _ENOUGH must be a person's
_ENOUGH = 3
_STAYS = 15  # frames (300 ms) that count as a person's after the last such frame
_TAIL = 25  # frames (500 ms) of echo and delay after the last frame played
_LEARNED_AGAIN = 20  # as _LEARNED, if the path has hardly changed (400 ms)
_LEARNED = 50  # frames of echo (1 s) that must be reduced before the canceller is trusted ...
_LEARNING = 150  # ... or frames in total (3 s), after which what is left is a person speaking
_RELEARNING = 60  # frames (1.2 s); as _LEARNING, when relearning
_TAKEN_DOWN = 10 ** (-15.0 / 10)
# After a break, this many frames of echo are watched. If fewer than _SOME of _LOOK in a row were
# reduced, the canceller has lost the path. Medians over 24 breaks whose length was reported 15 to
# 40 ms wrong: by itself the canceller finds the path again in 1.7 s, a new one in 0.65 s, with a
# fifth of the frames mistaken for a person's. After breaks with the right length it is kept.
_WATCHED = 50
_LOOK = 10
_SOME = 4
_MEMORY = 0.02  # weight of one frame in the running mean of the echo's power: 1 s


class Residual:
    """Decides for each cleaned frame whether it contains only what is left of Hearth's own
    voice."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Forget the echo path, because it may have changed."""
        self._learning, self._learned = _LEARNING, _LEARNED
        self._again = False  # True while the path is being relearned
        self._watched = 0  # frames left to watch
        self._downs: deque[bool] = deque(maxlen=_LOOK)  # True for each reduced watched frame
        self._echo = 0.0  # mean power at the microphone while something plays
        self._tail = 0
        self._stays = 0
        self._recent: deque[bool] = deque(maxlen=_RECENT)

    def moved(self, *, opened: bool = False) -> None:
        """Report that the output stalled or, with `opened`, was reopened, so that the echo can
        arrive a little later."""
        if self._learned <= 0 or self._learning <= 0:
            self._again = True
            self._learning, self._learned = _RELEARNING, _LEARNED_AGAIN
        # People talk over the beginning of an answer, which looks like a lost path.
        self._watched = _WATCHED if self._again and not opened else 0
        self._downs.clear()
        if self._tail:
            self._tail = _TAIL  # until the path is known, this may be Hearth's own voice
        self._stays = 0
        self._recent.clear()

    @property
    def lost(self) -> bool:
        """True if the canceller has lost the echo path and should be replaced."""
        return len(self._downs) == _LOOK and sum(self._downs) < _SOME

    def renewed(self) -> None:
        self._learning, self._learned = _RELEARNING, _LEARNED_AGAIN
        self._watched = 0
        self._downs.clear()

    def judge(self, heard: float, left: float, playing: bool) -> bool:
        """Return True if the frame contains only Hearth's own voice.

        `heard` and `left` are the mean squares (int16) of the microphone's frame before and after
        cleaning. `playing` is True if the frame's reference isn't silent.
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
