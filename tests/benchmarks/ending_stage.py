"""A turn's sound through the real ear, in stream time.

The decoder's work counts: each piece takes the CPU time that it needs here, times `slower`, on a
worker of its own, and what it finds is known no sooner than it would be on a quiet machine.
"""

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import replace
from typing import Any

from assistant.conversation.audio_front_end import AudioFrontEnd
from assistant.conversation.endpointing import Endings
from assistant.conversation.rules.events import SpeechEnded
from audio.endpoint import Endpointer
from audio.frames import FRAME_BYTES, FRAME_MS, FRAME_SAMPLES, SAMPLE_RATE, SAMPLES_PER_MS, Frame
from audio.microphone import BLOCK_MS
from audio.vad import VoiceDetector, Voicing
from tests.unit.assistant.conversation.doubles import NoWake

_AFTER_MS = 300.0  # of the sound is the wake word's end
_BLOCK = BLOCK_MS // FRAME_MS  # frames


class ModelledWorker(Executor):
    """One worker whose time is the stream's."""

    def __init__(self, slower: float = 1.0) -> None:
        self.cpu_s = 0.0  # used here, in all
        self._slower = slower
        self._now_s = 0.0
        self._free_at = 0.0
        self._tasks: deque[tuple[float, Callable[[], Any]]] = deque()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Queue the work; its future is never done, because nothing here waits for one."""
        self._tasks.append((self._now_s, lambda: fn(*args, **kwargs)))
        return Future()

    def advance(self, now_s: float) -> None:
        """Do the work that could have been done by an earlier frame; the stream is at `now_s`."""
        self._now_s = now_s
        while self._tasks:
            start = max(self._tasks[0][0] + FRAME_MS / 1000, self._free_at)
            if start > now_s:
                return
            began = time.thread_time()
            self._tasks.popleft()[1]()
            used = time.thread_time() - began
            self.cpu_s += used
            self._free_at = start + used * self._slower

    def drain(self) -> None:
        """Do everything at once, outside of the stream."""
        while self._tasks:
            self._tasks.popleft()[1]()
        self._now_s = self._free_at = 0.0


class Heard:
    """One sound as a detector hears it, kept as a detector for several that end the same turn."""

    def __init__(self, voice: VoiceDetector, pcm: bytes) -> None:
        self.chunk_samples = voice.chunk_samples
        self._at: dict[int, list[Voicing]] = {}
        voice.reset()
        for frame in frames(pcm):
            self._at[frame.end] = voice.hear(frame.pcm, frame.end)

    def hear(self, pcm: bytes, end: int) -> list[Voicing]:
        """Return the chunks that end with this frame of it."""
        return self._at[end]

    def reset(self) -> None:
        """Nothing to forget."""


def frames(pcm: bytes) -> list[Frame]:
    """Return a sound's frames as a source gives them."""
    return [
        Frame(pcm[number * FRAME_BYTES : (number + 1) * FRAME_BYTES], number * FRAME_SAMPLES)
        for number in range(len(pcm) // FRAME_BYTES)
    ]


def end_of(
    pcm: bytes, voice: VoiceDetector, endings: Endings, worker: ModelledWorker | None = None
) -> SpeechEnded | None:
    """Return the first end that is decided, or None if the sound is over before.

    The sound comes in blocks, as a microphone hands them over: nothing is decided within one.
    """
    ear = AudioFrontEnd(NoWake(), voice, Endpointer(chunk_samples=voice.chunk_samples), endings)
    ear.watch(0.0, _AFTER_MS)
    try:
        sound = frames(pcm)
        for at in range(0, len(sound), _BLOCK):
            block = sound[at : at + _BLOCK]
            come = block[-1].end
            if worker is not None:
                worker.advance(come / SAMPLE_RATE)
            for event in (event for frame in block for event in ear.hear(frame)):
                if isinstance(event, SpeechEnded):
                    return replace(event, decided_ms=come / SAMPLES_PER_MS)
        return None
    finally:
        ear.restart()
        if worker is not None:
            worker.drain()
