"""The ear on a thread of its own: the loop never waits for ring, wake word or voice activity."""

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from assistant.conversation.audio_front_end import AudioFrontEnd, Distraction, EarEvent
from assistant.conversation.rules.effects import OpenTurn
from assistant.conversation.rules.events import (
    Ringing,
    SourceBack,
    SourceEnded,
    SpeechHeld,
    SpeechStarted,
    Tick,
    WakeHeard,
    WakeRising,
)
from assistant.conversation.rules.state import MicrophoneState, State
from assistant.conversation.turn_services import ConversationClock
from assistant.domain.events import Listeners
from assistant.domain.thread_names import name_thread
from assistant.domain.turn_audio import TurnAudio
from audio.frames import FRAME_MS, SAMPLES_PER_MS, Frame, FrameSource
from audio.wake import NearMiss, WakeEngine

if TYPE_CHECKING:
    from assistant.conversation.effect_runner import EffectRunner
    from assistant.conversation.loop import ConversationLoop


class Hearing:
    """The loop's way to sound. Without an ear nothing is ever heard."""

    def __init__(self, ear: AudioFrontEnd | None) -> None:
        self._ear = ear
        self.in_a_room = True  # False: a file is read at full speed, and nobody waits
        self._worker = ThreadPoolExecutor(1, "ear", name_thread, ("ear",))
        self._missed: Listeners[[NearMiss]] = Listeners("near misses")
        self.near_misses = 0  # since the start
        self.frames_heard = 0  # that the ear looked at
        self.frames_passed = 0  # of a silent room, which no engine need hear
        self.level = Level()

    async def restart(self, *, in_a_room: bool) -> None:
        """Begin with a new source. Raises RuntimeError where there is no ear."""
        ear = self._needed()
        self.in_a_room = in_a_room
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
        """Return what the ring holds. Raises RuntimeError where there is no ear."""
        ring = self._needed().ring
        return ring.since(ring.start)

    def close(self) -> None:
        """Give up the thread; the ear is the caller's."""
        self._worker.shutdown()

    def _needed(self) -> AudioFrontEnd:
        if self._ear is None:
            raise RuntimeError("this runner was made without an ear")
        return self._ear


#
# How loud it is at the microphone: a meter for people who look whether it hears them.
#
# It keeps figures, and no more of the sound than a tenth of a second. Levels are in dB of full
# scale (a square wave of all the range is 0 dBFS), so they are at most 0.


_TOGETHER = 5  # frames that are looked at together: each look costs as much as 200 samples do
_SECOND = 1000 // FRAME_MS // _TOGETHER  # looks
_FLOOR_S = 30
_QUIETEST = 0.1  # the share of the time that counts as the noise of the room
_FULL = 32_768.0
_CLIPS = 32_767  # a sample at the end of the range
_SILENT_DB = -96.0  # a lower level than 16 bits can tell
_FRESH_S = 1.0  # an older frame tells nothing of now


@dataclass(frozen=True, slots=True)
class Reading:
    """Of the last second; all None where the microphone gives nothing."""

    rms_db: float | None = None  # dBFS
    peak_db: float | None = None  # dBFS, of the loudest sample
    clipped: int | None = None  # samples at the end of the range
    noise_floor_db: float | None = None  # dBFS, of the quietest tenth of the last 30 s
    at_ms: float | None = None  # the newest sample looked at, counted from the source's first


class Level:
    """Takes every frame, a few microseconds each. On one thread."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """`now`: seconds of a clock that is never set."""
        self._now = now
        self._waiting: list[bytes] = []  # frames that were not looked at yet
        self._powers: deque[float] = deque(maxlen=_FLOOR_S * _SECOND)  # mean squares
        self._tops: deque[tuple[int, int]] = deque(maxlen=_SECOND)  # peak and clipped of each look
        self._end = 0  # samples
        self._at_s = -math.inf

    def take(self, frame: Frame) -> None:
        """The next one. After a pause the meter begins anew."""
        now = self._now()
        if now - self._at_s > _FRESH_S:
            self._waiting.clear()
            self._powers.clear()
            self._tops.clear()
        self._at_s = now
        self._waiting.append(frame.pcm)
        if len(self._waiting) == _TOGETHER:
            self._look(b"".join(self._waiting))
            self._waiting.clear()
            self._end = frame.end

    def read(self) -> Reading:
        """Return the levels of the last second."""
        if self._now() - self._at_s > _FRESH_S or not self._powers:
            return Reading()
        lately = list(self._powers)[-_SECOND:]
        quiet = sorted(self._powers)[: max(1, int(len(self._powers) * _QUIETEST))]
        return Reading(
            rms_db=_db(math.sqrt(sum(lately) / len(lately))),
            peak_db=_db(max(peak for peak, _ in self._tops)),
            clipped=sum(clipped for _, clipped in self._tops),
            noise_floor_db=_db(math.sqrt(sum(quiet) / len(quiet))),
            at_ms=round(self._end / SAMPLES_PER_MS, 1),
        )

    def _look(self, pcm: bytes) -> None:
        samples = np.frombuffer(pcm, "<i2").astype(np.float32)
        self._powers.append(float(samples.dot(samples)) / len(samples))
        peak = max(int(samples.max()), -int(samples.min()))
        clipped = 0 if peak < _CLIPS else int(np.count_nonzero(np.abs(samples) >= _CLIPS))
        self._tops.append((peak, clipped))


def _db(amplitude: float) -> float:
    if amplitude <= 0:
        return _SILENT_DB
    return round(max(_SILENT_DB, 20 * math.log10(amplitude / _FULL)), 1)


# Hears one source of sound, frame by frame, and tells the turn machine what is in it.


class Listening:
    """One source after the other; each counts its time from its own first sample."""

    def __init__(
        self,
        conversation: "ConversationLoop",
        effects: "EffectRunner",
        hearing: Hearing,
        clock: ConversationClock,
    ) -> None:
        self.heard_ms = 0.0  # how far the source has come; the machine is told when it matters
        self.judged = False  # the ear has taken a first frame
        self._conversation = conversation
        self._effects = effects
        self._hearing = hearing
        self._clock = clock
        self._deaf_after: int | None = None  # turns, after which no wake word counts

    async def listen(self, source: FrameSource, turns: int | None = None) -> None:
        """Hear `source` until it ends, or until `turns` turns are closed and nothing is asked.

        With `turns`, a wake word after so many is not taken: what follows answers our question.
        Raises what the source raises (see FrameSource), and RuntimeError where there is no ear.
        """
        conversation, effects = self._conversation, self._effects
        await self._hearing.restart(in_a_room=not source.pulled)
        self._clock.begin()
        self.heard_ms = 0.0
        before, end_ms = effects.closed, 0.0
        self._deaf_after = None if turns is None else effects.opened + turns
        async with aclosing(source.frames()) as frames:
            async for frame in frames:
                is_open = conversation.machine.microphone is MicrophoneState.OPEN
                if not is_open and not conversation.lost:
                    conversation.dispatch(SourceBack(frame.start / SAMPLES_PER_MS))
                await self._hear(frame)
                end_ms = frame.end / SAMPLES_PER_MS
                if source.pulled:
                    await self._keep_pace()
                if turns is not None and effects.closed - before >= turns and conversation.resting:
                    break
        conversation.dispatch(SourceEnded(end_ms))

    async def _hear(self, frame: Frame) -> None:
        conversation, at_ms = self._conversation, frame.end / SAMPLES_PER_MS
        if (rings := conversation.rings) is not conversation.machine.ringing:
            self._hearing.distract("ringing", rings)
            conversation.dispatch(Ringing(rings))
        events = [] if conversation.machine.muted else await self._take_in(frame)
        self._clock.heard(at_ms)
        for event in events:
            if not self._too_late(event):
                conversation.dispatch(event)
                self._note(event)
        self.heard_ms = at_ms
        if not self.judged:
            self.judged = True
            conversation.wake_waiters()
        if conversation.machine.tells_time:  # else nobody needs to know, fifty times a second
            conversation.dispatch(Tick(at_ms))

    async def _take_in(self, frame: Frame) -> list[EarEvent]:
        turn = self._effects.turn
        if turn is not None and turn.audio is not None:
            turn.audio.append(frame.pcm)  # nothing is kept once the sentence is over
        return await self._hearing.hear(frame)

    async def _keep_pace(self) -> None:
        """A source that can wait is not ahead of anybody who listens to it."""
        if self._effects.turn is not None and self._effects.turn.audio is not None:
            await self._effects.turn.audio.taken()
        await self._conversation.until(lambda: self._conversation.machine.wants_sound)

    def _too_late(self, event: EarEvent) -> bool:
        waking = isinstance(event, WakeHeard | WakeRising)
        return waking and self._deaf_after is not None and self._effects.opened >= self._deaf_after

    def _note(self, event: EarEvent) -> None:
        turn = self._effects.turn
        if self._conversation.machine.state is not State.LISTENING or turn is None:
            return
        if isinstance(event, SpeechStarted):
            turn.timeline.mark("speech_start", self._clock.at(event.at_ms))
        elif isinstance(event, SpeechHeld) and turn.opening.source == "barge_in":
            turn.timeline.mark("speech_start", self._clock.at(event.began_ms))
