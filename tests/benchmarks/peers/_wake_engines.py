"""Run a wake-word package in its own environment, without Hearth.

    python _wake_engines.py PACKAGE WORD ...

First it says which versions it has. Then each line that comes in is a question: {"wav": PATH}, the
next piece of one stream, 16 kHz mono int16. The package's own loop hears it as fast as it can, in
chunks as long as its documentation has them. The answer: which words fired, behind how many samples
of the piece and after how many ms of work on that chunk, and the processor time of all of it.
Questions and answers are lines of JSON.

    python _wake_engines.py openwakeword --microphone WORD

listens instead, as openWakeWord's example `detect_from_microphone.py` does: 80 ms at a time from
the default microphone. Here PortAudio is reached through sounddevice, since PyAudio has no wheel,
and in place of a table of scores a line is printed for each 80 ms in which the word fires.
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
    """Return its `Model` with its defaults, as a function of a chunk."""
    model = openwakeword_model(words)

    def hear(chunk: bytes) -> list[str]:
        scores = model.predict(np.frombuffer(chunk, np.int16))
        return [word for word, score in scores.items() if score > _THRESHOLD]

    return hear


def pyopen(words: list[str]) -> Hear:
    """Return its loop, as in its README."""
    package: Any = importlib.import_module("pyopen_wakeword")
    features = package.OpenWakeWordFeatures.from_builtin()
    models = {word: package.OpenWakeWord.from_builtin(package.Model(word)) for word in words}

    def fires(model: Any, embedding: Any) -> bool:
        return any(score > _THRESHOLD for score in model.process_streaming(embedding))

    return streaming(features, models, fires)


def pymicro(words: list[str]) -> Hear:
    """Return its loop, as in its README; each model has its own cutoff."""
    package: Any = importlib.import_module("pymicro_wakeword")
    features = package.MicroWakeWordFeatures()
    models = {word: package.MicroWakeWord.from_builtin(package.Model(word)) for word in words}

    def fires(model: Any, feature: Any) -> bool:
        return bool(model.process_streaming(feature))

    return streaming(features, models, fires)


def streaming(features: Any, models: dict[str, Any], fires: Callable[[Any, Any], bool]) -> Hear:
    """Return a loop with one set of features for the models of all words."""

    def hear(chunk: bytes) -> list[str]:
        return [
            word
            for feature in features.process_streaming(chunk)
            for word, model in models.items()
            if fires(model, feature)
        ]

    return hear


# The loop, the samples of a chunk, and what else its figures depend on.
_LOOPS: dict[str, tuple[Callable[[list[str]], Hear], int, tuple[str, ...]]] = {
    "openwakeword": (openwakeword, 1280, ("tflite-runtime", "numpy")),
    "pyopen-wakeword": (pyopen, 160, ("numpy",)),
    "pymicro-wakeword": (pymicro, 160, ("pymicro-features", "numpy")),
}


def answer(hear: Hear, pcm: bytes, samples: int) -> dict[str, Any]:
    """Return the answer about one piece."""
    found = []
    cpu = time.process_time()
    for at in range(0, len(pcm), samples * 2):
        before = time.perf_counter()
        words = hear(pcm[at : at + samples * 2])
        took_ms = (time.perf_counter() - before) * 1000
        found += [(word, at // 2 + samples, took_ms) for word in words]
    return {"found": found, "cpu_s": time.process_time() - cpu}


def openwakeword_model(words: list[str]) -> Any:
    """Return a `Model` with its defaults. Its wheel has no models; pyopen-wakeword's are the
    same."""
    package: Any = importlib.import_module("openwakeword.model")
    found = importlib.util.find_spec("pyopen_wakeword")
    assert found is not None
    assert found.origin is not None
    models = Path(found.origin).parent / "models"
    return package.Model(
        wakeword_models=[str(models / f"{word}.tflite") for word in words],
        melspec_model_path=str(models / "melspectrogram.tflite"),
        embedding_model_path=str(models / "embedding_model.tflite"),
    )


def listen(package: str, word: str) -> None:
    """Print each detection of the word until the process ends."""
    sounddevice: Any = importlib.import_module("sounddevice")
    make, samples, _ = _LOOPS[package]
    hear = make([word])
    stream = sounddevice.RawInputStream(
        samplerate=16_000, channels=1, dtype="int16", blocksize=samples
    )
    stream.start()
    print("up", flush=True)
    while True:
        pcm, _ = stream.read(samples)
        for fired in hear(bytes(pcm)):
            print(fired, flush=True)


def main(package: str, *words: str) -> None:
    """Answer until there are no more questions. Raises KeyError for an unknown package."""
    make, samples, beside = _LOOPS[package]
    hear = make(list(words))
    versions = {name: importlib.metadata.version(name) for name in (package, *beside)}
    print(json.dumps(versions), flush=True)
    for line in sys.stdin:
        with wave.open(json.loads(line)["wav"]) as file:
            pcm = file.readframes(file.getnframes())
        print(json.dumps(answer(hear, pcm, samples)), flush=True)


if __name__ == "__main__":
    if sys.argv[2] == "--microphone":
        listen(sys.argv[1], sys.argv[3])
    else:
        main(*sys.argv[1:])
