"""Voice activity detection: the protocol and the choice of detector."""

import logging
import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Voicing:
    """The speech probability of one chunk of audio."""

    end: int  # sample index (16 kHz) at which the chunk ends
    probability: float  # 0 to 1
    level: float | None = None  # RMS in dB below full scale (32768); None if not measured


def level_of(pcm: bytes) -> float:
    """Return the RMS of mono int16 in dB relative to full scale (32768), or -120 for silence."""
    samples = np.frombuffer(pcm, "<i2").astype(np.float64)
    power = float(samples @ samples) / max(1, len(samples))
    return 10 * math.log10(power / 32768.0**2) if power else -120.0


class VoiceDetector(Protocol):
    """Distinguishes speech from other audio, chunk by chunk."""

    @property
    def chunk_samples(self) -> int:
        """Chunk length in samples at 16 kHz."""
        ...

    def hear(self, pcm: bytes, end: int) -> list[Voicing]:
        """Process the next frame (FRAME_BYTES), which ends at sample `end`. Returns the chunks it
        completes."""
        ...

    def reset(self) -> None:
        """Forget all previous audio. The next frame can have any position in the stream."""
        ...


def make_voice_detector() -> VoiceDetector:
    """Create Silero's detector. If Silero can't be loaded, log a warning and use webrtcvad."""
    # Imported here because one is enough, and Silero's binary may not run on this processor or C
    # library.
    try:
        from audio.vad.silero import SileroDetector

        return SileroDetector()
    except (ImportError, OSError, RuntimeError) as error:
        _log.warning(
            "Silero's voice detector cannot be used (%s), so webrtcvad is used instead.", error
        )
        from audio.vad.webrtc import WebrtcDetector

        return WebrtcDetector()
