"""Runs in a wake-word package's own environment, where nothing of Hearth is.

    python _wake_engines.py PACKAGE WORD ...

First it says which versions it has. Then each line that comes in is a question: {"wav": PATH}, the
next piece of one stream, 16 kHz mono int16. The package's own loop hears it as fast as it can, in
chunks as long as its documentation has them. The answer: which words fired, behind how many samples
of the piece and after how many ms of work on that chunk, and the processor time of all of it.
Questions and answers are lines of JSON.
"""

import importlib
import importlib.metadata
import importlib.util
import json
import sys
import time
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

# A chunk of int16 samples, to the words that fire behind it.
Hear = Callable[[bytes], list[str]]
_THRESHOLD = 0.5  # of the two that leave it to their user: what their documentation says


def openwakeword(words: list[str]) -> Hear:
    """Its `Model` with its defaults. The wheel holds no models: pyopen-wakeword's are these."""
    package: Any = importlib.import_module("openwakeword.model")
    models = _models_of("pyopen_wakeword")
    model = package.Model(
        wakeword_models=[str(models / f"{word}.tflite") for word in words],
        melspec_model_path=str(models / "melspectrogram.tflite"),
        embedding_model_path=str(models / "embedding_model.tflite"),
    )

    def hear(chunk: bytes) -> list[str]:
        scores = model.predict(np.frombuffer(chunk, np.int16))
        return [word for word, score in scores.items() if score > _THRESHOLD]

    return hear


def pyopen(words: list[str]) -> Hear:
    """One set of features for all words, as in its README."""
    package: Any = importlib.import_module("pyopen_wakeword")
    features = package.OpenWakeWordFeatures.from_builtin()
    models = {word: package.OpenWakeWord.from_builtin(package.Model(word)) for word in words}

    def hear(chunk: bytes) -> list[str]:
        return [
            word
            for embedding in features.process_streaming(chunk)
            for word, model in models.items()
            if any(score > _THRESHOLD for score in model.process_streaming(embedding))
        ]

    return hear


def pymicro(words: list[str]) -> Hear:
    """One set of features for all words, as in its README; each model has its own cutoff."""
    package: Any = importlib.import_module("pymicro_wakeword")
    features = package.MicroWakeWordFeatures()
    models = {word: package.MicroWakeWord.from_builtin(package.Model(word)) for word in words}

    def hear(chunk: bytes) -> list[str]:
        return [
            word
            for feature in features.process_streaming(chunk)
            for word, model in models.items()
            if model.process_streaming(feature)
        ]

    return hear


# The loop, the samples of a chunk, and what else its figures depend on.
_LOOPS: dict[str, tuple[Callable[[list[str]], Hear], int, tuple[str, ...]]] = {
    "openwakeword": (openwakeword, 1280, ("tflite-runtime", "numpy")),
    "pyopen-wakeword": (pyopen, 160, ("numpy",)),
    "pymicro-wakeword": (pymicro, 160, ("pymicro-features", "numpy")),
}


def answer(hear: Hear, pcm: bytes, samples: int) -> dict[str, Any]:
    """What is told of one piece."""
    found = []
    cpu = time.process_time()
    for at in range(0, len(pcm), samples * 2):
        before = time.perf_counter()
        words = hear(pcm[at : at + samples * 2])
        took_ms = (time.perf_counter() - before) * 1000
        found += [(word, at // 2 + samples, took_ms) for word in words]
    return {"found": found, "cpu_s": time.process_time() - cpu}


def _models_of(package: str) -> Path:
    found = importlib.util.find_spec(package)
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / "models"


def main(package: str, *words: str) -> None:
    """Answer until there are no more questions; KeyError for another package."""
    make, samples, beside = _LOOPS[package]
    hear = make(list(words))
    versions = {name: importlib.metadata.version(name) for name in (package, *beside)}
    print(json.dumps(versions), flush=True)
    for line in sys.stdin:
        with wave.open(json.loads(line)["wav"]) as file:
            pcm = file.readframes(file.getnframes())
        print(json.dumps(answer(hear, pcm, samples)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
