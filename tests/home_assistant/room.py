"""A room in which somebody speaks when a test says so: a microphone in real time."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from pathlib import Path

from assistant.conversation.rules.state import Standing, State
from audio.frames import FRAME_BYTES, SAMPLE_RATE, Frame, Framer
from tests.pipeline.dialogues import silence, speech

_PAUSE_S = 0.5  # that a person takes before an answer
_ASKED = (State.CONFIRMING, State.FOLLOW_UP)


class Room:
    """Silence, and what is said in it. Muted, no frame comes, as from a device that is closed."""

    pulled = False

    def __init__(self, folder: Path) -> None:
        """`folder`: for the recordings of what is said."""
        self._folder = folder
        self._sound = bytearray()
        self._answers: deque[tuple[str, bytes]] = deque()
        self.words = ""  # of the newest answer
        self._open = asyncio.Event()
        self._open.set()

    def say(self, sound: bytes) -> None:
        """Say this now: 16 kHz mono int16."""
        self._sound += sound

    def will_answer(self, *answers: str) -> None:
        """Answer the next questions with these, in order."""
        for words in answers:
            sound = silence(_PAUSE_S) + speech(words, self._folder)
            self._answers.append((words, sound))

    @property
    def waits_to_answer(self) -> int:
        """Return the number of unused answers."""
        return len(self._answers)

    def forget(self) -> None:
        """Drop all unused answers."""
        self._answers.clear()

    def stand(self, standing: Standing) -> None:
        """Receive the conversation's state (`observe` of the runner)."""
        if standing.state in _ASKED and self._answers:
            self.words, sound = self._answers.popleft()
            self.say(sound)

    def pause(self, on: bool) -> None:
        """Close the microphone, or open it again."""
        if on:
            self._open.clear()
        else:
            self._open.set()

    async def frames(self) -> AsyncGenerator[Frame, None]:
        """Yield each frame when its last sample would have been spoken."""
        loop, framer = asyncio.get_running_loop(), Framer()
        while True:
            await self._open.wait()
            began, first = loop.time(), framer.start
            while self._open.is_set():
                pcm = bytes(self._sound[:FRAME_BYTES])
                del self._sound[:FRAME_BYTES]
                for frame in framer.push(pcm.ljust(FRAME_BYTES, b"\0")):
                    due = began + (frame.end - first) / SAMPLE_RATE
                    await asyncio.sleep(max(0.0, due - loop.time()))
                    yield frame
