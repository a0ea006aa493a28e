"""The sound check of `hearth setup`: play a greeting and listen for the wake word."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass, replace

import numpy as np

from assistant.config.schema import Settings
from assistant.models.shelf import ModelEntry
from assistant.sound.devices import open_outputs, spare_voices_of, voices_of, wake_engine
from assistant.speech.catalogue import Catalogue
from assistant.speech.output import SpeechOutput
from audio.devices import SILENCE_DBFS, level_of
from audio.frames import FRAME_MS, SAMPLE_RATE, Frame
from audio.microphone import Microphone
from audio.wake import Detection, WakeEngine

_WINDOW = 100 // FRAME_MS  # frames per displayed level; short enough to follow syllables
_FLOOR_PART = 0.1  # the quietest tenth of all windows counts as room noise
_FULL = 32_700  # samples from this value on count as clipped
_CLIPPED = 0.001  # tolerated share of clipped samples
_SILENT_DBFS = -90.0  # one step of 16 bits; every real microphone is louder
_QUIET_DBFS = -45.0  # quieter speech is often missed
_LOUD_OVER_ROOM_DB = 10.0  # with less, words get lost in the noise


@dataclass(frozen=True, slots=True)
class Loudness:
    now: float  # the last 100 ms
    loudest: float  # the loudest 100 ms
    room: float  # 10th percentile of the 100 ms levels
    clipped: float  # share of the samples at full scale, 0 to 1


class Meter:
    def __init__(self) -> None:
        self._window: deque[bytes] = deque(maxlen=_WINDOW)
        self._levels: list[float] = []
        self._samples = 0
        self._full = 0

    def take(self, pcm: bytes) -> Loudness:
        """Add a frame of mono int16 audio, and return the loudness so far."""
        self._window.append(pcm)
        samples = np.frombuffer(pcm, "<i2")
        self._samples += len(samples)
        self._full += int(np.count_nonzero(np.abs(samples.astype(np.int32)) >= _FULL))
        self._levels.append(level_of(b"".join(self._window)))
        return self.told

    @property
    def told(self) -> Loudness:
        """Loudness so far, or SILENCE_DBFS before the first frame."""
        if not self._levels:
            return Loudness(SILENCE_DBFS, SILENCE_DBFS, SILENCE_DBFS, 0.0)
        ordered = sorted(self._levels)
        return Loudness(
            now=self._levels[-1],
            loudest=ordered[-1],
            room=ordered[int(len(ordered) * _FLOOR_PART)],
            clipped=self._full / self._samples,
        )


def verdict(heard: Loudness) -> tuple[bool, str]:
    """Return True if the level is good, and a sentence about it that suggests a fix if needed."""
    if heard.loudest <= _SILENT_DBFS:
        return (
            False,
            "The microphone gives no sound: switch it on, unmute it, or choose another.",
        )
    figures = f"your voice {heard.loudest:.0f} dB, the room {heard.room:.0f} dB"
    if heard.clipped > _CLIPPED:
        return (
            False,
            f"Too loud, so it is clipped ({figures}): lower the microphone's level.",
        )
    if heard.loudest < _QUIET_DBFS:
        return False, f"Very quiet ({figures}): raise the microphone's level, or come closer."
    if heard.loudest - heard.room < _LOUD_OVER_ROOM_DB:
        return False, f"Hardly louder than the room ({figures}): speak up, or reduce the noise."
    return True, f"The level is good: {figures}, nothing clipped."


def bar(dbfs: float, width: int) -> str:
    """Draw a level as a bar that is empty at -60 dBFS and full at 0 dBFS."""
    filled = round(width * min(1.0, max(0.0, 1 + dbfs / 60)))
    return "█" * filled + "░" * (width - filled)


_QUALITIES = (
    "medium",
    "high",
    "low",
    "x_low",
)  # best first; larger models are slow on a small device


def voice_for(language: str, known: Iterable[ModelEntry]) -> ModelEntry | None:
    """Return the best of the known voices for a language such as "es" or "es-MX", or None. The
    region counts most, then the quality."""
    spoken, _, region = language.partition("-")
    voices = [
        entry for entry in known if entry.kind == "voice" and entry.language.split("_")[0] == spoken
    ]
    return min(
        voices,
        key=lambda entry: (
            entry.language.split("_")[-1] != region if region else False,
            _QUALITIES.index(entry.quality) if entry.quality in _QUALITIES else len(_QUALITIES),
            entry.noncommercial,
        ),
        default=None,
    )


def lacking(
    settings: Settings, languages: Iterable[str], known: Iterable[ModelEntry]
) -> dict[str, str]:
    """Suggest a voice, by name, for each language that has none in the settings."""
    entries, has = tuple(known), settings.voice.models
    found: dict[str, str] = {}
    for language in languages:
        if language in has or language.split("-")[0] in has:
            continue
        entry = voice_for(language, entries)
        if entry is not None:
            found[language] = entry.name
    return found


def all_voices(settings: Settings, added: Mapping[str, str]) -> dict[str, object]:
    """Return `voice.models` with the added voices. It includes the default voices, because a table
    in the file replaces the whole default."""
    there: dict[str, object] = {
        language: voice.model
        if voice == type(voice)(model=voice.model)
        else voice.model_dump(exclude_defaults=True)
        for language, voice in settings.voice.models.items()
    }
    return there | dict(added)


LISTEN_S = 8.0  # long enough to say the wake word twice
_AFTER_S = 1.0  # seconds to go on listening after the wake word, to measure the room noise


@dataclass(frozen=True, slots=True)
class Reading:
    loudness: Loudness
    score: float = 0.0  # highest wake word score so far, 0 to 1
    heard: str = ""  # the detected wake word, or ""


async def greet(settings: Settings) -> None:
    """Say Hearth's name and ask for the wake word. Returns when the audio has been played. Raises
    AudioError."""
    catalogue = Catalogue()
    line = catalogue.line(
        "setup.hello",
        settings.assistant.languages[0],
        name=settings.assistant.name,
        word=spoken(settings.wake.words[0].model),
    )
    async with open_outputs(settings) as outputs:
        mouth = SpeechOutput(
            voices_of(settings), outputs, settings.voice.volume, spare_voices_of(settings)
        )
        try:
            await mouth.speak(line.text, line.language)
        finally:
            mouth.close()


async def listen(
    settings: Settings, show: Callable[[Reading], None], seconds: float = LISTEN_S
) -> Reading:
    """Listen for `seconds`, or until one second after the wake word. `show` is called for each
    frame and must be quick. Raises AudioError."""
    # With one thread, the engine is closed last even if listening is cancelled.
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
    engine: WakeEngine
    thread: Executor

    async def hear(self, frame: Frame) -> Detection | None:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.thread, self.engine.hear, frame.pcm, frame.end)


async def _heard(
    settings: Settings, ear: _Ear, show: Callable[[Reading], None], ends: int
) -> Reading:
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
    """Return a model's wake word as people say it: "okay nabu" for "okay_nabu"."""
    return word.rpartition("/")[2].partition(".")[0].replace("_", " ")
