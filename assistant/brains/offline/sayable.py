"""The grammar of what may be said to a house from one of its rooms."""

from collections.abc import Callable, Sequence

from assistant.brains.offline.grammar import READINGS, WAKE, jsgf, pronounce, vocabulary
from assistant.brains.offline.names import Names, without_words
from assistant.brains.offline.nearby import nearby
from assistant.brains.offline.wake import wake_tails
from audio.recognize.protocol import Grammar
from integrations.home_assistant.house import House


def sayable(
    names: Names, house: House, area_id: str, unknown: Callable[[Sequence[str]], list[str]]
) -> Grammar:
    """All commands with the names near that room; those that nobody can pronounce are left out.

    `names`: the house's; `area_id`: "" where the room is not known; `unknown`: of words, those that
    the recogniser's dictionary lacks. Asks espeak-ng about them, which takes a moment.
    """
    near = nearby(names, house, area_id)
    strange = unknown(vocabulary(near))
    readings = {WAKE: wake_tails(), **READINGS, **pronounce(strange)}
    return Grammar(jsgf(without_words(near, set(strange) - set(readings))), readings)
