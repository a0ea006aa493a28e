"""Voices: text in, sound out. One protocol, made here by name.

`espeak` and `piper` are the two voices, `tuned` wraps one as Hearth uses it.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from audio.errors import InputUnusable

# 1.0 is the voice's own pace, 2.0 twice as fast. A function is asked before each clause.
Speed = float | Callable[[], float]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a clause's sound, and which words end in it.

    The words are the whitespace-separated ones of the text given to `speak`, in order, over all
    chunks of that text.
    """

    pcm: bytes  # mono int16
    ends: tuple[int, ...] = ()  # samples from the chunk's begin; () where the voice cannot tell


class Voice(Protocol):
    """Turns a clause into sound. Blocking: it is called from a worker thread."""

    @property
    def name(self) -> str:
        """For logs and the journal, e.g. "espeak:en"."""
        ...

    @property
    def rate(self) -> int:
        """Hz of the PCM that `speak` yields."""
        ...

    def speak(self, text: str) -> Iterator[Chunk]:
        """The sound of `text`, in pieces as they are made. Blank text gives nothing.

        Raises AudioError when the voice fails. Closing the iterator stops the work.
        """
        ...


def speed_now(speed: Speed) -> float:
    """The speed of the clause that is about to be spoken."""
    return speed() if callable(speed) else speed


_PHONEME_BRACKETS = re.compile(r"\[\[|\]\]")  # espeak-ng and Piper read phonemes between them
_LETTER_A = re.compile(r"(?<=\b[A-Z] )A\b|\bA(?= [A-Z]\b)")


def plain(text: str) -> str:
    """One line without control characters and phoneme brackets."""
    printable = "".join(" " if unicodedata.category(char)[0] == "C" else char for char in text)
    return " ".join(_PHONEME_BRACKETS.sub(" ", printable).split())


def spelled(text: str, language: str) -> str:
    """ "H V A C" so that its "A" is no article: espeak-ng's English, which Piper's phonemes are
    too, reads "A" among letters as in "a house", and "eigh" as the letter."""
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
    """The voice for a language. Blocking: a Piper model loads here.

    `engine`: "piper" or "espeak". `model_path`, `speaker`: Piper's. `ahead`: see EspeakVoice.
    Raises InputUnusable for another engine, and where there is no usable Piper voice.
    """
    # Imported late: one of them will mostly do.
    if engine == "espeak":
        from audio.tts.espeak import EspeakVoice

        return EspeakVoice(language, speed, ahead=ahead)
    if engine != "piper":
        raise InputUnusable(f'voice.engine is {engine!r}; it can be "piper" or "espeak".')
    if model_path is None:
        raise InputUnusable(
            f'There is no Piper voice for "{language}"; fetch one (hearth models list) '
            'and name it in voice.models, or set voice.engine = "espeak".'
        )
    from audio.tts.piper import PiperVoice

    return PiperVoice(model_path, speed, speaker)
