"""WebRTC's voice detector, used as the fallback.

It takes only 0.02 % of a desktop core, but a buzz can count as speech.
"""

from collections import deque

import numpy as np
import webrtcvad

from audio.frames import FRAME_SAMPLES, SAMPLE_RATE, SAMPLES_PER_MS
from audio.vad import Voicing, level_of

# No voice has a fundamental this high, but all of Hearth's earcons do.
LOWEST_HZ = 460.0
# Share of a frame's energy that can be outside the tone and its octave. Measured on 57 s of close
# speech: 1 % of the frames detected as speech have as little.
REST = 0.02
_NEAR = 3  # bins on either side of a peak that belong to it because of the window
_LOWEST_BIN = 3  # bins below it are hum


def is_tone(pcm: bytes) -> bool:
    """Return True if a frame of 16 kHz mono int16 contains only a tone and perhaps its octave."""
    samples = np.frombuffer(pcm, np.int16).astype(np.float64)
    energy = np.abs(np.fft.rfft(samples * np.hanning(len(samples)))) ** 2
    energy[:_LOWEST_BIN] = 0.0
    whole = float(energy.sum())
    peak = int(energy.argmax())
    if whole <= 0.0 or peak * SAMPLE_RATE / len(samples) < LOWEST_HZ:
        return False
    for at in (peak, 2 * peak):
        energy[max(0, at - _NEAR) : at + _NEAR + 1] = 0.0
    return float(energy.sum()) < REST * whole


_MODE = 3  # the strictest
# The shortest piece that it accepts. In mode 3, this lets the least noise through (measured).
_PIECE_SAMPLES = 10 * SAMPLES_PER_MS
# webrtcvad's verdict is yes or no; the probability is the share of yes over 100 ms. A longer window
# would be steadier but would delay the start and end.
_PIECES = 10
# webrtcvad mistakes a tone for speech, and about 100 ms after it too. For this many frames after a
# tone, only sound that is nearly as loud can be a voice.
_AFTER_TONE = 6
_FAINTER_DB = 6.0


class WebrtcDetector:
    """A VoiceDetector based on webrtcvad. A chunk is one frame. Steady noise soon stops counting as
    speech."""

    chunk_samples = FRAME_SAMPLES

    def __init__(self) -> None:
        self._vad = webrtcvad.Vad(_MODE)
        self._verdicts: deque[bool] = deque(maxlen=_PIECES)
        self._tone = 0.0  # level of the newest tone in dB
        self._after_tone = 0  # frames left that may be the tone's tail

    def hear(self, pcm: bytes, end: int) -> list[Voicing]:
        level = level_of(pcm)
        toned = self._is_toned(pcm, level)
        for at in range(0, len(pcm), _PIECE_SAMPLES * 2):
            piece = pcm[at : at + _PIECE_SAMPLES * 2]
            # Call this for every piece, because it learns the room's noise.
            speech = self._vad.is_speech(piece, SAMPLE_RATE)
            self._verdicts.append(speech and not toned)
        return [Voicing(end, sum(self._verdicts) / _PIECES, level)]

    def reset(self) -> None:
        """Forget all previous audio except the room's noise level."""
        self._verdicts.clear()
        self._after_tone = 0

    def _is_toned(self, pcm: bytes, level: float) -> bool:
        if is_tone(pcm):
            self._tone, self._after_tone = level, _AFTER_TONE
            return True
        if not self._after_tone:
            return False
        self._after_tone -= 1
        return level < self._tone - _FAINTER_DB
