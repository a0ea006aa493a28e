"""Made speech for tests: sentences spoken by flite or espeak-ng, kept in a cache folder."""

import hashlib
import os
import shutil
import subprocess
import tempfile
import wave
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import soxr
from numpy.typing import NDArray

from audio.frames import SAMPLE_RATE

FLITE = ("slt", "rms", "awb")  # the three that the figures are of
HELD_OUT = ("kal16", "espeak:en-us", "espeak:en-gb")  # never tuned on
WAKE_WORD = "okay naboo"

Samples = NDArray[np.int16]

_LEAD_MS = 300  # the turn's sound starts this long before the detection
_TAIL_MS = 700  # silence that ended the turn
_QUIET = 300  # int16 level above which there is speech
_NOISE = 8.0  # int16 RMS of the room


@dataclass(frozen=True, slots=True)
class Spoken:
    """One turn's sound as the listener keeps it."""

    pcm: bytes  # 16 kHz mono int16
    detection: int  # samples from its start to the detection of the wake word


def can_speak(voice: str) -> bool:
    """Is the program for this voice installed?"""
    return shutil.which("espeak-ng" if voice.startswith("espeak:") else "flite") is not None


def cache_folder() -> Path:
    """Return the folder that keeps synthetic speech between runs; HEARTH_SPEECH_CACHE names
    another."""
    named = os.environ.get("HEARTH_SPEECH_CACHE")
    folder = Path(named) if named else Path(tempfile.gettempdir()) / "hearth-made-speech"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def say(text: str, voice: str) -> Samples:
    """The sentence as 16 kHz int16 samples."""
    key = hashlib.sha256(f"{voice}\n{text}".encode()).hexdigest()[:24]
    path = cache_folder() / f"{key}.wav"
    if not path.exists():
        fresh = path.with_suffix(f".{os.getpid()}.wav")
        subprocess.run(_command(text, voice, fresh), check=True, timeout=60)
        fresh.replace(path)
    with wave.open(str(path)) as file:
        rate = file.getframerate()
        samples = np.frombuffer(file.readframes(file.getnframes()), np.int16)
    if rate == SAMPLE_RATE:
        return samples
    resampled: NDArray[np.float32] = soxr.resample(samples.astype(np.float32), rate, SAMPLE_RATE)
    return np.clip(resampled, -32768, 32767).astype(np.int16)


def one_breath(text: str, voice: str, pause_ms: int = 100, seed: int = 0) -> Spoken:
    """The end of the wake word, a pause, the sentence, and the silence that ends a turn."""
    lead = _LEAD_MS * SAMPLE_RATE // 1000
    parts = (
        _wake_word_end(voice, lead),
        np.zeros(pause_ms * SAMPLE_RATE // 1000, np.int16),
        say(text, voice),
        np.zeros(_TAIL_MS * SAMPLE_RATE // 1000, np.int16),
    )
    sound = np.concatenate(parts).astype(np.float64)
    sound += np.random.default_rng(seed).normal(0.0, _NOISE, len(sound))
    return Spoken(np.clip(sound, -32768, 32767).astype(np.int16).tobytes(), lead)


@cache
def _wake_word_end(voice: str, samples: int) -> Samples:
    word = say(WAKE_WORD, voice)
    end = int(np.flatnonzero(np.abs(word) > _QUIET)[-1]) + 1
    return word[max(0, end - samples) : end]


def _command(text: str, voice: str, path: Path) -> list[str]:
    if voice.startswith("espeak:"):
        return ["espeak-ng", "-v", voice.removeprefix("espeak:"), "-w", str(path), text]
    return ["flite", "-voice", voice, "-t", text, "-o", str(path)]
