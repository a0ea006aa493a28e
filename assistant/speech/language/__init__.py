"""How numbers, units and signs are said, one table per language."""

from assistant.speech.language.english import ENGLISH
from assistant.speech.language.french import FRENCH
from assistant.speech.language.german import GERMAN
from assistant.speech.language.portuguese import PORTUGUESE
from assistant.speech.language.spanish import SPANISH
from assistant.speech.language.table import LanguageTable
from assistant.speech.language.vietnamese import VIETNAMESE

_TABLES = {
    "en": ENGLISH,
    "es": SPANISH,
    "pt": PORTUGUESE,
    "de": GERMAN,
    "fr": FRENCH,
    "vi": VIETNAMESE,
}


def spoken_language(language: str) -> LanguageTable | None:
    """The table for a code such as "en" or "es-MX"; None where there is none."""
    return _TABLES.get(language.lower().replace("_", "-").split("-")[0])
