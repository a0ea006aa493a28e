"""Speaks through a speaker and listens at a microphone, for the check that a person watches."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass, replace

from assistant.config.schema import Settings
from assistant.setup.loudness import Loudness, Meter
from assistant.sound.devices import open_outputs, spare_voices_of, voices_of, wake_engine
from assistant.speech.catalogue import Catalogue
from assistant.speech.mouth import Mouth
from audio.frames import SAMPLE_RATE, Frame
from audio.microphone import Microphone
from audio.wake.protocol import Detection, WakeEngine

LISTEN_S = 8.0  # to hear the request, think, and say the word once or twice
_AFTER_S = 1.0  # of room behind the word, so that its floor is measured


@dataclass(frozen=True, slots=True)
class Reading:
    """What was heard so far."""

    loudness: Loudness
    score: float = 0.0  # the wake word's highest so far, 0 to 1
    heard: str = ""  # the wake word that fired; "" while none has


async def greet(settings: Settings) -> None:
    """Say who we are and what to say, through `audio.output`; returns when it was played.

    Raises AudioError.
    """
    catalogue = Catalogue()
    line = catalogue.line(
        "setup.hello",
        settings.assistant.languages[0],
        name=settings.assistant.name,
        word=spoken(settings.wake.words[0].model),
    )
    async with open_outputs(settings) as outputs:
        mouth = Mouth(
            voices_of(settings), outputs, settings.voice.volume, spare_voices_of(settings)
        )
        try:
            await mouth.speak(line.text, line.language)
        finally:
            mouth.close()


async def listen(
    settings: Settings, show: Callable[[Reading], None], seconds: float = LISTEN_S
) -> Reading:
    """Listen at `audio.input` for so long, less once the wake word was heard.

    `show` is told of each frame, and must be quick. Raises AudioError.
    """
    # One thread, in this order even when somebody leaves half-way: an engine is closed last.
    thread = ThreadPoolExecutor(1, thread_name_prefix="wake-check")
    loop = asyncio.get_running_loop()
    try:
        engine = await loop.run_in_executor(thread, _primed, settings)
        try:
            return await _heard(settings, _Ear(engine, thread), show, int(seconds * SAMPLE_RATE))
        finally:
            await asyncio.shield(loop.run_in_executor(thread, engine.close))
    finally:
        thread.shutdown(wait=False)


@dataclass(frozen=True, slots=True)
class _Ear:
    """A wake engine and the thread that it belongs to."""

    engine: WakeEngine
    thread: Executor

    async def hear(self, frame: Frame) -> Detection | None:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.thread, self.engine.hear, frame.pcm, frame.end)


async def _heard(
    settings: Settings, ear: _Ear, show: Callable[[Reading], None], ends: int
) -> Reading:
    """`ends`: the last sample, unless the wake word comes before."""
    meter = Meter()
    reading = Reading(meter.told)
    microphone = Microphone(settings.audio.input, channel=settings.audio.channel)
    async with aclosing(microphone.frames()) as frames:
        async for frame in frames:
            detection = await ear.hear(frame)
            reading = replace(
                reading,
                loudness=meter.take(frame.pcm),
                score=max(reading.score, ear.engine.score),
            )
            if detection is not None and not reading.heard:
                reading = replace(reading, heard=detection.word)
                ends = min(ends, frame.end + int(_AFTER_S * SAMPLE_RATE))
            show(reading)
            if frame.end >= ends:
                break
    return reading


def _primed(settings: Settings) -> WakeEngine:
    engine = wake_engine(settings)
    engine.restart()
    return engine


def spoken(word: str) -> str:
    """A wake word as people say it: "okay_nabu" is "okay nabu"."""
    return word.rpartition("/")[2].partition(".")[0].replace("_", " ")
