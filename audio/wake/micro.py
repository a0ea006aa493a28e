"""microWakeWord, the default engine: small streaming models that take 0.3 % of a desktop core."""

import ctypes
import json
import math
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymicro_wakeword import MicroWakeWord, MicroWakeWordFeatures, Model

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

# The score of one microWakeWord model, step by step. pymicro-wakeword has this too, but computes
# the mean with fractions and allocates every buffer again, which costs more than the model itself.
# The scores here are the same.


class MicroScore:
    """Runs a model once every `stride` steps of 10 ms. The score is the mean of the last few
    runs."""

    def __init__(self, model: MicroWakeWord) -> None:
        """The caller owns `model` and must keep it open while this object is used."""
        self._model = model
        self._features: list[NDArray[np.float64]] = []  # features of the steps since the last run
        self._recent: deque[float] = deque(maxlen=model.sliding_window_size)
        self._input = np.empty(
            model.lib.TfLiteTensorByteSize(model.input_tensor), model.input_dtype
        )
        self._input_at: int = self._input.ctypes.data
        self._output = ctypes.c_uint8()
        self._output_at = ctypes.addressof(self._output)
        self._meanings = _meanings(model)

    def hear(self, features: NDArray[np.float64]) -> float | None:
        """Process a step's features. Returns the score if the model runs in this step, otherwise
        None."""
        self._features.append(features)
        model = self._model
        if len(self._features) < model.stride or not model.interpreter:
            return None
        steps = np.concatenate(self._features, axis=None)
        self._features.clear()
        self._input[:] = np.rint(steps / model.input_scale + model.input_zero_point)
        lib: Any = model.lib
        lib.TfLiteTensorCopyFromBuffer(model.input_tensor, self._input_at, self._input.nbytes)
        lib.TfLiteInterpreterInvoke(model.interpreter)
        lib.TfLiteTensorCopyToBuffer(model.output_tensor, self._output_at, 1)
        self._recent.append(self._meanings[self._output.value])
        if len(self._recent) < model.sliding_window_size:
            return 0.0
        return math.fsum(self._recent) / model.sliding_window_size


def _meanings(model: MicroWakeWord) -> list[float]:
    values = np.arange(256, dtype=np.uint8).view(model.output_dtype).astype(np.float32)
    meanings = (values - model.output_zero_point) * model.output_scale
    return [float(meaning) for meaning in meanings]


BUILT_IN = tuple(model.value for model in Model)
LEAD_MS = 300  # measured: detects a word between 90 ms before and 200 ms after its end
_STEP_BYTES = 10 * SAMPLES_PER_MS * 2  # a step of the audio front end
_MEL_BINS = 40  # of the audio front end that every such model is trained on

# Cutoffs of models with published false-accept rates (docs/wake-words.md), chosen so that with
# "normal" no word has more than 0.6 false accepts an hour while people talk.
_CUTOFFS: Mapping[tuple[str, Sensitivity], float] = {
    ("okay_nabu", "low"): 0.85,
    ("okay_nabu", "normal"): 0.69,
    ("okay_nabu", "high"): 0.56,
    ("hey_jarvis", "high"): 0.92,
    ("hey_mycroft", "normal"): 0.99,
    ("hey_mycroft", "high"): 0.95,
}
_LEAST = 0.1  # because a user's own model can have any cutoff
# For other models: the factor of the distance between the model's own cutoff (or the value for
# "normal" above) and certainty.
_DISTANCE: Mapping[Sensitivity, float] = {"low": 0.5, "normal": 1.0, "high": 2.0}


class MicroWake(ModelWake):
    """A WakeEngine based on pymicro-wakeword.

    A word is a built-in name, the name of an added model, or a model's .json file, which contains
    the name of its .tflite file and its cutoff (ESPHome's manifest, version 2).
    """

    def __init__(
        self,
        words: Sequence[str],
        sensitivity: Sensitivity = "normal",
        sensitivities: Mapping[str, Sensitivity] | None = None,
        folder: Path | None = None,
    ) -> None:
        self._features = MicroWakeWordFeatures()
        models = {word: _load(word, folder) for word in check_words(words)}
        self._scorers = {word: MicroScore(model) for word, model in models.items()}
        self._steps = 0  # steps of the front end, 10 ms each
        chosen = sensitivities or {}
        thresholds = {
            word: _threshold(word, model.probability_cutoff, chosen.get(word, sensitivity))
            for word, model in models.items()
        }
        super().__init__(models, thresholds, LEAD_MS)

    def hear(self, pcm: bytes, end: int) -> Detection | None:
        self._infer(pcm)
        return self._trigger.judge(self.scores, end)

    def restart(self) -> None:
        self._infer(bytes(REFRACTORY * 2))
        # Align every model's step with the start of the stream, so that the same stream gives the
        # same detections.
        while any(self._steps % model.stride for model in self._models.values()):
            self._infer(bytes(_STEP_BYTES))
        self._trigger.restart()

    def _infer(self, pcm: bytes) -> None:
        for features in self._features.process_streaming(pcm):
            self._steps += 1
            for word, scorer in self._scorers.items():
                score = scorer.hear(features)
                if score is not None:
                    self.scores[word] = score


def _threshold(word: str, cutoff: float, sensitivity: Sensitivity) -> float:
    if (word, sensitivity) in _CUTOFFS:
        return _CUTOFFS[word, sensitivity]
    usual = _CUTOFFS.get((word, "normal"), cutoff)
    return max(_LEAST, 1.0 - (1.0 - usual) * _DISTANCE[sensitivity])


def _load(word: str, folder: Path | None) -> MicroWakeWord:
    if word in BUILT_IN:
        return MicroWakeWord.from_builtin(Model(word))
    manifest = own_model(word, BUILT_IN, added_words("micro", folder), ".json", folder)
    _check(manifest)
    try:
        model = MicroWakeWord.from_config(manifest)
    except ValueError as error:  # tensors that are not 8 bit
        raise unusable(manifest, "is not a microWakeWord model") from error
    sizes = [model.lib.TfLiteTensorByteSize(t) for t in (model.input_tensor, model.output_tensor)]
    if sizes != [model.stride * _MEL_BINS, 1]:
        raise unusable(manifest, "is not a microWakeWord model")
    return model


def _check(manifest: Path) -> None:
    try:
        content = json.loads(manifest.read_text(encoding="utf-8"))
        settings = content["micro"]
        complete = (
            0.0 < settings["probability_cutoff"] < 1.0
            and settings["sliding_window_size"] >= 1
            and isinstance(content["wake_word"], str)
        )
        tflite = manifest.parent / content["model"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise unusable(manifest, "is not a microWakeWord manifest") from error
    if not complete:
        raise unusable(manifest, "has an invalid cutoff or window")
    library = MicroWakeWord.from_builtin(Model.OKAY_NABU).lib
    check_model(tflite, library)
