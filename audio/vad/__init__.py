"""Voice activity: detectors that tell speech from everything else, behind one protocol."""

import logging
import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Voicing:
    """Verdict on one chunk of sound: how much of it is speech."""

    end: int  # sample index (16 kHz) at which the chunk ends
    probability: float  # 0 to 1
    level: float | None = None  # RMS in dB below full scale (32768), None where nobody measured


def level_of(pcm: bytes) -> float:
    """RMS of mono int16 in dB relative to full scale; -120 for digital silence."""
    samples = np.frombuffer(pcm, "<i2").astype(np.float64)
    power = float(samples @ samples) / max(1, len(samples))
    return 10 * math.log10(power / 32768.0**2) if power else -120.0


class VoiceDetector(Protocol):
    """Tells speech from everything else, chunk by chunk."""

    @property
    def chunk_samples(self) -> int:
        """Length of the chunks that it judges."""
        ...

    def hear(self, pcm: bytes, end: int) -> list[Voicing]:
        """Take the next frame (FRAME_BYTES) that ends at sample `end`; give what chunks it ends."""
        ...

    def reset(self) -> None:
        """Forget what was heard; the next frame may have any place in the stream."""
        ...


def make_voice_detector() -> VoiceDetector:
    """Silero's; webrtcvad's where Silero cannot be loaded on this machine, with a warning."""
    # Imported late: one will do, and Silero's is built for a processor and a C library that may
    # not be ours.
    try:
        from audio.vad.silero import SileroDetector

        return SileroDetector()
    except (ImportError, OSError, RuntimeError) as error:
        _log.warning("Silero's voice detector cannot be used (%s); webrtcvad's is.", error)
        from audio.vad.webrtc import WebrtcDetector

        return WebrtcDetector()
