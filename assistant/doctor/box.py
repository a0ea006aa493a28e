"""Checks of this machine: folders, sound, models, and whether Gemini may be asked."""

import asyncio
import tempfile

from assistant.brains.rungs import CLOUD
from assistant.clock import SystemClock
from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.doctor.finding import Check, Found, bad, good, odd
from assistant.doctor.voice import voice
from assistant.echo_plan import is_device, plan_echo
from assistant.journal.records import StoreError
from assistant.journal.store import Store
from assistant.minds import may_use_cloud
from assistant.turn.events import STOP_WORD
from assistant.turn.stop_words import languages_with
from assistant.wake_words import models_folder, wake_engine
from audio.devices import DeviceInfo, Kind, find_device, server_out_of_reach
from audio.errors import AudioError
from audio.wake import added_words
from integrations.gemini.access import NO_KEY


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


async def _sound_device(name: str, kind: Kind) -> Found:
    if not is_device(name):
        return good(f"audio.{kind} = {name}")
    try:
        out_of_reach = await asyncio.to_thread(server_out_of_reach)
        device = await asyncio.to_thread(find_device, name, kind)
    except AudioError as error:
        return bad(f"audio.{kind} = {name} is not there", str(error))
    if out_of_reach:
        return odd(
            f"{device.name}, but a sound server runs that Hearth cannot reach",
            "install ALSA's way to it: sudo apt install libasound2-plugins",
        )
    return _closed(device) or good(f"{device.name}, {device.rate} Hz")


def _closed(device: DeviceInfo) -> Found | None:
    """Why nothing would come through this device, None where something would."""
    if device.monitor:
        return bad(
            f"{device.name} is no microphone: it records what a loudspeaker plays",
            "set audio.input to one of those that `hearth devices` lists",
        )
    thing = {"input": "source", "output": "sink"}[device.kind]
    if device.muted:
        return bad(
            f"{device.name} is muted at the sound server",
            f"switch it on: pactl set-{thing}-mute {device.name} 0",
        )
    if device.volume == 0:
        return bad(
            f"{device.name} is at volume 0 at the sound server",
            f"turn it up: pactl set-{thing}-volume {device.name} 80%",
        )
    return None


async def _echo(settings: Settings) -> Found:
    """Whether speech can interrupt an answer, and who takes our own voice out for it."""
    try:
        echo = await plan_echo(settings, measures=False)
    except AudioError as error:
        return bad("echo cancellation cannot be used", str(error))
    if echo.complaint:
        return odd("only the wake word and stop words interrupt an answer", echo.complaint)
    return good(echo.plan.reason)


async def _wake_word(settings: Settings) -> Found:
    words = [word.model for word in settings.wake.words]
    try:
        engine = await asyncio.to_thread(wake_engine, settings)
    except AudioError as error:
        return bad("the wake word cannot be listened for", str(error))
    engine.close()
    return good(f"{', '.join(words)} ({settings.wake.engine})")


async def _stop_words(settings: Settings) -> Found:
    """Never a fault: the wake word stops us in every language."""
    typed = ", ".join(languages_with(settings.assistant.languages)) or "en"
    works = ["the wake word", f"typed or in a transcript: {typed}"]
    if not settings.offline.recognizer:
        works.append("by ear: the English ones, over a cancelled echo and between two rings")
    folder = models_folder(settings)
    found = STOP_WORD in await asyncio.to_thread(added_words, settings.wake.engine, folder)
    works.append(f"the model {STOP_WORD}" if found else f"no model {STOP_WORD} in {folder}")
    return good("; ".join(works))


CHECKS: tuple[Check[Settings], ...] = (
    Check("data folder", _data_folder),
    Check("journal", _journal),
    Check("gemini", _gemini),
    Check("microphone", _microphone),
    Check("speaker", _speaker),
    Check("echo", _echo),
    Check("wake word", _wake_word),
    Check("stop words", _stop_words),
    Check("voice", voice, limit_s=30.0),  # large models on a slow card
)
