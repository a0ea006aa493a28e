"""Wake words: engines that listen for one, behind one protocol."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from audio.errors import InputUnusable
from audio.wake.models import added_words
from audio.wake.protocol import Sensitivity, WakeEngine

__all__ = ["ENGINES", "added_words", "built_in_words", "make_wake_engine"]

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
    from audio.wake.verify import VerifiedWake

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
