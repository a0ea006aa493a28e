"""The sentences of `hearth eval`, and their recordings: made voices, as on the reader's machine."""

from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from assistant.demo.scenes import Spoken
from assistant.demo.speech import SILENCE_MS, make_clip, make_speech, still
from assistant.evaluation.wishes import Wish, parse_wish, rows
from audio.frames import SAMPLE_RATE
from audio.wav import read_wav, write_wav

_FLITE = ("slt", "rms", "awb")  # one after the other
_ESPEAK = ("es", "es-419")
_GAP_MS = 150  # between the wake word, which flite says, and a sentence of espeak-ng's
_SILENCE_MS = 1_500  # after the sentence
_OUR_VOICE_MS = 2_000  # so long after our own answer nothing secure is taken for a person's wish


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
        write_wav(path, still(_OUR_VOICE_MS) + read_wav(path), SAMPLE_RATE)
    return path


def _with_espeak(sentence: Sentence, name: str, path: Path) -> None:
    """By espeak-ng, after the wake word in a voice that the wake word's model knows."""
    voice = sentence.voice.removeprefix("espeak:")
    command = ["espeak-ng", "-v", voice, "-w", str(path), sentence.words]
    speech = make_speech(command, path, "The Spanish speech")
    wake = read_wav(make_clip(Spoken(f"{name}-wake", "", _FLITE[0]), path.parent))
    word = wake[: -len(still(SILENCE_MS))]  # without the silence behind it
    write_wav(path, word + still(_GAP_MS) + speech + still(_SILENCE_MS), SAMPLE_RATE)
