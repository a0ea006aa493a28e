"""Wake words: engines that listen for one, behind one protocol.

`micro` and `open` are the two engines, `wrappers` lets one rest in silence or asks the other.
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
    """A wake word was heard."""

    word: str  # as configured, e.g. "okay_nabu"
    score: float  # 0 to 1
    at: int  # sample index (16 kHz) at which the engine fired
    mark: int  # sample index from which the turn's sound is kept: `at` less the lead, at least 0


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A wake word came near and was not taken for one."""

    word: str
    score: float  # at its peak, 0 to 1
    closeness: float  # the same as a fraction of the threshold; above 1 where a verifier refused it
    at: int  # sample index (16 kHz) of the peak


class WakeEngine(Protocol):
    """Listens for one or more words in a continuous stream."""

    @property
    def score(self) -> float:
        """The highest score of any word in the last frame given, 0 to 1."""
        ...

    @property
    def scores(self) -> Mapping[str, float]:
        """The score of each word in the last frame given, 0 to 1."""
        ...

    @property
    def closeness(self) -> float:
        """Closeness of the nearest word to firing in the last frame given: above 1 it fires.

        A detection's refractory time does not show in it.
        """
        ...

    def hear(self, pcm: bytes, end: int) -> Detection | None:
        """Take the next frame (FRAME_BYTES) that ends at sample `end`.

        After a detection the engine stays silent for its refractory time (2 s of sound).
        """
        ...

    def near_misses(self) -> list[NearMiss]:
        """Return the near misses since the last call; at most one within 2 s of sound."""
        ...

    def strict(self, on: bool) -> None:
        """Ask for more certainty, as while we speak or music plays, or no longer."""
        ...

    def restart(self) -> None:
        """Another stream begins, its time at 0: forget the last one. Takes up to 0.2 s."""
        ...

    def close(self) -> None:
        """Give up native resources. Must not be used afterwards."""
        ...


Sensitivity = Literal["low", "normal", "high"]
REFRACTORY = 2 * SAMPLE_RATE  # samples; longer than any engine's memory of a word
NEAR = 0.5  # of a word's threshold: a peak above it that does not fire is a near miss
STRICT = 0.5  # of the way from a threshold to certainty that is left while strict

_AGAIN = 2 * SAMPLE_RATE  # samples between two near misses
_FALLEN = NEAR / 2


class Trigger:
    """Judges each frame's scores. Within REFRACTORY samples of a detection there is no other."""

    def __init__(self, thresholds: Mapping[str, float], lead_ms: int) -> None:
        """`thresholds`: a word fires above its own. `lead_ms`: how far before that the mark is."""
        self._usual = dict(thresholds)
        self._thresholds = self._usual
        self._lead = lead_ms * SAMPLES_PER_MS
        self._deaf_until = 0  # sample
        self._misses = _Misses()

    def strict(self, on: bool) -> None:
        """Ask for more certainty, or for as much as usual."""
        self._thresholds = (
            {word: 1 - (1 - usual) * STRICT for word, usual in self._usual.items()}
            if on
            else self._usual
        )

    def closeness(self, scores: Mapping[str, float]) -> float:
        """The highest score as a fraction of its word's threshold."""
        return max(score / self._thresholds[word] for word, score in scores.items())

    def judge(self, scores: Mapping[str, float], end: int) -> Detection | None:
        """The word that is furthest above its threshold at sample `end`, if one is."""
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
        """Return the near misses since the last call."""
        return self._misses.told()

    def restart(self) -> None:
        """Sample counts begin anew."""
        self._deaf_until = 0
        self._misses = _Misses()


class ModelWake:
    """Base of the engines: a model for each word, its score and its threshold."""

    def __init__(
        self, models: Mapping[str, Any], thresholds: Mapping[str, float], lead_ms: int
    ) -> None:
        """`models`, each with `close`, and `thresholds` by word; `lead_ms` as of a Trigger."""
        self.thresholds = thresholds  # a word fires above its own, unless it has to be strict
        self.scores = dict.fromkeys(models, 0.0)
        self._models = models
        self._trigger = Trigger(thresholds, lead_ms)

    @property
    def score(self) -> float:
        """The highest score of any word."""
        return max(self.scores.values())

    @property
    def closeness(self) -> float:
        """Closeness of the nearest word to firing; above 1 it fires."""
        return self._trigger.closeness(self.scores)

    def near_misses(self) -> list[NearMiss]:
        """Return the near misses since the last call."""
        return self._trigger.near_misses()

    def strict(self, on: bool) -> None:
        """Halve what is left between each threshold and certainty, or no longer."""
        self._trigger.strict(on)

    def close(self) -> None:
        """Free the models."""
        for model in self._models.values():
            model.close()


class _Misses:
    """Finds the peaks that did not fire."""

    def __init__(self) -> None:
        self._peak: NearMiss | None = None
        self._next_at = 0  # sample
        self._found: list[NearMiss] = []

    def take(self, now: NearMiss) -> None:
        """Take how near the nearest word is."""
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
        """Forget what came near: it has fired."""
        self._peak = None

    def told(self) -> list[NearMiss]:
        """Return the near misses found since the last call."""
        found, self._found = self._found, []
        return found


def check_words(words: Sequence[str]) -> list[str]:
    """The words without repetition. Raises InputUnusable when there is none."""
    if not words:
        raise InputUnusable("wake.words is empty: name at least one wake word.")
    return list(dict.fromkeys(words))


def added_words(engine: str, folder: Path | None) -> tuple[str, ...]:
    """Names of the models that lie in the folder for that engine ("micro" or "open"), in order.

    micro: NAME.json and NAME.tflite; open: NAME.tflite alone. A folder that is missing has none.
    """
    if folder is None or not folder.is_dir():
        return ()
    models = {path.stem for path in folder.glob("*.tflite")}
    micro = {name for name in models if (folder / f"{name}.json").is_file()}
    return tuple(sorted(micro if engine == "micro" else models - micro))


def own_model(
    word: str, built_in: Sequence[str], added: Sequence[str], suffix: str, folder: Path | None
) -> Path:
    """The file that a word which is not built in must be.

    `added`: names of what lies in `folder`. Raises InputUnusable when it is no file, or not of the
    kind that the engine reads.
    """
    if word in added and folder is not None:
        return folder / f"{word}{suffix}"
    path = Path(word)
    if path.suffix != suffix and os.sep not in word:
        raise InputUnusable(
            f'"{word}" in wake.words is not known here: use {", ".join((*built_in, *added))}, '
            f"or the path of a {suffix} model{_where_to_put(folder)}."
        )
    if path.suffix != suffix:
        raise InputUnusable(f"{path} in wake.words must be a {suffix} file for this wake.engine.")
    if not path.is_file():
        raise InputUnusable(f"{path} in wake.words does not exist: check the path.")
    return path


def check_model(path: Path, tflite: Any) -> None:
    """Raise InputUnusable when TensorFlow Lite cannot read the file.

    Both wake-word packages go on with the null pointer that it gives for such a file, which ends
    the process (pymicro-wakeword 2.5, pyopen-wakeword 1.1). `tflite`: the library as they load it.
    """
    model = tflite.TfLiteModelCreateFromFile(os.fsencode(path)) if path.is_file() else None
    if not model:
        raise unusable(path, "is missing or damaged")
    tflite.TfLiteModelDelete(model)


def unusable(path: Path, reason: str) -> InputUnusable:
    """The error for a model file that is there but will not do."""
    return InputUnusable(f"{path}, a wake-word model, {reason}: fetch it again or use another.")


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
    """The engine of that name. `sensitivities`: for single words, instead of `sensitivity`.

    `folder`: where added models lie, each a word by its name. `verify`: "soft" lets the other
    engine refuse what it has no score for, where it has the same word built in.
    Raises InputUnusable for an unknown engine or word, or an unusable model.
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


# Imported late: each brings its own copy of TensorFlow Lite, and one will mostly do.
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
    raise InputUnusable(f'wake.engine "{engine}" is not known: use {" or ".join(ENGINES)}.')


def built_in_words(engine: str) -> tuple[str, ...]:
    """The words that come with the engine "micro" or "open"."""
    if engine == "micro":
        from audio.wake.micro import BUILT_IN as MICRO_WORDS

        return MICRO_WORDS
    from audio.wake.open import BUILT_IN as OPEN_WORDS

    return OPEN_WORDS
