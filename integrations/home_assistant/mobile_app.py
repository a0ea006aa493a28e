"""Register Hearth as a device in Home Assistant through its `mobile_app` integration.

Home Assistant's developer documentation describes the protocol under "Native App Integration". The
following was observed with 2026.11.0:

- Registering again with the same app id and device id replaces the entry: the device gets a new
  registry id and loses its area. With a fixed device id there are never two devices.
- The webhook id is a secret that gives full access to the registration. Hearth uses it only over
  the websocket (`webhook/handle`), so it never appears in a URL.
- Home Assistant answers an unknown webhook with status 200 and no body, and a deleted one with 410.
- A sensor is registered once and then receives states. A webhook cannot remove a sensor.
- A state that is sent while Home Assistant is unreachable is lost. After a restart, Home Assistant
  shows the last state that it received. Sending None does not clear a state.
- Firing an event (`fire_event`) needs no administrator rights here, but it does over REST and the
  websocket.
- Registering always creates a device tracker, which is assigned to the person of the registering
  user.
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
LONGEST_STATE = 255  # characters; Home Assistant's limit for a sensor
NOT_OFFERED = (
    "This Home Assistant does not accept devices like this one: add `mobile_app:` (or "
    "`default_config:`) to its configuration.yaml and restart it."
)

_NOBODY = "Home Assistant no longer knows this device."


@dataclass(frozen=True, slots=True)
class Address:
    """Home Assistant's address and token, for the few requests that are not websocket commands."""

    url: str
    token: str
    verify_tls: bool = True
    ca_file: str = ""

    def __repr__(self) -> str:
        return f"Address({shown(self.url)!r})"


@dataclass(frozen=True, slots=True)
class Appearance:
    name: str
    version: str  # Hearth's version
    model: str = "Hearth"
    manufacturer: str = MANUFACTURER
    os_name: str = "Linux"
    os_version: str = ""


@dataclass(frozen=True, slots=True)
class Registered:
    """A registration that Home Assistant still accepts."""

    device_id: str  # in the device registry; a new registration can change it
    instance_id: str  # id of this Home Assistant; "" if it does not send one


@dataclass(frozen=True, slots=True)
class Device:
    device_id: str
    name: str  # the name that the user gave it, or else ours
    area_id: str | None
    disabled: bool
    entry_ids: tuple[str, ...]  # ids of its configuration entries


async def register(address: Address, identifier: str, appearance: Appearance) -> str:
    """Register this device and return its webhook id, which is a secret.

    `identifier` is this device's fixed id; an existing registration with it is replaced. Raises
    Misconfigured if Home Assistant lacks `mobile_app`, and SignInAgain, Unavailable or Refused.
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
    """Return the registration with this webhook id, or None if it does not exist or was deleted.

    Call `ready` first, because Home Assistant cannot find registrations while it is starting.
    Raises IntegrationError.
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
    kind: Literal["binary_sensor", "sensor"]
    unique_id: str  # unique within the device; never changes
    name: str  # Home Assistant puts the device's name in front of it
    state: bool | float | str | None  # None: unknown; UNAVAILABLE: no current value
    icon: str = "mdi:microphone"
    category: Literal["diagnostic"] | None = None
    device_class: str | None = None  # Home Assistant's value, such as "timestamp"
    unit: str | None = None
    state_class: Literal["measurement", "total"] | None = None  # only for a sensor
    attributes: Mapping[str, Any] = field(default_factory=dict)  # for example `options` of an enum


async def register_sensor(home: Commands, webhook_id: str, sensor: Sensor) -> None:
    """Register a sensor, or update the name and state of one that is already registered. Raises
    IntegrationError, in particular Stale if the webhook does not exist."""
    told: dict[str, Any] = {
        **_state_of(sensor),
        "name": sensor.name,
        "entity_category": sensor.category,
        "device_class": sensor.device_class,
    }
    if sensor.kind == "sensor":  # Home Assistant refuses these fields for a binary sensor
        told |= {"unit_of_measurement": sensor.unit, "state_class": sensor.state_class}
    if await _webhook(home, webhook_id, "register_sensor", told) is None:
        raise Stale(_NOBODY)


async def update_sensors(
    home: Commands, webhook_id: str, sensors: Sequence[Sensor]
) -> tuple[str, ...]:
    """Update sensor states and return the unique ids of the sensors that must be registered first.
    Raises IntegrationError, in particular Stale if the webhook does not exist."""
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
    """Fire an event of type `kind` in Home Assistant. Raises IntegrationError, in particular Stale
    if the webhook does not exist."""
    told = {"event_type": kind, "event_data": dict(data)}
    if await _webhook(home, webhook_id, "fire_event", told) is None:
        raise Stale(_NOBODY)


async def update(home: Commands, webhook_id: str, appearance: Appearance) -> None:
    """Update the device's name, model and versions. Raises IntegrationError."""
    await _webhook(home, webhook_id, "update_registration", _told(appearance))


async def ready(home: Commands) -> None:
    """Check that Home Assistant has started and accepts device registrations. Raises Unavailable
    while Home Assistant is starting, and Misconfigured if it lacks `mobile_app`."""
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
    """Return the device that was registered with `identifier`, or None. Raises IntegrationError."""
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
    """Return the ids of Hearth's own configuration entries, because helpers and other integrations
    can share the device."""
    own = row.get("primary_config_entry")
    return (own,) if isinstance(own, str) else tuple(row.get("config_entries") or ())


async def set_area(home: Commands, device_id: str, area_id: str) -> None:
    """Assign the device to an area. Raises Refused unless Hearth's user is an administrator."""
    await home.command("config/device_registry/update", device_id=device_id, area_id=area_id)


async def hide_tracker(home: Commands, identifier: str) -> None:
    """Disable the device tracker that every registration creates, because Hearth's device never
    moves. Raises Refused unless Hearth's user is an administrator."""
    for row in rows(await home.command("config/entity_registry/list")):
        mine = row.get("platform") == DOMAIN and row.get("unique_id") == identifier
        entity_id = str(row.get("entity_id"))
        if mine and entity_id.startswith("device_tracker.") and not row.get("disabled_by"):
            await home.command(
                "config/entity_registry/update", entity_id=entity_id, disabled_by="user"
            )


async def remove_entry(address: Address, entry_id: str) -> None:
    """Delete a configuration entry together with its device. Raises Refused unless Hearth's user is
    an administrator, and Unavailable."""
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
    reach = (address.url, address.token, address.verify_tls, address.ca_file)
    async with rest_client(*reach) as client:
        answer = await client.request(method, path, json=body)
        if answer.status_code in (401, 403) and method == "DELETE":
            raise Refused("Only a Home Assistant administrator can remove the device.")
        if answer.status_code in (401, 403) or answer.status_code >= 500:
            # raises the reason why the token was rejected
            await read_instance(client, address.url)
            raise Unavailable("Home Assistant did not answer properly; try again.")
    return answer


# Messages to our device over the websocket. The command `mobile_app/push_notification_channel`
# subscribes to them. Each event is the data that an automation passed to the notify action or
# entity, with `hass_confirm_id` added. Home Assistant keeps one channel per registration and
# silently closes it when a newer one is opened, or when a message is not confirmed within 10 s.


CHANNEL = "mobile_app/push_notification_channel"


@dataclass(frozen=True, slots=True)
class Push:
    """A message to Hearth's device. All of it is untrusted, because anyone in the house could have
    written it."""

    confirm_id: str  # "" if no confirmation is requested
    message: str  # "" if there is none
    title: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)  # free-form data from the automation


def read_push(event: Mapping[str, Any]) -> Push:
    """Parse a push event, dropping values of the wrong type."""
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
