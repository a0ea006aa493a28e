"""A voice assistant of pipecat-ai with Gemini Live, in its own environment, where nothing of Hearth
is.

    python _pipecat.py URL KEY ROOM.wav

It is what pipecat's example of Gemini Live with locally driven turns has, with one tool. Only the
transport is ours: its microphone gives 20 ms at a time in real time, what it is told to say or else
the room, and its loudspeaker takes sound at the pace of a device and notes when some is audible.

First it says which versions it has. Then each line that comes in is a question, and is answered;
both are JSON. Times are seconds of the monotonic clock.

    {"do": "open"}               a pipeline, which connects at once: {}
    {"do": "say", "wav": PATH}   {"began": of the file's first sample, "heard": first audible sample
                                 of the answer or null, "ended": [each end of a turn]}
    {"do": "cold", "wav": PATH}  the same, with a pipeline of its own that begins with the file
    {"do": "listen", "wavs": [PATH, ...], "streams": N}
                                 ends of turns alone, no model, N files at a time: [{"began", ...}]
    {"do": "close"}              {}
"""

import asyncio
import importlib.metadata
import itertools
import json
import sys
import time
import wave
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
from google.genai.types import HttpOptions
from pipecat.adapters.llm.schemas.function_schema import FunctionSchema
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.frames.frames import InputAudioRawFrame, LLMRunFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import (
    LLMContextAggregatorPair,
    LLMUserAggregatorParams,
)
from pipecat.services.google.gemini_live.llm import GeminiLiveLLMService, GeminiVADParams
from pipecat.transports.base_input import BaseInputTransport
from pipecat.transports.base_output import BaseOutputTransport
from pipecat.transports.base_transport import TransportParams
from pipecat.workers.runner import WorkerRunner

RATE = 16_000  # Hz, mono int16
FRAME = RATE // 50  # samples
AUDIBLE = 327  # int16 level, 1 % of full scale, from which sound counts as heard
ANSWERED_S = 6.0  # behind the file: who has not answered then does not
PACKAGES = ("pipecat-ai", "google-genai", "onnxruntime", "numpy")


# --- what an owner would write, but for the transport


async def turn_on(call: Any) -> None:
    """Answer the tool's call at once, without asking a house."""
    await call.result_callback({"success": True})


def tool() -> FunctionSchema:
    """Return the tool, declared as Home Assistant's own is."""
    return FunctionSchema(
        name="intent__HassTurnOn",
        description="Turns on/opens/presses a device or entity.",
        properties={
            "name": {"type": "string"},
            "area": {"type": "string"},
            "domain": {"type": "array", "items": {"type": "string"}},
        },
        required=[],
        handler=turn_on,
    )


def turns_of() -> LLMContextAggregatorPair:
    """Return local turn detection: Silero (stop_secs 0.2) and Smart Turn v3.2, the defaults."""
    return LLMContextAggregatorPair(
        LLMContext(),
        realtime_service_mode=True,
        user_params=LLMUserAggregatorParams(vad_analyzer=SileroVADAnalyzer()),
    )


def gemini(url: str, key: str) -> GeminiLiveLLMService:
    """Return the service with the default model, which waits for the person to begin."""
    return GeminiLiveLLMService(
        api_key=key,
        system_instruction="You control the lights of a house. Answer in one sentence.",
        settings=GeminiLiveLLMService.Settings(vad=GeminiVADParams(disabled=True)),
        tools=[tool()],
        inference_on_context_initialization=False,
        http_options=HttpOptions(base_url=url),
    )


def assistant(
    microphone: "Microphone", speaker: "Speaker", pair: LLMContextAggregatorPair, url: str, key: str
) -> PipelineWorker:
    pipeline = Pipeline([microphone, pair.user(), gemini(url, key), speaker, pair.assistant()])
    return PipelineWorker(pipeline, params=PipelineParams(), idle_timeout_secs=None)


# --- the transport


class Microphone(BaseInputTransport):  # type: ignore[misc]  # typed in its own environment alone
    """A room in which something is said now and then."""

    def __init__(self, room: bytes) -> None:
        super().__init__(TransportParams(audio_in_enabled=True))
        self._room = itertools.cycle(frames(room))
        self._said: deque[tuple[asyncio.Future[float], list[bytes]]] = deque()
        self._feeding: Any = None

    def say(self, pcm: bytes) -> asyncio.Future[float]:
        """Say it from the next frame on; the future gives when the first sample was spoken."""
        began: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self._said.append((began, frames(pcm)))
        return began

    async def start(self, frame: Any) -> None:
        await super().start(frame)
        await self.set_transport_ready(frame)
        self._feeding = self.create_task(self._feed())

    async def cleanup(self) -> None:
        if self._feeding is not None:
            await self.cancel_task(self._feeding)
            self._feeding = None
        await super().cleanup()

    async def _feed(self) -> None:
        began = time.monotonic()
        for number in itertools.count():
            pcm = self._sample_from(began + number * FRAME / RATE)
            # A frame is there when its last sample was spoken.
            due = began + (number + 1) * FRAME / RATE
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            await self.push_audio_frame(
                InputAudioRawFrame(audio=pcm, sample_rate=RATE, num_channels=1)
            )

    def _sample_from(self, spoken: float) -> bytes:
        if not self._said:
            return next(self._room)
        began, left = self._said[0]
        if not began.done():
            began.set_result(spoken)
        pcm = left.pop(0)
        if not left:
            self._said.popleft()
        return pcm


class Speaker(BaseOutputTransport):  # type: ignore[misc]  # typed in its own environment alone
    """Takes sound at the pace of a device, and records when some was audible."""

    def __init__(self) -> None:
        super().__init__(TransportParams(audio_out_enabled=True))
        self.audible: list[float] = []
        self._free = 0.0  # when all that was taken has been played

    async def start(self, frame: Any) -> None:
        await super().start(frame)
        await self.set_transport_ready(frame)

    async def write_audio_frame(self, frame: Any) -> bool:
        begins = max(time.monotonic(), self._free)
        levels = np.abs(np.frombuffer(frame.audio, np.int16).astype(np.int32))
        loud = np.flatnonzero(levels >= AUDIBLE)
        if loud.size:
            self.audible.append(begins + int(loud[0]) / frame.sample_rate)
        self._free = begins + len(levels) / frame.sample_rate
        await asyncio.sleep(max(0.0, self._free - time.monotonic()))
        return True


def frames(pcm: bytes) -> list[bytes]:
    """Return whole frames; the last one is filled up with silence."""
    pcm += bytes(-len(pcm) % (2 * FRAME))
    return [pcm[at : at + 2 * FRAME] for at in range(0, len(pcm), 2 * FRAME)]


# --- what is measured


class Talk:
    """One pipeline while it runs. `url`: None leaves the model out."""

    def __init__(self, room: bytes, url: str | None = None, key: str = "") -> None:
        self.microphone, self.speaker = Microphone(room), Speaker()
        self._ended: list[float] = []
        self._open = False  # a turn is
        pair = turns_of()
        pair.user().add_event_handler("on_user_turn_started", self._started)
        pair.user().add_event_handler("on_user_turn_stopped", self._stopped)
        if url is None:
            bare = Pipeline([self.microphone, pair.user()])
            self.worker = PipelineWorker(bare, params=PipelineParams(), idle_timeout_secs=None)
        else:
            self.worker = assistant(self.microphone, self.speaker, pair, url, key)
        self._running: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Start the pipeline."""
        up = asyncio.Event()

        async def started(*_: Any) -> None:
            up.set()

        self.worker.add_event_handler("on_pipeline_started", started)
        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(self.worker)
        await self.worker.queue_frames([LLMRunFrame()])
        self._running = asyncio.create_task(runner.run())
        await up.wait()

    async def hear(self, began: asyncio.Future[float], pcm: bytes, *, answer: bool) -> Any:
        """Return the results of what is being said. `answer`: wait for one, else for a turn's
        end."""
        at = await began
        over = at + len(pcm) / 2 / RATE
        while (now := time.monotonic()) < over + ANSWERED_S:
            audible = [one for one in self.speaker.audible if one > at]
            ended = [one for one in self._ended if one > at]
            done = audible if answer else ended and not self._open
            if now > over and done:
                break
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.5 if answer else 0.1)  # the answer is said to its end
        return {"began": at, "heard": min(audible, default=None), "ended": ended}

    async def close(self) -> None:
        """End the pipeline."""
        await self.worker.cancel()
        if self._running is not None:
            await self._running

    async def _started(self, *_: Any) -> None:
        self._open = True

    async def _stopped(self, *_: Any) -> None:
        self._open = False
        self._ended.append(time.monotonic())


class Answers:
    """Carries out the questions."""

    def __init__(self, url: str, key: str, room: bytes) -> None:
        self._service = (url, key)
        self._room = room
        self._talk: Talk | None = None

    async def answer(self, question: dict[str, Any]) -> Any:
        """Answer a question. Raises KeyError if it is unknown."""
        known: dict[str, Callable[..., Awaitable[Any]]] = {
            "open": self._open,
            "say": self._say,
            "cold": self._cold,
            "listen": self._listen,
            "close": self._close,
        }
        return await known[question.pop("do")](**question)

    async def _open(self) -> Any:
        self._talk = Talk(self._room, *self._service)
        await self._talk.begin()
        return {}

    async def _say(self, wav: str) -> Any:
        assert self._talk is not None
        pcm = sound(wav)
        return await self._talk.hear(self._talk.microphone.say(pcm), pcm, answer=True)

    async def _cold(self, wav: str) -> Any:
        pcm = sound(wav)
        talk = Talk(self._room, *self._service)
        began = talk.microphone.say(pcm)
        await talk.begin()
        try:
            return await talk.hear(began, pcm, answer=True)
        finally:
            await talk.close()

    async def _listen(self, wavs: list[str], streams: int) -> Any:
        talks = [Talk(self._room) for _ in range(streams)]
        for talk in talks:
            await talk.begin()
        left = deque(enumerate(wavs))
        found: dict[int, Any] = {}

        async def work(talk: Talk) -> None:
            while left:
                number, wav = left.popleft()
                pcm = sound(wav)
                found[number] = await talk.hear(talk.microphone.say(pcm), pcm, answer=False)

        await asyncio.gather(*(work(talk) for talk in talks))
        for talk in talks:
            await talk.close()
        return [found[number] for number in range(len(wavs))]

    async def _close(self) -> Any:
        if self._talk is not None:
            await self._talk.close()
            self._talk = None
        return {}


def sound(wav: str) -> bytes:
    """Return the file's samples."""
    with wave.open(wav) as file:
        return bytes(file.readframes(file.getnframes()))


async def main(url: str, key: str, room: str) -> None:
    """Answer until nothing more is asked."""
    answers = Answers(url, key, sound(room))
    tell({package: importlib.metadata.version(package) for package in PACKAGES})
    while line := await asyncio.to_thread(sys.stdin.readline):
        tell(await answers.answer(json.loads(line)))


def tell(value: Any) -> None:
    """Print one line of JSON."""
    print(json.dumps(value), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3]))
