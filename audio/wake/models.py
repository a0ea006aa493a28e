"""Finds the model of a wake word, and refuses what TensorFlow Lite could only crash on."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from audio.errors import InputUnusable


def check_words(words: Sequence[str]) -> list[str]:
    """The words without repetition. Raises InputUnusable when there is none."""
    if not words:
        raise InputUnusable("wake.words is empty: name at least one wake word.")
    return list(dict.fromkeys(words))


def own_model(word: str, built_in: Sequence[str], suffix: str) -> Path:
    """The file that a word which is not built in must be.

    Raises InputUnusable when it is no file, or not of the kind that the engine reads.
    """
    path = Path(word)
    if path.suffix != suffix and os.sep not in word:
        raise InputUnusable(
            f'"{word}" in wake.words is not known here: use {", ".join(built_in)}, '
            f"or the path of a {suffix} model."
        )
    if path.suffix != suffix:
        raise InputUnusable(f"{path} in wake.words must be a {suffix} file for this wake.engine.")
    if not path.is_file():
        raise InputUnusable(f"{path} in wake.words does not exist: check the path.")
    return path


def check_model(path: Path, tflite: Any) -> None:
    """Raise InputUnusable when TensorFlow Lite cannot read the file.

    Both wake-word packages go on with the null pointer that it gives for such a file, which ends
    the process (pymicro-wakeword 2.5, pyopen-wakeword 1.1). `tflite`: the library as they load it.
    """
    model = tflite.TfLiteModelCreateFromFile(os.fsencode(path)) if path.is_file() else None
    if not model:
        raise unusable(path, "is missing or damaged")
    tflite.TfLiteModelDelete(model)


def unusable(path: Path, reason: str) -> InputUnusable:
    """The error for a model file that is there but will not do."""
    return InputUnusable(f"{path}, a wake-word model, {reason}: fetch it again or use another.")
