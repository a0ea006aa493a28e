"""Spoken clips for the wake word's check, made by espeak-ng when they are needed.

Which voices wake which model was measured with espeak-ng 1.51 and 1.52: every word that comes with
either engine is woken by one of these at least, with the sensitivities normal and low. With 1.51
`klatt2` at 150 words a minute wakes them all. `hey_jarvis` with micro is the hardest: at low one of
them alone does.
"""

import subprocess
from dataclasses import dataclass

from audio.clip import resample
from audio.errors import InputUnusable
from audio.frames import SAMPLE_RATE
from audio.tts.espeak import HEADER_BYTES, RATE

OTHER_SPEECH = "What is the weather going to be like tomorrow afternoon?"

_LIMIT_S = 8.0  # of espeak-ng, which takes some 0.1 s
_BEFORE_S, _AFTER_S = 0.5, 1.0  # of silence around what is said
# What models were trained to hear, in the letters that espeak-ng reads so.
_SPELLED = {"okay_nabu": "okay nah boo", "hey_mycroft": "hey my croft", "hey_rhasspy": "hey raspy"}


@dataclass(frozen=True, slots=True)
class Take:
    """One way to say it."""

    voice: str  # as espeak-ng names it
    words_a_minute: int


TAKES = (
    Take("en-us+klatt2", 150),
    Take("en-us+klatt2", 175),
    Take("en-us+m7", 150),
    Take("en-us+klatt2", 160),
    Take("en-us+f4", 175),
    Take("en-us", 175),
)


def called(model: str) -> str:
    """A model's word as people read it; `model`: "okay_nabu", or the path of a model's file."""
    return model.rpartition("/")[2].partition(".")[0].replace("_", " ")


def spelled(model: str) -> str:
    """The same as espeak-ng has to read it."""
    return _SPELLED.get(model, called(model))


def speak(text: str, take: Take) -> bytes:
    """Have it said: mono int16 at SAMPLE_RATE, with silence around it. Blocking.

    Raises InputUnusable where espeak-ng is missing or does not speak.
    """
    command = ["espeak-ng", "--stdin", "--stdout", "-b", "1", "-v", take.voice]
    try:
        made = subprocess.run(
            [*command, "-s", str(take.words_a_minute)],
            input=text.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_LIMIT_S,
            check=True,
        ).stdout[HEADER_BYTES:]
    except FileNotFoundError as error:
        raise InputUnusable(
            "espeak-ng is not installed; run: sudo apt install espeak-ng"
        ) from error
    except (OSError, subprocess.SubprocessError) as error:
        raise InputUnusable(
            "espeak-ng does not speak; run `espeak-ng hello` to see why."
        ) from error
    if len(made) < RATE // 4:
        raise InputUnusable("espeak-ng gave no sound; run `espeak-ng hello` to see why.")
    sound = resample(made[: len(made) // 2 * 2], RATE, SAMPLE_RATE)
    return _silence(_BEFORE_S) + sound + _silence(_AFTER_S)


def _silence(seconds: float) -> bytes:
    return bytes(2 * round(seconds * SAMPLE_RATE))
