"""Runs in openWakeWord's own environment: the loop of its example `detect_from_microphone.py`.

    python _wake_microphone.py WORD

That reads 80 ms at a time from the default microphone and has the model predict. Here PortAudio is
reached through sounddevice, since PyAudio has no wheel, and in place of a table of scores a line is
printed for each 80 ms above 0.5.
"""

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np

_CHUNK = 1280  # samples
_THRESHOLD = 0.5


def main(word: str) -> None:
    """Listen until the process ends."""
    sounddevice: Any = importlib.import_module("sounddevice")
    package: Any = importlib.import_module("openwakeword.model")
    found = importlib.util.find_spec("pyopen_wakeword")  # its wheel holds the models
    assert found is not None
    assert found.origin is not None
    models = Path(found.origin).parent / "models"
    model = package.Model(
        wakeword_models=[str(models / f"{word}.tflite")],
        melspec_model_path=str(models / "melspectrogram.tflite"),
        embedding_model_path=str(models / "embedding_model.tflite"),
    )
    stream = sounddevice.RawInputStream(
        samplerate=16_000, channels=1, dtype="int16", blocksize=_CHUNK
    )
    stream.start()
    print("up", flush=True)
    while True:
        pcm, _ = stream.read(_CHUNK)
        scores = model.predict(np.frombuffer(pcm, np.int16))
        if scores[word] > _THRESHOLD:
            print(word, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
