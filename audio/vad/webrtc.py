"""WebRTC's voice detector, the fallback: 0.02 % of a desktop core, but buzz can count as speech."""

from collections import deque

import webrtcvad

from audio.frames import FRAME_SAMPLES, SAMPLE_RATE, SAMPLES_PER_MS
from audio.vad.protocol import Voicing, level_of

_MODE = 3  # the strictest
# The shortest piece it takes; measured to let the least noise through in mode 3.
_PIECE_SAMPLES = 10 * SAMPLES_PER_MS
# Its verdict is yes or no: the probability is the share of yes over 100 ms. Longer is steadier, but
# begins and ends as much later.
_PIECES = 10


class WebrtcDetector:
    """A VoiceDetector on webrtcvad; one chunk is one frame.

    It learns the noise of the room: steady noise counts as speech for its first 0.2 s.
    """

    chunk_samples = FRAME_SAMPLES

    def __init__(self) -> None:
        self._vad = webrtcvad.Vad(_MODE)
        self._verdicts: deque[bool] = deque(maxlen=_PIECES)

    def hear(self, pcm: bytes, end: int) -> list[Voicing]:
        """Take the next frame that ends at sample `end`; gives one chunk."""
        for at in range(0, len(pcm), _PIECE_SAMPLES * 2):
            piece = pcm[at : at + _PIECE_SAMPLES * 2]
            self._verdicts.append(self._vad.is_speech(piece, SAMPLE_RATE))
        return [Voicing(end, sum(self._verdicts) / _PIECES, level_of(pcm))]

    def reset(self) -> None:
        """Forget what was heard, but not the room's noise: the room is the same."""
        self._verdicts.clear()
