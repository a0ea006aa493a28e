"""How long a pause may last before the turn is over: judged by what has been said so far.

Pure, but for the times that come in. A complete command needs no more than a breath; whoever stops
at "and" or "the" goes on; of all else nothing is known.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Protocol

from audio.frames import SAMPLES_PER_MS


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
