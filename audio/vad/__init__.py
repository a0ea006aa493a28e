"""Voice activity: detectors that tell speech from everything else, behind one protocol."""

import logging

from audio.vad.protocol import VoiceDetector
from audio.vad.webrtc import WebrtcDetector

_log = logging.getLogger(__name__)


def make_voice_detector() -> VoiceDetector:
    """Silero's; webrtcvad's where Silero cannot be loaded on this machine, with a warning."""
    # Imported late: its library is built for a processor and a C library that may not be ours.
    try:
        from audio.vad.silero import SileroDetector

        return SileroDetector()
    except (ImportError, OSError, RuntimeError) as error:
        _log.warning("Silero's voice detector cannot be used (%s); webrtcvad's is.", error)
        return WebrtcDetector()
