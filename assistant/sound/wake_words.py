"""The wake engine that the settings and the models folder make."""

from collections.abc import Sequence
from pathlib import Path

from assistant.config.schema import Sensitivity, Settings
from assistant.conversation.events import STOP_WORD
from audio.wake import added_words, built_in_words, make_wake_engine
from audio.wake.protocol import WakeEngine


def models_folder(settings: Settings) -> Path:
    """Where a person puts models; it may not exist."""
    return settings.data_folder / "models"


def wake_engine(
    settings: Settings,
    words: Sequence[str] = (),
    sensitivity: Sensitivity | None = None,
) -> WakeEngine:
    """For the words of `wake.words`, and for a model named `stop` where there is one. Blocking.

    `words`: instead of those. `sensitivity`: of every word, whatever the settings say of it.
    Raises InputUnusable for an unknown word or an unusable model.
    """
    wake, folder = settings.wake, models_folder(settings)
    chosen = list(words) or [word.model for word in wake.words]
    if STOP_WORD in added_words(wake.engine, folder):
        chosen.append(STOP_WORD)
    own = {word.model: word.sensitivity for word in wake.words if word.sensitivity}
    return make_wake_engine(
        wake.engine,
        chosen,
        sensitivity or wake.sensitivity,
        {} if sensitivity else own,
        folder,
        wake.verify,
    )


def known_words(settings: Settings) -> tuple[str, ...]:
    """Every word that this engine could listen for: those of `wake.words`, its own, and the models
    that lie in the folder."""
    engine = settings.wake.engine
    configured = [word.model for word in settings.wake.words]
    added = [word for word in added_words(engine, models_folder(settings)) if word != STOP_WORD]
    return tuple(dict.fromkeys([*configured, *built_in_words(engine), *added]))
