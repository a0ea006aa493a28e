"""Recognisers of speech. A grammar narrows it; free decoding checks it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable


class Recognizer(Protocol):
    """Turns one turn's sound into text. Blocking: called from a worker thread."""

    @property
    def languages(self) -> tuple[str, ...]:
        """Language codes that it can hear, e.g. ("en",)."""
        ...

    def transcribe(self, pcm: bytes) -> str:
        """Free text of 16 kHz mono int16, lower case, "" for nothing. Raises AudioError."""
        ...


@dataclass(frozen=True, slots=True)
class Grammar:
    """Everything that may be said, and how words outside the dictionary sound."""

    jsgf: str  # JSpeech Grammar Format, one public rule
    pronunciations: Mapping[str, Sequence[str]] = field(default_factory=dict)  # word -> phones


@dataclass(frozen=True, slots=True)
class HeardWord:
    """One word and where it lies."""

    text: str
    start: int  # samples from the start of the sound
    end: int  # samples
    fit: (
        float  # natural log per 10 ms against a loop of all phones: 0 is perfect, -2 usual, -5 poor
    )


@dataclass(frozen=True, slots=True)
class Decoding:
    """Result of a grammar for a sound."""

    words: tuple[HeardWord, ...]  # in order, without silence and noise

    @property
    def text(self) -> str:
        """The words as one line."""
        return " ".join(word.text for word in self.words)


@runtime_checkable
class GrammarRecognizer(Recognizer, Protocol):
    """A recogniser that can also be told what may be said. Not thread-safe: one worker thread."""

    def unknown(self, words: Sequence[str]) -> list[str]:
        """List the words that are not in its dictionary, each once, in order."""
        ...

    def prepare(self, grammar: Grammar) -> None:
        """Use this grammar from now on. Raises InputUnusable when it cannot be built."""
        ...

    def decode(self, pcm: bytes) -> Decoding:
        """Best path through the grammar; no words where nothing fits."""
        ...

    def decode_freely(self, pcm: bytes) -> Decoding:
        """The same sound without the grammar; `fit` is not judged and stands at 0."""
        ...

    def phones(self, word: str) -> tuple[str, ...]:
        """The word's first pronunciation, () where it has none."""
        ...


@runtime_checkable
class PunctualRecognizer(Recognizer, Protocol):
    """A recogniser that stops when it is late. Not thread-safe: one worker thread."""

    def finish_within(self, seconds: float) -> None:
        """From now on, until it is told anew: what is not recognised by then is given up, and that
        call and all after it raise TookTooLong."""
        ...


@runtime_checkable
class DigitRecognizer(Recognizer, Protocol):
    """A recogniser that can listen for digits alone. Not thread-safe: one worker thread.

    A search of ten words hears digits in much that is none: it is for a secret that is then
    compared, never for words that mean something by themselves.
    """

    def spell(self, pcm: bytes) -> str:
        """Number words of 16 kHz mono int16, such as "one two three four"; "" for nothing.

        Nothing of the sound or the words is kept when it returns.
        """
        ...


_MARKS = re.compile(r"(?<!\d)[.,:]|[.,:](?!\d)|[;!?¿¡…\"“”«»()\[\]]")  # 21.5 and 7:30 keep theirs


def plain_words(text: str) -> str:
    """The words alone: "Turn on the light!" becomes "turn on the light"."""
    return " ".join(_MARKS.sub(" ", text).lower().split())
