"""The JSON Schemas of the tools, as Home Assistant 2026.11 builds them."""

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
PERCENT: Schema = {"type": "integer", "minimum": 0, "maximum": 100}
# Home Assistant joins the type and the range of these two instead of merging them.
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
    """One of some strings."""
    return {"type": "string", "enum": list(values)}


def described(schema: Schema, description: str) -> Schema:
    """The schema with a description."""
    return {**schema, "description": description}


def target(
    domain: str | None = None, device_classes: tuple[str, ...] = (), *, any_domain: bool = False
) -> Schema:
    """Properties that say what is meant: name, area, floor, and where offered domain and class."""
    properties: Schema = {"name": TEXT, "area": TEXT, "floor": TEXT}
    if domain is not None:
        properties["domain"] = {"type": "array", "items": choice(domain)}
    if any_domain:
        properties["domain"] = {"type": "array", "items": TEXT}
    if device_classes:
        properties["device_class"] = {"type": "array", "items": choice(*device_classes)}
    return properties


def input_schema(properties: Schema, required: tuple[str, ...] = ()) -> Schema:
    """The schema of a tool's arguments."""
    schema: Schema = {"properties": properties, "type": "object"}
    if required:
        schema["required"] = list(required)
    return schema
