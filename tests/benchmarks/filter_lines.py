"""Lines of tests/corpus/filters.tsv, and the filters that say them right."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assistant.speech.language.english import integer
from assistant.speech.speakable import speakable
from tests.benchmarks.filter_peers import Answer

CORPUS = Path(__file__).resolve().parents[1] / "corpus" / "filters.tsv"
MARKUP = frozenset("*_`#|<>[]{}")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the corpus: its origin, its language, as written, and as a reader says it."""

    source: str
    language: str
    written: str
    expected: str


@dataclass(frozen=True, slots=True)
class Column:
    """The output of one program for all lines, in their order."""

    name: str
    version: str
    spoken: tuple[str, ...]
    right: tuple[bool, ...]

    @property
    def title(self) -> str:
        """Return its name, with the version if it has one."""
        return f"{self.name} {self.version}".strip()

    def counts(self, lines: Sequence[Line]) -> list[int]:
        """Return the number of right lines per language, in the order of `languages_of`."""
        pairs = list(zip(lines, self.right, strict=True))
        return [
            sum(right for line, right in pairs if line.language == language)
            for language in languages_of(lines)
        ]

    def clean(self) -> int:
        """Return the number of lines in which no markup and no emoji is left."""
        return sum(not _has_signs(text) for text in self.spoken)


def read_lines() -> list[Line]:
    """Return the corpus, with its line ends as they were written."""
    rows = (row.split("\t") for row in CORPUS.read_text("utf-8").splitlines())
    return [
        Line(source, language, written.replace("\\n", "\n"), expected)
        for source, language, written, expected in rows
    ]


def languages_of(lines: Sequence[Line]) -> dict[str, int]:
    """Return the number of lines of each language, by its code."""
    return dict(sorted(Counter(line.language for line in lines).items()))


def ours(lines: Sequence[Line]) -> Column:
    """Return Hearth's column: only an exact match is right."""
    spoken = tuple(speakable(line.written, line.language) for line in lines)
    right = tuple(text == line.expected for line, text in zip(lines, spoken, strict=True))
    return Column("Hearth", "", spoken, right)


def theirs(name: str, answer: Answer, lines: Sequence[Line]) -> Column:
    """Return a peer's column: everything that sounds the same is right."""
    pairs = zip(lines, answer.spoken, strict=True)
    right = tuple(by_ear(text) == by_ear(line.expected) for line, text in pairs)
    return Column(name, answer.version, tuple(answer.spoken), right)


def by_ear(text: str) -> str:
    """Return the text without inaudible differences.

    Those are: capitals, line ends and spaces, quotes and brackets, stops after a word, letters of
    an acronym apart or together, hyphens inside a word, a plain number in digits or in words, and
    "and" in a number.
    """
    together = re.sub(r"\b([A-Za-z])\.(?=[A-Za-z]\b)", r"\1", text)
    together = re.sub(r"\b([A-Z]) (?=[A-Z]\b)", r"\1", together)
    bare = re.sub(r"[\"'“”‘’()]|[.,;:!?]+(?=\s|$|[\"'”’)])", "", together.casefold())
    words = re.sub(r"(?<=\w)-(?=\w)", " ", bare).split()
    said = [integer(int(word)) if word.isdecimal() else word for word in words]
    return " ".join(word for word in " ".join(said).replace("-", " ").split() if word != "and")


def _has_signs(text: str) -> bool:
    text = text.replace("°", "")  # of the same kind as an emoji, but every voice reads it
    return any(char in MARKUP or unicodedata.category(char) == "So" for char in text)
