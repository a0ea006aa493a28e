"""The audio front end: turn each frame into events for the turn machine, on one worker thread.

Voice activity is detected only while someone is expected to speak, which saves power on an idle
device. The event loop's thread can switch this detection on or off at any time; the worker applies
the change with its next frame. While the worker is idle, any thread can call `pass_by`.
"""

import math
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from typing import Literal

from assistant.conversation.endpointing import Endings
from assistant.conversation.rules.events import (
    SpeechEnded,
    SpeechHeld,
    SpeechPassed,
    SpeechStarted,
    WakeHeard,
    WakeRising,
)
from audio.endpoint import STAY_ABOVE, Endpointer
from audio.endpoint import SpeechEnded as VoiceEnded
from audio.endpoint import SpeechStarted as VoiceStarted
from audio.frames import FRAME_BYTES, FRAME_SAMPLES, SAMPLE_RATE, SAMPLES_PER_MS, Frame, Ring
from audio.vad import VoiceDetector, Voicing
from audio.wake import REFRACTORY, Detection, NearMiss, WakeEngine
from audio.wake.wrappers import GatedWake

# Other sources of sound. A wake word needs a higher score while Hearth speaks or media plays.
Distraction = Literal["speaking", "media", "ringing"]
_OURS: frozenset[Distraction] = frozenset({"speaking", "ringing"})
_STRICT: frozenset[Distraction] = frozenset({"speaking", "media"})
EarEvent = WakeRising | WakeHeard | SpeechStarted | SpeechHeld | SpeechPassed | SpeechEnded

# Measured with the micro engine on recordings of people: a wake word passes 0.3 of its threshold
# 100 to 140 ms before it fires. In 96 s of other speech close to the microphone, that happened once
# (at 0.2 three times, at 0.1 five times). The open engine's score jumps within one of its 80 ms
# steps, so there is little to gain.
RISING = 0.3  # share of the engine's threshold
_FALLEN = RISING / 2  # below this, the next rise counts again

# A wake word lasts about a second at most, so this is the earliest start before its mark.
_WORD = 900 * SAMPLES_PER_MS
# Two engines that hear the same wake word fire within this time of each other.
_JUST_NOW = 300 * SAMPLES_PER_MS
# How long Hearth's own voice echoes: the device's delay and the room's reverberation.
_ECHO = 300 * SAMPLES_PER_MS
# For this long after a wake word, people who were talking before it are assumed to be still there
# and equally loud.
_SAME_ROOM = 60 * SAMPLE_RATE


class AudioFrontEnd:
    """Combines the ring buffer, wake engine, voice detector and endpointer of one audio source."""

    def __init__(
        self,
        wake: WakeEngine,
        voice: VoiceDetector,
        endpointer: Endpointer,
        endings: Endings | None = None,
    ) -> None:
        """`endings` decides how long each pause can be. If it is None, the limit is constant."""
        self._wake = GatedWake(wake)
        self._voice = voice
        self._endpointer = endpointer
        self._endings = endings or Endings(endpointer.hang_over_ms)
        self._lasting = SpeechDuration(voice.chunk_samples)
        self._watching = False
        self._risen = False  # the wake-word score has risen and has not fallen again
        self._forgetting = False  # `forget` was called; the worker has not acted on it yet
        # Arguments of the latest call of `watch`, or None for `unwatch`; applied with the next
        # frame.
        self._wish: deque[tuple[float, float] | None] = deque(maxlen=1)
        self._distractions: frozenset[Distraction] = frozenset()
        self._strict = False  # the wake engine's current strictness
        # The wake engine that takes over with the next frame, if any.
        self._successor: deque[WakeEngine] = deque(maxlen=1)
        self._mark = -1  # sample at the mark of the latest wake word
        self._told = -REFRACTORY  # sample at which the wake engine fired
        self._deaf_until = 0  # a new engine may fire at the same wake word again until this sample
        self._ours_until = 0  # Hearth's own voice may be audible until this sample
        self._others_until = 0  # the measured level of other people is valid until this sample
        self.ring = Ring()

    def pass_by(self, frame: Frame) -> bool:
        """Store the next frame without processing it, which takes microseconds. Return False and
        store nothing if `hear` must process the frame."""
        busy = self._watching or self._wish or self._forgetting or self._successor
        if busy or not self._wake.pass_by(frame.pcm, frame.end):
            return False
        self._push(frame)
        return True

    def hear(self, frame: Frame) -> list[EarEvent]:
        """Process the next frame and return its events. Blocks for up to a few milliseconds."""
        if self._forgetting:
            # Cleared first, because any thread may set it again at any time.
            self._forgetting = False
            self._begin_anew()
        if self._wish:
            self._obey(self._wish.popleft())
        told = self._exchange(self._successor.popleft()) if self._successor else []
        self._push(frame)
        events = self._look_for_speech(frame.pcm, frame.end) if self._watching else []
        return [*told, *events, *self._listen_for_wake(frame)]

    def watch(self, from_ms: float, after_ms: float) -> None:
        """Detect speech, starting with the audio in the ring buffer since `from_ms`. Only speech
        after `after_ms` counts.

        If `from_ms` is the start of a wake word, speech before it is attributed to other people.
        """
        self._wish.append((from_ms, after_ms))

    def unwatch(self) -> None:
        self._wish.append(None)

    def forget(self) -> None:
        """Discard all audio heard so far, including a partially heard wake word."""
        self.ring = Ring()
        # The worker restarts the engine with its next frame and drops the frame it is pushing now.
        self._forgetting = True

    def use(self, wake: WakeEngine) -> None:
        """Switch to another wake engine with the next frame and take ownership of it. Call the
        engine's `restart` first, so that it has already heard silence."""
        with suppress(IndexError):
            self._successor.popleft().close()  # this engine never heard a frame
        self._successor.append(wake)

    def distract(self, by: Distraction, on: bool) -> None:
        """Start or end a distraction. While Hearth speaks or media plays, a wake word needs a
        higher score."""
        self._distractions = self._distractions | {by} if on else self._distractions - {by}

    def near_misses(self) -> list[NearMiss]:
        """Return the wake word's near misses since the previous call. The worker must be idle."""
        return self._wake.near_misses()

    @property
    def last_voiced_ms(self) -> float | None:
        """The time of the last voiced sample of the current speech, or None if nobody
        is speaking."""
        if self._wish and self._wish[0] is not None:
            return None  # the endpointer still reports the previous speech
        last = self._endpointer.last_voiced
        return None if last is None else last / SAMPLES_PER_MS

    def restart(self) -> None:
        """Start over with a new audio source whose clock starts at 0."""
        self._wish.clear()
        self._begin_anew()

    def close(self) -> None:
        self._wake.close()
        while self._successor:
            self._successor.popleft().close()

    def _push(self, frame: Frame) -> None:
        self.ring.push(frame)
        if self._distractions & _OURS:
            self._ours_until = frame.end + _ECHO

    def _begin_anew(self) -> None:
        self.ring = Ring()
        self._mark, self._ours_until, self._others_until = -1, 0, 0
        self._told, self._deaf_until = -REFRACTORY, 0
        self._watching = self._risen = False
        self._endings.end()
        self._wake.restart()

    def _exchange(self, wake: WakeEngine) -> list[EarEvent]:
        # Recent audio is replayed to the new engine, so that no wake word is missed.
        ring = self.ring
        start = max(ring.start, ring.end - REFRACTORY)
        start += -(start - ring.start) % FRAME_SAMPLES
        before, found = self._wake.exchange(wake, _past(ring, start, ring.end))
        before.close()
        self._strict = self._risen = False  # as in a new engine
        self._deaf_until = self._told + REFRACTORY
        if found is None or found.at < ring.end - _JUST_NOW:
            return []
        return self._woken(found)

    def _listen_for_wake(self, frame: Frame) -> list[EarEvent]:
        strict = bool(self._distractions & _STRICT)
        if strict is not self._strict:
            self._strict = strict
            self._wake.strict(strict)
        detection = self._wake.hear(frame.pcm, frame.end)
        closeness = self._wake.closeness
        rising = closeness > RISING and not self._risen
        self._risen = closeness > (_FALLEN if self._risen else RISING)
        if detection is not None:
            return self._woken(detection)
        return [WakeRising(frame.end / SAMPLES_PER_MS)] if rising else []

    def _woken(self, detection: Detection) -> list[EarEvent]:
        if detection.at < self._deaf_until:
            return []
        self._mark, self._told = detection.mark, detection.at
        wake = WakeHeard(
            detection.word,
            detection.score,
            at_ms=detection.at / SAMPLES_PER_MS,
            mark_ms=detection.mark / SAMPLES_PER_MS,
        )
        return [wake]

    def _obey(self, wish: tuple[float, float] | None) -> None:
        self._watching = wish is not None
        if wish is None:
            self._endings.end()
            return
        from_ms, after_ms = wish
        self._voice.reset()
        self._lasting.reset()
        after = round(after_ms * SAMPLES_PER_MS)
        ring = self.ring  # `forget` may replace it at any time
        start = max(round(from_ms * SAMPLES_PER_MS), ring.start)
        woken = start == self._mark
        start -= (start - ring.start) % FRAME_SAMPLES  # aligned to frames, so that no audio is lost
        goes_on = start < self._others_until
        if woken:
            self._endpointer.reset(after, person_from=max(0, start - _WORD), goes_on=goes_on)
            self._others_until = start + _SAME_ROOM
            self._listen_to_others(ring, start)
        else:
            self._endpointer.reset(after, goes_on=goes_on)
        self._endings.begin(after)
        # All of this audio is before `after_ms`, so nothing is reported yet.
        for pcm, end in _past(ring, start, ring.end):
            self._look_for_speech(pcm, end)

    def _listen_to_others(self, ring: Ring, mark: int) -> None:
        # Leave out audio in which Hearth itself may be audible.
        late = max(0, self._ours_until - ring.start)
        first = ring.start + math.ceil(late / FRAME_SAMPLES) * FRAME_SAMPLES
        for pcm, end in _past(ring, first, mark):
            for voicing in self._voice.hear(pcm, end):
                self._endpointer.hear(voicing)  # before `after`, so it reports no speech
        self._voice.reset()

    def _look_for_speech(self, pcm: bytes, end: int) -> list[EarEvent]:
        events: list[EarEvent] = []
        self._endings.hear(pcm, end)
        for voicing in self._voice.hear(pcm, end):
            last_voiced = self._endpointer.last_voiced
            self._endpointer.hang_over_ms = self._endings.hang_over_ms(voicing.end, last_voiced)
            match self._endpointer.hear(voicing):
                case VoiceStarted(at):
                    events.append(SpeechStarted(at / SAMPLES_PER_MS))
                    self._lasting.begin(at, voicing.end)
                case VoiceEnded(at, decided_at):
                    self._lasting.reset()
                    # If the person continues, later pauses are judged as those of a new sentence.
                    self._endings.begin(decided_at)
                    events.append(SpeechEnded(at / SAMPLES_PER_MS, decided_at / SAMPLES_PER_MS))
                case None if (told := self._lasting.hear(voicing)) is not None:
                    events.append(told)
        return events


def _past(ring: Ring, start: int, end: int) -> Iterator[tuple[bytes, int]]:
    """Yield each frame of the ring between two frame boundaries, together with its end sample."""
    past = ring.since(start)
    for at in range(0, end - start, FRAME_SAMPLES):
        yield past[2 * at : 2 * at + FRAME_BYTES], start + at + FRAME_SAMPLES


# Speech can interrupt Hearth once it was voiced for BAR_MS in total, without pauses above GAP_MS.
BAR_MS = 300.0
# Gaps within a word are shorter than this. After a longer pause, the sound was a cough or a single
# word.
GAP_MS = 200.0


class SpeechDuration:
    """Measures speech until it is long enough to interrupt Hearth or has stopped."""

    def __init__(self, chunk_samples: int, bar_ms: float = BAR_MS) -> None:
        """`chunk_samples` is the detector's chunk size. `bar_ms` is how long speech must be voiced
        before it interrupts Hearth."""
        self._chunk = chunk_samples
        self._bar = bar_ms * SAMPLES_PER_MS - chunk_samples / 2
        self._gap = GAP_MS * SAMPLES_PER_MS
        self.reset()

    def reset(self) -> None:
        self._following = False
        self._began: int | None = None  # sample; None while silent
        self._voiced = 0  # voiced samples since it began
        self._last = 0  # end of the last voiced chunk, in samples

    def begin(self, at: int, end: int) -> None:
        """Measure speech that started at sample `at` and was reported at sample `end`."""
        self._following = True
        self._began, self._voiced, self._last = at, end - at, end

    def hear(self, voicing: Voicing) -> SpeechHeld | SpeechPassed | None:
        """Process the next chunk. Return SpeechHeld or SpeechPassed once the result is clear,
        otherwise None."""
        if not self._following:
            return None
        if voicing.probability > STAY_ABOVE:
            if self._began is None:
                self._began, self._voiced = voicing.end - self._chunk, 0
            self._voiced += self._chunk
            self._last = voicing.end
        if self._began is None:
            return None
        if self._voiced >= self._bar:
            held = SpeechHeld(voicing.end / SAMPLES_PER_MS, self._began / SAMPLES_PER_MS)
            self.reset()
            return held
        if voicing.end - self._last > self._gap:
            self._began = None
            return SpeechPassed(self._last / SAMPLES_PER_MS)
        return None
