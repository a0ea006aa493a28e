"""Numbers, dates, times, amounts and signs in words, by the rows of a language's table.

Each reader knows one kind of thing and leaves everything else as it is. Their order matters: a date
is read before a fraction, a time before a number.
"""

import re
from collections.abc import Callable
from functools import cache

from assistant.speech.language.table import LanguageTable
from assistant.speech.readers.dates import ClockReader, DateReader
from assistant.speech.readers.measures import Amounts, MeasureReader
from assistant.speech.readers.short import DigitReader, ShortReader, SignReader

Reader = Callable[[str], str]

_ENDLESS = re.compile(r"(\d{31,})")  # no amount of anything: left to the voice


def read_aloud(text: str, spoken: LanguageTable) -> str:
    """The text with all that the table knows written out. Plain whole numbers stay digits."""
    parts = _ENDLESS.split(text)
    for read in _readers(spoken):
        parts[::2] = map(read, parts[::2])
    return "".join(parts)


@cache
def _readers(spoken: LanguageTable) -> tuple[Reader, ...]:
    amounts = Amounts(spoken.numbers)
    short, signs = ShortReader(spoken), SignReader(spoken)
    dates, digits = DateReader(spoken), DigitReader(spoken)
    return (
        signs.plain_forms,
        short.rewrite,
        dates.stamps,
        short.read,
        dates.read,
        ClockReader(spoken).read,
        digits.read,
        signs.before_numbers,
        MeasureReader(spoken, amounts).read,
        signs.read,
    )
