"""Doubles of a Home Assistant that accepts devices (with the behaviour of 2026.11.0)."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from assistant.domain.events import BusEvent, EventBus
from assistant.domain.records import AnnouncementRecord
from assistant.interfaces.api.box import Box
from integrations.errors import Refused, Unavailable
from integrations.home_assistant.mobile_app import Address, Appearance
from integrations.web.box import Caller
from integrations.web.requests import (
    AnnounceRequest,
    LiveRequest,
    QuestionAnswer,
    QuestionRequest,
)
from tests.fakes.status import FakeStatus

Json = dict[str, Any]


class Webhook:
    """A Home Assistant behind a device's webhook: it creates entities and fires events."""

    def __init__(self) -> None:
        self.connected = True
        self.hooks = {"hook"}
        self.states: Json = {}
        self.names: Json = {}
        self.attributes: Json = {}
        self.seen: list[tuple[str, Json]] = []  # events
        self.asked: list[str] = []
        self.away = False
        self.slow = False  # its entities are not there when it answers
        self.hangs = False
        self.free = asyncio.Event()  # it answers
        self.free.set()

    @property
    def kinds(self) -> list[str]:
        return [kind for kind, _ in self.seen]

    async def command(self, kind: str, **fields: Any) -> Any:
        assert kind == "webhook/handle"
        if self.hangs:
            self.free.clear()
        await self.free.wait()
        if self.away:
            raise Unavailable("The connection to Home Assistant closed.")
        asked = json.loads(fields["body"])
        kind, data = asked["type"], asked["data"]
        self.asked.append(kind)
        if fields["webhook_id"] not in self.hooks:
            return {"status": 200, "body": None}
        told: Any = {}
        match kind:
            case "register_sensor":
                if not self.slow:
                    self._keep(data)
                    self.names[data["unique_id"]] = data["name"]
            case "update_sensor_states":
                told = {row["unique_id"]: self._update(row) for row in data}
            case "fire_event":
                self.seen.append((data["event_type"], data["event_data"]))
            case _:
                raise AssertionError(asked)
        return {"status": 201 if kind == "register_sensor" else 200, "body": json.dumps(told)}

    def _update(self, row: Json) -> Json:
        if row["unique_id"] not in self.states:
            return {"success": False, "error": {"code": "not_registered"}}
        self._keep(row)
        return {"success": True}

    def _keep(self, row: Json) -> None:
        self.states[row["unique_id"]] = row["state"]
        self.attributes[row["unique_id"]] = row["attributes"]


class TakesDevices:
    """Answers the commands that a device needs; any other fails the test."""

    def __init__(self) -> None:
        self.connected = True
        self.state = "RUNNING"
        self.components = ["mobile_app"]
        self.user: Json = {"id": "person", "is_admin": False}
        self.areas = [
            {"area_id": "kitchen", "name": "Kitchen", "aliases": ["Cocina"]},
            {"area_id": "living_room", "name": "Living room", "aliases": []},
        ]
        self.devices: list[Json] = []
        self.entities: list[Json] = []
        self.registered: list[Appearance] = []
        self.updated: list[Json] = []
        self.confirmed: list[str] = []
        self.channels: list[Json] = []  # every one that was ever opened
        self.send: Callable[[Mapping[str, Any]], None] | None = None  # into the open channel
        self.refuses_confirm = False
        self.gone = False  # no command is answered
        self._hooks: dict[str, str] = {}  # webhook id -> device id

    async def register(self, address: Address, identifier: str, looks: Appearance) -> str:
        """Register as `mobile_app` does: an entry of the same identifier is replaced."""
        self.registered.append(looks)
        number = len(self.registered)
        self.delete_entry()
        device: Json = {
            "id": f"device-{number}",
            "identifiers": [["mobile_app", identifier]],
            "name": looks.name,
            "area_id": None,
            "disabled_by": None,
            "config_entries": [f"entry-{number}"],
        }
        self.devices = [{"id": "other", "identifiers": [["hue", "1"]]}, device]
        self._hooks = {f"hook-{number}": device["id"]}
        return f"hook-{number}"

    def delete_entry(self) -> None:
        """Delete the entry, as a person does on the integration's page."""
        self.devices, self._hooks = [], {}

    def disable_entry(self) -> None:
        """Disable the entry, as a person does on the integration's page."""
        self.devices[-1]["disabled_by"] = "config_entry"
        self._hooks = {}

    def follow(
        self, handler: Callable[[Mapping[str, Any]], None], kind: str, **fields: Any
    ) -> Callable[[], None]:
        assert kind == "mobile_app/push_notification_channel"
        self.channels.append(fields)
        self.send = handler

        def leave() -> None:
            self.send = None

        return leave

    async def command(self, kind: str, **fields: Any) -> Any:
        if self.gone:
            raise Unavailable("The connection to Home Assistant closed.")
        match kind:
            case "get_config":
                return {"state": self.state, "components": self.components}
            case "auth/current_user":
                return self.user
            case "webhook/handle":
                return self._webhook(**fields)
            case "config/device_registry/list":
                return self.devices
            case "config/area_registry/list":
                return self.areas
            case "config/entity_registry/list":
                return self.entities
            case "config/device_registry/update" | "config/entity_registry/update":
                if not self.user["is_admin"]:
                    raise Refused(f"Home Assistant rejected {kind}: Unauthorized.")
                self.updated.append(fields)
                return None
            case "mobile_app/push_notification_confirm":
                if self.refuses_confirm:
                    raise Refused(
                        "Home Assistant rejected it: Push notification channel not found."
                    )
                self.confirmed.append(fields["confirm_id"])
                return None
        raise AssertionError(f"{kind} was not expected")

    def _webhook(self, webhook_id: str, method: str, headers: Json, body: str) -> Json:
        assert (method, headers) == ("POST", {"Content-Type": "application/json"})
        device_id = self._hooks.get(webhook_id)
        if device_id is None:
            return {"status": 200, "body": None}
        asked = json.loads(body)
        if asked["type"] == "update_registration":
            self.updated.append(asked["data"])
            return {"status": 200, "body": json.dumps({"device_name": "told"})}
        assert asked["type"] == "get_config"
        told = {"hass_device_id": device_id, "instance_id": "this-house", "version": "2026.11.0"}
        return {"status": 200, "body": json.dumps(told)}


# A box that does what messages ask for, and doubles that say things.


class Pressed(Box):
    """Records what is pressed; `trouble` is raised by the next action."""

    def __init__(self) -> None:
        self.done: list[Any] = []
        self.can_listen = True
        self.trouble: Exception | None = None
        self.asked: list[QuestionRequest] = []
        self.answers: asyncio.Queue[QuestionAnswer | Exception] = asyncio.Queue()

    async def mute(self, on: bool, caller: Caller) -> None:
        assert caller.may("speak")
        self._note("muted" if on else "unmuted")

    async def set_mode(self, mode: str, minutes: int | None, caller: Caller) -> None:
        assert caller.may("speak")
        self._note((mode, minutes))

    async def set_live(self, wanted: LiveRequest, caller: Caller) -> None:
        assert caller.may("speak")
        self._note(wanted.model_dump(exclude_none=True))

    def listen(self, caller: Caller) -> bool:
        assert caller.may("speak")
        self._note(f"listens for {caller.name}")
        return self.can_listen

    def stop(self, caller: Caller) -> None:
        assert caller.may("speak")
        self._note("stopped")

    async def question(self, wanted: QuestionRequest, caller: Caller) -> QuestionAnswer:
        assert caller.may("speak")
        self.asked.append(wanted)
        answer = await self.answers.get()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _note(self, what: Any) -> None:
        self.done.append(what)
        trouble, self.trouble = self.trouble, None
        if trouble is not None:
            raise trouble


class Says:
    """Records what is to be said, and what rings."""

    def __init__(self) -> None:
        self.wanted: list[tuple[AnnounceRequest, str]] = []
        self.rung: list[AnnouncementRecord] = []
        self.trouble: Exception | None = None  # raised by the next one
        self.hangs = False

    async def announce(
        self, wanted: AnnounceRequest, caller: Caller, *, announcement_id: str = ""
    ) -> str:
        assert caller.may("speak")
        if self.hangs:
            self.hangs = False
            await asyncio.Event().wait()
        trouble, self.trouble = self.trouble, None
        if trouble is not None:
            raise trouble
        self.wanted.append((wanted, announcement_id))
        return announcement_id

    async def keep(self, record: AnnouncementRecord) -> bool:
        self.rung.append(record)
        return True


class Fired:
    """Records the events for Home Assistant."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Json]] = []
        self.words = False

    def fire(self, kind: str, data: Mapping[str, Any]) -> None:
        self.events.append((kind, dict(data)))

    def shares_words(self) -> bool:
        return self.words


@dataclass
class Heard:
    """Records the events that happened."""

    bus: EventBus = field(default_factory=EventBus)
    all: list[BusEvent] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.bus.follow(self.all.append)

    @property
    def faults(self) -> list[tuple[str, str]]:
        return [(one.data["what"], one.data["problem"]) for one in self.all if one.kind == "fault"]


# Everything that Home Assistant sees of us, as a test sets it.


NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
SECRET = "open the safe"  # what somebody said


class Life(FakeStatus):
    """The state of the box, as a test sets it."""

    def __init__(self, *, guests: bool = False) -> None:
        super().__init__()
        self.bus = EventBus()
        self.guests = guests
        self.figures.last_heard = SECRET

    def keeps_words(self) -> bool:
        return not self.guests
