"""How numbers, units and signs are said, one table per language."""

from assistant.speech.language.english import ENGLISH
from assistant.speech.language.spanish import SPANISH
from assistant.speech.language.table import Spoken

_TABLES = {"en": ENGLISH, "es": SPANISH}


def spoken_language(language: str) -> Spoken | None:
    """The table for a code such as "en" or "es-MX"; None where there is none yet."""
    return _TABLES.get(language.lower().replace("_", "-").split("-")[0])
