"""The sentences of `hearth eval`, and their recordings: made voices, as on the reader's machine."""

import subprocess
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from assistant.demo.scenes import Spoken
from assistant.demo.speech import make_clip
from assistant.evaluation.wishes import Wish, parse_wish, rows
from audio.errors import InputUnusable
from audio.frames import SAMPLE_RATE
from audio.wav import read_wav, write_wav

_FLITE = ("slt", "rms", "awb")  # one after the other
_ESPEAK = ("es", "es-419")
_MAKE_S = 30.0
_GAP_S = 0.15  # between the wake word, which flite says, and a sentence of espeak-ng's
_SILENCE_S = 1.5  # after the sentence
_OUR_VOICE_S = 2.0  # so long after our own answer nothing secure is taken for a person's wish


@dataclass(frozen=True, slots=True)
class Sentence:
    """One row of the table, in one voice."""

    number: int  # from 1
    language: str
    voice: str  # flite's, or "espeak:" and one of espeak-ng's
    wish: Wish

    @property
    def words(self) -> str:
        """What is said."""
        return self.wish.sentence


def sentences() -> list[Sentence]:
    """All of the table. Raises ValueError where a row is none."""
    text = (resources.files("assistant.evaluation") / "commands.tsv").read_text(encoding="utf-8")
    return [
        Sentence(number, language, _voice(language, number), parse_wish(*row))
        for number, (language, *row) in enumerate(rows(text), 1)
    ]


def _voice(language: str, number: int) -> str:
    if language == "en":
        return _FLITE[number % len(_FLITE)]
    return f"espeak:{_ESPEAK[number % len(_ESPEAK)]}"


def make_recording(sentence: Sentence, folder: Path) -> Path:
    """The wake word and the sentence, 16 kHz mono, and its path. Raises InputUnusable."""
    name = f"{sentence.number:02}"
    path = folder / f"{name}.wav"
    if sentence.voice.startswith("espeak:"):
        _with_espeak(sentence, name, path)
    else:
        make_clip(Spoken(name, sentence.words, sentence.voice), folder)
    if sentence.wish.refused:
        write_wav(path, _still(_OUR_VOICE_S) + read_wav(path), SAMPLE_RATE)
    return path


def _with_espeak(sentence: Sentence, name: str, path: Path) -> None:
    """By espeak-ng, after the wake word in a voice that the wake word's model knows."""
    wake = make_clip(Spoken(f"{name}-wake", "", _FLITE[0]), path.parent)
    voice = sentence.voice.removeprefix("espeak:")
    command = ["espeak-ng", "-v", voice, "-w", str(path), sentence.words]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=_MAKE_S)
    except FileNotFoundError:
        raise InputUnusable(
            "The Spanish sentences are made with espeak-ng: install it with apt install espeak-ng"
        ) from None
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        raise InputUnusable(f"espeak-ng could not write {path}: {error}") from error
    write_wav(path, _word(wake) + _still(_GAP_S) + read_wav(path) + _still(_SILENCE_S), SAMPLE_RATE)


def _word(path: Path) -> bytes:
    """The wake word without the silence behind it."""
    sound = read_wav(path)
    return sound[: len(sound) - len(_still(1.0))]


def _still(seconds: float) -> bytes:
    return bytes(round(seconds * SAMPLE_RATE) * 2)
