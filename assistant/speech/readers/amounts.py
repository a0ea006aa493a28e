"""A number, with its sign and decimals, in words."""

import re

from assistant.speech.language.table import Numbers, Unit
from assistant.speech.readers.patterns import MINUS


class Amounts:
    """Reads numbers as one language writes them."""

    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers
        group = f"[{re.escape(numbers.thousands)}]"
        other = "." if "," in numbers.thousands else ","
        grouped = rf"[1-9]\d{{0,2}}(?:{group}\d{{3}})+(?!\d)(?:{re.escape(other)}\d+)?"
        self.pattern = rf"(?:{grouped}|\d+(?:[.,]\d+)?)"  # without a sign
        self.sign = rf"(?:(?<![\w)\]%°])[{MINUS}+])?"
        self.begin = r"(?<![\w.,:/])"
        self._grouped = re.compile(rf"([1-9]\d{{0,2}}(?:{group}\d{{3}})+)(?:([.,])(\d+))?")
        self._ungrouped = re.compile(r"(\d+)(?:([.,])(\d+))?")

    def plain(self, number: str) -> str:
        """Without a unit: whole ones stay digits."""
        digits, mark, _ = self.split(number)
        return self.say(number, None) if mark else digits

    def measured(self, number: str, unit: Unit) -> str:
        """With its unit, in the singular for one."""
        digits, mark, decimals = self.split(number.lstrip(MINUS + "+"))
        one = int(digits) == 1 and not (mark and int(decimals))
        return f"{self.say(number, unit)} {unit.one if one else unit.many}"

    def say(self, number: str, unit: Unit | None) -> str:
        """With sign and decimals, as it stands before the unit."""
        sign = ""
        if number[0] in MINUS:
            sign = f"{self._numbers.minus} "
        elif number[0] == "+":
            sign = f"{self._numbers.plus} "
        digits, mark, decimals = self.split(number.lstrip(MINUS + "+"))
        if not mark or (unit and not int(decimals)):  # "21.0 °C" is said as 21
            return sign + self._numbers.integer(int(digits), unit)
        return sign + self._numbers.decimal(digits, mark, decimals)

    def split(self, number: str) -> tuple[str, str, str]:
        """Digits, decimal mark or nothing, decimals; signs between thousands are gone."""
        found = self._grouped.fullmatch(number) or self._ungrouped.fullmatch(number)
        assert found, number
        digits, mark, decimals = found.groups(default="")
        return re.sub(r"\D", "", digits), mark, decimals
