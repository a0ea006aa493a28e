"""The score of one microWakeWord model, step by step.

pymicro-wakeword has this too. It takes the mean as fractions and makes every buffer anew, which
costs more than the model itself; the scores here are the same.
"""

import ctypes
import math
from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymicro_wakeword import MicroWakeWord


class MicroScore:
    """Runs a model once in `stride` steps of 10 ms; its score is a mean over a few runs."""

    def __init__(self, model: MicroWakeWord) -> None:
        """`model`: stays the caller's, and open for as long as this is used."""
        self._model = model
        self._features: list[NDArray[np.float64]] = []  # of the steps since the last run
        self._recent: deque[float] = deque(maxlen=model.sliding_window_size)
        self._input = np.empty(
            model.lib.TfLiteTensorByteSize(model.input_tensor), model.input_dtype
        )
        self._input_at: int = self._input.ctypes.data
        self._output = ctypes.c_uint8()
        self._output_at = ctypes.addressof(self._output)
        self._meanings = _meanings(model)

    def hear(self, features: NDArray[np.float64]) -> float | None:
        """Take the features of a step; the score where the model runs, 0 until it has run a few
        times, None where it does not."""
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
    """What each byte that the model gives stands for."""
    values = np.arange(256, dtype=np.uint8).view(model.output_dtype).astype(np.float32)
    meanings = (values - model.output_zero_point) * model.output_scale
    return [float(meaning) for meaning in meanings]
