"""Table of what a language must tell so that numbers, times and units can be spoken in it.

One module for each language fills in its `LanguageTable`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit in words."""

    one: str
    many: str
    feminine: bool = False  # for languages whose number words agree: "una hora"
    apart: bool = False  # the number keeps its full form: "veintiuno por ciento"


@dataclass(frozen=True, slots=True)
class Numbers:
    """Rules of how numbers are written and said.

    A language whose numbers are left to the voice gives them back as digits.
    """

    thousands: str  # the signs between groups of three digits, e.g. ","
    decimal_mark: str  # the usual one; "." and "," are both read
    integer: Callable[[int, Unit | None], str]  # a whole number >= 0, before that unit if any
    decimal: Callable[[str, str, str], str]  # whole digits, mark, decimals, e.g. ("21", ".", "5")
    spell: Callable[[str], str]  # digit by digit
    ordinal_signs: str  # a pattern of what makes "1st", "2.ª" an ordinal
    ordinal: Callable[[int, str], str | None]  # with its sign; None: it is none
    minus: str
    plus: str


@dataclass(frozen=True, slots=True)
class Calendar:
    """Rules of how dates and times of day are written and said."""

    clock: Callable[[int, int, str], str]  # hour 0 to 23, minute, "am", "pm" or ""
    seconds: Callable[[int], str]  # what follows the clock time when seconds are given
    # Year, month 1 to 12, day, and the word before, by which it may be inflected.
    date: Callable[[int | None, int, int | None, str], str]
    months: Mapping[str, int]  # names and abbreviations, lower case
    weekdays: Mapping[str, str]  # abbreviation, lower case -> name
    month_first: bool  # "11/21/2026", "Nov 21"
    clock_words: str  # a pattern of what may follow "18:30" and is not said again
    h_is_clock: bool  # "18h30" is a time of day
    half_joints: str  # a pattern of the words in "6 to 7:30 PM"; "": it has no halves of a day
    joint: str  # between day and month when written, as a pattern: "de" in "21 de nov"
    durations: Mapping[str, Unit]  # "d", "h", "m", "s" within "1h 30m"


@dataclass(frozen=True, slots=True, eq=False)  # one object per language, known by identity
class LanguageTable:
    """One language's rows. Texts are lower case, but for names, and without digits."""

    numbers: Numbers
    calendar: Calendar
    units: Mapping[str, Unit]  # as written -> as spoken
    per: str  # between units: "euros per kilowatt hour"
    currencies: Mapping[str, tuple[Unit, Unit]]  # sign -> whole and hundredth
    currency_join: str  # between whole and hundredths; "": "3 Euro 50", without the small coin
    fractions: Mapping[str, str]  # "1/2" and "½" -> words
    symbols: Mapping[str, str]  # one character -> word
    abbreviations: Mapping[str, str]  # as written, without regard to case -> words
    inner: Mapping[str, str]  # the same, of those that end no sentence: titles, "e.g."
    before_number: Mapping[str, str]  # the same, where a number follows
    acronyms: Mapping[str, str]  # as written -> words, where a voice would read a word
    rewrites: Sequence[tuple[str, str]]  # a pattern and what it becomes, before all else
    to: str  # between the ends of a range
    range_words: str  # a pattern of the words that may stand there in the text
    scales: str  # a pattern of what follows a sum: "$1.5 million"
    by: str  # "3 x 4 m"
    times: str  # "3 x 500 g"
    phones: str  # a pattern of telephone numbers that only its country writes
    dot: str  # in the name of a host or file
    point: str  # in a version number
    number: str  # for "#5"
    version: str  # for "v2.3"
    slash: str  # between digits
    power: str  # "10^3"


def integer(number: int, unit: Unit | None = None) -> str:
    """A whole number as digits."""
    return str(number)


def spell(digits: str) -> str:
    """Digit by digit."""
    return " ".join(digits)


def no_ordinal(number: int, sign: str) -> str | None:
    """Left as it is written."""
    return None


def numbers(thousands: str, minus: str, plus: str, mark: str = ",") -> Numbers:
    """Digits, with the language's own sign before the decimals."""
    return Numbers(
        thousands=thousands,
        decimal_mark=mark,
        integer=integer,
        decimal=lambda whole, _, decimals: f"{whole}{mark}{decimals}",
        spell=spell,
        ordinal_signs="(?!)",
        ordinal=no_ordinal,
        minus=minus,
        plus=plus,
    )


def clock(joint: str, whole: str = "") -> Callable[[int, int, str], str]:
    """A time as "18 <joint> 30"; on the hour "18 <whole>", with `whole` the joint if it is ""."""

    def say(hour: int, minute: int, half: str) -> str:
        return f"{hour} {joint} {minute}" if minute else f"{hour} {whole or joint}"

    return say


def units(names: dict[str, tuple[str, str]]) -> dict[str, Unit]:
    """Rows of (one, many)."""
    return {sign: Unit(one, many) for sign, (one, many) in names.items()}


_MODULES = {
    "en": "english",
    "es": "spanish",
    "pt": "portuguese",
    "de": "german",
    "fr": "french",
    "vi": "vietnamese",
}


@cache
def spoken_language(language: str) -> LanguageTable | None:
    """The table for a code such as "en" or "es-MX"; None where there is none.

    A table is imported when its language is first spoken.
    """
    name = _MODULES.get(language.lower().replace("_", "-").split("-")[0])
    if name is None:
        return None
    table: LanguageTable = getattr(import_module(f"{__package__}.{name}"), name.upper())
    return table
