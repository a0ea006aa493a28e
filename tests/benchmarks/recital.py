"""A brain that only recites, and a conversation loop around it that may also listen to real
sound."""

import asyncio
import itertools
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import numpy as np

from assistant.conversation.audio_front_end import AudioFrontEnd
from assistant.conversation.loop import ConversationLoop
from assistant.conversation.rules.effects import CloseTurn
from assistant.conversation.turn import Turn
from assistant.conversation.turn_services import TurnServices, TurnVoice
from assistant.domain.brain import BrainEvent, TurnRequest
from assistant.domain.clock import SystemClock
from assistant.domain.events import Deferred
from assistant.domain.tool_call import ToolOutcome
from assistant.speech.catalogue import Catalogue
from assistant.speech.output import SpeechOutput
from audio.endpoint import Endpointer
from audio.frames import SAMPLE_RATE
from audio.player import Player
from audio.sound_files import WavSource, write_wav
from audio.tts import Voice
from audio.vad.silero import SileroDetector
from audio.wake import make_wake_engine
from tests.unit.assistant.conversation.doubles import Tools

Recite = Callable[[], AsyncGenerator[BrainEvent]]
_ROOM_S = 60  # of quiet noise, listened to again and again
_ROOM_LEVEL = 30.0  # int16 RMS


class Reciter:
    """A brain that recites for every typed turn; to a spoken sentence it listens forever."""

    name = "reciter"

    def __init__(self, recite: Recite) -> None:
        self._recite = recite

    def anticipate(self) -> None: ...

    def begin(self, request: TurnRequest) -> "_Recital":
        return _Recital(self._recite if request.source == "text" else _listen)


class _Recital:
    """One turn of it."""

    def __init__(self, recite: Recite) -> None:
        self._recite = recite

    def events(self) -> AsyncGenerator[BrainEvent]:
        return self._recite()

    async def answer(self, outcome: ToolOutcome) -> None:
        raise AssertionError("nothing was called")


async def _listen() -> AsyncGenerator[BrainEvent]:
    await asyncio.Event().wait()
    yield  # type: ignore[misc]  # never: it makes this a generator


@asynccontextmanager
async def reciting(recite: Recite, voice: Voice, player: Player) -> AsyncIterator[ConversationLoop]:
    """Yield a loop that speaks with `voice`; its ear is real."""
    detector = SileroDetector()
    engine = make_wake_engine("micro", ["okay_nabu"])
    ear = AudioFrontEnd(engine, detector, Endpointer(chunk_samples=detector.chunk_samples))
    mouth = SpeechOutput(lambda language: voice, player)
    numbers = itertools.count(1)

    async def forget(turn: Turn, closing: CloseTurn) -> None: ...

    try:
        async with ConversationLoop(
            TurnVoice(mouth, Catalogue()),
            Deferred.of(TurnServices(Reciter(recite), Tools())),
            ear,
            SystemClock(),
            lambda: f"turn-{next(numbers)}",
            forget,
        ) as runner:
            yield runner
    finally:
        mouth.close()
        ear.close()


@asynccontextmanager
async def listening(runner: ConversationLoop, folder: Path) -> AsyncIterator[None]:
    """Let the microphone hear a quiet room meanwhile, in real time."""
    samples = np.random.default_rng(1).normal(0, _ROOM_LEVEL, _ROOM_S * SAMPLE_RATE)
    room = folder / "room.wav"
    write_wav(room, samples.astype(np.int16).tobytes(), SAMPLE_RATE)

    async def hear() -> None:
        while True:
            await runner.listen(WavSource(room, realtime=True))

    async with asyncio.TaskGroup() as group:
        task = group.create_task(hear())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
