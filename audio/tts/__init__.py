"""Voices: text in, sound out. One protocol, made here by name."""

from pathlib import Path

from audio.errors import InputUnusable
from audio.tts.espeak import EspeakVoice
from audio.tts.level import Leveller
from audio.tts.piper import PiperVoice
from audio.tts.protocol import Chunk, Speed, Voice, speed_now
from audio.tts.tuned import PhraseCache, TunedVoice

__all__ = [
    "Chunk",
    "EspeakVoice",
    "Leveller",
    "PhraseCache",
    "PiperVoice",
    "Speed",
    "TunedVoice",
    "Voice",
    "make_voice",
    "speed_now",
]


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
    if engine == "espeak":
        return EspeakVoice(language, speed, ahead=ahead)
    if engine != "piper":
        raise InputUnusable(f'voice.engine is {engine!r}; it can be "piper" or "espeak".')
    if model_path is None:
        raise InputUnusable(
            f'There is no Piper voice for "{language}"; fetch one (hearth models list) '
            'and name it in voice.models, or set voice.engine = "espeak".'
        )
    return PiperVoice(model_path, speed, speaker)
