"""JSON Schemas of tool arguments, and validation that is as strict or lax as Home Assistant's."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from integrations.demo_home.scenes import color_rgb

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
PERCENT: Schema = {"type": "integer", "minimum": 0, "maximum": 100}
# Home Assistant combines the type and range of some fields with `allOf` instead of merging them.
PERCENT_ALL_OF: Schema = {
    "allOf": [{"type": "integer"}, {"type": "number", "minimum": 0, "maximum": 100}]
}

BUTTON = ("identify", "restart", "update")
COVER = (
    *("awning", "blind", "curtain", "damper", "door"),
    *("garage", "gate", "shade", "shutter", "window"),
)
PLAYER = ("tv", "speaker", "receiver", "projector")
SWITCH = ("outlet", "switch")
VALVE = ("water", "gas")
ON_OFF = (*BUTTON, *COVER, *PLAYER, *SWITCH, *VALVE)
MOVING = (*COVER, *VALVE)


def choice(*values: str) -> Schema:
    return {"type": "string", "enum": list(values)}


def described(schema: Schema, description: str) -> Schema:
    return {**schema, "description": description}


def target(
    domain: str | None = None, device_classes: tuple[str, ...] = (), *, any_domain: bool = False
) -> Schema:
    """Return the schema properties with which a tool selects its targets."""
    properties: Schema = {"name": TEXT, "area": TEXT, "floor": TEXT}
    if domain is not None:
        properties["domain"] = {"type": "array", "items": choice(domain)}
    if any_domain:
        properties["domain"] = {"type": "array", "items": TEXT}
    if device_classes:
        properties["device_class"] = {"type": "array", "items": choice(*device_classes)}
    return properties


def input_schema(properties: Schema, required: tuple[str, ...] = ()) -> Schema:
    schema: Schema = {"properties": properties, "type": "object"}
    if required:
        schema["required"] = list(required)
    return schema


Check = Callable[[Any], Any]  # returns the converted value, or raises ValueError


class SlotError(ValueError):
    """An argument is missing or invalid. For an intent, the message is empty, because Home
    Assistant's error doesn't name the argument."""


@dataclass(frozen=True, slots=True)
class Slots:
    checks: Mapping[str, Check]
    required: tuple[str, ...] = ()

    def read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the checked arguments, ignoring null, blank and unknown ones. Raises SlotError."""
        given = {key: value for key, value in arguments.items() if not _blank(value)}
        if any(name not in given for name in self.required):
            raise SlotError
        try:
            return {
                name: check(given[name]) for name, check in self.checks.items() if name in given
            }
        except (TypeError, ValueError) as error:
            raise SlotError from error


@dataclass(frozen=True, slots=True)
class Fields:
    """The arguments that a tool other than an intent accepts, with their checks."""

    checks: Mapping[str, Check]
    required: tuple[str, ...] = ()

    def read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the checked arguments. Raises SlotError with a message that names the unknown,
        missing or invalid argument."""
        for name in arguments:
            if name not in self.checks:
                raise SlotError(f"not a valid option at '{name}'")
        for name in self.required:
            if name not in arguments:
                raise SlotError(f"required key not provided at '{name}'")
        values = {}
        for name, value in arguments.items():
            try:
                values[name] = self.checks[name](value)
            except ValueError as error:
                raise SlotError(f"{error} at '{name}'") from error
        return values


def _blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def plain(value: Any) -> str:
    """Convert the value to a string, which can be empty. Lists, objects and null are rejected."""
    if value is None:
        raise ValueError("string value is None")
    if isinstance(value, list | dict):
        raise ValueError("value should be a string")
    return str(value)


def plain_list(value: Any) -> tuple[str, ...]:
    """Convert a string or a list of strings to lower-case strings, leaving out blank ones."""
    values = value if isinstance(value, list) else [value]
    return tuple(text for item in values if (text := plain(item).strip().lower()))


def one_of(choices: Sequence[str]) -> Check:
    def check(value: Any) -> str:
        if value not in choices:
            raise ValueError(f"value must be one of {sorted(choices)}")
        return str(value)

    return check


def text(value: Any) -> str:
    """Convert the value to a string that must not be blank."""
    if isinstance(value, list | dict) or not str(value).strip():
        raise ValueError("not a text")
    return str(value)


def texts(choices: Sequence[str] = ()) -> Check:
    def check(value: Any) -> tuple[str, ...]:
        values = tuple(text(item) for item in (value if isinstance(value, list) else [value]))
        if choices and not set(values) <= set(choices):
            raise ValueError("not among the choices")
        return values

    return check


def integer(low: int, high: int | None) -> Check:
    """Return a check for an integer in this range. The check converts "30" and 30.7 to 30."""

    def check(value: Any) -> int:
        number = int(value)
        if number < low or (high is not None and number > high):
            raise ValueError("out of range")
        return number

    return check


def number(value: Any) -> float:
    return float(value)


def color(value: Any) -> tuple[int, int, int]:
    return color_rgb(text(value))


def volume_step(value: Any) -> int | str:
    """Accept "up", "down" or a percentage from -100 to 100."""
    return str(value) if value in ("up", "down") else int(integer(-100, 100)(value))


def anything(value: Any) -> Any:
    return value
