"""Rewriting of amounts as they are read aloud: units, currencies, decimals, ranges and
fractions."""

import re

from assistant.speech.language import LanguageTable, Numbers, Unit
from assistant.speech.short_forms import DASH, MINUS, any_of, full_stop

# If both separators appear, the last one is the decimal mark, whatever the language's habit is.
_BOTH = r"[1-9]\d{0,2}(?:(?:\.\d{3})+,|(?:,\d{3})+\.)\d+(?![\d.,]\d)"


class Amounts:
    """Parses numbers as one language writes them, and puts them into words."""

    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers
        group = f"[{re.escape(numbers.thousands)}]"
        other = "." if "," in numbers.thousands else ","
        grouped = rf"[1-9]\d{{0,2}}(?:{group}\d{{3}})+(?!\d)(?:{re.escape(other)}\d+)?"
        self.pattern = rf"(?:{_BOTH}|{grouped}|\d+(?:[.,]\d+)?)"  # without a sign
        self.sign = rf"(?:(?<![\w)\]%°])[{MINUS}+])?"
        self.begin = r"(?<![\w.,:/])"
        self._both = re.compile(r"([\d.,]+)([.,])(\d+)")
        self._grouped = re.compile(rf"([1-9]\d{{0,2}}(?:{group}\d{{3}})+)(?:([.,])(\d+))?")
        self._ungrouped = re.compile(r"(\d+)(?:([.,])(\d+))?")

    def plain(self, number: str) -> str:
        """Return a number that has no unit, in words. Whole numbers stay digits."""
        digits, mark, _ = self.split(number)
        return self.say(number, None) if mark else digits

    def measured(self, number: str, unit: Unit) -> str:
        """Return a number and its unit in words."""
        digits, mark, decimals = self.split(number.lstrip(MINUS + "+"))
        one = int(digits) == 1 and not (mark and int(decimals))
        return f"{self.say(number, unit)} {unit.one if one else unit.many}"

    def say(self, number: str, unit: Unit | None) -> str:
        """Return a number in words, in the form that `unit` requires."""
        sign = ""
        if number[0] in MINUS:
            sign = f"{self._numbers.minus} "
        elif number[0] == "+":
            sign = f"{self._numbers.plus} "
        digits, mark, decimals = self.split(number.lstrip(MINUS + "+"))
        if not mark or (unit and not int(decimals)):  # "21.0 °C" is read as 21
            return sign + self._numbers.integer(int(digits), unit)
        return sign + self._numbers.decimal(digits, mark, decimals)

    def split(self, number: str) -> tuple[str, str, str]:
        """Return a number's digits without separators, its decimal mark or "", and its decimals."""
        parse = self._both if re.fullmatch(_BOTH, number) else self._grouped
        found = parse.fullmatch(number) or self._ungrouped.fullmatch(number)
        assert found, number
        digits, mark, decimals = found.groups(default="")
        return re.sub(r"\D", "", digits), mark, decimals


# Units that are not words, so they are recognised even without a number.
_LONE_UNITS = frozenset("kWh MWh Wh kW °C °F km/h m/s hPa mbar µg/m³ μg/m³ ppm kHz MHz GHz".split())
# Length units, to tell an area ("10 x 20 cm") from a quantity ("2 x 500 g").
_LENGTHS = frozenset("mm cm m km ft ″ in".split())
# After these words, "3 A" is not a current.
_PLACES = frozenset(
    """room apt apartment unit gate zone platform block section line bus piso puerta planta sala
    zona habitación línea""".split()
)
_SHORT_DECADE = re.compile(r"(?:\b[Tt]he\s|['’])[1-9]0s$")
_DECADE = re.compile(r"\d{4}s")  # "the 1980s" are not seconds


class MeasureReader:
    """Rewrites amounts in one language."""

    def __init__(self, spoken: LanguageTable, amounts: Amounts) -> None:
        self._spoken = spoken
        self._amounts = amounts
        number, begin, sign = amounts.pattern, amounts.begin, amounts.sign
        units = any_of(spoken.units)
        unit = rf"(?:{units})(?:/(?:{units}))?(?![\w/²³])"
        money = any_of(spoken.currencies)
        per = rf"(?:\s?/\s?({units})(?![\w/²³]))?"
        fractions = any_of(spoken.fractions)
        self._amount = re.compile(rf"\d|{fractions}")
        self._fraction = re.compile(
            rf"(?:(\d)(?:\s|(?=[½⅓⅔¼¾]))|(?<![\d/.,]))({fractions})(?![\d/])(?:\s?({unit}))?"
        )
        scale = rf"(?:\s({spoken.scales})\b)?"
        self._money_range = re.compile(
            rf"(?<!\w)(?:({money})\s?)?({number}){DASH}(?:({money})\s?)?({number})(?:\s?({money}))?(?!\w)"
        )
        self._before = re.compile(rf"(?<!\w)([{MINUS}+]?)({money})\s?({number}){scale}{per}")
        self._behind = re.compile(rf"{begin}({sign})({number})\s?({money})(?!\w){per}")
        self._unit_range = re.compile(
            rf"{begin}({sign}{number})(?:\s?({unit}))?({DASH}|\s(?:{spoken.range_words})\s)"
            rf"([{MINUS}]?{number})\s?({unit})"
        )
        self._product = re.compile(
            rf"{begin}({number})\s?[x×]\s?(?:({number})\s?[x×]\s?)?({number})\s?({unit})",
            re.IGNORECASE,
        )
        lengths = rf"\s?(?:{any_of(_LENGTHS & spoken.units.keys())})"
        self._side_by_side = re.compile(
            rf"{begin}({number}{lengths})\s?[x×]\s?(?={number}{lengths}(?![\w/²³]))", re.IGNORECASE
        )
        self._range = re.compile(r"(?<=\d)\s?–\s?(?=\d)")
        self._measure = re.compile(rf"{begin}({sign}{number})\s?({unit})")
        self._signed = re.compile(rf"(?<![\w.,:/)])([{MINUS}+]{number})")
        self._plain = re.compile(rf"{begin}({number})(?![\d])")
        self._lone = re.compile(
            rf"(?<![\w/])(?:{any_of(_LONE_UNITS & spoken.units.keys())})(?![\w/])"
        )

    def read(self, text: str) -> str:
        if self._amount.search(text):
            text = self._read_amounts(text)
        return self._lone.sub(lambda found: self._unit(found[0]).many, text)

    def _read_amounts(self, text: str) -> str:
        say = self._amounts
        text = self._fraction.sub(self._say_fraction, text)
        text = self._money_range.sub(self._say_money_range, text)
        text = self._before.sub(
            lambda found: self._say_money(found[1], found[3], found[2], found[5], found[4]), text
        )
        text = self._behind.sub(lambda found: self._say_money(*found.groups()), text)
        text = self._side_by_side.sub(rf"\1 {self._spoken.by} ", text)
        text = self._product.sub(self._say_product, text)
        text = self._unit_range.sub(self._say_range, text)
        text = self._range.sub(f" {self._spoken.to} ", text)
        text = self._measure.sub(self._say_measure, text)
        text = self._signed.sub(lambda found: say.say(found[1], None), text)
        return self._plain.sub(lambda found: say.plain(found[1]), text)

    def _say_fraction(self, found: re.Match[str]) -> str:
        words = self._spoken.fractions[found[2]]
        if found[1]:
            words = f"{found[1]} {self._spoken.symbols['&']} {words}"
        if not found[3]:
            return words
        unit = self._unit(found[3])
        return f"{words} {unit.many if found[1] else unit.one}"

    def _say_money(
        self, sign: str, number: str, currency: str, per: str | None, scale: str | None = None
    ) -> str:
        if scale:
            whole, _ = self._spoken.currencies[currency]
            return f"{self._amounts.say(sign + number, None)} {scale} {whole.many}"
        said = self._say_sum(sign, number, currency)
        return f"{said} {self._spoken.per} {self._unit(per).one}" if per else said

    def _say_sum(self, sign: str, number: str, currency: str) -> str:
        whole, hundredth = self._spoken.currencies[currency]
        digits, mark, decimals = self._amounts.split(number)
        if not mark or len(decimals) != 2:
            return self._amounts.measured(sign + number, whole)
        words = self._amounts.measured(sign + digits, whole)
        if not int(decimals):
            return words
        if not int(digits):
            return self._amounts.measured(sign + str(int(decimals)), hundredth)
        if not self._spoken.currency_join:
            return f"{words} {int(decimals)}"
        cents = self._amounts.measured(str(int(decimals)), hundredth)
        return f"{words} {self._spoken.currency_join} {cents}"

    def _say_money_range(self, found: re.Match[str]) -> str:
        currency = found[1] or found[5]
        if not currency or (found[3] and found[3] != currency):
            return found[0]
        whole, _ = self._spoken.currencies[currency]
        begin, last = self._amounts.say(found[2], whole), self._amounts.say(found[4], whole)
        return f"{begin} {self._spoken.to} {last} {whole.many}"

    def _say_range(self, found: re.Match[str]) -> str:
        begin, own, joint, last, sign = found.groups()
        if own and own != sign:
            return found[0]  # "30 s or 5 min" is two amounts, not a range
        unit, word = self._unit(sign), joint.strip()
        return (
            f"{self._amounts.say(begin, unit)} {word if word.isalpha() else self._spoken.to} "
            f"{self._amounts.say(last, unit)} {unit.many}"
        )

    def _say_product(self, found: re.Match[str]) -> str:
        *numbers, sign = found.groups()
        unit = self._unit(sign)
        *first, last = [number for number in numbers if number]
        if sign not in _LENGTHS:
            said = [self._amounts.plain(number) for number in first]
            return f" {self._spoken.times} ".join([*said, self._amounts.measured(last, unit)])
        said = [self._amounts.say(number, unit) for number in first]
        return f" {self._spoken.by} ".join([*said, self._amounts.measured(last, unit)])

    def _say_measure(self, found: re.Match[str]) -> str:
        if _DECADE.fullmatch(found[0]) or _SHORT_DECADE.search(found.string[: found.end()]):
            return found[0]
        before = found.string[: found.start()].split()[-1:]
        if len(found[2]) == 1 and found[2].isalpha() and before and before[0].lower() in _PLACES:
            return found[0]
        return self._amounts.measured(found[1], self._unit(found[2])) + full_stop(found)

    def _unit(self, sign: str) -> Unit:
        units = self._spoken.units
        if sign in units:
            return units[sign]
        # Two units of the table can be joined with a slash.
        above, _, below = sign.partition("/")
        unit, per = units[above], f" {self._spoken.per} {units[below].one}"
        return Unit(unit.one + per, unit.many + per, unit.feminine, unit.apart)
