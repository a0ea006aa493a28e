"""Signs that stand for words."""

import re

from assistant.speech.language.table import Spoken
from assistant.speech.readers.patterns import any_of

_ARROW = re.compile(r"[-=]+>")
_ABOUT = re.compile(r"~\s?(?=\d)")
_TIMES = re.compile(r"(?<=\d)\s*\*\s*(?=\d)")
_COMPARED = re.compile(r"[<>](?!=?\s?\d)")  # what is left of brackets, no comparison
_AT_MOST = re.compile(r"<=(?=\s?\d)")
_AT_LEAST = re.compile(r">=(?=\s?\d)")
_SLASH = re.compile(r"(?<=\d)\s?/\s?(?=\d)")
_NUMBER_SIGN = re.compile(r"(?<!\w)#\s?(?=\d)")
_POWER = re.compile(r"(?<=\d)\^(?=-?\d)")
_BY = re.compile(r"(?<=\d)\s?x\s?(?=\d)", re.IGNORECASE)
_APART = re.compile(r"(?<=[^\W\d])\s-\s(?=\w)|(?<=\w)\s-\s(?=[^\W\d])|(?<=\S)\s/\s(?!\d)")
_MINUS = re.compile(r"(?<=\d)\s-\s(?=\d+\s?=)|(?<=[\w)])\s−\s(?=[\w(])")


class SignReader:
    """Says signs in one language."""

    def __init__(self, spoken: Spoken) -> None:
        self._spoken = spoken
        self._symbol = re.compile(any_of(spoken.symbols))

    def plain_forms(self, text: str) -> str:
        """Signs made of several characters as the one that means the same."""
        text = _APART.sub(", ", text)
        text = _AT_LEAST.sub("≥", _AT_MOST.sub("≤", text))
        return _COMPARED.sub(" ", _ABOUT.sub("≈", _ARROW.sub("→", text)))

    def before_numbers(self, text: str) -> str:
        """Signs whose meaning shows only beside digits."""
        text = _NUMBER_SIGN.sub(f"{self._spoken.number} ", text)
        text = _MINUS.sub(f" {self._spoken.numbers.minus} ", text)
        return _POWER.sub(f" {self._spoken.power} ", text)

    def read(self, text: str) -> str:
        """All that are left."""
        text = _BY.sub(f" {self._spoken.by} ", text)
        text = _SLASH.sub(f" {self._spoken.slash} ", _TIMES.sub("×", text))
        return self._symbol.sub(lambda found: f" {self._spoken.symbols[found[0]]} ", text)
