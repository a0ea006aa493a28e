"""Hearth as a device of Home Assistant, registered with its `mobile_app` integration.

Any program with an address and a token may register. It is then in the device registry, can be
assigned to an area, may have timers, and receives messages over the websocket (`Push`). The
protocol is documented in Home Assistant's developer documentation, "Native App Integration";
refusals and replacements are as seen with 2026.11.0:

- Registering again with the same app and device id replaces the entry: the device gets a new
  registry id and loses its area. So a fixed device id can never lead to two devices.
- The webhook id is a secret that gives access to the whole registration. It is used only over the
  websocket (`webhook/handle`), so it is never part of an address.
- An unknown webhook is answered with 200 and no body, a removed one with 410.
- Sensors are registered once and then get states and attributes; each may have a name, an icon, a
  class, a unit and a category. Registering a sensor again updates its state. A state sent while
  Home Assistant is unreachable is lost: after a restart it shows the last one that it had. None
  does not clear a state: an entity that is being restored takes its old state back. A webhook
  cannot remove a sensor. A state has at most 255 characters.
- Firing an event (`fire_event`) needs no administrator, unlike over REST and the websocket.
- A device tracker is always created, and joins the person whose user registered.
- Only an administrator may remove the entry or assign the device to an area.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx

from integrations.address import shown
from integrations.errors import Misconfigured, Refused, Stale, Unavailable
from integrations.home_assistant.house import mapping, rows, text
from integrations.home_assistant.rest import read_instance, rest_client
from integrations.home_assistant.websocket import UNKNOWN_FORM, Commands

DOMAIN = "mobile_app"
APP_ID = "hearth"
MANUFACTURER = "Hearth"  # the manufacturer of every Hearth device
UNAVAILABLE = "unavailable"  # a sensor's state
LONGEST_STATE = 255  # characters of a sensor's state, Home Assistant's limit
NOT_OFFERED = (
    "This Home Assistant does not accept devices like this one: add `mobile_app:` (or "
    "`default_config:`) to its configuration.yaml and restart it."
)

_NOBODY = "Home Assistant no longer knows this device."


@dataclass(frozen=True, slots=True)
class Address:
    """Home Assistant's address, for the few requests that are not websocket commands."""

    url: str
    token: str
    verify_tls: bool = True
    ca_file: str = ""

    def __repr__(self) -> str:
        return f"Address({shown(self.url)!r})"


@dataclass(frozen=True, slots=True)
class Appearance:
    """The device's name and model, as shown in Home Assistant."""

    name: str
    version: str  # of Hearth
    model: str = "Hearth"
    manufacturer: str = MANUFACTURER
    os_name: str = "Linux"
    os_version: str = ""


@dataclass(frozen=True, slots=True)
class Registered:
    """A valid registration."""

    device_id: str  # in the device registry; may change with a new registration
    instance_id: str  # id of this Home Assistant; "" if it does not send one


@dataclass(frozen=True, slots=True)
class Device:
    """A row of the device registry."""

    device_id: str
    name: str  # the user's name, else ours
    area_id: str | None
    disabled: bool
    entry_ids: tuple[str, ...]  # of its configuration entries


async def register(address: Address, identifier: str, appearance: Appearance) -> str:
    """Register and return the webhook id, a secret. `identifier` is our fixed device id.

    An entry with the same `identifier` is replaced. Raises Misconfigured if Home Assistant does not
    have `mobile_app`, and SignInAgain, Unavailable or Refused.
    """
    body = {
        "app_id": APP_ID,
        "app_name": "Hearth",
        "device_id": identifier,
        "os_name": appearance.os_name,
        "supports_encryption": False,
        **_told(appearance),
    }
    answer = await _request(address, "POST", "/api/mobile_app/registrations", body)
    if answer.status_code == 404:
        raise Misconfigured(NOT_OFFERED)
    if answer.status_code != 201:
        raise Refused(f"Home Assistant did not register the device (HTTP {answer.status_code}).")
    try:
        return str(answer.json()["webhook_id"])
    except (KeyError, TypeError, ValueError):
        raise Unavailable(UNKNOWN_FORM) from None


async def look(home: Commands, webhook_id: str) -> Registered | None:
    """Return this webhook's registration; None if it does not exist or was deleted.

    Call `ready` first: registrations cannot be found while Home Assistant starts. Raises
    IntegrationError.
    """
    told = await _webhook(home, webhook_id, "get_config")
    if told is None:
        return None
    device_id = told.get("hass_device_id")
    if not isinstance(device_id, str):
        raise Unavailable(UNKNOWN_FORM)
    return Registered(device_id, str(told.get("instance_id") or ""))


@dataclass(frozen=True, slots=True)
class Sensor:
    """One of the device's entities and its state."""

    kind: Literal["binary_sensor", "sensor"]
    unique_id: str  # within the device; it never changes
    name: str  # Home Assistant adds the device's name in front
    state: bool | float | str | None  # None: unknown; UNAVAILABLE: no current value
    icon: str = "mdi:microphone"
    category: Literal["diagnostic"] | None = None
    device_class: str | None = None  # as in Home Assistant, such as "timestamp"
    unit: str | None = None
    state_class: Literal["measurement", "total"] | None = None  # not for a binary sensor
    attributes: Mapping[str, Any] = field(default_factory=dict)  # for example `options` of an enum


async def register_sensor(home: Commands, webhook_id: str, sensor: Sensor) -> None:
    """Register the sensor, or update the name and state of an existing one.

    Raises IntegrationError; Stale if the webhook does not exist.
    """
    told: dict[str, Any] = {
        **_state_of(sensor),
        "name": sensor.name,
        "entity_category": sensor.category,
        "device_class": sensor.device_class,
    }
    if sensor.kind == "sensor":  # a binary sensor with these fields is refused
        told |= {"unit_of_measurement": sensor.unit, "state_class": sensor.state_class}
    if await _webhook(home, webhook_id, "register_sensor", told) is None:
        raise Stale(_NOBODY)


async def update_sensors(
    home: Commands, webhook_id: str, sensors: Sequence[Sensor]
) -> tuple[str, ...]:
    """Update sensor states and return the unique ids of sensors that must be registered first.

    Updates of a disabled sensor are ignored. Raises IntegrationError; Stale if the webhook does not
    exist.
    """
    data = [_state_of(sensor) for sensor in sensors]
    told = await _webhook(home, webhook_id, "update_sensor_states", data)
    if told is None:
        raise Stale(_NOBODY)
    answers = {sensor.unique_id: mapping(told.get(sensor.unique_id)) for sensor in sensors}
    return tuple(name for name, answer in answers.items() if answer.get("success") is not True)


def _state_of(sensor: Sensor) -> dict[str, Any]:
    return {
        "type": sensor.kind,
        "unique_id": sensor.unique_id,
        "state": sensor.state,
        "icon": sensor.icon,
        "attributes": dict(sensor.attributes),
    }


async def fire_event(home: Commands, webhook_id: str, kind: str, data: Mapping[str, Any]) -> None:
    """Fire an event of any type in Home Assistant.

    Raises IntegrationError; Stale if the webhook does not exist.
    """
    told = {"event_type": kind, "event_data": dict(data)}
    if await _webhook(home, webhook_id, "fire_event", told) is None:
        raise Stale(_NOBODY)


async def update(home: Commands, webhook_id: str, appearance: Appearance) -> None:
    """Update the device's name and version. Raises IntegrationError."""
    await _webhook(home, webhook_id, "update_registration", _told(appearance))


async def ready(home: Commands) -> None:
    """Check that Home Assistant has started and supports registered devices.

    Raises Unavailable while it starts, and Misconfigured if it does not have `mobile_app`.
    """
    config = await home.command("get_config")
    try:
        state, components = config["state"], config["components"]
    except (KeyError, TypeError):
        raise Unavailable(UNKNOWN_FORM) from None
    if state != "RUNNING":
        raise Unavailable("Home Assistant is still starting.")
    if DOMAIN not in components:
        raise Misconfigured(NOT_OFFERED)


async def find_device(home: Commands, identifier: str) -> Device | None:
    """Return the registered device with our identifier, or None. Raises IntegrationError."""
    try:
        for row in await home.command("config/device_registry/list"):
            if [DOMAIN, identifier] in [list(pair) for pair in row["identifiers"]]:
                return Device(
                    row["id"],
                    row.get("name_by_user") or row.get("name") or "",
                    row.get("area_id"),
                    row.get("disabled_by") is not None,
                    _own_entries(row),
                )
    except (AttributeError, KeyError, TypeError):
        raise Unavailable(UNKNOWN_FORM) from None
    return None


def _own_entries(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return Hearth's own entries of a device, which helpers and other integrations can share."""
    own = row.get("primary_config_entry")
    return (own,) if isinstance(own, str) else tuple(row.get("config_entries") or ())


async def set_area(home: Commands, device_id: str, area_id: str) -> None:
    """Assign the device to an area. Raises Refused unless the user is an administrator."""
    await home.command("config/device_registry/update", device_id=device_id, area_id=area_id)


async def hide_tracker(home: Commands, identifier: str) -> None:
    """Disable the device tracker that every registration creates, because a fixed device never
    moves.

    Raises Refused unless the user is an administrator.
    """
    for row in rows(await home.command("config/entity_registry/list")):
        mine = row.get("platform") == DOMAIN and row.get("unique_id") == identifier
        entity_id = str(row.get("entity_id"))
        if mine and entity_id.startswith("device_tracker.") and not row.get("disabled_by"):
            await home.command(
                "config/entity_registry/update", entity_id=entity_id, disabled_by="user"
            )


async def remove_entry(address: Address, entry_id: str) -> None:
    """Delete a configuration entry and its device. Raises Refused unless the user is an
    administrator."""
    answer = await _request(address, "DELETE", f"/api/config/config_entries/entry/{entry_id}")
    if answer.status_code not in (200, 404):
        raise Refused(f"Home Assistant did not delete the entry (HTTP {answer.status_code}).")


def _told(appearance: Appearance) -> dict[str, Any]:
    return {
        "app_version": appearance.version,
        "device_name": appearance.name,
        "manufacturer": appearance.manufacturer,
        "model": appearance.model,
        "os_version": appearance.os_version,
        "app_data": {"push_websocket_channel": True},
    }


async def _webhook(
    home: Commands,
    webhook_id: str,
    kind: str,
    data: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
) -> Mapping[str, Any] | None:
    """Call a webhook and return its response; None if the webhook does not exist."""
    answer = await home.command(
        "webhook/handle",
        webhook_id=webhook_id,
        method="POST",
        headers={"Content-Type": "application/json"},
        body=json.dumps({"type": kind, "data": data or {}}),
    )
    try:
        status, text = answer["status"], answer["body"]
        if status == 410 or not text:
            return None
        told = json.loads(text)
    except (KeyError, TypeError, ValueError):
        raise Unavailable(UNKNOWN_FORM) from None
    if status not in (200, 201) or not isinstance(told, dict):
        raise Refused(f"Home Assistant rejected {kind} for the device (HTTP {status}).")
    return told


async def _request(
    address: Address, method: str, path: str, body: Mapping[str, Any] | None = None
) -> httpx.Response:
    """Send an authenticated request. Raises Misconfigured, SignInAgain, Unavailable and Refused."""
    reach = (address.url, address.token, address.verify_tls, address.ca_file)
    async with rest_client(*reach) as client:
        answer = await client.request(method, path, json=body)
        if answer.status_code in (401, 403) and method == "DELETE":
            raise Refused("Only a Home Assistant administrator can remove the device.")
        if answer.status_code in (401, 403) or answer.status_code >= 500:
            # raises the reason for which the token is refused
            await read_instance(client, address.url)
            raise Unavailable("Home Assistant did not answer properly; try again.")
    return answer


# Messages to our device over the websocket. `mobile_app/push_notification_channel`
# subscribes; each event is the data that an automation gave to the notify action or entity, with
# `hass_confirm_id`. Home Assistant keeps one channel per registration: a newer one, or a message
# that is not confirmed within 10 s, silently ends it.


CHANNEL = "mobile_app/push_notification_channel"


@dataclass(frozen=True, slots=True)
class Push:
    """A message to Hearth's device. Treat all of it as untrusted: anyone in the house may have
    written it."""

    confirm_id: str  # "" if no confirmation is requested
    message: str  # "" if there is none
    title: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)  # free form, from the automation


def read_push(event: Mapping[str, Any]) -> Push:
    """Read a push event, dropping values of the wrong type."""
    return Push(
        text(event.get("hass_confirm_id")),
        text(event.get("message")),
        text(event.get("title")),
        mapping(event.get("data")),
    )


async def confirm(home: Commands, webhook_id: str, confirm_id: str) -> None:
    """Confirm that the message was received. Raises Refused if the push channel has closed."""
    await home.command(
        "mobile_app/push_notification_confirm", webhook_id=webhook_id, confirm_id=confirm_id
    )
