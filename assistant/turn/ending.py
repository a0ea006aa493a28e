"""How long a pause may last before the turn is over: judged by what has been said so far.

Pure, but for the times that come in. A complete command needs no more than a breath; whoever stops
at "and" or "the" goes on; of all else nothing is known.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Protocol

from audio.frames import SAMPLES_PER_MS


class Verdict(Enum):
    """What a pause is."""

    COMPLETE = "complete"  # the sentence before it is a command of the house
    UNFINISHED = "unfinished"  # the sentence before it must go on
    UNKNOWN = "unknown"


HANG_OVER_MS = {Verdict.COMPLETE: 300, Verdict.UNFINISHED: 1150, Verdict.UNKNOWN: 890}

# Whoever has said little goes on, more often than not. Measured on open questions: with 0.95 s for
# all, 5 % are cut off and the others wait 0.99 s; so, it is 2.5 % and 0.94 s.
_SHORT_MS = 1500
_SHORT_HANG_OVER_MS = 1050

# Of a command that a grammar heard: other speech is taken for a shorter one too easily.
LEAST_WORDS = 4

# Words that no sentence ends with; by language. "On", "off" and "up" are not among them.
_UNFINISHED = {
    "en": frozenset(
        "and or but because if than the a an my your his her our their of to for with from at by"
        " into about between um uh er erm hmm very which whose".split()
    ),
    "es": frozenset(
        "y e o u pero porque si que el la los las un una unos unas mi tu su de del a al en con por"
        " para sin sobre entre eh em este muy".split()
    ),
}
# A cloud's transcript lags behind the sound by about this much: one that came sooner after the last
# word may lack words, so that nothing can be made of it.
TRANSCRIPT_LAG_MS = 300

IsCommand = Callable[[str], bool]


def hang_over(verdict: Verdict, said_ms: float) -> int:
    """How long the pause may last, in ms. `said_ms`: from the first word to the last."""
    if verdict is Verdict.UNKNOWN and said_ms < _SHORT_MS:
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


class FixedEndings:
    """The same for every pause: where nothing can be known of what is said."""

    def __init__(self, hang_over_ms: int = HANG_OVER_MS[Verdict.UNKNOWN]) -> None:
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


def judge_path(words: Sequence[str], is_command: IsCommand) -> Verdict:
    """Words that a grammar of commands heard, as far as it came; () where it heard none of its."""
    if not words:
        return Verdict.UNKNOWN
    if not is_command(" ".join(words)):
        return Verdict.UNFINISHED
    return Verdict.COMPLETE if len(words) >= LEAST_WORDS else Verdict.UNKNOWN


def judge_text(text: str, language: str, is_command: IsCommand) -> Verdict:
    """A transcript of free speech; `language` as "en" or "es-MX"."""
    words = [word.strip(".,;:!?¿¡…\"'") for word in text.lower().split()]
    words = [word for word in words if word]
    if not words:
        return Verdict.UNKNOWN
    if is_command(" ".join(words)):
        return Verdict.COMPLETE
    last_words = _UNFINISHED.get(language.partition("-")[0], frozenset[str]())
    goes_on = words[-1] in last_words or text.rstrip().endswith((",", "…", "..."))
    return Verdict.UNFINISHED if goes_on else Verdict.UNKNOWN


def is_whole(heard_at: int, last_voiced: int) -> bool:
    """Can a transcript that came at sample `heard_at` hold everything up to `last_voiced`?"""
    return heard_at - last_voiced >= TRANSCRIPT_LAG_MS * SAMPLES_PER_MS
