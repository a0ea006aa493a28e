"""A room with microphone, loudspeaker and ear, and speech in it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import numpy as np
from numpy.typing import NDArray

from audio.devices.watch import DeviceWatch
from audio.echo.livekit import LivekitCleaner
from audio.endpoint import Endpointer, SpeechEnded, SpeechStarted
from audio.frames import SAMPLE_RATE, Frame
from audio.microphone import DeviceInput
from audio.speaker import Speaker
from audio.steady import SteadyMicrophone
from audio.vad import make_voice_detector
from audio.wake import make_wake_engine
from tests.corpus.speech import say

LEVEL = 3_000.0  # int16 RMS of the loud parts of speech, ours and other people's
BARGE_IN_SAMPLES = SAMPLE_RATE * 300 // 1000
ANSWERS = (
    "The kitchen light is on.",
    "It is twenty one degrees in the living room and eighteen outside.",
    "I have set a timer for twelve minutes.",
    "Tomorrow will be cloudy with some rain in the afternoon.",
    "There are three things on your shopping list: bread, milk and apples.",
    "The front door is locked and all windows are closed.",
    "I turned off the lights in the hall, the office and the garage.",
    "I didn't understand that. Try saying it another way. Could you say it again?",
    "The washing machine will be done in about forty minutes.",
    "Your next appointment is on Monday at half past nine.",
)
VOICES = ("espeak:en-us", "espeak:en-gb")


class Room:
    """Microphone, loudspeaker and ear; records the ear's events for every frame."""

    def __init__(self, watch: DeviceWatch, cleaner: LivekitCleaner | None) -> None:
        self.speaker = Speaker("default", reference=cleaner)
        self.microphone = SteadyMicrophone(DeviceInput("default"), watch=watch, cleaner=cleaner)
        self.wakes = 0
        self.speeches: list[int] = []  # where they began, in samples of the microphone
        self.now = 0  # samples of the microphone that were heard
        self.long_speech = asyncio.Event()  # 300 ms of speech
        self.heard = asyncio.Event()  # a frame
        self.tap: asyncio.Queue[Frame] | None = None  # gets the frames instead of the ear
        self._wake = make_wake_engine("micro", ["okay_nabu"])
        self._voice = make_voice_detector()
        self._endpointer = Endpointer(chunk_samples=self._voice.chunk_samples)

    async def listen(self) -> None:
        """Listen until cancelled."""
        async for frame in self.microphone.frames():
            if self.tap is None:
                self._hear(frame)
            else:
                self.tap.put_nowait(frame)
            self.heard.set()

    def begin(self) -> None:
        self.wakes = 0
        self.speeches.clear()
        self.long_speech.clear()
        self._voice.reset()
        self._endpointer.reset()

    def _hear(self, frame: Frame) -> None:
        self.now = frame.end
        self.wakes += self._wake.hear(frame.pcm, frame.end) is not None
        for voicing in self._voice.hear(frame.pcm, frame.end):
            match self._endpointer.hear(voicing):
                case SpeechStarted(at):
                    self.speeches.append(at)
                case SpeechEnded():
                    pass
            last = self._endpointer.last_voiced
            if last is not None and last - self.speeches[-1] >= BARGE_IN_SAMPLES:
                self.long_speech.set()

    async def speak(self, words: NDArray[np.int16]) -> None:
        """Speak it as an answer, to the end of its echo."""
        voice = self.speaker.stream("voice")
        await voice.play(words.tobytes(), SAMPLE_RATE)
        await voice.drain()
        await asyncio.sleep(0.7)


@asynccontextmanager
async def room(cleaner: LivekitCleaner | None) -> AsyncIterator[Room]:
    async with DeviceWatch() as watch:
        here = Room(watch, cleaner)
        listening = asyncio.create_task(here.listen())
        try:
            await asyncio.wait_for(here.heard.wait(), 10)
            yield here
        finally:
            listening.cancel()
            await asyncio.wait([listening])
            await here.speaker.close()


def at_level(samples: NDArray[np.int16]) -> NDArray[np.int16]:
    """Scale speech so that its loud parts have LEVEL."""
    wave = samples.astype(np.float64)
    loud = np.abs(wave) > np.abs(wave).max() / 20
    scaled = wave * (LEVEL / np.sqrt(np.mean(wave[loud] ** 2)))
    return np.asarray(np.clip(scaled, -32_000, 32_000), np.int16)


def answer(number: int) -> NDArray[np.int16]:
    """Make two sentences that differ for each number."""
    pair = (ANSWERS[number % 10], ANSWERS[(number * 3 + number // 10 + 1) % 10])
    spoken: NDArray[np.int16] = say(" ".join(pair), VOICES[number // 2 % 2])
    return at_level(spoken)
