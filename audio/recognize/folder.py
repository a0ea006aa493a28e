"""A folder on disk as a recogniser: what kind of model lies in it, and which language it hears."""

import re
from collections.abc import Sequence
from pathlib import Path

from audio.errors import InputUnusable
from audio.recognize.protocol import Recognizer
from audio.recognize.sherpa import SherpaRecognizer, is_sherpa_model
from audio.recognize.vosk import VoskRecognizer, is_vosk_model


def open_model_folder(folder: Path, languages: Sequence[str]) -> Recognizer:
    """The recogniser for a vosk or sherpa-onnx model. `languages` are those wanted, at least one.

    Raises InputUnusable when the folder is none, or its package is not installed.
    """
    if not folder.is_dir():
        raise InputUnusable(f"The speech model folder {folder} does not exist; correct its path.")
    heard = heard_by(folder.name, languages)
    if is_vosk_model(folder):
        return VoskRecognizer(folder, heard)
    if is_sherpa_model(folder):
        return SherpaRecognizer(folder, heard)
    raise InputUnusable(
        f"The folder {folder} holds neither a vosk nor a sherpa-onnx model; "
        "name the folder in which the model's files lie."
    )


def heard_by(name: str, languages: Sequence[str]) -> tuple[str, ...]:
    """The wanted languages in the folder's name ("vosk-model-small-es-0.42"), else the first one.

    Models name themselves so; nothing inside them says it in a common form.
    """
    parts = re.split(r"[-_.]", name.lower())
    bases = dict.fromkeys(language.split("-")[0] for language in languages)
    return tuple(base for base in bases if base in parts) or tuple(bases)[:1]
