"""Voices: text in, sound out. One protocol, made here by name."""

import logging
from functools import cache
from pathlib import Path

from audio.errors import InputUnusable
from audio.tts.espeak import EspeakVoice
from audio.tts.piper import PiperVoice
from audio.tts.protocol import Speed, Voice

__all__ = ["EspeakVoice", "PiperVoice", "Speed", "Voice", "make_voice"]

logger = logging.getLogger(__name__)


def make_voice(engine: str, language: str, model_path: Path | None, speed: Speed = 1.0) -> Voice:
    """The voice for a language. Blocking: a Piper model loads here.

    `engine`: "piper" or "espeak". Piper without a usable model gives espeak-ng and a warning,
    once per cause. Raises InputUnusable for another engine.
    """
    if engine == "piper":
        if model_path is None:
            _warn_once(
                f'There is no Piper voice for "{language}", so espeak-ng speaks it: '
                'name a voice file in voice.models, or set voice.engine = "espeak".'
            )
            return EspeakVoice(language, speed)
        try:
            return PiperVoice(model_path, speed)
        except InputUnusable as error:
            _warn_once(f"{error} Until then espeak-ng speaks.")
    elif engine != "espeak":
        raise InputUnusable(f'voice.engine is {engine!r}; it can be "piper" or "espeak".')
    return EspeakVoice(language, speed)


@cache
def _warn_once(sentence: str) -> None:
    logger.warning("%s", sentence)
