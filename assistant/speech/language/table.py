"""What a language must tell so that numbers, times and units can be spoken in it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit in words."""

    one: str
    many: str
    feminine: bool = False  # for languages whose number words agree: "una hora"
    apart: bool = False  # the number keeps its full form: "veintiuno por ciento"


@dataclass(frozen=True, slots=True, eq=False)  # one object per language, known by identity
class Spoken:
    """One language's rows. All texts are lower case and without digits."""

    thousands: str  # the sign between groups of three digits, e.g. ","
    integer: Callable[[int, Unit | None], str]  # a whole number >= 0, before that unit if any
    decimals: Callable[[str], str]  # the digits after the decimal sign
    decimal_signs: Mapping[str, str]  # sign -> word
    minus: str
    plus: str
    to: str  # between the ends of a range
    clock: Callable[[int, int, str], str]  # hour 0 to 23, minute, "am", "pm" or ""
    seconds: Callable[[int], str]  # what follows the clock time when seconds are given
    units: Mapping[str, Unit]  # as written -> as spoken
    currencies: Mapping[str, tuple[Unit, Unit]]  # sign -> whole and hundredth
    currency_join: str  # between whole and hundredths
    fractions: Mapping[str, str]  # "1/2" and "½" -> words
    symbols: Mapping[str, str]  # one character -> word
    abbreviations: Mapping[str, str]  # as written, without regard to case -> words
    dot: str  # in the name of a host or file
    point: str  # in a version number
    number: str  # for "#5"
    slash: str  # between digits
