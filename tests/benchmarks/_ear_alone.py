"""The ear of Hearth alone, from the microphone's blocks to its events, and nothing else.

    python -m tests.benchmarks._ear_alone micro|open WORD ...

It answers questions as `peers/_wake_engines.py` does. The sound comes in the microphone's blocks;
in a quiet room they wait for each other as they do there.
"""

import asyncio
import importlib.metadata
import json
import sys
import time
from typing import Any

from assistant.conversation.audio_front_end import AudioFrontEnd
from assistant.conversation.hearing import Hearing
from assistant.conversation.rules.events import WakeHeard
from audio.endpoint import Endpointer
from audio.frames import SAMPLES_PER_MS, Framer
from audio.gate import QuietRoom
from audio.microphone import BLOCK_MS
from audio.sound_files import read_wav
from audio.vad import make_voice_detector
from audio.wake import make_wake_engine

_BLOCK = BLOCK_MS * SAMPLES_PER_MS


class EarAlone:
    """One stream, a piece at a time; a piece is whole blocks of the microphone."""

    def __init__(self, hearing: Hearing) -> None:
        self._hearing = hearing
        self._room = QuietRoom(BLOCK_MS)
        self._framer = Framer()
        self._waiting: list[bytes] = []

    async def answer(self, pcm: bytes) -> dict[str, Any]:
        """Return the words that fired and the processor time of all of it.

        Each word comes with the samples of the piece before it, and with the ms of work on the
        block that was handed over there.
        """
        found = []
        cpu = time.process_time()
        for at in range(0, len(pcm), _BLOCK * 2):
            before = time.perf_counter()
            words = await self._hear(pcm[at : at + _BLOCK * 2])
            took_ms = (time.perf_counter() - before) * 1000
            found += [(word, at // 2 + _BLOCK, took_ms) for word in words]
        return {"found": found, "cpu_s": time.process_time() - cpu}

    async def _hear(self, block: bytes) -> list[str]:
        self._waiting.append(block)
        if self._room.may_wait(block):
            return []
        blocks, self._waiting = self._waiting, []
        words = []
        for waited in blocks:
            for frame in self._framer.push(waited):
                events = await self._hearing.hear(frame)
                words += [event.word for event in events if isinstance(event, WakeHeard)]
        return words


async def serve(engine: str, words: list[str]) -> None:
    """Answer until there are no more questions."""
    voice = make_voice_detector()
    endpointer = Endpointer(chunk_samples=voice.chunk_samples)
    ear = AudioFrontEnd(make_wake_engine(engine, words), voice, endpointer)
    hearing = Hearing(ear)
    try:
        await hearing.restart(in_a_room=True)
        alone = EarAlone(hearing)
        print(json.dumps({"numpy": importlib.metadata.version("numpy")}), flush=True)
        for line in sys.stdin:  # nothing else is to be done meanwhile
            answer = await alone.answer(read_wav(json.loads(line)["wav"]))
            print(json.dumps(answer), flush=True)
    finally:
        hearing.close()
        ear.close()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], sys.argv[2:]))
