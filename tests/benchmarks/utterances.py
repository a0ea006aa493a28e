"""The utterances that the end of turn is measured on: commands of the house and open questions.

The list (utterances.tsv) was fixed before anything was tuned on it, and only the half named "tune"
may be looked at while tuning. Each sentence has one place, before a word without which it is
incomplete, at which the person hesitates for 0 to 0.9 s. The voice is told of it by a comma, so
that it sounds like a break and not like an end; the silence there is then made exactly as long.
"""

import hashlib
import itertools
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from audio.frames import FRAME_SAMPLES, SAMPLE_RATE, SAMPLES_PER_MS
from audio.sound_files import read_wav, write_wav
from tests.benchmarks.noises import active_level, mix, pink
from tests.benchmarks.sound import voiced
from tests.corpus.speech import Samples, say

LIST = Path(__file__).with_name("utterances.tsv")
CACHE = Path(__file__).resolve().parents[2] / "out" / "utterances"
NOISE_DB = (None, 20.0, 10.0, 5.0)  # active speech above pink noise; None is a quiet room
LEAD_MS = 1000  # of the room before the first word
TAIL_MS = 2400  # and behind the last
LEVEL_DBFS = -26.0  # of the active speech
_MADE = "1"  # counts up when the same line is made otherwise
_ROOM = 8.0  # int16 RMS of the quiet room
_SILENT_DB = 40.0  # below the loudest 5 ms: nothing is said
_STEP = 5 * SAMPLES_PER_MS
_SHORTEST = 80 * SAMPLES_PER_MS  # a comma is longer, the closure of a "t" shorter


@dataclass(frozen=True, slots=True)
class Utterance:
    """One line of the list."""

    kind: str  # "command" or "question"
    half: str  # "tune" or "held"
    voice: str  # as tests/corpus/speech.py names it
    pause_ms: int
    before: str  # what is said before the pause: incomplete
    after: str

    @property
    def text(self) -> str:
        """Return the whole sentence."""
        return f"{self.before} {self.after}"


@dataclass(frozen=True, slots=True)
class Take:
    """An utterance as the microphone hears it."""

    pcm: bytes  # 16 kHz mono int16, whole frames
    first_voiced: int  # sample
    last_voiced: int  # sample behind the last voiced one, by the rule of tests/benchmarks/sound.py


def utterances() -> list[Utterance]:
    """Return the whole list in order."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    return [_utterance(line) for line in lines if line and not line.startswith("#")]


def take(utterance: Utterance, noise_db: float | None, seed: int = 0) -> Take:
    """Return its sound between silences, with pink noise `noise_db` below the speech."""
    speech = clean(utterance)
    first, last = voiced(speech.tobytes())
    lead, tail = LEAD_MS * SAMPLES_PER_MS, TAIL_MS * SAMPLES_PER_MS
    tail += -(lead + len(speech) + tail) % FRAME_SAMPLES
    sound = np.concatenate((np.zeros(lead), speech.astype(np.float64), np.zeros(tail)))
    sound += np.random.default_rng(seed).normal(0.0, _ROOM, len(sound))
    pcm = np.clip(np.rint(sound), -32768, 32767).astype(np.int16).tobytes()
    if noise_db is not None:
        pcm = mix(pcm, pink(len(sound) / SAMPLE_RATE, seed), noise_db)
    return Take(pcm, lead + first, lead + last)


def clean(utterance: Utterance) -> Samples:
    """Return the speech alone at its level, with the pause; cached in a folder of `out`."""
    key = hashlib.sha256(f"{_MADE}\n{utterance}".encode()).hexdigest()[:24]
    path = CACHE / f"{key}.wav"
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(f".{os.getpid()}.wav")
        write_wav(fresh, _levelled(_speak(utterance)).tobytes(), SAMPLE_RATE)
        fresh.replace(path)
    return np.frombuffer(read_wav(path), np.int16)


def _speak(utterance: Utterance) -> Samples:
    if not utterance.pause_ms:
        return say(utterance.text, utterance.voice)
    text = f"{utterance.before}, {utterance.after}"
    said = say(text, utterance.voice)
    start, end = _break(said, text, utterance.voice)
    middle = (start + end) // 2
    missing = utterance.pause_ms * SAMPLES_PER_MS - (end - start)
    if missing >= 0:
        return np.concatenate((said[:middle], np.zeros(missing, np.int16), said[middle:]))
    return np.concatenate((said[: middle + missing // 2], said[middle - (missing + 1) // 2 :]))


def _break(said: Samples, text: str, voice: str) -> tuple[int, int]:
    """Return where the voice pauses at the comma: first silent sample, and the one after the
    last."""
    if voice.startswith("espeak:"):
        silences = ((end - start, start, end) for start, end in _silences(said))
        length, start, end = max(silences, default=(0, 0, 0))
        if length < _SHORTEST:
            raise ValueError(f"{voice} makes no pause in {text!r}")
        return start, end
    # Flite's can be as short as the closure of a "t", but it says where it is.
    command = ["flite", "-voice", voice, "-t", text, "-psdur", "-o", "none"]
    run = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    segments = [segment.split(":") for segment in run.stdout.split()]
    ends = [round(float(end) * SAMPLE_RATE) for _, end in segments]
    pauses = [at for at, (phone, _) in enumerate(segments) if phone == "pau"][1:-1]
    if len(pauses) != 1:
        raise ValueError(f"{voice} makes {len(pauses)} pauses in {text!r}")
    return ends[pauses[0] - 1], ends[pauses[0]]


def _levelled(said: Samples) -> Samples:
    gain = 32768.0 * 10 ** (LEVEL_DBFS / 20) / active_level(said.tobytes())
    levelled: Samples = np.clip(said * gain, -32768, 32767).astype(np.int16)
    return levelled


def _silences(said: Samples) -> Iterator[tuple[int, int]]:
    """Yield the silences between two words."""
    steps = len(said) // _STEP
    powers = np.mean(said[: steps * _STEP].reshape(steps, _STEP).astype(np.float64) ** 2, axis=1)
    loud = np.flatnonzero(powers > powers.max() * 10 ** (-_SILENT_DB / 10))
    for before, after in itertools.pairwise(loud):
        if after - before > 1:
            yield int(before + 1) * _STEP, int(after) * _STEP


def _utterance(line: str) -> Utterance:
    kind, half, voice, pause_ms, words = line.split("\t")
    before, after = words.split(" | ")
    return Utterance(kind, half, voice, int(pause_ms), before, after)
