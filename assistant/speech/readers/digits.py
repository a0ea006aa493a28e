"""What is said digit by digit or part by part: telephone numbers, versions, addresses, ordinals."""

import re

from assistant.speech.language.table import Spoken

_VERSION = re.compile(r"(?<![\w.])(v)?(\d+(?:\.\d+){2,})(?!\w)", re.IGNORECASE)
_SHORT_VERSION = re.compile(r"(?<![\w.])v(\d+(?:\.\d+)?)(?![\w.]*\w)", re.IGNORECASE)
_PHONE = re.compile(
    r"(?<![\w.,/+-])(?:\+\d{1,3}(?:[ -]?(?:\(\d{1,4}\)|\d{1,4})){2,6}|(?:1-)?(?:\d{3}-){1,2}\d{4}"
    r"|\(\d{3}\) \d{3}-\d{4})(?![\w/-]|[.,]\d)"
)
_RATIO = re.compile(r"(?<![\w.,:/-])(\d{1,3})(?::(\d|[6-9]\d)|-(\d{1,3}))(?![\w:/-]|[.,]\d)")
_MAC = re.compile(r"(?<![\w:])(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}(?![\w:])")


class DigitReader:
    """Says such digits of one language."""

    def __init__(self, spoken: Spoken) -> None:
        self._numbers = spoken.numbers
        self._to = spoken.to
        self._own_phone = re.compile(rf"(?<![\w.,/+-])(?:{spoken.phones})(?![\w/-]|[.,]\d)")
        self._point, self._version = spoken.point, spoken.version
        group = re.escape(spoken.numbers.thousands)
        self._thousands = re.compile(rf"[1-9]\d{{0,2}}(?:[{group}]\d{{3}})+")
        self._ordinal = re.compile(rf"(?<![\w.,:/])(\d+)({spoken.numbers.ordinal_signs})(?!\w)")

    def read(self, text: str) -> str:
        """The text with such digits in words."""
        text = _MAC.sub(self._say_mac, text)
        text = _PHONE.sub(self._say_phone, text)
        text = self._own_phone.sub(self._say_phone, text)
        text = _VERSION.sub(self._say_version, text)
        text = _SHORT_VERSION.sub(self._say_short_version, text)
        text = _RATIO.sub(self._say_ratio, text)
        return self._ordinal.sub(self._say_ordinal, text)

    def _say_mac(self, found: re.Match[str]) -> str:
        pairs = found[0].upper().split(":")
        return ", ".join(self._say_signs(pair) for pair in pairs)

    def _say_signs(self, text: str) -> str:
        return " ".join(self._numbers.spell(sign) if sign.isdigit() else sign for sign in text)

    def _say_phone(self, found: re.Match[str]) -> str:
        groups = re.findall(r"\d+", found[0])
        said = ", ".join(self._numbers.spell(group) for group in groups)
        return f"{self._numbers.plus} {said}" if found[0].startswith("+") else said

    def _say_version(self, found: re.Match[str]) -> str:
        if self._thousands.fullmatch(found[2]):
            return found[0]
        said = found[2].replace(".", f" {self._point} ")
        return f"{self._version} {said}" if found[1] else said

    def _say_short_version(self, found: re.Match[str]) -> str:
        return f"{self._version} " + found[1].replace(".", f" {self._point} ")

    def _say_ratio(self, found: re.Match[str]) -> str:
        """A score or ratio; times of day have been read before."""
        return f"{found[1]} {self._to} {found[2] or found[3]}"

    def _say_ordinal(self, found: re.Match[str]) -> str:
        return self._numbers.ordinal(int(found[1]), found[2]) or found[0]
