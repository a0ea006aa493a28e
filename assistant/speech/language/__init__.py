"""Tables that define how each language reads numbers, times and units aloud."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module


@dataclass(frozen=True, slots=True)
class Unit:
    """Spoken name of a unit, in the singular and plural."""

    one: str
    many: str
    feminine: bool = False  # for languages whose number words agree: "una hora"
    apart: bool = False  # the number keeps its full form: "veintiuno por ciento"


@dataclass(frozen=True, slots=True)
class Numbers:
    """Rules for writing and speaking numbers.

    In a language whose voice reads numbers well, the functions return digits.
    """

    thousands: str  # separators between groups of three digits, such as ","
    decimal_mark: str  # the usual one; both "." and "," are understood
    integer: Callable[[int, Unit | None], str]  # a whole number >= 0 and the unit that follows
    decimal: Callable[[str, str, str], str]  # digits, mark and decimals, such as ("21", ".", "5")
    spell: Callable[[str], str]  # digit by digit
    ordinal_signs: str  # pattern of what marks an ordinal, as in "1st" and "2.ª"
    ordinal: Callable[[int, str], str | None]  # number and sign; None if it is not an ordinal
    minus: str
    plus: str


@dataclass(frozen=True, slots=True)
class Calendar:
    """Rules for writing and speaking dates and times of day."""

    clock: Callable[[int, int, str], str]  # hour 0 to 23, minute, "am", "pm" or ""
    seconds: Callable[[int], str]  # words for the seconds after a time
    # Year, month 1 to 12, day, and the word before, which can affect the inflection.
    date: Callable[[int | None, int, int | None, str], str]
    months: Mapping[str, int]  # names and abbreviations, lower case
    weekdays: Mapping[str, str]  # abbreviation, lower case -> name
    month_first: bool  # True for "11/21/2026" and "Nov 21"
    clock_words: str  # pattern of words after "18:30" that are not repeated
    h_is_clock: bool  # True if "18h30" is a time of day
    half_joints: str  # pattern of the words in "6 to 7:30 PM"; "" if there is no AM and PM
    joint: str  # pattern between day and month in writing: "de" in "21 de nov"
    durations: Mapping[str, Unit]  # "d", "h", "m", "s" within "1h 30m"


@dataclass(frozen=True, slots=True, eq=False)  # one object per language, compared by identity
class LanguageTable:
    """Words and rules for speaking one language, in lower case except for names, and without
    digits."""

    numbers: Numbers
    calendar: Calendar
    units: Mapping[str, Unit]  # as written -> as spoken
    per: str  # between units: "euros per kilowatt hour"
    currencies: Mapping[str, tuple[Unit, Unit]]  # sign -> whole and hundredth
    currency_join: str  # between whole and hundredths; "" to omit the cents, as in "3 Euro 50"
    fractions: Mapping[str, str]  # "1/2" and "½" -> words
    symbols: Mapping[str, str]  # one character -> word
    abbreviations: Mapping[str, str]  # as written, ignoring case -> words
    inner: Mapping[str, str]  # like `abbreviations`, but never at a sentence's end: titles, "e.g."
    before_number: Mapping[str, str]  # like `abbreviations`, but only before a number
    acronyms: Mapping[str, str]  # as written -> words, if a voice would read it as a word
    rewrites: Sequence[tuple[str, str]]  # pattern -> replacement, applied first
    to: str  # between the ends of a range
    range_words: str  # pattern of words between the ends of a range
    scales: str  # pattern of scale words, as in "$1.5 million"
    by: str  # "3 x 4 m"
    times: str  # "3 x 500 g"
    phones: str  # pattern of local phone numbers
    dot: str  # in host and file names
    point: str  # in a version number
    number: str  # for "#5"
    version: str  # for "v2.3"
    slash: str  # between digits
    power: str  # "10^3"


def integer(number: int, unit: Unit | None = None) -> str:
    return str(number)


def spell(digits: str) -> str:
    return " ".join(digits)


def no_ordinal(number: int, sign: str) -> str | None:
    # An ordinal stays as it is written.
    return None


def numbers(thousands: str, minus: str, plus: str, mark: str = ",") -> Numbers:
    """Return rules that keep digits and use `mark` as the decimal mark."""
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


def clock(joint: str, whole: str = "", one: str = "") -> Callable[[int, int, str], str]:
    """Return a function for times such as "18 <joint> 30" and, on the hour, "18 <whole>".

    If `whole` is "", the joint is used on the hour too. `one` is the hour's plural and singular,
    such as "horas hora", for languages that need the singular for 0 and 1.
    """
    many, single = one.split() if one else ("", "")

    def say(hour: int, minute: int, half: str) -> str:
        said = f"{hour} {joint} {minute}" if minute else f"{hour} {whole or joint}"
        return said.replace(many, single) if many and hour < 2 else said

    return say


def units(names: dict[str, tuple[str, str]]) -> dict[str, Unit]:
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
    """Return the table for a code such as "en" or "es-MX", or None if the language has none."""
    name = _MODULES.get(language.lower().replace("_", "-").split("-")[0])
    if name is None:
        return None
    table: LanguageTable = getattr(import_module(f"{__package__}.{name}"), name.upper())
    return table
