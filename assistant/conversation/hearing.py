"""The ear on a thread of its own: the loop never waits for ring, wake word or voice activity."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from assistant.conversation.audio_front_end import AudioFrontEnd, Distraction, EarEvent
from assistant.conversation.effects import OpenTurn
from assistant.conversation.level import Level
from assistant.domain.listeners import Listeners
from assistant.domain.thread_names import name_thread
from assistant.domain.turn_audio import TurnAudio
from audio.frames import SAMPLES_PER_MS, Frame
from audio.wake.protocol import NearMiss, WakeEngine


class Hearing:
    """What the runner knows of sound. Without an ear nothing is ever heard."""

    def __init__(self, ear: AudioFrontEnd | None) -> None:
        self._ear = ear
        self._worker = ThreadPoolExecutor(1, "ear", name_thread, ("ear",))
        self._missed: Listeners[[NearMiss]] = Listeners("near misses")
        self.near_misses = 0  # since the start
        self.frames_heard = 0  # that the ear looked at
        self.frames_passed = 0  # of a silent room, which no engine need hear
        self.level = Level()

    async def restart(self) -> None:
        """A new source begins. Raises RuntimeError where there is no ear."""
        ear = self._needed()
        await asyncio.get_running_loop().run_in_executor(self._worker, ear.restart)

    async def hear(self, frame: Frame) -> list[EarEvent]:
        """Take the next frame. Raises RuntimeError where there is no ear."""
        ear = self._needed()
        self.level.take(frame)
        if ear.pass_by(frame):
            self.frames_passed += 1
            return []  # going to the thread and back would cost more than this did
        events = await asyncio.get_running_loop().run_in_executor(self._worker, ear.hear, frame)
        self.frames_heard += 1
        for miss in ear.near_misses():
            self.near_misses += 1
            self._missed.tell(miss)
        return events

    def follow_near_misses(self, tell: Callable[[NearMiss], None]) -> Callable[[], None]:
        """Have it told of each, on the loop's thread; what is returned ends that."""
        return self._missed.add(tell)

    def ping(self, pong: Callable[[], None]) -> None:
        """Have the ear's thread call `pong`, once it comes to it; it is needed for no silent room,
        so its silence alone says nothing."""
        with suppress(RuntimeError):  # it was given up
            self._worker.submit(pong)

    def watch(self, from_ms: float, after_ms: float) -> None:
        """Look for speech (see `AudioFrontEnd.watch`)."""
        if self._ear is not None:
            self._ear.watch(from_ms, after_ms)

    def unwatch(self) -> None:
        """Nobody is expected to speak without the wake word."""
        if self._ear is not None:
            self._ear.unwatch()

    def distract(self, by: Distraction, on: bool) -> None:
        """Something plays, or no longer (see `AudioFrontEnd.distract`)."""
        if self._ear is not None:
            self._ear.distract(by, on)

    def use(self, wake: WakeEngine) -> None:
        """Listen for wake words with this engine from now on (see `AudioFrontEnd.use`)."""
        if self._ear is None:
            wake.close()
        else:
            self._ear.use(wake)

    def forget(self) -> None:
        """Nothing heard so far may be looked back on."""
        if self._ear is not None:
            self._ear.forget()

    @property
    def last_voiced_ms(self) -> float | None:
        """The last voiced sample of the speech under way, None where nobody speaks."""
        return None if self._ear is None else self._ear.last_voiced_ms

    def sound_for(self, opening: OpenTurn) -> TurnAudio | None:
        """A spoken turn's sound, with what the ring holds since the mark; None for the others."""
        if self._ear is None or opening.source in ("text", "announcement"):
            return None
        ring = self._ear.ring
        mark = max(round(opening.mark_ms * SAMPLES_PER_MS), ring.start)
        at_ms = opening.wake.at_ms if opening.wake else opening.mark_ms
        audio = TurnAudio(
            detection=max(0, round(at_ms * SAMPLES_PER_MS) - mark),
            released=opening.source != "voice",  # which speech has opened
        )
        audio.append(ring.since(mark))
        return audio

    def answer(self, mark_ms: float) -> TurnAudio:
        """The sound of an answer to a question of ours, from the mark on.

        Raises RuntimeError where there is no ear.
        """
        ring = self._needed().ring
        audio = TurnAudio()
        audio.append(ring.since(max(round(mark_ms * SAMPLES_PER_MS), ring.start)))
        return audio

    def recent(self) -> bytes:
        """What the ring holds. Raises RuntimeError where there is no ear."""
        ring = self._needed().ring
        return ring.since(ring.start)

    def close(self) -> None:
        """Give up the thread; the ear is the caller's."""
        self._worker.shutdown()

    def _needed(self) -> AudioFrontEnd:
        if self._ear is None:
            raise RuntimeError("this runner was made without an ear")
        return self._ear
