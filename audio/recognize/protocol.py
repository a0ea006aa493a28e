"""Interfaces of speech recognisers."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable


class Recognizer(Protocol):
    """Converts speech to text. Its methods block, so call them from a worker thread."""

    @property
    def languages(self) -> tuple[str, ...]:
        """Language codes, such as ("en",)."""
        ...

    def transcribe(self, pcm: bytes) -> str:
        """Return the words spoken in 16 kHz mono int16, in lower case, or "". Raises AudioError."""
        ...


@dataclass(frozen=True, slots=True)
class Grammar:
    """A speech grammar, with the pronunciations of words that are not in the dictionary."""

    jsgf: str  # JSpeech Grammar Format, one public rule
    pronunciations: Mapping[str, Sequence[str]] = field(default_factory=dict)  # word -> phones


@dataclass(frozen=True, slots=True)
class HeardWord:
    text: str
    start: int  # samples from the start of the audio
    end: int  # samples
    fit: (
        float  # natural log per 10 ms against a loop of all phones: 0 is perfect, -2 usual, -5 poor
    )


@dataclass(frozen=True, slots=True)
class Decoding:
    words: tuple[HeardWord, ...]  # in order, without silence and noise

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)


@runtime_checkable
class GrammarRecognizer(Recognizer, Protocol):
    """A recogniser that also accepts a grammar. Not thread-safe: use a single worker thread."""

    def unknown(self, words: Sequence[str]) -> list[str]:
        """Return the words that are not in the dictionary, without duplicates."""
        ...

    def prepare(self, grammar: Grammar) -> None:
        """Set the grammar for `decode`. Raises InputUnusable if it can't be built."""
        ...

    def decode(self, pcm: bytes) -> Decoding:
        """Return the words of the best path through the grammar, or none if nothing matches."""
        ...

    def decode_freely(self, pcm: bytes) -> Decoding:
        """Recognise the audio without the grammar. `fit` is always 0."""
        ...

    def phones(self, word: str) -> tuple[str, ...]:
        """Return the word's first pronunciation, or () if it has none."""
        ...


@runtime_checkable
class PunctualRecognizer(Recognizer, Protocol):
    """A recogniser with a time limit. Not thread-safe: use a single worker thread."""

    def finish_within(self, seconds: float) -> None:
        """Set a deadline in seconds from now. Recognition that runs past it raises TookTooLong."""
        ...


@runtime_checkable
class DigitRecognizer(Recognizer, Protocol):
    """A recogniser that can listen for digits only. Not thread-safe: use a single worker thread.

    It also hears digits in many other sounds. Use it for a secret that is compared afterwards,
    never for words that have an immediate effect.
    """

    def spell(self, pcm: bytes) -> str:
        """Return the digits spoken in 16 kHz mono int16, such as "one two three four", or "".
        Neither the audio nor the words are kept."""
        ...


_MARKS = re.compile(r"(?<!\d)[.,:]|[.,:](?!\d)|[;!?¿¡…\"“”«»()\[\]]")  # 21.5 and 7:30 keep theirs


def plain_words(text: str) -> str:
    """Reduce text to lower-case words: "Turn on the light!" becomes "turn on the light"."""
    return " ".join(_MARKS.sub(" ", text).lower().split())
