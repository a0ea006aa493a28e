"""Wake words: engines that listen for one, behind one protocol."""

from collections.abc import Mapping, Sequence

from audio.errors import InputUnusable
from audio.wake.protocol import WakeEngine
from audio.wake.trigger import Sensitivity

ENGINES = ("micro", "open")


def make_wake_engine(
    engine: str,
    words: Sequence[str],
    sensitivity: Sensitivity = "normal",
    sensitivities: Mapping[str, Sensitivity] | None = None,
) -> WakeEngine:
    """The engine of that name. `sensitivities`: for single words, instead of `sensitivity`.

    Raises InputUnusable for an unknown engine or word, or an unusable model.
    """
    # Imported late: each brings its own copy of TensorFlow Lite, and one will do.
    if engine == "micro":
        from audio.wake.micro import MicroWake

        return MicroWake(words, sensitivity, sensitivities)
    if engine == "open":
        from audio.wake.open import OpenWake

        return OpenWake(words, sensitivity, sensitivities)
    raise InputUnusable(f'wake.engine "{engine}" is not known: use {" or ".join(ENGINES)}.')
