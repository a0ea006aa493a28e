"""Check of the voices: whether each speaks, and how fast it is on this machine."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from assistant.doctor.finding import Check, Found, bad, good, odd
from assistant.doctor.scene import Scene
from assistant.sound.devices import spare_voices_of, voices_of
from assistant.speech.synthesis import WARM_PHRASE
from audio.errors import AudioError
from audio.tts import TunedVoice


@dataclass(frozen=True, slots=True)
class _Tried:
    """What one language's voice did."""

    detail: str
    complaint: str = ""  # what is to be mended
    mute: bool = False  # nothing speaks this language


async def voice(scene: Scene) -> Found:
    """Have the voice of each language say a phrase that is not played."""
    settings = scene.settings
    own, spare = voices_of(settings), spare_voices_of(settings)
    tried = [
        await asyncio.to_thread(_try, language, own, spare)
        for language in settings.assistant.languages
    ]
    told = "; ".join(one.detail for one in tried)
    complaints = " ".join(dict.fromkeys(one.complaint for one in tried if one.complaint))
    if any(one.mute for one in tried):
        return bad(told, complaints)
    return odd(told, complaints) if complaints else good(told)


Voices = Callable[[str], TunedVoice]


def _try(language: str, own: Voices, spare: Voices) -> _Tried:
    try:
        voice, factor = _pace(own, language)
        return _Tried(f"{language}: {voice.name}, {factor}", voice.complaint)
    except AudioError as error:
        complaint = str(error)
    try:
        voice, factor = _pace(spare, language)
    except AudioError as error:
        return _Tried(f"{language}: no voice", f"{complaint} {error}", mute=True)
    return _Tried(f"{language}: {voice.name} in the place of its own, {factor}", complaint)


def _pace(voices: Voices, language: str) -> tuple[TunedVoice, str]:
    """The voice, and its figure in words. Raises AudioError."""
    voice = voices(language)
    for _ in voice.speak(WARM_PHRASE):
        pass
    return voice, "" if voice.factor is None else f"{voice.factor:.2f} of real time"


CHECKS: tuple[Check[Scene], ...] = (
    Check("voice", voice, limit_s=30.0),  # large models on a slow card
)
