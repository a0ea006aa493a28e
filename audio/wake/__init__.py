"""Wake-word engines: the protocol, the trigger and the choice of engine.

`micro` and `open` are the two engines. `wrappers` pauses an engine during silence, or verifies its
detections with the other engine.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from audio.errors import InputUnusable
from audio.frames import SAMPLE_RATE, SAMPLES_PER_MS


@dataclass(frozen=True, slots=True)
class Detection:
    word: str  # as configured, e.g. "okay_nabu"
    score: float  # 0 to 1
    at: int  # sample index (16 kHz) of the detection
    mark: int  # sample index at which the turn's audio starts: `at` minus the lead, at least 0


@dataclass(frozen=True, slots=True)
class NearMiss:
    word: str
    score: float  # at its peak, 0 to 1
    closeness: float  # score as a fraction of the threshold; above 1 if a verifier rejected it
    at: int  # sample index (16 kHz) of the peak


class WakeEngine(Protocol):
    """Listens for one or more wake words in a continuous stream."""

    @property
    def score(self) -> float:
        """The highest of the words' latest scores, 0 to 1."""
        ...

    @property
    def scores(self) -> Mapping[str, float]:
        """The latest score of each word, 0 to 1."""
        ...

    @property
    def closeness(self) -> float:
        """The highest ratio of a word's latest score to its threshold."""
        ...

    def hear(self, pcm: bytes, end: int) -> Detection | None:
        """Process the next frame (FRAME_BYTES), which ends at sample `end`, and return a detection
        or None. After a detection, the engine detects nothing for its refractory time (2 s of
        audio)."""
        ...

    def near_misses(self) -> list[NearMiss]:
        """Return the near misses since the last call."""
        ...

    def strict(self, on: bool) -> None:
        """Require more certainty, for example while music is playing, or return to normal."""
        ...

    def restart(self) -> None:
        """Start over for another stream, beginning at position 0. Takes up to 0.2 s."""
        ...

    def close(self) -> None:
        """Free native resources. Don't use the engine afterwards."""
        ...


Sensitivity = Literal["low", "normal", "high"]
REFRACTORY = 2 * SAMPLE_RATE  # samples; longer than any engine's memory of a word
NEAR = 0.5  # share of the threshold above which a peak without a detection is a near miss
STRICT = 0.5  # share of the distance from a threshold to 1 that remains while strict

_AGAIN = 2 * SAMPLE_RATE  # samples between near misses
_FALLEN = NEAR / 2


class Trigger:
    """Turns scores into detections, at most one per REFRACTORY samples (2 s)."""

    def __init__(self, thresholds: Mapping[str, float], lead_ms: int) -> None:
        """A word is detected when its score exceeds its value in `thresholds`. The mark is placed
        `lead_ms` before the detection."""
        self._usual = dict(thresholds)
        self._thresholds = self._usual
        self._lead = lead_ms * SAMPLES_PER_MS
        self._deaf_until = 0  # sample index
        self._misses = _Misses()

    def strict(self, on: bool) -> None:
        self._thresholds = (
            {word: 1 - (1 - usual) * STRICT for word, usual in self._usual.items()}
            if on
            else self._usual
        )

    def closeness(self, scores: Mapping[str, float]) -> float:
        return max(score / self._thresholds[word] for word, score in scores.items())

    def judge(self, scores: Mapping[str, float], end: int) -> Detection | None:
        """Return a detection of the word that is furthest above its threshold at sample `end`, or
        None."""
        if end < self._deaf_until:
            return None
        above = {word: score - self._thresholds[word] for word, score in scores.items()}
        word = max(above, key=above.__getitem__)
        if above[word] <= 0:
            nearest = max(scores, key=lambda word: scores[word] / self._thresholds[word])
            near = NearMiss(
                nearest, scores[nearest], scores[nearest] / self._thresholds[nearest], end
            )
            self._misses.take(near)
            return None
        self._misses.forget()
        self._deaf_until = end + REFRACTORY
        return Detection(word, scores[word], at=end, mark=max(0, end - self._lead))

    def near_misses(self) -> list[NearMiss]:
        return self._misses.told()

    def restart(self) -> None:
        self._deaf_until = 0
        self._misses = _Misses()


class ModelWake:
    """The base class of the engines, with a model, a score and a threshold for each word."""

    def __init__(
        self, models: Mapping[str, Any], thresholds: Mapping[str, float], lead_ms: int
    ) -> None:
        self.thresholds = thresholds  # by word; not changed by `strict`
        self.scores = dict.fromkeys(models, 0.0)
        self._models = models
        self._trigger = Trigger(thresholds, lead_ms)

    @property
    def score(self) -> float:
        return max(self.scores.values())

    @property
    def closeness(self) -> float:
        return self._trigger.closeness(self.scores)

    def near_misses(self) -> list[NearMiss]:
        return self._trigger.near_misses()

    def strict(self, on: bool) -> None:
        self._trigger.strict(on)

    def close(self) -> None:
        for model in self._models.values():
            model.close()


class _Misses:
    def __init__(self) -> None:
        self._peak: NearMiss | None = None
        self._next_at = 0  # sample index
        self._found: list[NearMiss] = []

    def take(self, now: NearMiss) -> None:
        if self._peak is None:
            self._peak = now if now.closeness > NEAR else None
        elif now.closeness > self._peak.closeness:
            self._peak = now
        elif now.closeness < _FALLEN:
            if self._peak.at >= self._next_at:
                self._found.append(self._peak)
                self._next_at = self._peak.at + _AGAIN
            self._peak = None

    def forget(self) -> None:
        self._peak = None

    def told(self) -> list[NearMiss]:
        found, self._found = self._found, []
        return found


def check_words(words: Sequence[str]) -> list[str]:
    """Return the words without duplicates. Raises InputUnusable if there are none."""
    if not words:
        raise InputUnusable("wake.words is empty: name at least one wake word.")
    return list(dict.fromkeys(words))


def added_words(engine: str, folder: Path | None) -> tuple[str, ...]:
    """Return the sorted names of the folder's models for an engine. A "micro" model is NAME.json
    and NAME.tflite; an "open" model is NAME.tflite alone."""
    if folder is None or not folder.is_dir():
        return ()
    models = {path.stem for path in folder.glob("*.tflite")}
    micro = {name for name in models if (folder / f"{name}.json").is_file()}
    return tuple(sorted(micro if engine == "micro" else models - micro))


def own_model(
    word: str, built_in: Sequence[str], added: Sequence[str], suffix: str, folder: Path | None
) -> Path:
    """Return the model file of a word that isn't built in. `added` contains the names of the models
    in `folder`. Raises InputUnusable if the word is neither in `added` nor the path of a file with
    this suffix."""
    if word in added and folder is not None:
        return folder / f"{word}{suffix}"
    path = Path(word)
    if path.suffix != suffix and os.sep not in word:
        raise InputUnusable(
            f'"{word}" in wake.words is not an available wake word: use '
            f"{', '.join((*built_in, *added))}, or the path of a {suffix} "
            f"model{_where_to_put(folder)}."
        )
    if path.suffix != suffix:
        raise InputUnusable(f"{path} in wake.words must be a {suffix} file for this wake.engine.")
    if not path.is_file():
        raise InputUnusable(f"{path} in wake.words does not exist: check the path.")
    return path


def check_model(path: Path, tflite: Any) -> None:
    """Raise InputUnusable if TensorFlow Lite can't read the file, because such a file would crash
    the wake-word packages (pymicro-wakeword 2.5, pyopen-wakeword 1.1). `tflite` is the library as
    they load it."""
    model = tflite.TfLiteModelCreateFromFile(os.fsencode(path)) if path.is_file() else None
    if not model:
        raise unusable(path, "is missing or damaged")
    tflite.TfLiteModelDelete(model)


def unusable(path: Path, reason: str) -> InputUnusable:
    """Return the error for a model file that is missing or can't be used."""
    return InputUnusable(
        f"The wake-word model {path} {reason}: download it again or use another one."
    )


def _where_to_put(folder: Path | None) -> str:
    return f", or put one into {folder}" if folder is not None else ""


ENGINES = ("micro", "open")
Verify = Literal["off", "soft"]


def make_wake_engine(
    engine: str,
    words: Sequence[str],
    sensitivity: Sensitivity = "normal",
    sensitivities: Mapping[str, Sensitivity] | None = None,
    folder: Path | None = None,
    verify: Verify = "off",
) -> WakeEngine:
    """Create the "micro" or "open" engine.

    `sensitivities` override `sensitivity` for individual words. `folder` contains added models,
    each named after its word. With `verify="soft"`, the other engine can reject detections of the
    words that are built into it. Raises InputUnusable for an unknown engine or word, or an unusable
    model.
    """
    first = _make(engine, words, sensitivity, sensitivities, folder)
    if verify == "off":
        return first
    other = "open" if engine == "micro" else "micro"
    shared = [word for word in first.scores if word in built_in_words(other)]
    if not shared:
        return first
    from audio.wake.wrappers import VerifiedWake

    return VerifiedWake(first, _make(other, shared, "normal", None, None))


# Engines are imported here because each loads its own copy of TensorFlow Lite.
def _make(
    engine: str,
    words: Sequence[str],
    sensitivity: Sensitivity,
    sensitivities: Mapping[str, Sensitivity] | None,
    folder: Path | None,
) -> WakeEngine:
    if engine == "micro":
        from audio.wake.micro import MicroWake

        return MicroWake(words, sensitivity, sensitivities, folder)
    if engine == "open":
        from audio.wake.open import OpenWake

        return OpenWake(words, sensitivity, sensitivities, folder)
    raise InputUnusable(f'wake.engine = "{engine}" is not valid: use {" or ".join(ENGINES)}.')


def built_in_words(engine: str) -> tuple[str, ...]:
    """Return the words that are built into the "micro" or "open" engine."""
    if engine == "micro":
        from audio.wake.micro import BUILT_IN as MICRO_WORDS

        return MICRO_WORDS
    from audio.wake.open import BUILT_IN as OPEN_WORDS

    return OPEN_WORDS
