"""The one retained message of which Home Assistant makes the device. Pure."""

import json
import re
import unicodedata
from dataclasses import dataclass
from typing import Any

from assistant.interfaces.mqtt.entities import SOMETIMES, Offered, Say, components
from assistant.interfaces.mqtt.topics import Topics

_NO_ENTITY = "device_automation"  # has neither an id nor a place among the entities


@dataclass(frozen=True, slots=True)
class Looks:
    """How the box shows in Home Assistant."""

    name: str
    version: str
    manufacturer: str
    model: str
    area: str = ""  # suggested; what a person sets in Home Assistant stays


def discovery(topics: Topics, looks: Looks, offered: Offered, say: Say) -> str:
    """The payload of `topics.config`."""
    parts: dict[str, Any] = {}
    for key, part in components(topics, offered, say).items():
        parts[key] = (
            part if part["platform"] == _NO_ENTITY else _identified(key, part, topics, looks)
        )
    for key, platform in SOMETIMES.items():
        # A component with nothing but its platform is taken away, if it was there.
        parts.setdefault(key, {"platform": platform})
    device = {
        "identifiers": [f"hearth_{topics.identifier}"],
        "name": looks.name,
        "manufacturer": looks.manufacturer,
        "model": looks.model,
        "sw_version": looks.version,
    }
    if looks.area:
        device["suggested_area"] = looks.area
    payload = {
        "device": device,
        "origin": {"name": "Hearth", "sw_version": looks.version},
        "availability_topic": topics.availability,
        "qos": 1,
        "components": parts,
    }
    return json.dumps(payload, ensure_ascii=False)


def entity_id(looks: Looks, platform: str, key: str) -> str:
    """What Home Assistant is asked to call it, such as "notify.hearth_kitchen_announce"."""
    return f"{platform}.{_slug(looks.name)}_{key}"


def _identified(key: str, part: dict[str, Any], topics: Topics, looks: Looks) -> dict[str, Any]:
    unique = f"hearth_{topics.identifier}_{key}"
    return {
        **part,
        "unique_id": unique,
        "default_entity_id": entity_id(looks, part["platform"], key),
    }


def _slug(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "_", plain).strip("_") or "hearth"
