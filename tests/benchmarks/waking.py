"""Shared parts of the wake-word figures: clips, their words, and an engine's results."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from audio.frames import SAMPLE_RATE, Framer
from audio.sound_files import read_wav
from audio.wake import Detection, Sensitivity, Trigger, make_wake_engine
from audio.wake.micro import LEAD_MS as MICRO_LEAD_MS
from audio.wake.micro import MicroWake
from audio.wake.open import LEAD_MS as OPEN_LEAD_MS
from audio.wake.open import OpenWake
from tests.benchmarks.noises import Noise, active_level, mix
from tests.shared_data import shared_folder

Engine = MicroWake | OpenWake
ENGINES = ("micro", "open")
WORDS: Mapping[str, Sequence[str]] = {
    "micro": ("okay_nabu", "alexa", "hey_jarvis", "hey_mycroft"),
    "open": ("okay_nabu", "alexa", "hey_jarvis", "hey_mycroft", "hey_rhasspy"),
}
LEAD_MS = {"micro": MICRO_LEAD_MS, "open": OPEN_LEAD_MS}
# Seconds into the clip at which the word ends, by Silero's voice detector; in hey_jarvis.wav a
# second sound follows the word, there by the dip in loudness before it.
WORD_ENDS = {
    "okay_nabu": 1.62,
    "alexa": 1.11,
    "hey_jarvis": 1.15,
    "hey_mycroft": 1.30,
    "hey_rhasspy": 1.24,
}
# Where it begins, by the same detector.
WORD_STARTS = {
    "okay_nabu": 0.65,
    "alexa": 0.49,
    "hey_jarvis": 0.49,
    "hey_mycroft": 0.56,
    "hey_rhasspy": 0.52,
}
SENSITIVITIES: tuple[Sensitivity, ...] = ("low", "normal", "high")
BEFORE, AFTER = bytes(SAMPLE_RATE * 2), bytes(SAMPLE_RATE * 2)  # a second of room around a clip

_IN_A_SENTENCE = "alexa_turn_off_dining_room"
_SPEECH = shared_folder() / "data" / "speech"


@dataclass(frozen=True, slots=True)
class Heard:
    """An engine's output for a piece of sound."""

    ends: list[int]  # of the frames
    scores: list[dict[str, float]]  # of each word at the end of each frame

    def fired(
        self, thresholds: Mapping[str, float], lead_ms: int, strict: bool = False
    ) -> list[Detection]:
        """Return the detections that follow from these scores and those thresholds."""
        trigger = Trigger(thresholds, lead_ms)
        trigger.strict(strict)
        judged = (
            trigger.judge(scores, end) for scores, end in zip(self.scores, self.ends, strict=True)
        )
        return [found for found in judged if found is not None]


def has_clips() -> bool:
    """Return whether the recordings of people are available."""
    return _SPEECH.is_dir()


@cache
def clip(name: str) -> bytes:
    """Return a recording as mono int16 at 16 kHz."""
    return read_wav(_SPEECH / f"{name}.wav")


def spoken(engine: str) -> list[tuple[str, str]]:
    """Return clips in which a person says a word that this engine knows, each with the word."""
    alone = [(word, word) for word in WORDS[engine]]
    return [*alone, (_IN_A_SENTENCE, "alexa")]


def other_speech(engine: str) -> list[str]:
    """Return clips in which no such word is said."""
    with_words = {name for name, _ in spoken(engine)}
    return sorted(path.stem for path in _SPEECH.glob("*.wav") if path.stem not in with_words)


def make(engine: str, sensitivity: Sensitivity = "normal") -> Engine:
    """Return the engine with every word that it has."""
    made = make_wake_engine(engine, WORDS[engine], sensitivity)
    assert isinstance(made, MicroWake | OpenWake)
    return made


def thresholds(engine: str, sensitivity: Sensitivity) -> Mapping[str, float]:
    """Return the threshold of each word."""
    made = make(engine, sensitivity)
    made.close()
    return made.thresholds


def hear(engine: Engine, pcm: bytes) -> Heard:
    """Return all scores, from a new stream's start on."""
    engine.restart()
    ends, scores = [], []
    for frame in Framer().push(pcm):
        engine.hear(frame.pcm, frame.end)
        ends.append(frame.end)
        scores.append(dict(engine.scores))
    return Heard(ends, scores)


def fired(engine: Engine, name: str, pcm: bytes) -> list[Detection]:
    """Return the detections of the engine of that name in a new stream."""
    return hear(engine, pcm).fired(engine.thresholds, LEAD_MS[name])


def at_active_level(pcm: bytes, dbfs: float) -> bytes:
    """Return the sound at that active speech level; full scale is an RMS of 32768."""
    gain = 32768.0 * 10 ** (dbfs / 20) / active_level(pcm)
    samples = np.frombuffer(pcm, "<i2") * gain
    return bytes(np.rint(samples).clip(-32768, 32767).astype("<i2").tobytes())


def in_noise(name: str, noise: Noise, snr_db: float, seeds: int) -> Iterator[bytes]:
    """Yield a clip with a second before and after it, in noise below its active level."""
    pcm = BEFORE + clip(name) + AFTER
    for seed in range(seeds):
        yield mix(pcm, noise(len(pcm) / 2 / SAMPLE_RATE, seed), snr_db)
