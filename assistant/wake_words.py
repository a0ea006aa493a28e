"""The wake engine that the settings and the models folder make."""

from pathlib import Path

from assistant.config.schema import Settings
from assistant.turn.events import STOP_WORD
from audio.wake import added_words, make_wake_engine
from audio.wake.protocol import WakeEngine


def models_folder(settings: Settings) -> Path:
    """Where a person puts models; it may not exist."""
    return settings.data_folder / "models"


def wake_engine(settings: Settings) -> WakeEngine:
    """For the words of `wake.words`, and for a model named `stop` where there is one. Blocking.

    Raises InputUnusable for an unknown word or an unusable model.
    """
    wake, folder = settings.wake, models_folder(settings)
    words = [word.model for word in wake.words]
    if STOP_WORD in added_words(wake.engine, folder):
        words.append(STOP_WORD)
    return make_wake_engine(
        wake.engine,
        words,
        wake.sensitivity,
        {word.model: word.sensitivity for word in wake.words if word.sensitivity},
        folder,
        wake.verify,
    )
