"""Which phonemes belong to which word."""

import pytest

from audio.tts.piper import word_ends, word_positions

ALONE = {"of": "ʌv", "the": "ðə", "house": "haʊs", "12": "twɛlv", "21": "twɛnti wʌn", "-": ""}


def spoken(word: str) -> list[str]:
    return [ALONE[word.strip(".,")]] if word else []


@pytest.mark.parametrize(
    ("text", "sentences", "ends"),
    [
        ("the house", ["ðə haʊs"], [2, 7]),
        ("the, house.", ["ðə, haʊs."], [2, 8]),  # marks belong to no word
        ("the. house.", ["ðə.", "haʊs."], [2, 7]),
        ("of the house", ["ʌvðə haʊs"], [2, 4, 9]),  # two read as one
        ("21 house", ["twɛnti wʌn haʊs"], [10, 15]),  # one read as two
        ("the - house", ["ðə haʊs"], [2, 2, 7]),  # one without sound
        ("the", [], []),
        ("-", ["."], []),
    ],
)
def test_where_words_end(text: str, sentences: list[str], ends: list[int]) -> None:
    assert word_positions(text.split(), sentences, spoken) == ends


def test_ends_are_counted_from_the_chunk_in_which_they_are() -> None:
    positions = [2, 3, 5, 8]
    # A begin mark of 10 samples, phonemes of 100, an end mark of 7.
    assert word_ends(positions, 0, [10, 100, 100, 100, 7]) == (210, 310)
    assert word_ends(positions, 3, [10, 100, 100, 7]) == (210,)
    assert word_ends(positions, 5, [10, 100, 100, 100, 7]) == (310,)
