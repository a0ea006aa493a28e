"""Where speech begins and ends: a pure machine over the voice detector's probabilities."""

from collections import deque
from dataclasses import dataclass

from audio.frames import SAMPLES_PER_MS
from audio.person import FAINT_MS, PersonLevel
from audio.vad.protocol import Voicing

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
        """Whether a voiced chunk stands alone in a pause, so far."""
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
