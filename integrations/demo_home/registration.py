"""Registration as a `mobile_app`: what a device sends first, and what its webhook does."""

from collections.abc import Mapping
from typing import Any

from integrations.demo_home import shapes
from integrations.demo_home.house import DemoHouse, Thing
from integrations.demo_home.phones import REQUIRED, DemoPhone

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
    """The registration is not whole. `str(error)` says what is missing."""


def register(house: DemoHouse, given: Any, user_id: str) -> DemoPhone:
    """Take a device in, with its notify entity. Raises WrongFormError."""
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


def add_phone(house: DemoHouse, name: str, person: str, user_id: str) -> DemoPhone:
    """A phone with the companion app. `person`: who carries it, "" for nobody that is known."""
    phone = register(house, {**_PHONE, "device_name": name}, user_id)
    if person:
        trackers = {"device_trackers": [f"device_tracker.{phone.slug}"], "user_id": user_id}
        known = person.casefold().replace(" ", "_")
        house.add(Thing(f"person.{known}", person, "home", trackers, exposed=False))
    return phone


def press(house: DemoHouse, phone: DemoPhone, title: str) -> None:
    """Press a button of the newest notification that has some, as the companion app tells it."""
    shown = next(one for one in reversed(phone.sent) if "actions" in one.get("data", {}))
    data = shown["data"]
    action = next(one["action"] for one in data["actions"] if one["title"] == title)
    event = {"action": action, "tag": data.get("tag"), "device_id": phone.own_id}
    told = {"event_type": "mobile_app_notification_action", "event_data": event}
    webhook(house, phone, {"type": "fire_event", "data": told})


def forget(house: DemoHouse, entry_id: str) -> bool:
    """Remove the device of that configuration entry. False if there is none."""
    for phone in house.phones.all():
        if phone.entry_id == entry_id:
            house.phones.forget(phone)
            _take_entities(house, phone)
            house.fire("device_registry_updated", action="remove", device_id=phone.id)
            return True
    return False


def _take_entities(house: DemoHouse, phone: DemoPhone) -> None:
    for entity_id in [t.entity_id for t in house.things.values() if t.device == phone.id]:
        house.remove(entity_id)


def webhook(house: DemoHouse, phone: DemoPhone, message: Any) -> Mapping[str, Any]:
    """The answer to one message of a device; {} to what has none."""
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
