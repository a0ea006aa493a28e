"""Hearth as a device of Home Assistant: registering with its `mobile_app` integration.

Any program with an address and a token may register. It then stands in the device registry, can be
put into an area, may have timers, and is sent messages over the websocket (`Push`).

The protocol is Home Assistant's (developers' documentation, "Native App Integration"; what is said
here of refusals and replacing was seen with 2026.11.0):

- Registering again with the same app and device id replaces the entry: one device stays, with a new
  registry id and without its area. So a fixed device id can never lead to two.
- The webhook id is a secret that stands for the whole registration. It is used over the websocket
  (`webhook/handle`) only, so it is never part of an address.
- A webhook that nobody knows is answered with 200 and no body, one that was removed with 410.
- Sensors are registered once and then told their states and attributes; each may have a name, an
  icon, a class, a unit and a category. Registering one again tells its state. A state that was told
  while Home Assistant was away is lost: after a restart it shows the last one that it had. None is
  no state to clear one with: an entity that is being restored takes its old one back then. Nobody
  can remove a sensor by the webhook. A state has 255 characters at most.
- What a device has happen (`fire_event`) needs no administrator, unlike the REST and websocket ways
  to an event.
- A device tracker is always made, and joins the person whose user registered.
- Only an administrator may remove the entry or put the device into an area.
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
MANUFACTURER = "Hearth"  # of every box of ours
UNAVAILABLE = "unavailable"  # a sensor's state
LONGEST_STATE = 255  # characters of a sensor's state; Home Assistant shows no longer one
NOT_OFFERED = (
    "This Home Assistant does not take devices like this one: add `mobile_app:` (or "
    "`default_config:`) to its configuration.yaml and restart it."
)

_NOBODY = "Home Assistant does not know this device any more."


@dataclass(frozen=True, slots=True)
class Address:
    """Address of Home Assistant for the few requests that are not websocket commands."""

    url: str
    token: str
    verify_tls: bool = True
    ca_file: str = ""

    def __repr__(self) -> str:
        return f"Address({shown(self.url)!r})"


@dataclass(frozen=True, slots=True)
class Appearance:
    """Name and make of the device as Home Assistant shows them."""

    name: str
    version: str  # of Hearth
    model: str = "Hearth"
    manufacturer: str = MANUFACTURER
    os_name: str = "Linux"
    os_version: str = ""


@dataclass(frozen=True, slots=True)
class Registered:
    """A living registration."""

    device_id: str  # in the device registry; may change when registered again
    instance_id: str  # of this Home Assistant; "" from one that does not tell


@dataclass(frozen=True, slots=True)
class Device:
    """A row of the device registry."""

    device_id: str
    name: str  # the person's, else ours
    area_id: str | None
    disabled: bool
    entry_ids: tuple[str, ...]  # of its configuration entries


async def register(address: Address, identifier: str, appearance: Appearance) -> str:
    """Register and return the webhook id, a secret. `identifier` is our own fixed name.

    An entry with the same `identifier` is replaced. Raises Misconfigured where Home Assistant has
    no `mobile_app`, SignInAgain, Unavailable or Refused.
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
    """The registration behind this webhook, None where there is none (any more).

    While Home Assistant starts nobody is there either: ask `ready` before. Raises IntegrationError.
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
    """One entity of the device, and how it stands."""

    kind: Literal["binary_sensor", "sensor"]
    unique_id: str  # within the device; it never changes
    name: str  # Home Assistant puts the device's in front
    state: bool | float | str | None  # None: unknown; UNAVAILABLE: nobody tells just now
    icon: str = "mdi:microphone"
    category: Literal["diagnostic"] | None = None
    device_class: str | None = None  # as Home Assistant names it, such as "timestamp"
    unit: str | None = None
    state_class: Literal["measurement", "total"] | None = None  # not of a binary sensor
    attributes: Mapping[str, Any] = field(default_factory=dict)  # `options` of an enum, for one


async def register_sensor(home: Commands, webhook_id: str, sensor: Sensor) -> None:
    """Make it, or where it exists already tell its name and state. Raises IntegrationError.

    Raises Stale where nobody answers to the webhook.
    """
    told: dict[str, Any] = {
        **_state_of(sensor),
        "name": sensor.name,
        "entity_category": sensor.category,
        "device_class": sensor.device_class,
    }
    if sensor.kind == "sensor":  # a binary one is refused with these
        told |= {"unit_of_measurement": sensor.unit, "state_class": sensor.state_class}
    if await _webhook(home, webhook_id, "register_sensor", told) is None:
        raise Stale(_NOBODY)


async def update_sensors(
    home: Commands, webhook_id: str, sensors: Sequence[Sensor]
) -> tuple[str, ...]:
    """Tell how they stand; gives the unique ids of those that must be registered first.

    One that a person has disabled takes it in silence. Raises IntegrationError, Stale where nobody
    answers to the webhook.
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
    """Have an event happen in Home Assistant, of whatever type. Raises IntegrationError, Stale
    where nobody answers to the webhook."""
    told = {"event_type": kind, "event_data": dict(data)}
    if await _webhook(home, webhook_id, "fire_event", told) is None:
        raise Stale(_NOBODY)


async def update(home: Commands, webhook_id: str, appearance: Appearance) -> None:
    """Tell a new name or version. Raises IntegrationError."""
    await _webhook(home, webhook_id, "update_registration", _told(appearance))


async def ready(home: Commands) -> None:
    """Return if Home Assistant has started and takes devices. Raises Unavailable, Misconfigured."""
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
    """Our device in the registry, by our own identifier. Raises IntegrationError."""
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
    """Of a device's entries ours alone: helpers and other integrations may have joined it."""
    own = row.get("primary_config_entry")
    return (own,) if isinstance(own, str) else tuple(row.get("config_entries") or ())


async def set_area(home: Commands, device_id: str, area_id: str) -> None:
    """Put the device into an area. Raises Refused unless the user is an administrator."""
    await home.command("config/device_registry/update", device_id=device_id, area_id=area_id)


async def hide_tracker(home: Commands, identifier: str) -> None:
    """Switch off the device tracker that every registration gets: a box on a shelf goes nowhere.

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
    """Delete a configuration entry and its device. Raises Refused unless an administrator asks."""
    answer = await _request(address, "DELETE", f"/api/config/config_entries/entry/{entry_id}")
    if answer.status_code not in (200, 404):
        raise Refused(f"Home Assistant kept the entry (HTTP {answer.status_code}).")


def _told(appearance: Appearance) -> dict[str, Any]:
    """Fields of a registration and of each update."""
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
    """Ask a webhook; None where nobody answers to it."""
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
        raise Refused(f"Home Assistant refused {kind} of the device (HTTP {status}).")
    return told


async def _request(
    address: Address, method: str, path: str, body: Mapping[str, Any] | None = None
) -> httpx.Response:
    """One request, signed in. Raises Misconfigured, SignInAgain, Unavailable and Refused."""
    reach = (address.url, address.token, address.verify_tls, address.ca_file)
    async with rest_client(*reach) as client:
        answer = await client.request(method, path, json=body)
        if answer.status_code in (401, 403) and method == "DELETE":
            raise Refused("Only an administrator of Home Assistant may remove the device.")
        if answer.status_code in (401, 403) or answer.status_code >= 500:
            await read_instance(client, address.url)  # it says what is wrong with the token
            raise Unavailable("Home Assistant failed to answer; try again.")
    return answer


#
# Messages to our device come over the websocket: `mobile_app/push_notification_channel` subscribes;
# each event is what an automation gave to the notify action or entity, with `hass_confirm_id`
# beside it. Home Assistant keeps one channel for a registration: a newer one, or a message that is
# not confirmed within 10 s, silently ends it.


CHANNEL = "mobile_app/push_notification_channel"


@dataclass(frozen=True, slots=True)
class Push:
    """One message. All of it is data that anybody in the house may have written."""

    confirm_id: str  # "" where none is asked for
    message: str  # "" where there is none
    title: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)  # free form, as the automation gave it


def read_push(event: Mapping[str, Any]) -> Push:
    """From an event of the channel; what is of the wrong type is left out."""
    return Push(
        text(event.get("hass_confirm_id")),
        text(event.get("message")),
        text(event.get("title")),
        mapping(event.get("data")),
    )


async def confirm(home: Commands, webhook_id: str, confirm_id: str) -> None:
    """Tell that the message is safe with us. Raises Refused where the channel has ended."""
    await home.command(
        "mobile_app/push_notification_confirm", webhook_id=webhook_id, confirm_id=confirm_id
    )
