"""Recognisers that are loaded from a model folder (vosk or sherpa-onnx)."""

import importlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from audio.errors import InputUnusable
from audio.frames import SAMPLE_RATE
from audio.recognize.protocol import Recognizer, plain_words


def open_model_folder(folder: Path, languages: Sequence[str]) -> Recognizer:
    """Load the vosk or sherpa-onnx model in a folder. `languages` are the wanted languages, at
    least one. Raises InputUnusable if it can't be loaded."""
    if not folder.is_dir():
        raise InputUnusable(f"The speech model folder {folder} does not exist; correct its path.")
    heard = heard_by(folder.name, languages)
    if is_vosk_model(folder):
        return VoskRecognizer(folder, heard)
    if is_sherpa_model(folder):
        return SherpaRecognizer(folder, heard)
    raise InputUnusable(
        f"The folder {folder} contains neither a vosk nor a sherpa-onnx model; give the folder "
        "that contains the model's files."
    )


def heard_by(name: str, languages: Sequence[str]) -> tuple[str, ...]:
    """Return the codes of the wanted languages that appear in a folder's name, or else the first
    wanted language. For example, "vosk-model-small-es-0.42" contains "es"."""
    parts = re.split(r"[-_.]", name.lower())
    bases = dict.fromkeys(language.split("-")[0] for language in languages)
    return tuple(base for base in bases if base in parts) or tuple(bases)[:1]


_PIECE_BYTES = SAMPLE_RATE // 10 * 2  # 100 ms, so that other threads run in between


class VoskRecognizer:
    """A recogniser with a vosk model (0.1 to 2 GB of memory), for the API of vosk 0.3.45. Raises
    InputUnusable if the model can't be loaded."""

    def __init__(self, folder: Path, languages: tuple[str, ...]) -> None:
        vosk = _package()
        vosk.SetLogLevel(-1)  # vosk prints to stderr otherwise
        try:
            self._model = vosk.Model(str(folder))
        except Exception as error:  # vosk raises bare Exception
            raise InputUnusable(f"The speech model {folder} cannot be loaded by vosk.") from error
        self._make = vosk.KaldiRecognizer
        self.languages = languages  # codes of the model's languages

    def transcribe(self, pcm: bytes) -> str:
        decoder = self._make(self._model, SAMPLE_RATE)
        texts = [
            decoder.Result()
            for start in range(0, len(pcm), _PIECE_BYTES)
            if decoder.AcceptWaveform(pcm[start : start + _PIECE_BYTES])  # a pause ended a part
        ]
        texts.append(decoder.FinalResult())
        return plain_words(" ".join(json.loads(text).get("text", "") for text in texts))


def is_vosk_model(folder: Path) -> bool:
    """Return True if the folder has the old or new layout of vosk models."""
    return (folder / "am" / "final.mdl").is_file() or (folder / "final.mdl").is_file()


def _package() -> Any:
    try:
        return importlib.import_module("vosk")
    except ImportError:
        raise InputUnusable(
            "The speech model needs the package vosk; install it with: pip install vosk"
        ) from None


_THREADS = 2
_TAIL_S = (
    0.66  # silence after which a streaming model gives its last words, as in sherpa-onnx's examples
)


class SherpaRecognizer:
    """A recogniser with a sherpa-onnx model, for the API of sherpa-onnx 2.0. Raises InputUnusable
    if the model can't be loaded."""

    def __init__(self, folder: Path, languages: tuple[str, ...]) -> None:
        self.languages = languages  # codes of the model's languages
        self._streaming = False
        sherpa = _sherpa_package()
        try:
            self._model = self._load(sherpa, folder)
        except (RuntimeError, ValueError, AssertionError) as error:
            reason = str(error).partition("\n")[0][:100]  # onnxruntime's messages go on for lines
            raise InputUnusable(
                f"The speech model {folder} cannot be loaded by sherpa-onnx: {reason}"
            ) from error

    def transcribe(self, pcm: bytes) -> str:
        samples = np.frombuffer(pcm, dtype="<i2").astype(np.float32) / 32768
        if not samples.size:
            return ""
        stream = self._model.create_stream()
        stream.accept_waveform(SAMPLE_RATE, samples)
        if not self._streaming:
            self._model.decode_stream(stream)
            return plain_words(stream.result.text)
        stream.accept_waveform(SAMPLE_RATE, np.zeros(int(_TAIL_S * SAMPLE_RATE), np.float32))
        stream.input_finished()
        while self._model.is_ready(stream):
            self._model.decode_stream(stream)
        return plain_words(self._model.get_result(stream))

    def _load(self, sherpa: Any, folder: Path) -> Any:
        offline = sherpa.OfflineRecognizer
        common = {"tokens": _file(folder, "tokens", ".txt"), "num_threads": _THREADS}
        parts = {name: _file(folder, name) for name in ("encoder", "decoder", "joiner")}
        if all(parts.values()):
            self._streaming = "streaming" in folder.name
            kind = sherpa.OnlineRecognizer if self._streaming else offline
            return kind.from_transducer(**parts, **common)
        del parts["joiner"]
        if all(parts.values()):
            return offline.from_whisper(**parts, **common, language=self.languages[0])
        moonshine = {
            "preprocessor": _file(folder, "preprocess"),
            "encoder": _file(folder, "encode"),
            "uncached_decoder": _file(folder, "uncached_decode"),
            "cached_decoder": _file(folder, "cached_decode"),
        }
        if all(moonshine.values()):
            return offline.from_moonshine(**moonshine, **common)
        model = _file(folder, "model")
        if model and "sense-voice" in folder.name:
            return offline.from_sense_voice(model=model, **common)
        if model and "nemo" in folder.name:
            return offline.from_nemo_ctc(model=model, **common)
        raise ValueError("Hearth does not know its file types")


def is_sherpa_model(folder: Path) -> bool:
    """Return True if the folder has the layout of sherpa-onnx models."""
    return bool(_file(folder, "tokens", ".txt")) and any(folder.glob("*.onnx"))


def _file(folder: Path, part: str, suffix: str = ".onnx") -> str:
    """Return the path of a model part's file, such as "encoder-epoch-99-avg-1.int8.onnx", or ""."""
    names = [
        path
        for path in sorted(folder.glob(f"*{suffix}"))
        if part in path.name.replace(".", "-").removesuffix("-onnx").removesuffix("-txt").split("-")
    ]
    names.sort(key=lambda path: ".int8" not in path.name)
    return str(names[0]) if names else ""


def _sherpa_package() -> Any:
    try:
        return importlib.import_module("sherpa_onnx")
    except ImportError:
        raise InputUnusable(
            "The speech model needs the package sherpa-onnx; install it with: "
            "pip install sherpa-onnx"
        ) from None
