"""openWakeWord: one shared speech embedding and a small model per word, using 5 % of a desktop
core."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pyopen_wakeword import Model, OpenWakeWord, OpenWakeWordFeatures

from audio.frames import SAMPLES_PER_MS
from audio.wake import (
    REFRACTORY,
    Detection,
    ModelWake,
    Sensitivity,
    added_words,
    check_model,
    check_words,
    own_model,
    unusable,
)

BUILT_IN = tuple(model.value for model in Model)
# A clean word is detected between 190 ms before and 50 ms after its end, later in noise (measured).
LEAD_MS = 500

# The models are trained towards 0.5; wake words score above 0.9, other speech below 0.1.
_THRESHOLDS = {"low": 0.7, "normal": 0.5, "high": 0.3}
_CHUNK_BYTES = 80 * SAMPLES_PER_MS * 2  # features are computed every 80 ms ...
_WINDOW_BYTES = 110 * SAMPLES_PER_MS * 2  # ... from 110 ms of audio
_EMBEDDING_BYTES = 96 * 4  # float32
_SPECTRA, _NEW_SPECTRA = 76, 8  # 10 ms each: of an embedding, and of a chunk


class OpenWake(ModelWake):
    """A WakeEngine based on pyopen-wakeword. A word is a built-in name, the name of an added model,
    or a .tflite model file."""

    def __init__(
        self,
        words: Sequence[str],
        sensitivity: Sensitivity = "normal",
        sensitivities: Mapping[str, Sensitivity] | None = None,
        folder: Path | None = None,
    ) -> None:
        self._features = features = OpenWakeWordFeatures.from_builtin()
        models = {word: self._load(word, folder) for word in check_words(words)}
        chosen = sensitivities or {}
        thresholds = {word: _THRESHOLDS[chosen.get(word, sensitivity)] for word in models}
        super().__init__(models, thresholds, LEAD_MS)
        self._waiting = bytearray()
        # With this much audio ahead, each chunk completes a window with its last sample.
        self._infer(bytes(_WINDOW_BYTES - _CHUNK_BYTES))
        # By default, four spectra are left over, so that every embedding would end 40 ms before the
        # newest audio. With this number, each chunk completes an embedding with its last spectrum.
        features.new_mels = _SPECTRA - _NEW_SPECTRA

    def hear(self, pcm: bytes, end: int) -> Detection | None:
        self._waiting += pcm
        if len(self._waiting) >= _CHUNK_BYTES:
            self._infer(bytes(self._waiting))
            self._waiting.clear()
        return self._trigger.judge(self.scores, end)

    def restart(self) -> None:
        self._waiting.clear()
        for _ in range(REFRACTORY * 2 // _CHUNK_BYTES):
            self._infer(bytes(_CHUNK_BYTES))
        self._trigger.restart()

    def close(self) -> None:
        self._features.close()
        super().close()

    def _infer(self, pcm: bytes) -> None:
        for embedding in self._features.process_streaming(pcm):
            for word, model in self._models.items():
                for score in model.process_streaming(embedding):
                    self.scores[word] = score

    def _load(self, word: str, folder: Path | None) -> OpenWakeWord:
        if word in BUILT_IN:
            return OpenWakeWord.from_builtin(Model(word))
        path = own_model(word, BUILT_IN, added_words("open", folder), ".tflite", folder)
        check_model(path, self._features.lib)
        model = OpenWakeWord.from_model(path)
        size = model.lib.TfLiteTensorByteSize
        expects, gives = size(model.input_tensor), size(model.output_tensor)
        if expects != model.input_windows * _EMBEDDING_BYTES or gives != 4:
            raise unusable(path, "is not an openWakeWord model")
        return model
