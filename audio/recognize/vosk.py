"""Recognition with a vosk model folder. The `vosk` package is the person's to install."""

import importlib
import json
from pathlib import Path
from typing import Any

from audio.errors import InputUnusable
from audio.frames import SAMPLE_RATE
from audio.recognize.text import plain_words

_PIECE_BYTES = SAMPLE_RATE // 10 * 2  # 100 ms: the thread gives way in between


class VoskRecognizer:
    """One model, loaded at once (0.1 to 2 GB of memory by its size). API of vosk 0.3.45."""

    def __init__(self, folder: Path, languages: tuple[str, ...]) -> None:
        """`languages` is what the model hears. Raises InputUnusable."""
        vosk = _package()
        vosk.SetLogLevel(-1)  # it prints to stderr otherwise
        try:
            self._model = vosk.Model(str(folder))
        except Exception as error:  # vosk raises bare Exception
            raise InputUnusable(f"The speech model {folder} cannot be loaded by vosk.") from error
        self._make = vosk.KaldiRecognizer
        self._languages = languages

    @property
    def languages(self) -> tuple[str, ...]:
        """Language codes that the model hears."""
        return self._languages

    def transcribe(self, pcm: bytes) -> str:
        """Free text of 16 kHz mono int16; "" when nothing was understood."""
        decoder = self._make(self._model, SAMPLE_RATE)
        texts = [
            decoder.Result()
            for start in range(0, len(pcm), _PIECE_BYTES)
            if decoder.AcceptWaveform(pcm[start : start + _PIECE_BYTES])  # a pause ended a part
        ]
        texts.append(decoder.FinalResult())
        return plain_words(" ".join(json.loads(text).get("text", "") for text in texts))


def is_vosk_model(folder: Path) -> bool:
    """Whether the folder is laid out as vosk's models are (new and old form)."""
    return (folder / "am" / "final.mdl").is_file() or (folder / "final.mdl").is_file()


def _package() -> Any:
    try:
        return importlib.import_module("vosk")
    except ImportError:
        raise InputUnusable(
            "The speech model needs the package vosk; install it with: pip install vosk"
        ) from None
