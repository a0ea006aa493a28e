"""Checks and conversions of a tool's arguments, as strict and lax as Home Assistant 2026.11's."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from integrations.demo_home.colors import color_rgb

Check = Callable[[Any], Any]  # gives the converted value, or raises ValueError


class SlotError(ValueError):
    """An argument is missing or wrong. Home Assistant does not say which."""


@dataclass(frozen=True, slots=True)
class Slots:
    """The arguments that a tool knows, each with its check."""

    checks: Mapping[str, Check]
    required: tuple[str, ...] = ()

    def read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The checked arguments: null and "" dropped, unknown ones ignored. Raises SlotError."""
        given = {key: value for key, value in arguments.items() if value not in (None, "")}
        if any(name not in given for name in self.required):
            raise SlotError
        try:
            return {
                name: check(given[name]) for name, check in self.checks.items() if name in given
            }
        except (TypeError, ValueError) as error:
            raise SlotError from error


def text(value: Any) -> str:
    """A string that is not blank; numbers are taken as text, lists are not."""
    if isinstance(value, list | dict) or not str(value).strip():
        raise ValueError("not a text")
    return str(value)


def texts(choices: Sequence[str] = ()) -> Check:
    """One string or a list of strings, all among `choices` if there are any."""

    def check(value: Any) -> tuple[str, ...]:
        values = tuple(text(item) for item in (value if isinstance(value, list) else [value]))
        if choices and not set(values) <= set(choices):
            raise ValueError("not among the choices")
        return values

    return check


def integer(low: int, high: int | None) -> Check:
    """A whole number in the range; "30" and 30.7 are taken as 30."""

    def check(value: Any) -> int:
        number = int(value)
        if number < low or (high is not None and number > high):
            raise ValueError("out of range")
        return number

    return check


def number(value: Any) -> float:
    """Any number, also as text."""
    return float(value)


def color(value: Any) -> tuple[int, int, int]:
    """A colour by its name."""
    return color_rgb(text(value))


def volume_step(value: Any) -> int | str:
    """ "up", "down" or percent from -100 to 100."""
    return str(value) if value in ("up", "down") else int(integer(-100, 100)(value))


def anything(value: Any) -> Any:
    """Whatever is given."""
    return value
