"""Numbers, times, amounts and signs in words, by the rows of a language's table."""

import re
from functools import cache

from assistant.speech.language.table import Spoken, Unit

_TIME = re.compile(
    r"(?<![\d:.,/])(\d{1,2}):([0-5]\d)(?::([0-5]\d))?(?![\d:])(?:\s?([ap])\.?\s?m\b\.?|\s?h\b)?",
    re.IGNORECASE,
)
_HOUR = re.compile(r"(?<![\w:.,/])(1[0-2]|0?[1-9])\s?([ap])(?:\.\s?m\.|m\b)", re.IGNORECASE)
_VERSION = re.compile(r"(?<![\w.])v?(\d+(?:\.\d+){2,})(?![\w])")
_ARROW = re.compile(r"[-=]+>")
_ABOUT = re.compile(r"~\s?(?=\d)")
_TIMES = re.compile(r"(?<=\d)\s*\*\s*(?=\d)")
_SLASH = re.compile(r"(?<=\d)\s?/\s?(?=\d)")
_NUMBER_SIGN = re.compile(r"(?<!\w)#\s?(?=\d)")
_COMPARED = re.compile(r"[<>](?!=?\s?\d)")  # what is left of brackets, no comparison
# Units that are no words, so that they can stand without a number.
_LONE_UNITS = "kWh MWh Wh kW °C °F km/h m/s hPa mbar µg/m³ μg/m³ ppm kHz MHz GHz".split()
_MINUS = "-−–"
_DECADE = re.compile(r"\d{4}s")  # "the 1980s" are no seconds


def say_quantities(text: str, spoken: Spoken) -> str:
    """The text with all that the table knows written out. Plain whole numbers stay digits."""
    return _Rules.of(spoken).apply(text)


class _Rules:
    """The table's rows as patterns, compiled once per language."""

    def __init__(self, spoken: Spoken) -> None:
        self._spoken = spoken
        group = re.escape(spoken.thousands)
        other = "." if spoken.thousands == "," else ","
        grouped = rf"[1-9]\d{{0,2}}(?:{group}\d{{3}})+(?!\d)(?:{re.escape(other)}\d+)?"
        number = rf"(?:{grouped}|\d+(?:[.,]\d+)?)"
        begin = r"(?<![\w.,:/])"
        sign = rf"(?:(?<![\w)\]%°])[{_MINUS}+])?"
        unit = rf"(?:{_any(spoken.units)})(?![\w/²³])"
        money = f"[{re.escape(''.join(spoken.currencies))}]"
        self._fraction = re.compile(
            rf"(?:(\d)(?:\s|(?=[½⅓⅔¼¾]))|(?<![\d/.,]))({_any(spoken.fractions)})(?![\d/])"
        )
        self._thousands = re.compile(rf"[1-9]\d{{0,2}}(?:{group}\d{{3}})+")
        self._before = re.compile(rf"(?<!\w)([{_MINUS}]?)({money})\s?({number})")
        self._behind = re.compile(rf"{begin}({sign})({number})\s?({money})")
        self._unit_range = re.compile(
            rf"{begin}({sign}{number})\s?(?:{unit})?\s?[-–—]\s?({number})\s?({unit})"
        )
        self._range = re.compile(r"(?<=\d)\s?–\s?(?=\d)")
        self._measure = re.compile(rf"{begin}({sign}{number})\s?({unit})")
        self._signed = re.compile(rf"(?<![\w.,:/)])([{_MINUS}+]{number})")
        self._plain = re.compile(rf"{begin}({number})(?![\d])")
        self._lone = re.compile(rf"(?<![\w/])(?:{_any(_LONE_UNITS)})(?![\w/])")
        self._symbol = re.compile(f"[{re.escape(''.join(spoken.symbols))}]")
        self._short = [
            (re.compile(rf"(?<!\w){re.escape(short)}(?!\w)", re.IGNORECASE), f"{words}")
            for short, words in spoken.abbreviations.items()
        ]

    @staticmethod
    @cache
    def of(spoken: Spoken) -> "_Rules":
        return _Rules(spoken)

    def apply(self, text: str) -> str:
        spoken = self._spoken
        for pattern, words in self._short:
            text = pattern.sub(words, text)
        text = _TIME.sub(self._say_time, text)
        text = _HOUR.sub(self._say_hour, text)
        text = _VERSION.sub(self._say_version, text)
        text = _COMPARED.sub(" ", _ABOUT.sub("≈", _ARROW.sub("→", text)))
        text = _NUMBER_SIGN.sub(f"{spoken.number} ", text)
        text = self._fraction.sub(self._say_fraction, text)
        text = self._before.sub(lambda found: self._say_money(found[1], found[3], found[2]), text)
        text = self._behind.sub(lambda found: self._say_money(*found.groups()), text)
        text = self._unit_range.sub(self._say_range, text)
        text = self._range.sub(f" {spoken.to} ", text)
        text = self._measure.sub(self._say_measure, text)
        text = self._signed.sub(lambda found: self._amount(found[1], None), text)
        text = self._plain.sub(lambda found: self._say_plain(found[1]), text)
        text = self._lone.sub(lambda found: spoken.units[found[0]].many, text)
        text = _SLASH.sub(f" {spoken.slash} ", _TIMES.sub("×", text))
        return self._symbol.sub(lambda found: f" {spoken.symbols[found[0]]} ", text)

    def _say_time(self, found: re.Match[str]) -> str:
        hour, minute, second, half = found.groups()
        if int(hour) > 23:
            return found[0]
        half = f"{half.lower()}m" if half and 1 <= int(hour) <= 12 else ""
        words = self._spoken.clock(
            int(hour) % 12 + 12 * (half == "pm") if half else int(hour), int(minute), half
        )
        if second and int(second):
            words += f" {self._spoken.seconds(int(second))}"
        return words + _full_stop(found)

    def _say_hour(self, found: re.Match[str]) -> str:
        half = f"{found[2].lower()}m"
        return self._spoken.clock(int(found[1]) % 12 + 12 * (half == "pm"), 0, half) + _full_stop(
            found
        )

    def _say_version(self, found: re.Match[str]) -> str:
        if self._thousands.fullmatch(found[1]):
            return found[0]
        return found[1].replace(".", f" {self._spoken.point} ")

    def _say_fraction(self, found: re.Match[str]) -> str:
        words = self._spoken.fractions[found[2]]
        return f"{found[1]} {self._spoken.symbols['&']} {words}" if found[1] else words

    def _say_money(self, sign: str, number: str, currency: str) -> str:
        whole, hundredth = self._spoken.currencies[currency]
        digits, mark, decimals = self._split(number)
        if not mark or len(decimals) != 2:
            return self._measured(sign + number, whole)
        words = self._measured(sign + digits, whole)
        if not int(decimals):
            return words
        cents = self._measured(str(int(decimals)), hundredth)
        return cents if not int(digits) else f"{words} {self._spoken.currency_join} {cents}"

    def _say_range(self, found: re.Match[str]) -> str:
        unit = self._spoken.units[found[3]]
        return f"{self._amount(found[1], unit)} {self._spoken.to} {self._measured(found[2], unit)}"

    def _say_measure(self, found: re.Match[str]) -> str:
        if _DECADE.fullmatch(found[0]):
            return found[0]
        return self._measured(found[1], self._spoken.units[found[2]])

    def _say_plain(self, number: str) -> str:
        digits, mark, _ = self._split(number)
        return self._amount(number, None) if mark else digits

    def _measured(self, number: str, unit: Unit) -> str:
        one = number.lstrip(_MINUS + "+") == "1"
        return f"{self._amount(number, unit)} {unit.one if one else unit.many}"

    def _amount(self, number: str, unit: Unit | None) -> str:
        """A number with sign and decimals in words, as it stands before the unit."""
        sign = ""
        if number[0] in _MINUS:
            sign = f"{self._spoken.minus} "
        elif number[0] == "+":
            sign = f"{self._spoken.plus} "
        digits, mark, decimals = self._split(number.lstrip(_MINUS + "+"))
        if not mark or (unit and not int(decimals)):  # "21.0 °C" is said as 21
            return sign + self._spoken.integer(int(digits), unit)
        point = self._spoken.decimal_signs[mark]
        whole = self._spoken.integer(int(digits), None)
        return f"{sign}{whole} {point} {self._spoken.decimals(decimals)}"

    def _split(self, number: str) -> tuple[str, str, str]:
        """Digits, decimal sign or nothing, decimals; signs between thousands are gone."""
        group = re.escape(self._spoken.thousands)
        found = re.fullmatch(rf"([1-9]\d{{0,2}}(?:{group}\d{{3}})+)(?:([.,])(\d+))?", number)
        found = found or re.fullmatch(r"(\d+)(?:([.,])(\d+))?", number)
        assert found, number
        digits, mark, decimals = found.groups(default="")
        return re.sub(r"\D", "", digits), mark, decimals


def _any(signs: object) -> str:
    """A pattern for any of the texts, the longest first."""
    assert hasattr(signs, "__iter__")
    return "|".join(re.escape(sign) for sign in sorted(signs, key=len, reverse=True))


def _full_stop(found: re.Match[str]) -> str:
    """The point of "p.m." that also ends its sentence."""
    rest = found.string[found.end() :].lstrip()
    return "." if found[0].endswith(".") and (not rest or rest[0].isupper()) else ""
