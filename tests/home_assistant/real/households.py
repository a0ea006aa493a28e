"""The houses of the tests: a folder under `houses`, and a configuration made from it."""

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.home_assistant.real.places import HOST, Refused

FOLDER = Path(__file__).parent / "houses"

# Exposed entities, beside those that Home Assistant exposes by itself.
EXPOSED_DOMAINS = frozenset(
    "alarm_control_panel calendar camera climate cover fan humidifier input_boolean input_button "
    "lawn_mower light lock media_player scene script sensor switch todo vacuum valve "
    "water_heater weather".split()
)
_PLACE = {
    "country": "ES",
    "time_zone": "Europe/Madrid",
    "unit_system": "metric",
    "currency": "EUR",
}


@dataclass(frozen=True, slots=True)
class Floor:
    """A floor of the house."""

    name: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Area:
    """A room, and the ids of its things."""

    name: str
    floor: str = ""
    aliases: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Named:
    """An entity's other name, its aliases and its kind."""

    name: str = ""  # empty: its own
    aliases: tuple[str, ...] = ()
    device_class: str = ""  # empty: its own


@dataclass(frozen=True, slots=True)
class Household:
    """The set-up of a house after its first start."""

    key: str  # its folder
    name: str
    language: str
    floors: tuple[Floor, ...]
    areas: tuple[Area, ...]
    entities: dict[str, Named]
    lists: tuple[str, ...]  # to-do lists beside the shopping list
    calendars: tuple[str, ...]
    hidden: frozenset[str]  # ids that the assistant is not shown
    customize: dict[str, str]  # names of what no registry knows
    place: dict[str, str]  # country, time zone, units and currency
    demo: bool  # with Home Assistant's demo integration


def households() -> list[str]:
    """Return the keys of all houses."""
    return sorted(path.parent.name for path in FOLDER.glob("*/registry.toml"))


def household(key: str) -> Household:
    """Return the contents of its registry.toml. Raises Refused."""
    if key not in households():
        raise Refused(f"there is no house {key}, only {' and '.join(households())}")
    said: dict[str, Any] = tomllib.loads((FOLDER / key / "registry.toml").read_text())
    return Household(
        key=key,
        name=said["name"],
        language=said["language"],
        floors=tuple(Floor(**_tuples(floor)) for floor in said["floors"]),
        areas=tuple(Area(**_tuples(area)) for area in said["areas"]),
        entities={entity: Named(**_tuples(named)) for entity, named in said["entities"].items()},
        lists=tuple(said["lists"]),
        calendars=tuple(said.get("calendars", ())),
        hidden=frozenset(said["hidden"]),
        customize=said.get("customize", {}),
        place={key: said.get(key, value) for key, value in _PLACE.items()},
        demo=said.get("demo", True),
    )


def _tuples(said: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in said.items()}


def files(house: Household, version: str, port: int) -> dict[str, str]:
    """Return the configuration before the first start: file in the folder -> text.

    The `http` part is given as YAML to the releases up to 2026.7 and in its stored form to those
    since: there YAML is only tried for five minutes, after which Home Assistant ends itself.
    """
    since = tuple(int(part) for part in version.split(".")[:2])
    folder = FOLDER / house.key
    templates = "templates.yaml" if since >= (2025, 10) else "templates-before-2025.10.yaml"
    made = {
        "packages/base.yaml": (FOLDER / "base.yaml").read_text(),
        "packages/house.yaml": (folder / "house.yaml").read_text(),
        "packages/templates.yaml": (folder / templates).read_text(),
        "automations.yaml": "[]\n",
        "scripts.yaml": "{}\n",
        "scenes.yaml": "[]\n",
    }
    http = {"server_host": [HOST], "server_port": port}
    settings = {
        "name": house.name,
        "language": house.language,
        "latitude": 40.4,
        "longitude": -3.7,
        **house.place,
        # else a link to sound is made with an address that a server on loopback does not have
        "internal_url": f"http://{HOST}:{port}",
        "customize": {entity: {"friendly_name": name} for entity, name in house.customize.items()},
    }
    lines = [
        *(["demo:"] if house.demo else []),
        "homeassistant:",
        *(f"  {key}: {json.dumps(value, ensure_ascii=False)}" for key, value in settings.items()),
        "  packages: !include_dir_named packages",
        "automation ui: !include automations.yaml",
        "script ui: !include scripts.yaml",
        "scene ui: !include scenes.yaml",
    ]
    if since >= (2026, 8):
        made[".storage/http"] = json.dumps(_stored_http(http))
    else:
        lines.append(f"http: {json.dumps(http)}")
    made["configuration.yaml"] = "\n".join(lines) + "\n"
    return made


def _stored_http(http: dict[str, Any]) -> dict[str, Any]:
    """Return the form in which Home Assistant 2026.8 and later store it."""
    stable = {
        **http,
        "cors_allowed_origins": [],
        "login_attempts_threshold": -1,
        "ip_ban_enabled": True,
        "ssl_profile": "intermediate_v6",
        "use_x_frame_options": True,
        "created_at": "2026-01-01T00:00:00+00:00",
        "error": None,
        "error_message": None,
    }
    data = {"stable": stable, "pending": None, "yaml_migration_done": True}
    return {"version": 3, "minor_version": 1, "key": "http", "data": data}
