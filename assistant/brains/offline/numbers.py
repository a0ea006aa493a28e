"""Numbers between 0 and 100 in English words, both ways."""

import re

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_HUNDRED = "one hundred"


def number_words(number: int) -> str:
    """In words up to 100, digit by digit beyond."""
    if number < 20:
        return _SMALL[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return _TENS[tens - 2] + (f" {_SMALL[ones]}" if ones else "")
    if number == 100:
        return _HUNDRED
    return " ".join(_SMALL[int(digit)] for digit in str(number))


_BY_WORDS = {number_words(number): str(number) for number in range(101)} | {"a hundred": "100"}
_SPOKEN = re.compile(
    r"\b(" + "|".join(sorted(_BY_WORDS, key=len, reverse=True)) + r")(?=\s+(percent|degrees?)\b)"
)


def digits_for_quantities(text: str) -> str:
    """ "fifty percent" -> "50 percent": numbers in front of a unit become digits."""
    return _SPOKEN.sub(lambda found: _BY_WORDS[found[1]], text)
