"""Phones with Home Assistant's companion app: notifications and yes-or-no questions.

Every `mobile_app` registration that accepts push messages has an action `notify.mobile_app_NAME`.
Home Assistant derives NAME from the device name (slugify in `notify/legacy.py`, the same from
2025.4 to 2026.11). A phone's owner is known if the phone's device tracker is assigned to a person.
"""

import asyncio
import logging
import re
import secrets
import unicodedata
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal

from integrations.errors import IntegrationError, Misconfigured, Unavailable
from integrations.home_assistant.house import House, mapping, rows, text, texts
from integrations.home_assistant.mobile_app import DOMAIN, MANUFACTURER
from integrations.home_assistant.reasons import CommandRefused
from integrations.home_assistant.services import Services

if TYPE_CHECKING:
    from integrations.home_assistant.client import HomeAssistant

ANSWERED = "mobile_app_notification_action"  # the event of a pressed button
CLEAR = "clear_notification"  # as a message: removes the notification with that tag
_NOTIFY, _PREFIX = "notify", f"{DOMAIN}_"
_CLEAR_S = 2.0
_LIKE = 0.7  # difflib ratio for names whose letters Home Assistant transliterates differently
_QUOTES = dict.fromkeys(map(ord, "’‘`´ʼ′"))

# Show the notification immediately and above others (companion.home-assistant.io, "Critical
# notifications"). Each phone platform ignores the keys that it does not know.
_URGENT: Mapping[str, Any] = {
    "ttl": 0,
    "priority": "high",
    "push": {"interruption-level": "time-sensitive"},
}

Events = AsyncIterator[Mapping[str, Any]]

_log = logging.getLogger(__name__)


class AnswersHidden(Misconfigured):
    """This user doesn't see which button was pressed, because Home Assistant reports that to
    administrators only (`auth/permissions/events.py`)."""

    def __init__(self) -> None:
        super().__init__(
            "Home Assistant reports taps on a phone to administrators only: give Hearth an "
            'administrator\'s token, or choose "confirm" or "pin" instead of "phone" in '
            "policy."
        )


@dataclass(frozen=True, slots=True)
class Phone:
    service: str  # the action's name in the domain `notify`
    name: str  # as shown to people
    people: tuple[str, ...] = ()  # names of its owners, if known

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.people)


@dataclass(frozen=True, slots=True)
class _Device:
    device_id: str
    own_name: str  # the name from which the action's name is derived
    name: str  # the name that the user gave it, or else its own
    is_hearth: bool  # a Hearth device, which cannot show notifications


class Phones:
    def __init__(self, home: "HomeAssistant", device_id: Callable[[], str] = lambda: "") -> None:
        """`device_id` returns this device's id in the device registry, or "" if it has none yet."""
        self._home = home
        self._services = Services(home)
        self._device_id = device_id

    async def all(self) -> list[Phone]:
        """List the phones that accept notifications, in Home Assistant's order. Raises
        IntegrationError."""
        services = mapping(await self._home.command("get_services")).get(_NOTIFY)
        offered = [name for name in mapping(services) if name.startswith(_PREFIX)]
        if not offered:
            return []
        devices = _devices(await self._home.command("config/device_registry/list"))
        found = _matched(offered, devices)
        carriers = _carriers(self._home.house)
        phones = []
        for service in offered:
            device = found.get(service)
            if device is None:
                name = service.removeprefix(_PREFIX).replace("_", " ")
                phones.append(Phone(service, name))
            elif not device.is_hearth and device.device_id != self._device_id():
                people = tuple(carriers.get(device.device_id, ()))
                phones.append(Phone(service, device.name, people))
        return phones

    async def send(self, phone: Phone, message: str, title: str = "") -> None:
        """Send a notification. The caller must sanitise the text. Raises IntegrationError."""
        await self._notify(phone, message, title, {})

    async def ask(
        self,
        phone: Phone,
        title: str,
        question: str,
        timeout_s: float,
        buttons: tuple[str, str] = ("Yes", "No"),
    ) -> Literal["yes", "no"] | None:
        """Ask a yes-or-no question, and return the answer or None if no button is pressed within
        `timeout_s`.

        `buttons` are the labels for yes and no. Returns None as well if the connection is lost.
        Raises AnswersHidden, or another IntegrationError if the question could not be sent.
        """
        nonce = secrets.token_hex(16).upper()
        yes, no = (f"HEARTH_{nonce}_{answer}" for answer in ("YES", "NO"))
        data = {
            **_URGENT,
            "tag": f"hearth_{nonce}",
            "timeout": round(timeout_s),
            "actions": [
                # Phones that support it ask the user to authenticate first (iOS).
                {"action": yes, "title": buttons[0], "authenticationRequired": True},
                {"action": no, "title": buttons[1]},
            ],
        }
        async with AsyncExitStack() as stack:
            events = await self._answers(stack)
            stack.push_async_callback(self._clear, phone, data["tag"])
            await self._notify(phone, question, title, data)
            try:
                async with asyncio.timeout(timeout_s):
                    return await _first(events, nonce, yes)
            except TimeoutError:
                return None
            except Unavailable as error:
                _log.info("answers from a phone can no longer be received: %s", error)
                return None

    async def _answers(self, stack: AsyncExitStack) -> Events:
        try:
            stream = self._home.stream("subscribe_events", event_type=ANSWERED)
            return await stack.enter_async_context(stream)
        except CommandRefused as error:
            raise (AnswersHidden() if error.code == "unauthorized" else error) from None

    async def _notify(
        self, phone: Phone, message: str, title: str, data: Mapping[str, Any]
    ) -> None:
        fields: dict[str, Any] = {"message": message}
        if title:
            fields["title"] = title
        if data:
            fields["data"] = dict(data)
        await self._services.call(_NOTIFY, phone.service, fields)

    async def _clear(self, phone: Phone, tag: str) -> None:
        """Remove a notification. A failure is only logged, because the buttons of a leftover
        notification do nothing."""
        try:
            async with asyncio.timeout(_CLEAR_S):
                await self._notify(phone, CLEAR, "", {"tag": tag})
        except (IntegrationError, TimeoutError) as error:
            why = str(error) or "no answer in time"
            _log.info("a notification could not be removed from the phone %s: %s", phone.name, why)


async def _first(events: Events, nonce: str, yes: str) -> Literal["yes", "no"]:
    """Return the first answer that contains `nonce`. Any answer other than `yes` means "no"."""
    while True:
        event = await anext(events)
        action = text(mapping(event.get("data")).get("action"))
        if nonce in action.upper():
            return "yes" if secrets.compare_digest(action.encode(), yes.encode()) else "no"


def slug(name: str) -> str:
    """Return the slug that the device's notify action has in its name. Home Assistant's own slug
    differs for letters that Unicode does not decompose, such as "ß"."""
    curly = unicodedata.normalize("NFKD", name.translate(_QUOTES))
    plain = "".join(sign for sign in curly if not unicodedata.combining(sign)).lower()
    return re.sub(r"[^a-z0-9]+", "_", plain).strip("_")


def _devices(answer: Any) -> list[_Device]:
    found = []
    for row in rows(answer):
        identifiers = row.get("identifiers")
        pairs = identifiers if isinstance(identifiers, list) else []
        if not any(isinstance(pair, list) and pair[:1] == [DOMAIN] for pair in pairs):
            continue
        own_name = text(row.get("name"))
        found.append(
            _Device(
                text(row.get("id")),
                own_name,
                text(row.get("name_by_user")) or own_name,
                text(row.get("manufacturer")) == MANUFACTURER,
            )
        )
    return found


def _matched(services: Iterable[str], devices: Iterable[_Device]) -> dict[str, _Device]:
    left = {name.removeprefix(_PREFIX): name for name in services}
    found, others = {}, []
    for device in devices:
        service = left.pop(slug(device.own_name), None)
        if service is None:
            others.append(device)
        else:
            found[service] = device
    for device in others:
        for near in get_close_matches(slug(device.own_name), left, 1, _LIKE):
            found[left.pop(near)] = device
    return found


def _carriers(house: House) -> dict[str, list[str]]:
    """Return the names of the people that each device tracks, by device id."""
    carriers: dict[str, list[str]] = {}
    for person in house.entities.values():
        if person.domain != "person":
            continue
        for tracker in texts(person.attributes.get("device_trackers")):
            entity = house.entities.get(tracker)
            if entity is not None and entity.device_id:
                carriers.setdefault(entity.device_id, []).append(person.name)
    return carriers
