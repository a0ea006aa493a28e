"""Devices that registered themselves with `mobile_app`, and pushes to them.

Shapes and times as in Home Assistant 2026.11 (`components/mobile_app`).
"""

import asyncio
import re
import secrets
import unicodedata
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from integrations.demo_home import shapes
from integrations.demo_home.house import Thing
from integrations.demo_home.surroundings import Spawn, SystemClock
from tests.simulators.house_timers import Timer

if TYPE_CHECKING:
    from tests.simulators.phone_home import PhoneHouse

CONFIRM_WITHIN_S = 10  # an unconfirmed push ends the channel
# What a registration must say. `app_data`, `device_id` and `os_version` may be missing.
REQUIRED = (
    *("app_id", "app_name", "app_version", "device_name"),
    *("manufacturer", "model", "os_name"),
)

# What a phone is told when one of its timers ends.
_TIMER_DATA = {
    "group": "timers",
    "channel": "Timers",
    "importance": "high",
    "ttl": 0,
    "priority": "high",
    "push": {"interruption-level": "time-sensitive"},
}


class NotConnectedError(Exception):
    """The device has no open channel. `str(error)` is Home Assistant's sentence."""


@dataclass(slots=True)
class Channel:
    """The websocket that gets a device's pushes."""

    send: Callable[[dict[str, Any]], None]
    wants_confirmation: bool
    waiting: dict[str, asyncio.Task[None]] = field(default_factory=dict)  # by confirm id


@dataclass(slots=True)
class DemoPhone:
    """A registered device."""

    user_id: str
    data: dict[str, Any]  # the registration
    id: str = field(default_factory=lambda: uuid.uuid4().hex)  # of its device
    webhook_id: str = field(repr=False, default_factory=lambda: secrets.token_hex(32))
    area_id: str | None = None
    channel: Channel | None = None
    sent: list[dict[str, Any]] = field(default_factory=list)  # by the maker's push service

    def listen_by(self, channel: Channel | None) -> None:
        """Receive pushes over this channel, or none; pushes that wait on the old one are
        cancelled."""
        if self.channel is not None:
            for task in self.channel.waiting.values():
                task.cancel()
        self.channel = channel

    @property
    def takes_pushes(self) -> bool:
        """True if it can receive pushes: over the websocket's channel or its maker's service."""
        told = self._app_data
        return "push_websocket_channel" in told or {"push_token", "push_url"} <= told.keys()

    @property
    def has_service(self) -> bool:
        """True if it is reached through its maker's service, without a channel."""
        return "push_url" in self._app_data

    @property
    def _app_data(self) -> Mapping[str, Any]:
        told = self.data.get("app_data")
        return told if isinstance(told, dict) else {}

    @property
    def entry_id(self) -> str:
        """Id of its configuration entry, by which an administrator removes it."""
        return f"mobile_app_{self.id}"

    @property
    def key(self) -> tuple[str, str]:
        """Its identity: its app and the id that it chose."""
        return str(self.data["app_id"]), self.own_id

    @property
    def own_id(self) -> str:
        """The id that it chose."""
        return str(self.data["device_id"])

    @property
    def name(self) -> str:
        """The name that it chose."""
        return str(self.data["device_name"])

    @property
    def slug(self) -> str:
        """Its name as a part of an id: without accents and curly quotes."""
        signs = unicodedata.normalize(
            "NFKD", self.name.replace("\N{RIGHT SINGLE QUOTATION MARK}", "")
        )
        plain = signs.encode("ascii", "ignore").decode().casefold()
        return re.sub(r"[^a-z0-9]+", "_", plain).strip("_") or "unknown"


class Phones:
    """All registered devices, by the ids of their webhooks."""

    def __init__(self, clock: SystemClock, spawn: Spawn) -> None:
        self._clock = clock
        self._spawn = spawn
        self._phones: dict[str, DemoPhone] = {}
        self._forgotten: dict[tuple[str, str], tuple[str, str | None]] = {}  # id and area, by key

    def register(self, data: Mapping[str, Any], user_id: str) -> DemoPhone:
        """Register a device. One that was forgotten returns with its id and its area.

        One that still exists becomes another device without an area, as in Home Assistant, which
        makes the new device before it removes the old one.
        """
        own_id = data.get("device_id") or uuid.uuid4().hex
        phone = DemoPhone(user_id, {**data, "device_id": own_id})
        forgotten = self._forgotten.pop(phone.key, None)
        if forgotten is not None:
            phone.id, phone.area_id = forgotten
        before = [known for known in self._phones.values() if known.key == phone.key]
        for known in before:
            self.forget(known)
        self._phones[phone.webhook_id] = phone
        return phone

    def forget(self, phone: DemoPhone) -> None:
        """Remove a device; its webhook and channel end."""
        self.close(phone)
        del self._phones[phone.webhook_id]
        self._forgotten[phone.key] = (phone.id, phone.area_id)

    def all(self) -> list[DemoPhone]:
        """Return every device, in the order of registration."""
        return list(self._phones.values())

    def by_webhook(self, webhook_id: object) -> DemoPhone | None:
        """Return the device of that webhook."""
        return self._phones.get(webhook_id) if isinstance(webhook_id, str) else None

    def by_device(self, device_id: object) -> DemoPhone | None:
        """Return the device with that device id."""
        return next((phone for phone in self._phones.values() if phone.id == device_id), None)

    def open(self, phone: DemoPhone, channel: Channel) -> None:
        """Push over this channel from now on; an earlier one ends."""
        phone.listen_by(channel)

    def close(self, phone: DemoPhone, channel: Channel | None = None) -> None:
        """End the channel; if one is given, only if it is the current one."""
        if phone.channel is not None and channel in (None, phone.channel):
            phone.listen_by(None)

    def push(self, phone: DemoPhone, message: Mapping[str, Any]) -> None:
        """Send a message. Raises NotConnectedError. Messages for a maker's service are kept in
        `sent`."""
        channel = phone.channel
        if channel is None and phone.has_service:
            phone.sent.append(dict(message))
            return
        if channel is None:
            raise NotConnectedError(
                f"Device {phone.name} is not connected for local push notifications"
            )
        if not channel.wants_confirmation:
            channel.send(dict(message))
            return
        confirm_id = uuid.uuid4().hex
        channel.waiting[confirm_id] = self._spawn(self._expect(phone, channel, confirm_id, message))
        channel.send({**message, "hass_confirm_id": confirm_id})

    def confirm(self, phone: DemoPhone, confirm_id: object) -> bool:
        """Confirm a push; False if it was not awaited."""
        waiting = phone.channel.waiting if phone.channel else {}
        task = waiting.pop(confirm_id, None) if isinstance(confirm_id, str) else None
        return task.cancel() if task is not None else False

    def tell(self, timer: Timer) -> None:
        """Push the end of a timer to its device, if it can be reached."""
        phone = self.by_device(timer.device_id)
        if phone is None or phone.channel is None:
            return
        name = timer.name or f"{timedelta(seconds=timer.longest_s)} timer"
        self.push(phone, {"message": f"{name} finished", "data": dict(_TIMER_DATA)})

    def stop(self) -> None:
        """Cancel all waits, at shutdown."""
        for phone in self._phones.values():
            self.close(phone)

    async def _expect(
        self, phone: DemoPhone, channel: Channel, confirm_id: str, message: Mapping[str, Any]
    ) -> None:
        await self._clock.sleep(CONFIRM_WITHIN_S)
        del channel.waiting[confirm_id]
        self.close(phone, channel)
        if phone.has_service:
            phone.sent.append(dict(message))


_CHANGEABLE = ("app_data", "app_version", "device_name", "manufacturer", "model", "os_version")

_PHONE: Mapping[str, Any] = {
    "app_id": "io.homeassistant.companion.android",
    "app_name": "Home Assistant",
    "app_version": "2026.11.1",
    "manufacturer": "Example",
    "model": "DemoPhone",
    "os_name": "Android",
    "os_version": "36",
    "app_data": {"push_token": "token", "push_url": "https://push.example.invalid/send"},
}

_TOLD = (*_CHANGEABLE, "app_id", "app_name", "supports_encryption")


class WrongFormError(ValueError):
    """The registration is incomplete. `str(error)` says what is missing."""


def register(house: "PhoneHouse", given: Any, user_id: str) -> DemoPhone:
    """Register a device with its notify entity. Raises WrongFormError."""
    if not isinstance(given, dict):
        raise WrongFormError("expected a mapping")
    for key in REQUIRED:
        if key not in given:
            raise WrongFormError(f"required key not provided at '{key}'")
    phone = house.phones.register(given, user_id)
    here = {known.id for known in house.phones.all()}
    for thing in tuple(house.things.values()):
        if thing.device is not None and thing.device not in here:
            house.remove(thing.entity_id)
    for domain in ("notify", "device_tracker") if phone.takes_pushes else ("device_tracker",):
        house.add(
            Thing(f"{domain}.{phone.slug}", phone.name, "unknown", exposed=False, device=phone.id)
        )
    house.fire("device_registry_updated", action="create", device_id=phone.id)
    return phone


def add_phone(house: "PhoneHouse", name: str, person: str, user_id: str) -> DemoPhone:
    """Add a phone with the companion app; `person` is its owner, "" if unknown."""
    phone = register(house, {**_PHONE, "device_name": name}, user_id)
    if person:
        trackers = {"device_trackers": [f"device_tracker.{phone.slug}"], "user_id": user_id}
        known = person.casefold().replace(" ", "_")
        house.add(Thing(f"person.{known}", person, "home", trackers, exposed=False))
    return phone


def press(house: "PhoneHouse", phone: DemoPhone, title: str) -> None:
    """Press a button of the newest notification that has any, as the companion app does."""
    shown = next(one for one in reversed(phone.sent) if "actions" in one.get("data", {}))
    data = shown["data"]
    action = next(one["action"] for one in data["actions"] if one["title"] == title)
    event = {"action": action, "tag": data.get("tag"), "device_id": phone.own_id}
    told = {"event_type": "mobile_app_notification_action", "event_data": event}
    webhook(house, phone, {"type": "fire_event", "data": told})


def forget(house: "PhoneHouse", entry_id: str) -> bool:
    """Remove the device of that configuration entry; False if there is none."""
    for phone in house.phones.all():
        if phone.entry_id == entry_id:
            house.phones.forget(phone)
            _take_entities(house, phone)
            house.fire("device_registry_updated", action="remove", device_id=phone.id)
            return True
    return False


def _take_entities(house: "PhoneHouse", phone: DemoPhone) -> None:
    for entity_id in [t.entity_id for t in house.things.values() if t.device == phone.id]:
        house.remove(entity_id)


def webhook(house: "PhoneHouse", phone: DemoPhone, message: Any) -> Mapping[str, Any]:
    """Handle one message of a device; {} if it needs no answer."""
    kind = message.get("type") if isinstance(message, dict) else None
    data = message.get("data") or {} if isinstance(message, dict) else {}
    if kind == "get_config":
        return {**shapes.config(house), "hass_device_id": phone.id, "entities": {}}
    if kind == "update_registration":
        phone.data |= {key: data[key] for key in _CHANGEABLE if key in data}
        for thing in tuple(house.things.values()):
            if thing.device == phone.id:
                house.alter(thing.entity_id, name=phone.name)
        return {key: phone.data[key] for key in _TOLD if key in phone.data}
    if kind == "fire_event":
        house.fire(str(data.get("event_type")), **(data.get("event_data") or {}))
    return {}
