"""Detection of the start and end of speech, from the voice detector's probabilities."""

import math
from bisect import insort
from collections import deque
from dataclasses import dataclass

from audio.frames import SAMPLES_PER_MS
from audio.vad import Voicing

# Speech starts when START_CHUNKS of the last START_WINDOW chunks exceed this probability. A single
# click doesn't start it.
START_ABOVE = 0.5
START_CHUNKS = 3
START_WINDOW = 4
STAY_ABOVE = (
    0.35  # probability that keeps speech going; lower, so that weak syllables do not end it
)
_PAUSE_MS = 200  # after a pause this long, a single voiced chunk is treated as noise ...
_TOGETHER_MS = 70  # ... unless another follows within this time
HANG_OVER_MS = 700  # silence that ends speech: most pauses between words are shorter


@dataclass(frozen=True, slots=True)
class SpeechStarted:
    at: int  # first sample of the first voiced chunk


@dataclass(frozen=True, slots=True)
class SpeechEnded:
    at: int  # the sample after the last voiced chunk
    decided_at: int  # sample at which the end was decided


class Endpointer:
    """Reports the start and end of speech from the speech probability of each chunk."""

    def __init__(self, hang_over_ms: int = HANG_OVER_MS, chunk_samples: int = 512) -> None:
        """`hang_over_ms` can be changed at any time. `chunk_samples` is the detector's chunk
        length."""
        self.hang_over_ms = hang_over_ms
        self._chunk = chunk_samples
        self._after = 0
        self._recent: deque[tuple[int, bool]] = deque(maxlen=START_WINDOW)  # (first sample, voiced)
        self._last_voiced: int | None = None  # None while nobody speaks
        self._person = PersonLevel()
        self._person_from = 0
        self._last_faint = 0  # sample after the last voiced chunk, even if another person's
        self._blip: int | None = None  # sample after a single voiced chunk in a pause

    @property
    def speaking(self) -> bool:
        return self._last_voiced is not None

    @property
    def last_voiced(self) -> int | None:
        """Position after the person's last voiced chunk, in samples, or None while nobody is
        speaking."""
        return self._last_voiced

    def hear(self, voicing: Voicing) -> SpeechStarted | SpeechEnded | None:
        """Process the next chunk. Returns SpeechStarted or SpeechEnded if this chunk decides it,
        otherwise None."""
        start = max(0, voicing.end - self._chunk)
        if start < self._after:
            self._listen_before(voicing)
            return None
        if self._last_voiced is None:
            return self._await_start(start, voicing)
        return self._await_end(self._last_voiced, voicing)

    def reset(self, after: int = 0, person_from: int = 0, goes_on: bool = False) -> None:
        """Start over with nobody speaking, ignoring chunks that begin before sample `after`.

        Voiced chunks that end after sample `person_from` can belong to the person who said the wake
        word; earlier ones show how loud other people are. Hearth must not play anything between
        `person_from` and `after`. `goes_on` keeps what is known about other people from the
        previous turn.
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
        # A detector still hears speech in the room's echo of the last word, for up to 0.2 s.
        audible = self._person.is_audible(voicing.level)
        if voicing.probability > STAY_ABOVE and audible:
            if self._is_blip(voicing.end):
                return None  # the next chunks decide
            self._last_faint = voicing.end
            if self._person.is_near(voicing.level):
                self._last_voiced = voicing.end
                return None
        else:
            self._person.pause(voicing.level)
        # Pauses are measured in whole chunks; use the number closest to the hang-over.
        hang_over = self.hang_over_ms * SAMPLES_PER_MS - self._chunk // 2
        # A faint chunk may be a word of the person. If other people keep talking, there is no pause
        # when the person finishes.
        faint = max(FAINT_MS * SAMPLES_PER_MS, hang_over)
        if voicing.end - self._last_faint < hang_over and voicing.end - last_voiced < faint:
            return None
        return self._end(last_voiced, voicing.end)

    def _is_blip(self, end: int) -> bool:
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


# The person's voice is distinguished from others by the level of those who talked before. If nobody
# did, every voiced chunk is the person's, because one person's loudness varies as much as the
# difference between two people.


FAINT_MS = 900  # voiced, but below the person's level for this long: other people are talking
_CHUNKS = 8  # chunks that a level is averaged over: 0.26 s with Silero, a syllable or two
# Quantile of the voiced chunks that counts as the person's loud level, or that of earlier talk.
_LOUD = 0.8
_OTHERS = 0.9  # quantile of earlier voiced chunks that counts as the others' loud level
_LEAST = 5  # fewer voiced chunks than this don't count as talk
# Talk this far below the wake word is other people's. Louder talk may be the same person's.
_APART_DB = 2.5
_OVER_DB = 1.0  # somebody this much louder than the others is the person
_NEAR_DB = 2.5  # chunks up to this far below the person's level are always the person's
_AUDIBLE_DB = 24.0  # chunks this far below the turn's loudest are only its echo
_FLOOR = 0.1  # quantile of all chunks that counts as the room's noise
_ABOVE_FLOOR_DB = 1.5
_DIGITAL_SILENCE_DB = -120.0


class PersonLevel:
    """Distinguishes the person speaking in a turn from other people, by the level of their voices.

    Levels are per chunk, in dB. A chunk without a level is attributed to the person.
    """

    def __init__(self) -> None:
        self._powers: deque[float] = deque(maxlen=_CHUNKS)
        self._before: list[float] = []  # sorted, like the next two
        self._word: list[float] = []
        self._levels: list[float] = []
        self._others: float | None = None
        self._loudest = _DIGITAL_SILENCE_DB
        self._heard: list[float] = []  # raw levels of every chunk, sorted

    def background(self, level: float | None, voiced: bool, own: bool = False) -> None:
        if level is not None:
            insort(self._heard, level)
            smooth = self._smooth(level)
            if voiced:
                insort(self._word if own else self._before, smooth)

    def next_turn(self) -> "PersonLevel":
        """Return the state for another turn among the same people."""
        after = PersonLevel()
        after._others = self._others
        return after

    def begin(self) -> None:
        self._levels.clear()
        self._loudest = _DIGITAL_SILENCE_DB
        if len(self._before) < _LEAST:
            return
        talk = self._before[int(len(self._before) * _LOUD)]
        # Talk as loud as the wake word may have been the same person talking to somebody else.
        if not self._word or talk < self._word[-1] - _APART_DB:
            self._others = self._before[int(len(self._before) * _OTHERS)]

    def is_audible(self, level: float | None) -> bool:
        """Return True if a chunk of the turn could be speech rather than just noise or echo."""
        if level is None:
            return True
        insort(self._heard, level)
        self._loudest = max(self._loudest, level)
        floor = self._heard[int(len(self._heard) * _FLOOR)]
        return level >= max(self._loudest - _AUDIBLE_DB, floor + _ABOVE_FLOOR_DB)

    def is_near(self, level: float | None) -> bool:
        if level is None or self._others is None:
            return True
        smooth = self._smooth(level)
        insort(self._levels, smooth)
        loud = self._levels[int(len(self._levels) * _LOUD)]
        if loud < self._others + _OVER_DB:
            return True  # only the others have spoken yet
        return smooth >= min(loud - _NEAR_DB, (loud + self._others) / 2)

    def pause(self, level: float | None) -> None:
        if level is not None:
            self._smooth(level)

    def _smooth(self, level: float) -> float:
        self._powers.append(10 ** (level / 10))
        mean = sum(self._powers) / len(self._powers)
        return 10 * math.log10(mean) if mean else _DIGITAL_SILENCE_DB
