"""Every sentence that Hearth itself says has a key; one TOML file for each language."""

import string
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

LOCALES = Path(__file__).parent / "locales"
FALLBACK = "en"


class Catalogue:
    """The sentences of all languages, read once."""

    def __init__(self, folder: Path = LOCALES) -> None:
        self._texts = {
            path.stem: _flatten(tomllib.loads(path.read_text(encoding="utf-8")))
            for path in sorted(folder.glob("*.toml"))
        }

    def languages(self) -> tuple[str, ...]:
        """Codes of the languages that have a file, e.g. ("en", "es")."""
        return tuple(self._texts)

    def keys(self, language: str) -> frozenset[str]:
        """All keys of one language's file."""
        return frozenset(self._texts[language])

    def text(self, key: str, language: str) -> str:
        """The sentence with its fields unfilled, from "es-MX", else "es", else English.

        Raises KeyError for an unknown key.
        """
        for code in (language, language.split("-")[0], FALLBACK):
            found = self._texts.get(code, {}).get(key)
            if found is not None:
                return found
        raise KeyError(key)

    def say(self, key: str, language: str, **values: object) -> str:
        """The sentence, filled in. Raises KeyError for an unknown key or a missing field."""
        return self.text(key, language).format_map(values)


def fields(text: str) -> frozenset[str]:
    """Names of the {fields} of a sentence."""
    return frozenset(name for _, name, _, _ in string.Formatter().parse(text) if name is not None)


def _flatten(table: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for name, value in table.items():
        if isinstance(value, dict):
            flat |= _flatten(value, f"{prefix}{name}.")
        elif isinstance(value, str):
            flat[f"{prefix}{name}"] = value
        else:
            raise TypeError(f"{prefix}{name} in the catalogue must be text")
    return flat
