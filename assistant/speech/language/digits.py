"""For languages whose numbers the voice reads by itself: it is given digits as they write them."""

from collections.abc import Callable

from assistant.speech.language.table import Numbers, Unit


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
