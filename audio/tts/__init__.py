"""Text-to-speech voices: their protocol, and a function that creates the voice for a language."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from audio.errors import InputUnusable

# 1.0 is the voice's own speed, 2.0 twice as fast. A function is called before each clause.
Speed = float | Callable[[], float]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A chunk of a clause's audio, and the positions at which its words end. Words are the
    whitespace-separated parts of the text passed to `speak`."""

    pcm: bytes  # mono int16
    ends: tuple[int, ...] = ()  # samples from the start of the chunk; () if unknown


class Voice(Protocol):
    """Turns a clause into audio. Its methods block, so call them from a worker thread."""

    @property
    def name(self) -> str:
        """Name for logs and the journal, such as "espeak:en"."""
        ...

    @property
    def rate(self) -> int:
        """Sample rate of the audio from `speak`, in Hz."""
        ...

    def speak(self, text: str) -> Iterator[Chunk]:
        """Yield the audio of `text` (mono int16) chunk by chunk, or nothing for blank text.

        Raises AudioError if the voice fails. Closing the iterator stops the synthesis.
        """
        ...


def speed_now(speed: Speed) -> float:
    return speed() if callable(speed) else speed


# espeak-ng and Piper read text between double brackets as phonemes.
_PHONEME_BRACKETS = re.compile(r"\[\[|\]\]")
_LETTER_A = re.compile(r"(?<=\b[A-Z] )A\b|\bA(?= [A-Z]\b)")


def plain(text: str) -> str:
    """Return the text on one line, without control characters or phoneme brackets."""
    printable = "".join(" " if unicodedata.category(char)[0] == "C" else char for char in text)
    return " ".join(_PHONEME_BRACKETS.sub(" ", printable).split())


def spelled(text: str, language: str) -> str:
    """Rewrite "H V A C" so that espeak-ng, which also makes Piper's phonemes, doesn't speak its "A"
    as an English article."""
    return _LETTER_A.sub("eigh", text) if language.startswith("en") else text


def make_voice(
    engine: str,
    language: str,
    model_path: Path | None,
    speed: Speed = 1.0,
    speaker: str = "",
    *,
    ahead: bool = False,
) -> Voice:
    """Create the voice for a language. Blocks while a Piper model is loaded.

    `engine` is "piper" or "espeak". `model_path` and `speaker` are for Piper, and `ahead` is for
    EspeakVoice. Raises InputUnusable for another engine, or if there is no usable Piper voice.
    """
    # Imported here because usually only one of them is needed.
    if engine == "espeak":
        from audio.tts.espeak import EspeakVoice

        return EspeakVoice(language, speed, ahead=ahead)
    if engine != "piper":
        raise InputUnusable(f'voice.engine is {engine!r}; it can be "piper" or "espeak".')
    if model_path is None:
        raise InputUnusable(
            f'There is no Piper voice for "{language}"; download one (hearth models list) and name '
            'it in voice.models, or set voice.engine = "espeak".'
        )
    from audio.tts.piper import PiperVoice

    return PiperVoice(model_path, speed, speaker)
