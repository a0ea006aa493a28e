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


def added_words(engine: str, folder: Path | None) -> tuple[str, ...]:
    """Names of the models that lie in the folder for that engine ("micro" or "open"), in order.

    micro: NAME.json and NAME.tflite; open: NAME.tflite alone. A folder that is missing has none.
    """
    if folder is None or not folder.is_dir():
        return ()
    models = {path.stem for path in folder.glob("*.tflite")}
    micro = {name for name in models if (folder / f"{name}.json").is_file()}
    return tuple(sorted(micro if engine == "micro" else models - micro))


def own_model(
    word: str, built_in: Sequence[str], added: Sequence[str], suffix: str, folder: Path | None
) -> Path:
    """The file that a word which is not built in must be.

    `added`: names of what lies in `folder`. Raises InputUnusable when it is no file, or not of the
    kind that the engine reads.
    """
    if word in added and folder is not None:
        return folder / f"{word}{suffix}"
    path = Path(word)
    if path.suffix != suffix and os.sep not in word:
        raise InputUnusable(
            f'"{word}" in wake.words is not known here: use {", ".join((*built_in, *added))}, '
            f"or the path of a {suffix} model{_where_to_put(folder)}."
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


def _where_to_put(folder: Path | None) -> str:
    return f", or put one into {folder}" if folder is not None else ""
