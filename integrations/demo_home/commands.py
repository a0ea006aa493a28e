"""Commands of the websocket that are answered once, as Home Assistant 2026.11 answers them."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeGuard

from integrations.demo_home import actions, scripts, services, shapes
from integrations.demo_home import context as offered
from integrations.demo_home.context import KINDS, related
from integrations.demo_home.house import DemoHouse
from integrations.demo_home.surroundings import Person

Json = dict[str, Any]
_ENTITY_ID = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+")


class CommandError(Exception):
    """A command is answered with this code and message."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Commands:
    """What one signed-in person may ask."""

    def __init__(self, house: DemoHouse, person: Person, since: datetime) -> None:
        self._house = house
        self._person = person
        self._since = since
        anyone: dict[str, Callable[[Json], Any]] = {
            "auth/current_user": lambda message: shapes.user(person),
            "call_service": self._call_service,
            "config/area_registry/list": lambda message: shapes.areas(house, since),
            "config/device_registry/list": lambda message: shapes.devices(house, since),
            "config/entity_registry/get": self._entry,
            "config/entity_registry/get_entries": self._entries,
            "config/entity_registry/list": lambda message: shapes.entities(house, since),
            "config/floor_registry/list": lambda message: shapes.floors(house, since),
            "config/label_registry/list": lambda message: shapes.labels(house, since),
            "get_config": lambda message: shapes.config(house),
            "get_services": lambda message: offered.services(house),
            "get_states": lambda message: [shapes.state(snapshot) for snapshot in house.all()],
            "search/related": self._related,
        }
        admins: dict[str, Callable[[Json], Any]] = {
            "automation/config": self._config,
            "config/area_registry/update": self._update_area,
            "config/device_registry/update": self._update_device,
            "config/entity_registry/update": self._update_entity,
            "config/floor_registry/update": self._update_floor,
            "config/label_registry/create": self._create_label,
            "homeassistant/expose_entity": self._expose,
            "homeassistant/expose_entity/list": lambda message: shapes.exposure(house),
            "script/config": self._config,
        }
        self._answers = anyone | admins
        self._admins = frozenset(admins)

    def answer(self, message: Json) -> Any:
        """The result of one command. Raises CommandError."""
        kind = message["type"]
        if kind not in self._answers:
            raise CommandError("unknown_command", "Unknown command.")
        if kind in self._admins and not self._person.is_admin:
            raise CommandError("unauthorized", "Unauthorized")
        return self._answers[kind](message)

    def _entry(self, message: Json) -> Json:
        entity_id = message.get("entity_id")
        if not self._is_registered(entity_id):
            raise CommandError("not_found", "Entity not found")
        return shapes.extended_entity(self._house.things[entity_id], self._since)

    def _is_registered(self, entity_id: Any) -> TypeGuard[str]:
        thing = self._house.things.get(entity_id)
        return thing is not None and thing.registered

    def _entries(self, message: Json) -> dict[str, Json | None]:
        """Each asked entity; null for one that does not exist."""
        entity_ids = needed(message, "entity_ids")
        for entity_id in entity_ids:
            if not _ENTITY_ID.fullmatch(str(entity_id)):
                raise CommandError(
                    "invalid_format", f"Entity ID {entity_id} is an invalid entity ID"
                )
        things = self._house.things
        return {
            entity_id: shapes.extended_entity(things[entity_id], self._since)
            if self._is_registered(entity_id)
            else None
            for entity_id in entity_ids
        }

    def _related(self, message: Json) -> dict[str, list[str]]:
        kind, item = needed(message, "item_type"), needed(message, "item_id")
        if kind not in KINDS:
            raise CommandError("invalid_format", f"expected one of {list(KINDS)} at 'item_type'")
        return related(self._house, kind, str(item))

    def _config(self, message: Json) -> Json:
        """Of scripts; the house has no automations."""
        config = scripts.config(self._house, str(needed(message, "entity_id")))
        if config is None:
            raise CommandError("not_found", "Entity not found")
        return {"config": config}

    def _call_service(self, message: Json) -> Json:
        domain, service = str(message.get("domain")), str(message.get("service"))
        data = {**(message.get("service_data") or {}), "target": message.get("target") or {}}
        wants_answer = bool(message.get("return_response"))
        try:
            self._check_answer(domain, service, wants_answer)
            answer = actions.run(self._house, domain, service, data)
        except services.UnknownServiceError as error:
            raise CommandError("not_found", str(error)) from error
        except services.DataError as error:
            raise CommandError("invalid_format", str(error)) from error
        except services.UnfitError as error:
            raise CommandError("service_validation_error", f"Validation error: {error}") from error
        except services.ServiceError as error:
            raise CommandError("home_assistant_error", str(error)) from error
        except (KeyError, TypeError, ValueError) as error:
            raise CommandError("invalid_format", f"wrong service data: {error}") from error
        result: Json = {"context": shapes.context("", self._person.user_id)}
        return {**result, "response": dict(answer)} if wants_answer else result

    def _check_answer(self, domain: str, service: str, wants_answer: bool) -> None:
        """Raises UnfitError if the action is not asked for an answer as it wants to be."""
        response = actions.offered(self._house, domain, service).response
        if response == "only" and not wants_answer:
            raise services.UnfitError(
                "The action requires responses and must be called with return_response=True"
            )
        if response == "none" and wants_answer:
            raise services.UnfitError(
                "An action which does not return responses can't be called with"
                " return_response=True"
            )

    def _expose(self, message: Json) -> Json:
        for entity_id in needed(message, "entity_ids"):
            if entity_id in self._house.things:
                self._house.alter(entity_id, exposed=bool(message.get("should_expose")))
        return {"changed_entity_ids": list(message["entity_ids"])}

    def _update_entity(self, message: Json) -> Json:
        entity_id = message.get("entity_id")
        if not self._is_registered(entity_id):
            raise CommandError("not_found", "Entity not found")
        changes: Json = {}
        if "aliases" in message:
            # null stands for the name itself; without it the name does not count any more.
            given = message["aliases"]
            changes["aliases"] = tuple(alias.strip() for alias in given if alias is not None)
            changes["own_name"] = None in given
        if "area_id" in message:
            changes |= {"area_id": self._area(message["area_id"]), "area_on_device": False}
        if message.get("name") is not None:
            changes["name"] = str(message["name"])
        if "labels" in message:
            changes["labels"] = tuple(message["labels"])
        self._house.alter(entity_id, **changes)
        return {"entity_entry": self._entry(message)}

    def _update_device(self, message: Json) -> Json:
        device_id, house = message.get("device_id"), self._house
        if device_id not in (row["id"] for row in shapes.devices(house, self._since)):
            raise CommandError("not_found", "Device not found")
        if "area_id" in message:
            house.put_device(str(device_id), self._area(message["area_id"]))
        if "labels" in message:
            house.labels.put(str(device_id), message["labels"])
        house.fire("device_registry_updated", action="update", device_id=device_id)
        return next(row for row in shapes.devices(house, self._since) if row["id"] == device_id)

    def _update_area(self, message: Json) -> Json:
        area = self._house.areas.get(message.get("area_id", ""))
        if area is None:
            raise CommandError("invalid_info", "Area ID doesn't exist")
        self._house.areas[area.area_id] = replace(area, **_named(message))
        if "labels" in message:
            self._house.labels.put(area.area_id, message["labels"])
        self._house.fire("area_registry_updated", action="update", area_id=area.area_id)
        rows = shapes.areas(self._house, self._since)
        return next(row for row in rows if row["area_id"] == area.area_id)

    def _create_label(self, message: Json) -> Json:
        try:
            label_id = self._house.labels.create(str(needed(message, "name")))
        except ValueError as error:
            raise CommandError("invalid_info", str(error)) from error
        self._house.fire("label_registry_updated", action="create", label_id=label_id)
        rows = shapes.labels(self._house, self._since)
        return next(row for row in rows if row["label_id"] == label_id)

    def _update_floor(self, message: Json) -> Json:
        floor = self._house.floors.get(message.get("floor_id", ""))
        if floor is None:
            raise CommandError("invalid_info", "Floor ID doesn't exist")
        self._house.floors[floor.floor_id] = replace(floor, **_named(message))
        self._house.fire("floor_registry_updated", action="update", floor_id=floor.floor_id)
        rows = shapes.floors(self._house, self._since)
        return next(row for row in rows if row["floor_id"] == floor.floor_id)

    def _area(self, area_id: Any) -> str | None:
        if area_id is not None and area_id not in self._house.areas:
            raise CommandError("invalid_info", "Area ID doesn't exist")
        return area_id if isinstance(area_id, str) else None


def _named(message: Mapping[str, Any]) -> Json:
    """Another name and other aliases of an area or floor, as far as they are given."""
    changes: Json = {}
    if "name" in message:
        changes["name"] = str(message["name"])
    if "aliases" in message:
        changes["aliases"] = tuple(message["aliases"])
    return changes


def needed(message: Mapping[str, Any], key: str) -> Any:
    """What stands under that key. Raises CommandError where it is missing."""
    if key not in message:
        raise CommandError("invalid_format", f"required key not provided at '{key}'. Got None")
    return message[key]
