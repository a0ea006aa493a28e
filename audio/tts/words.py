"""Where words end in a neural voice's sound: from its phonemes and how long each of them is."""

from collections.abc import Callable, Sequence
from itertools import accumulate

# Phonemes that are none, only how Piper tells a voice of pauses and of the melody.
_MARKS = frozenset(".,;:!?¡¿…\"'()- ")

Sentences = Sequence[Sequence[str]]  # the phonemes of each


def word_positions(
    words: Sequence[str], sentences: Sentences, spoken: Callable[[str], Sentences]
) -> list[int]:
    """How many of the clause's phonemes have sounded when each of its words has.

    A space parts two words, and so does the end of a sentence. A voice reads some words together
    ("of the") and one word as several ("1234"); then each word takes the part of the clause that it
    takes of all words spoken alone, which `spoken` tells: right within a word. Empty where nothing
    is spoken.
    """
    ends = _ends_of_groups(sentences)
    if len(ends) == len(words):
        return ends
    lengths = [len(_sounding(spoken(word))) for word in words]
    sounding = _sounding(sentences)
    whole = sum(lengths)
    if not whole or not sounding:
        return []
    parts = (done * len(sounding) / whole for done in accumulate(lengths))
    return [sounding[max(0, round(part) - 1)] for part in parts]


def _sounding(sentences: Sentences) -> list[int]:
    """How many phonemes there are up to each that is heard, itself included."""
    phonemes = (phoneme for sentence in sentences for phoneme in sentence)
    return [count for count, phoneme in enumerate(phonemes, 1) if phoneme not in _MARKS]


def _ends_of_groups(sentences: Sentences) -> list[int]:
    ends: list[int] = []
    count = 0
    for sentence in sentences:
        within = False
        for phoneme in sentence:
            count += 1
            if phoneme == " ":
                within = False
            elif phoneme not in _MARKS:
                ends[len(ends) - within :] = [count]
                within = True
    return ends


def word_ends(positions: Sequence[int], before: int, samples: Sequence[int]) -> tuple[int, ...]:
    """The ends, in samples from the chunk's begin, of the words that end in a chunk.

    `positions`: of all the clause's words. `before`: phonemes of the clause before this chunk.
    `samples`: how many each phoneme of the chunk lasts, its begin and end marks included.
    """
    until = list(accumulate(samples))
    count = len(samples) - 2  # without those marks
    inside = (position - before for position in positions)
    return tuple(int(until[place]) for place in inside if 0 < place <= count)
