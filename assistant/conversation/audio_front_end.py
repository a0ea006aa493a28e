"""The ear: one frame in, what it means for the turn out. Runs on one worker thread.

The wake engine hears every frame in which something sounds (see `GatedWake`). Voice activity is
looked for only while somebody is expected to speak, so that an idle box does not pay for it.
Whether it is, the loop's thread says at any time; the worker acts on that with its next frame, so
that ring and detector belong to one thread. While the worker rests, any thread may `pass_by`.
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

# What else sounds. While we speak or media plays a wake word has to be more certain than usual.
Distraction = Literal["speaking", "media", "ringing"]
_OURS: frozenset[Distraction] = frozenset({"speaking", "ringing"})
_STRICT: frozenset[Distraction] = frozenset({"speaking", "media"})
EarEvent = WakeRising | WakeHeard | SpeechStarted | SpeechHeld | SpeechPassed | SpeechEnded

# Measured with micro on recordings of people: a wake word passes 0.3 of its threshold 100 to 140 ms
# before it fires; in 96 s of other close speech that happened once (at 0.2 three times, at 0.1
# five). With open the score jumps within one of its steps of 80 ms, so there is little to gain.
RISING = 0.3  # of the way to firing
_FALLEN = RISING / 2  # below it the next rise counts again

# Before a wake word's mark its beginning may lie: it is no longer than a second or so.
_WORD = 900 * SAMPLES_PER_MS
# Two engines fire at the same word within so much of each other.
_JUST_NOW = 300 * SAMPLES_PER_MS
# After our own voice: the device's delay, and what the room makes of it.
_ECHO = 300 * SAMPLES_PER_MS
# So long after a wake word those who talked before it are taken to be there still, and as loud.
_SAME_ROOM = 60 * SAMPLE_RATE


class AudioFrontEnd:
    """Joins the ring, the wake engine, the voice detector and the endpointer of one source."""

    def __init__(
        self,
        wake: WakeEngine,
        voice: VoiceDetector,
        endpointer: Endpointer,
        endings: Endings | None = None,
    ) -> None:
        """`endings`: how long each pause may last; None: always as the endpointer was made."""
        self._wake = GatedWake(wake)
        self._voice = voice
        self._endpointer = endpointer
        self._endings = endings or Endings(endpointer.hang_over_ms)
        self._lasting = SpeechDuration(voice.chunk_samples)
        self._watching = False
        self._risen = False  # the wake word's score, and it has not fallen again
        self._forgetting = False  # still to be done by the worker
        # The newest `watch` (its arguments) or `unwatch` (None), until the next frame.
        self._wish: deque[tuple[float, float] | None] = deque(maxlen=1)
        self._distractions: frozenset[Distraction] = frozenset()
        self._strict = False  # the engine is
        self._successor: deque[WakeEngine] = deque(maxlen=1)  # takes over with the next frame
        self._mark = -1  # of the newest wake word, in samples ...
        self._told = -REFRACTORY  # ... and where it fired
        self._deaf_until = 0  # sample up to which a new engine may fire at that word too
        self._ours_until = 0  # sample up to which our own voice may be heard ...
        self._others_until = 0  # ... and what was learnt of others holds
        self.ring = Ring()

    def pass_by(self, frame: Frame) -> bool:
        """Take the next frame if nobody is expected to speak and no engine need hear it now.

        In microseconds. False where nothing was done: `hear` must. See `GatedWake.pass_by`.
        """
        busy = self._watching or self._wish or self._forgetting or self._successor
        if busy or not self._wake.pass_by(frame.pcm, frame.end):
            return False
        self._push(frame)
        return True

    def hear(self, frame: Frame) -> list[EarEvent]:
        """Take the next frame; blocking, a millisecond or a few."""
        if self._forgetting:
            self._forgetting = False  # first: it may be asked for again at any time
            self._begin_anew()
        if self._wish:
            self._obey(self._wish.popleft())
        told = self._exchange(self._successor.popleft()) if self._successor else []
        self._push(frame)
        events = self._look_for_speech(frame.pcm, frame.end) if self._watching else []
        return [*told, *events, *self._listen_for_wake(frame)]

    def watch(self, from_ms: float, after_ms: float) -> None:
        """Look for speech, beginning with what the ring holds since `from_ms`.

        Only speech after `after_ms` counts; what lies before lets the detector find its feet. From
        the mark of a wake word on, who talked before that word is known to be somebody else.
        """
        self._wish.append((from_ms, after_ms))

    def unwatch(self) -> None:
        """Nobody is expected to speak without the wake word."""
        self._wish.append(None)

    def forget(self) -> None:
        """Nothing heard so far may be looked back on, nor be half of a wake word."""
        self.ring = Ring()
        # With its next frame the worker restarts the engine, and drops what it is pushing just now.
        self._forgetting = True

    def use(self, wake: WakeEngine) -> None:
        """From the next frame on this engine listens for wake words; it is the ear's to close. It
        must have heard silence (`restart`)."""
        with suppress(IndexError):
            self._successor.popleft().close()  # which nothing was heard with
        self._successor.append(wake)

    def distract(self, by: Distraction, on: bool) -> None:
        """Something plays, or no longer: more certainty is asked of a wake word, but not while it
        rings, and what we play ourselves is nobody's talk."""
        self._distractions = self._distractions | {by} if on else self._distractions - {by}

    def near_misses(self) -> list[NearMiss]:
        """Return the near misses since the last call; while the worker rests."""
        return self._wake.near_misses()

    @property
    def last_voiced_ms(self) -> float | None:
        """The last voiced sample of the speech under way, None where nobody speaks."""
        if self._wish and self._wish[0] is not None:
            return None  # the endpointer still tells of the speech before
        last = self._endpointer.last_voiced
        return None if last is None else last / SAMPLES_PER_MS

    def restart(self) -> None:
        """A new source begins, its time at 0."""
        self._wish.clear()
        self._begin_anew()

    def close(self) -> None:
        """Give up the engine's native resources."""
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
        """Half a word that was said before this frame must count for the new engine too, and a
        whole one at which the engine before would have fired just now."""
        ring = self.ring
        start = max(ring.start, ring.end - REFRACTORY)
        start += -(start - ring.start) % FRAME_SAMPLES
        before, found = self._wake.exchange(wake, _past(ring, start, ring.end))
        before.close()
        self._strict = self._risen = False  # as a new engine is
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
        ring = self.ring  # `forget` may take it away at any time
        start = max(round(from_ms * SAMPLES_PER_MS), ring.start)
        woken = start == self._mark
        start -= (start - ring.start) % FRAME_SAMPLES  # whole frames, or some sound is lost
        goes_on = start < self._others_until
        if woken:
            self._endpointer.reset(after, person_from=max(0, start - _WORD), goes_on=goes_on)
            self._others_until = start + _SAME_ROOM
            self._listen_to_others(ring, start)
        else:
            self._endpointer.reset(after, goes_on=goes_on)
        self._endings.begin(after)
        # `after_ms` lies ahead of all this, so nothing can be reported yet.
        for pcm, end in _past(ring, start, ring.end):
            self._look_for_speech(pcm, end)

    def _listen_to_others(self, ring: Ring, mark: int) -> None:
        """Have the endpointer hear what came before the mark, as far as it cannot be our voice."""
        late = max(0, self._ours_until - ring.start)
        first = ring.start + math.ceil(late / FRAME_SAMPLES) * FRAME_SAMPLES
        for pcm, end in _past(ring, first, mark):
            for voicing in self._voice.hear(pcm, end):
                self._endpointer.hear(voicing)  # all before `after`: nothing begins or ends
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
                    self._endings.begin(decided_at)  # where more is waited for, it begins anew
                    events.append(SpeechEnded(at / SAMPLES_PER_MS, decided_at / SAMPLES_PER_MS))
                case None if (told := self._lasting.hear(voicing)) is not None:
                    events.append(told)
        return events


def _past(ring: Ring, start: int, end: int) -> Iterator[tuple[bytes, int]]:
    """The ring's frames from `start` to `end`, where frames begin, each with its end."""
    past = ring.since(start)
    for at in range(0, end - start, FRAME_SAMPLES):
        yield past[2 * at : 2 * at + FRAME_BYTES], start + at + FRAME_SAMPLES


# Whether speech lasts: it was voiced for so long in all, without a longer pause.


BAR_MS = 300.0  # as `Rules.barge_in_ms`
# A stop between two sounds of a word is shorter; a pause between two words ends a cough.
GAP_MS = 200.0


class SpeechDuration:
    """Follows one speech of the endpointer's, from its start until it has lasted."""

    def __init__(self, chunk_samples: int, bar_ms: float = BAR_MS) -> None:
        """`chunk_samples`: the detector's; the bar counts to the nearest chunk."""
        self._chunk = chunk_samples
        self._bar = bar_ms * SAMPLES_PER_MS - chunk_samples / 2
        self._gap = GAP_MS * SAMPLES_PER_MS
        self.reset()

    def reset(self) -> None:
        """Nobody speaks, or it is told already: nothing is followed."""
        self._following = False
        self._began: int | None = None  # sample; None: silent just now
        self._voiced = 0  # samples, since it began
        self._last = 0  # sample behind the last voiced chunk

    def begin(self, at: int, end: int) -> None:
        """The endpointer tells at sample `end` that speech began at sample `at`."""
        self._following = True
        self._began, self._voiced, self._last = at, end - at, end

    def hear(self, voicing: Voicing) -> SpeechHeld | SpeechPassed | None:
        """Take the next chunk of that speech. What goes on after it has passed begins anew."""
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
