"""The loop's audio input, on a separate thread, so that detecting speech never holds up
the loop."""

import asyncio
import ctypes
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
from assistant.domain.turn_audio import TurnAudio
from audio.frames import FRAME_MS, SAMPLES_PER_MS, Frame, FrameSource
from audio.wake import NearMiss, WakeEngine

if TYPE_CHECKING:
    from assistant.conversation.effect_runner import EffectRunner
    from assistant.conversation.loop import ConversationLoop

_SET_NAME = 15  # PR_SET_NAME of prctl(2)


def name_thread(name: str) -> None:
    """Name the calling thread for tools such as `top -H`. The name is cut to 15 bytes."""
    ctypes.CDLL(None).prctl(_SET_NAME, name.encode()[:15], 0, 0, 0)


class Hearing:
    """Gives the loop's thread access to the audio front end. Without a front end,
    nothing is heard."""

    def __init__(self, ear: AudioFrontEnd | None) -> None:
        self._ear = ear
        self.in_a_room = True  # False for a file, which is read at full speed
        self._worker = ThreadPoolExecutor(1, "ear", name_thread, ("ear",))
        self._missed: Listeners[[NearMiss]] = Listeners("near misses")
        self.near_misses = 0  # since the start
        self.frames_heard = 0  # frames that the audio front end processed
        self.frames_passed = 0  # frames of silence, which need no processing
        self.level = Level()

    async def restart(self, *, in_a_room: bool) -> None:
        """Start over with a new source. Raises RuntimeError if there is no audio front end."""
        ear = self._needed()
        self.in_a_room = in_a_room
        await asyncio.get_running_loop().run_in_executor(self._worker, ear.restart)

    async def hear(self, frame: Frame) -> list[EarEvent]:
        """Process the next frame and return its events. Raises RuntimeError if there is no audio
        front end."""
        ear = self._needed()
        self.level.take(frame)
        if ear.pass_by(frame):
            self.frames_passed += 1
            return []  # switching threads would cost more
        events = await asyncio.get_running_loop().run_in_executor(self._worker, ear.hear, frame)
        self.frames_heard += 1
        for miss in ear.near_misses():
            self.near_misses += 1
            self._missed.tell(miss)
        return events

    def follow_near_misses(self, tell: Callable[[NearMiss], None]) -> Callable[[], None]:
        """Register a callback for near misses of the wake word, and return a function that
        unregisters it. The callback runs on the loop's thread."""
        return self._missed.add(tell)

    def ping(self, pong: Callable[[], None]) -> None:
        """Have the audio front end's thread call `pong` as soon as it is free, which shows that it
        is still running."""
        with suppress(RuntimeError):  # the thread has been shut down
            self._worker.submit(pong)

    def watch(self, from_ms: float, after_ms: float) -> None:
        if self._ear is not None:
            self._ear.watch(from_ms, after_ms)

    def unwatch(self) -> None:
        if self._ear is not None:
            self._ear.unwatch()

    def distract(self, by: Distraction, on: bool) -> None:
        if self._ear is not None:
            self._ear.distract(by, on)

    def use(self, wake: WakeEngine) -> None:
        """Switch to this wake engine (see `AudioFrontEnd.use`), or close it if there is no front
        end."""
        if self._ear is None:
            wake.close()
        else:
            self._ear.use(wake)

    def forget(self) -> None:
        if self._ear is not None:
            self._ear.forget()

    @property
    def last_voiced_ms(self) -> float | None:
        return None if self._ear is None else self._ear.last_voiced_ms

    def sound_for(self, opening: OpenTurn) -> TurnAudio | None:
        """Return a spoken turn's audio, starting at the turn's mark, or None for turns that are not
        spoken."""
        if self._ear is None or opening.source in ("text", "announcement"):
            return None
        ring = self._ear.ring
        mark = max(round(opening.mark_ms * SAMPLES_PER_MS), ring.start)
        at_ms = opening.wake.at_ms if opening.wake else opening.mark_ms
        audio = TurnAudio(
            detection=max(0, round(at_ms * SAMPLES_PER_MS) - mark),
            # A turn opened by speech may send its audio immediately.
            released=opening.source != "voice",
        )
        audio.append(ring.since(mark))
        return audio

    def answer(self, mark_ms: float) -> TurnAudio:
        """Return the audio of an answer to Hearth's question, starting at `mark_ms`. Raises
        RuntimeError if there is no audio front end."""
        ring = self._needed().ring
        audio = TurnAudio()
        audio.append(ring.since(max(round(mark_ms * SAMPLES_PER_MS), ring.start)))
        return audio

    def recent(self) -> bytes:
        """Return the contents of the ring buffer as 16 kHz mono int16. Raises RuntimeError if there
        is no audio front end."""
        ring = self._needed().ring
        return ring.since(ring.start)

    def close(self) -> None:
        """Stop the thread. The caller must close the audio front end."""
        self._worker.shutdown()

    def _needed(self) -> AudioFrontEnd:
        if self._ear is None:
            raise RuntimeError("this runner has no audio front end")
        return self._ear


#
# Microphone level meter, for people who check that the assistant hears them.
#
# It stores measurements and at most a tenth of a second of audio. Levels are in dBFS, where a
# full-scale square wave is 0, so they are never positive.


_TOGETHER = 5  # frames measured together, because each measurement has a fixed cost
_SECOND = 1000 // FRAME_MS // _TOGETHER  # measurements per second
_FLOOR_S = 30
_QUIETEST = 0.1  # share of the quietest measurements that is taken as room noise
_FULL = 32_768.0
_CLIPS = 32_767  # a sample with at least this amplitude is clipped
_SILENT_DB = -96.0  # reported for silence; below the resolution of 16 bits
_FRESH_S = 1.0  # levels of older frames are not reported


@dataclass(frozen=True, slots=True)
class Reading:
    """Audio levels of the last second, unless stated otherwise. They are None without
    recent audio."""

    rms_db: float | None = None  # dBFS
    peak_db: float | None = None  # dBFS, of the loudest sample
    clipped: int | None = None  # clipped samples
    noise_floor_db: float | None = None  # dBFS, from the quietest tenth of the last 30 s
    at_ms: float | None = None  # time of the newest measured sample since the source's first


class Level:
    """Measures audio levels. Use each instance on a single thread."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._waiting: list[bytes] = []  # frames not measured yet
        self._powers: deque[float] = deque(maxlen=_FLOOR_S * _SECOND)  # mean squares
        # Peak and clipped samples of each measurement.
        self._tops: deque[tuple[int, int]] = deque(maxlen=_SECOND)
        self._end = 0  # samples
        self._at_s = -math.inf

    def take(self, frame: Frame) -> None:
        """Measure the next frame. A gap of more than 1 s resets the measurement."""
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


# Reads an audio source frame by frame and dispatches its events.


class Listening:
    """Feeds audio sources to the turn machine, one after another. Each source's clock
    starts at 0."""

    def __init__(
        self,
        conversation: "ConversationLoop",
        effects: "EffectRunner",
        hearing: Hearing,
        clock: ConversationClock,
    ) -> None:
        self.heard_ms = 0.0  # source time; the machine gets a Tick only when it matters
        self.judged = False  # the audio front end has processed a frame
        self._conversation = conversation
        self._effects = effects
        self._hearing = hearing
        self._clock = clock
        # Number of opened turns after which wake words are ignored.
        self._deaf_after: int | None = None

    async def listen(self, source: FrameSource, turns: int | None = None) -> None:
        """Listen to `source` until it ends, or until `turns` turns have closed and no question is
        open.

        After `turns` turns, further wake words are ignored. Raises the source's errors (see
        FrameSource), and RuntimeError if there is no audio front end.
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
        if conversation.machine.tells_time:  # otherwise fifty events a second would be wasted
            conversation.dispatch(Tick(at_ms))

    async def _take_in(self, frame: Frame) -> list[EarEvent]:
        turn = self._effects.turn
        if turn is not None and turn.audio is not None:
            turn.audio.append(frame.pcm)  # ignored once the sentence is over
        return await self._hearing.hear(frame)

    async def _keep_pace(self) -> None:
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
