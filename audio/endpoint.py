"""Begin and end of speech: a pure machine over the voice detector's probabilities."""

import math
from bisect import insort
from collections import deque
from dataclasses import dataclass

from audio.frames import SAMPLES_PER_MS
from audio.vad import Voicing

START_ABOVE = 0.5  # probability of a chunk that begins speech ...
START_CHUNKS = 3  # ... when so many ...
START_WINDOW = 4  # ... of the last so many are: one click does not
STAY_ABOVE = (
    0.35  # probability that keeps speech going; lower, so that weak syllables do not end it
)
_PAUSE_MS = 200  # behind a pause of so long one voiced chunk alone is a blip of the noise ...
_TOGETHER_MS = 70  # ... and speech where another follows it so soon
HANG_OVER_MS = 700  # silence that ends speech: a pause between words is shorter, mostly


@dataclass(frozen=True, slots=True)
class SpeechStarted:
    """Somebody began to speak."""

    at: int  # first sample of the first voiced chunk


@dataclass(frozen=True, slots=True)
class SpeechEnded:
    """They have been silent for the hang-over."""

    at: int  # sample behind the last voiced chunk: the last voiced sample
    decided_at: int  # sample at which this became known


class Endpointer:
    """Takes each chunk's probability, tells when speech starts and when it has ended, in turn."""

    def __init__(self, hang_over_ms: int = HANG_OVER_MS, chunk_samples: int = 512) -> None:
        """`chunk_samples`: the detector's. `hang_over_ms` may be set anew at any time."""
        self.hang_over_ms = hang_over_ms
        self._chunk = chunk_samples
        self._after = 0
        self._recent: deque[tuple[int, bool]] = deque(maxlen=START_WINDOW)  # (first sample, voiced)
        self._last_voiced: int | None = None  # None: nobody speaks
        self._person = PersonLevel()
        self._person_from = 0
        self._last_faint = 0  # sample behind the last voiced chunk, be it somebody else's
        self._blip: int | None = None  # sample behind a voiced chunk in a pause, alone so far

    @property
    def speaking(self) -> bool:
        """Between a start and its end."""
        return self._last_voiced is not None

    @property
    def last_voiced(self) -> int | None:
        """The sample behind the last voiced chunk of the speech under way, None without any.

        Others' chunks do not count.
        """
        return self._last_voiced

    def hear(self, voicing: Voicing) -> SpeechStarted | SpeechEnded | None:
        """Take the next chunk."""
        start = max(0, voicing.end - self._chunk)
        if start < self._after:
            self._listen_before(voicing)
            return None
        if self._last_voiced is None:
            return self._await_start(start, voicing)
        return self._await_end(self._last_voiced, voicing)

    def reset(self, after: int = 0, person_from: int = 0, goes_on: bool = False) -> None:
        """Nobody speaks; a chunk that begins before sample `after` does not count.

        What is voiced before `person_from` is others' talk, if it is fainter than what is between
        the two: when only that goes on, the person has ended. It must hold nothing that we play
        ourselves. 0: nothing new is known of others. `goes_on`: they are those of the turn before.
        """
        self._after, self._person_from = after, person_from
        self._recent.clear()
        self._last_voiced = None
        self._person = self._person.next_turn() if goes_on else PersonLevel()

    def _listen_before(self, voicing: Voicing) -> None:
        own = voicing.end > self._person_from
        self._person.background(voicing.level, voicing.probability > STAY_ABOVE, own)

    def _await_start(self, start: int, voicing: Voicing) -> SpeechStarted | None:
        self._listen_before(voicing)
        self._recent.append((start, voicing.probability > START_ABOVE))
        voiced = [first for first, is_voiced in self._recent if is_voiced]
        if len(voiced) < START_CHUNKS:
            return None
        self._recent.clear()
        self._last_voiced = self._last_faint = voicing.end
        self._blip = None
        self._person.begin()
        return SpeechStarted(at=voiced[0])

    def _await_end(self, last_voiced: int, voicing: Voicing) -> SpeechEnded | None:
        # A detector goes on for up to 0.2 s in the room's echo of the last word.
        audible = self._person.is_audible(voicing.level)
        if voicing.probability > STAY_ABOVE and audible:
            if self._is_blip(voicing.end):
                return None  # the next chunks tell
            self._last_faint = voicing.end
            if self._person.is_near(voicing.level):
                self._last_voiced = voicing.end
                return None
        else:
            self._person.pause(voicing.level)
        # A pause is known in whole chunks: of so many as come next to the hang-over.
        hang_over = self.hang_over_ms * SAMPLES_PER_MS - self._chunk // 2
        # Faint may be a word of theirs. Others who talk on make no pause where the person ends.
        faint = max(FAINT_MS * SAMPLES_PER_MS, hang_over)
        if voicing.end - self._last_faint < hang_over and voicing.end - last_voiced < faint:
            return None
        return self._end(last_voiced, voicing.end)

    def _is_blip(self, end: int) -> bool:
        """Tell whether a voiced chunk stands alone in a pause, so far."""
        before, self._blip = self._blip, None
        if end - self._last_faint < _PAUSE_MS * SAMPLES_PER_MS:
            return False
        if before is not None and end - before < _TOGETHER_MS * SAMPLES_PER_MS:
            return False
        self._blip = end
        return True

    def _end(self, at: int, decided_at: int) -> SpeechEnded:
        self._last_voiced = None
        return SpeechEnded(at=at, decided_at=decided_at)


# Whose voice is it? The person's level beside that of those who talked before the person did.
#
# Where nobody did, everything voiced is the person's: how loud one person speaks varies as much as
# two persons differ.


FAINT_MS = 900  # voiced, but not near the person's level for so long: it is others who talk on
_CHUNKS = 8  # that a level is taken over, 0.26 s with Silero's: a syllable or two
_LOUD = 0.8  # of what is voiced is fainter than the person's level, or that of who talked before
_OTHERS = 0.9  # of what was voiced before is fainter than the others' loud level
_LEAST = 5  # chunks of it; fewer are no talk
_APART_DB = 2.5  # below the wake word are others; else it may be the person who talked before
_OVER_DB = 1.0  # the others at least is somebody louder
_NEAR_DB = 2.5  # below the person's level is always the person
_AUDIBLE_DB = 24.0  # below the loudest chunk of the turn is only its echo
_FLOOR = 0.1  # of all chunks, before and in the turn, are fainter than the room's noise
_ABOVE_FLOOR_DB = 1.5
_DIGITAL_SILENCE_DB = -120.0


class PersonLevel:
    """One turn's. Levels are of chunks, in dB; None, where none is measured, is the person's."""

    def __init__(self) -> None:
        self._powers: deque[float] = deque(maxlen=_CHUNKS)
        self._before: list[float] = []  # sorted, as the next two
        self._word: list[float] = []
        self._levels: list[float] = []
        self._others: float | None = None
        self._loudest = _DIGITAL_SILENCE_DB
        self._heard: list[float] = []  # raw levels of every chunk, sorted

    def background(self, level: float | None, voiced: bool, own: bool = False) -> None:
        """A chunk from before the turn's speech.

        `own`: what is voiced of it may be the person, who said the wake word.
        """
        if level is not None:
            insort(self._heard, level)
            smooth = self._smooth(level)
            if voiced:
                insort(self._word if own else self._before, smooth)

    def next_turn(self) -> "PersonLevel":
        """Of another turn with the same people: who the others are is known already."""
        after = PersonLevel()
        after._others = self._others
        return after

    def begin(self) -> None:
        """The person begins to speak."""
        self._levels.clear()
        self._loudest = _DIGITAL_SILENCE_DB
        if len(self._before) < _LEAST:
            return
        talk = self._before[int(len(self._before) * _LOUD)]
        # Who was as loud as the wake word may have been the person, talking to somebody else.
        if not self._word or talk < self._word[-1] - _APART_DB:
            self._others = self._before[int(len(self._before) * _OTHERS)]

    def is_audible(self, level: float | None) -> bool:
        """A chunk of the turn: can it be speech, or only what a room or a voice leaves behind?"""
        if level is None:
            return True
        insort(self._heard, level)
        self._loudest = max(self._loudest, level)
        floor = self._heard[int(len(self._heard) * _FLOOR)]
        return level >= max(self._loudest - _AUDIBLE_DB, floor + _ABOVE_FLOOR_DB)

    def is_near(self, level: float | None) -> bool:
        """A voiced chunk of the turn: is it the person's?"""
        if level is None or self._others is None:
            return True
        smooth = self._smooth(level)
        insort(self._levels, smooth)
        loud = self._levels[int(len(self._levels) * _LOUD)]
        if loud < self._others + _OVER_DB:
            return True  # only they have spoken yet
        return smooth >= min(loud - _NEAR_DB, (loud + self._others) / 2)

    def pause(self, level: float | None) -> None:
        """A chunk of the turn that is not voiced."""
        if level is not None:
            self._smooth(level)

    def _smooth(self, level: float) -> float:
        self._powers.append(10 ** (level / 10))
        mean = sum(self._powers) / len(self._powers)
        return 10 * math.log10(mean) if mean else _DIGITAL_SILENCE_DB
