"""A Home Assistant that takes devices, as far as our device is concerned (2026.11.0's habits)."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from integrations.errors import Refused, Unavailable
from integrations.home_assistant.mobile_app import Address, Appearance

Json = dict[str, Any]


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
        """As `mobile_app.register`: an entry of the same identifier is replaced."""
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
        """As a person does on the integration's page."""
        self.devices, self._hooks = [], {}

    def disable_entry(self) -> None:
        """As a person does on the integration's page."""
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
                    raise Refused(f"Home Assistant refused {kind}: Unauthorized.")
                self.updated.append(fields)
                return None
            case "mobile_app/push_notification_confirm":
                if self.refuses_confirm:
                    raise Refused("Home Assistant refused it: Push notification channel not found.")
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
