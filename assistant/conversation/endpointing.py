"""How long a pause may last before the turn is over: judged by what has been said so far.

Pure, but for the times that come in. A complete command needs no more than a breath; whoever stops
at "and" or "the" goes on; of all else nothing is known.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Protocol

from assistant.conversation.events import SpeechHeld, SpeechPassed
from audio.endpoint import STAY_ABOVE
from audio.frames import SAMPLES_PER_MS
from audio.vad.protocol import Voicing


class PauseVerdict(Enum):
    """What a pause is."""

    COMPLETE = "complete"  # the sentence before it is a command of the house
    UNFINISHED = "unfinished"  # the sentence before it must go on
    UNKNOWN = "unknown"


HANG_OVER_MS = {
    PauseVerdict.COMPLETE: 300,
    PauseVerdict.UNFINISHED: 1150,
    PauseVerdict.UNKNOWN: 860,
}

# Whoever has said little goes on, more often than not. Measured on open questions: 2 % are cut off
# and the others wait 0.95 s.
_SHORT_MS = 1500
_SHORT_HANG_OVER_MS = 1050

# Of a command that a grammar heard: other speech is taken for a shorter one too easily.
LEAST_WORDS = 3

# What is said behind a whole command by somebody who has more to say.
GOES_ON = ("and", "and then", "um", "uh")
LAST_WORDS = frozenset(words.split()[-1] for words in GOES_ON)

IsCommand = Callable[[str], bool]


def hang_over(verdict: PauseVerdict, said_ms: float) -> int:
    """How long the pause may last, in ms. `said_ms`: from the first word to the last."""
    if verdict is PauseVerdict.UNKNOWN and said_ms < _SHORT_MS:
        return _SHORT_HANG_OVER_MS
    return HANG_OVER_MS[verdict]


class Endings(Protocol):
    """Says how long the pause under way may last. One worker thread calls it; nothing blocks."""

    def begin(self, after: int) -> None:
        """Somebody is expected to speak; speech counts from sample `after` on."""
        ...

    def hear(self, pcm: bytes, end: int) -> None:
        """The turn's next frame, which ends at sample `end`."""
        ...

    def hang_over_ms(self, now: int, last_voiced: int | None) -> int:
        """For a chunk that ends at sample `now`; `last_voiced` as the endpointer has it."""
        ...

    def end(self) -> None:
        """Nobody is expected to speak any more."""
        ...


class PlainEndings:
    """By how much was said: where nobody here knows the words of the language."""

    def __init__(self) -> None:
        self._speech_at: int | None = None  # end of the first chunk that was told of as speech

    def begin(self, after: int) -> None:
        """Nothing is said yet."""
        self._speech_at = None

    def hear(self, pcm: bytes, end: int) -> None:
        """Nothing to do."""

    def hang_over_ms(self, now: int, last_voiced: int | None) -> int:
        """Longer for who has said little."""
        if last_voiced is None:
            return hang_over(PauseVerdict.UNKNOWN, 0)
        if self._speech_at is None:
            self._speech_at = now
        said_ms = (last_voiced - self._speech_at) / SAMPLES_PER_MS
        return hang_over(PauseVerdict.UNKNOWN, said_ms)

    def end(self) -> None:
        """Nothing is said any more."""
        self._speech_at = None


class FixedEndings:
    """The same for every pause: where nothing can be known of what is said."""

    def __init__(self, hang_over_ms: int = HANG_OVER_MS[PauseVerdict.UNKNOWN]) -> None:
        self._hang_over_ms = hang_over_ms

    def begin(self, after: int) -> None:
        """Nothing to do."""

    def hear(self, pcm: bytes, end: int) -> None:
        """Nothing to do."""

    def hang_over_ms(self, now: int, last_voiced: int | None) -> int:
        """What it was made with."""
        return self._hang_over_ms

    def end(self) -> None:
        """Nothing to do."""


def judge_path(words: Sequence[str], is_command: IsCommand) -> PauseVerdict:
    """Words that a grammar of commands heard, as far as it came; () where it heard none of its."""
    if not words:
        return PauseVerdict.UNKNOWN
    if words[-1] in LAST_WORDS or not is_command(" ".join(words)):
        return PauseVerdict.UNFINISHED
    return PauseVerdict.COMPLETE if len(words) >= LEAST_WORDS else PauseVerdict.UNKNOWN


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


#
# The judge of pauses that is not there before somebody speaks.
#
# The one that goes by words brings a recogniser and a language's sentences with it, a third of what
# an idle process may hold. It is made when a wake word is heard for the first time, and is then
# told what it has missed of that sentence.


MOST = 2_000  # things it may have missed, 20 s; beyond, that sentence goes without

_Missed = Callable[[Endings], object]


class LateEndings:
    """Endings by how much was said, until those that know more are there."""

    def __init__(self, make: Callable[[], None]) -> None:
        """`make` begins to make the others; called once, on the ear's thread; must not block."""
        self._make: Callable[[], None] | None = make
        self._now: Endings = PlainEndings()
        self._next: Endings | None = None  # set by any thread
        self._missed: list[_Missed] = []  # of the sentence under way
        self._goes = False  # one is under way

    def become(self, endings: Endings) -> None:
        """These judge from now on; from any thread."""
        self._next = endings

    def begin(self, after: int) -> None:
        """See Endings."""
        self._take_over()
        make, self._make = self._make, None
        self._goes = True
        self._missed.clear()
        self._note(lambda endings: endings.begin(after))
        self._now.begin(after)
        if make is not None:
            make()

    def hear(self, pcm: bytes, end: int) -> None:
        """See Endings."""
        self._take_over()
        self._note(lambda endings: endings.hear(pcm, end))
        self._now.hear(pcm, end)

    def hang_over_ms(self, now: int, last_voiced: int | None) -> int:
        """See Endings."""
        self._take_over()
        self._note(lambda endings: endings.hang_over_ms(now, last_voiced))
        return self._now.hang_over_ms(now, last_voiced)

    def end(self) -> None:
        """See Endings."""
        self._goes = False
        self._missed.clear()
        self._now.end()

    def _note(self, missed: _Missed) -> None:
        if isinstance(self._now, PlainEndings) and self._goes and len(self._missed) <= MOST:
            self._missed.append(missed)

    def _take_over(self) -> None:
        """Those that have come take up the sentence where they can know all of it."""
        coming, self._next = self._next, None
        if coming is None:
            return
        if self._goes and len(self._missed) <= MOST:
            for missed in self._missed:
                missed(coming)
        self._missed.clear()
        self._now.end()
        self._now = coming
