"""The remains of the wake word in front of a transcript."""

from collections.abc import Sequence
from difflib import SequenceMatcher

_MOST_WORDS = 3  # of one wake phrase
_ALIKE = 0.65  # recognisers write a made-up word in many ways
_FRAGMENT = 3  # letters of a piece of it; "is" is one of "jarvis", and a word of its own


def without_wake(text: str, phrases: Sequence[str]) -> str:
    """`text` without what its first words have of a wake phrase ("Nabu, turn on..."); "" for
    nothing else."""
    wake = {word.casefold() for phrase in phrases for word in phrase.split()}
    words = text.split()
    kept = next(
        (place for place, word in enumerate(words[:_MOST_WORDS]) if not _is_wake(word, wake)),
        min(len(words), _MOST_WORDS),
    )
    return " ".join(words[kept:])


def _is_wake(word: str, wake: set[str]) -> bool:
    plain = "".join(char for char in word.casefold() if char.isalnum())
    if len(plain) < 2:
        return False
    piece = len(plain) >= _FRAGMENT
    return any(
        (piece and (one.endswith(plain) or one.startswith(plain)))
        or SequenceMatcher(None, one, plain).ratio() >= _ALIKE
        for one in wake
    )
