"""Checks of this machine: folders, sound, models, and whether Gemini may be asked."""

import asyncio
import tempfile
from typing import Literal

from assistant.brains.rungs import CLOUD
from assistant.clock import SystemClock
from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.doctor.finding import Check, Found, bad, good, odd
from assistant.journal.records import StoreError
from assistant.journal.store import Store
from assistant.minds import may_use_cloud
from assistant.voices import voices_of
from audio.devices import find_device
from audio.errors import AudioError
from audio.wake import make_wake_engine
from integrations.gemini.access import NO_KEY

_ASIDE = ("file:", "null")  # inputs and outputs that are no devices


async def _data_folder(settings: Settings) -> Found:
    folder = settings.data_folder

    def try_it() -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"hearth")

    try:
        await asyncio.to_thread(try_it)
    except OSError as error:
        return bad(
            f"{folder} cannot be written ({error.strerror})",
            "let Hearth's user write it, or set assistant.data to another folder",
        )
    return good(str(folder))


async def _journal(settings: Settings) -> Found:
    try:
        async with Store(settings.database, SystemClock()) as store:
            await store.last_turn()
    except (ConfigError, StoreError) as error:
        return bad("the journal does not open", str(error))
    return good(str(settings.database))


async def _gemini(settings: Settings) -> Found:
    if not any(name in CLOUD for name in settings.brain.order):
        return good("not used: brain.order names no Gemini")
    if not settings.privacy.accept_cloud:
        return good("not used: privacy.accept_cloud is false, so nothing leaves the house")
    if not may_use_cloud(settings):
        return bad("allowed, but there is no key", NO_KEY)
    return good(f"allowed, and there is a key; model {settings.gemini.model}")


async def _microphone(settings: Settings) -> Found:
    return await _sound_device(settings.audio.input, "input")


async def _speaker(settings: Settings) -> Found:
    return await _sound_device(settings.audio.output, "output")


async def _sound_device(name: str, kind: Literal["input", "output"]) -> Found:
    if name.startswith(_ASIDE):
        return good(f"audio.{kind} = {name}")
    try:
        device = await asyncio.to_thread(find_device, name, kind)
    except AudioError as error:
        return bad(f"audio.{kind} = {name} is not there", str(error))
    return good(f"{device.name}, {device.rate} Hz")


async def _wake_word(settings: Settings) -> Found:
    wake = settings.wake
    words = [word.model for word in wake.words]
    try:
        engine = await asyncio.to_thread(make_wake_engine, wake.engine, words, wake.sensitivity)
    except AudioError as error:
        return bad("the wake word cannot be listened for", str(error))
    engine.close()
    return good(f"{', '.join(words)} ({wake.engine})")


async def _voice(settings: Settings) -> Found:
    voices = voices_of(settings)
    names = []
    for language in settings.assistant.languages:
        try:
            voice = await asyncio.to_thread(voices, language)
        except AudioError as error:
            return bad(f"there is no voice for {language}", str(error))
        names.append(f"{language}: {voice.name}")
    told = ", ".join(names)
    if settings.voice.engine != "espeak" and "espeak" in told:
        return odd(
            told,
            "put a Piper voice into the folder models of the data folder and name it in "
            'voice.models, or set voice.engine = "espeak"',
        )
    return good(told)


CHECKS: tuple[Check[Settings], ...] = (
    Check("data folder", _data_folder),
    Check("journal", _journal),
    Check("gemini", _gemini),
    Check("microphone", _microphone),
    Check("speaker", _speaker),
    Check("wake word", _wake_word),
    Check("voice", _voice, limit_s=30.0),  # a large model on a slow card
)
