"""The websocket API of Home Assistant 2026.11: authentication, commands and subscriptions."""

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeGuard

from starlette.websockets import WebSocket, WebSocketDisconnect

from integrations.demo_home import actions, services, shapes
from integrations.demo_home import scenes as scripts
from integrations.demo_home.house import DemoHouse, Event, StateChange
from integrations.demo_home.shapes import KINDS, related
from integrations.demo_home.surroundings import Person, whose

MAX_PENDING = 4096  # messages; Home Assistant disconnects a client with more
# Events to which users without administrator rights can subscribe.
FOR_ANYONE = frozenset(
    {
        *("state_changed", "area_registry_updated", "component_loaded", "core_config_updated"),
        *("device_registry_updated", "entity_registry_updated", "floor_registry_updated"),
        *("label_registry_updated", "lovelace_updated", "panels_updated", "service_registered"),
        *("service_removed", "shopping_list_updated", "themes_updated"),
    }
)

Json = dict[str, Any]


class Socket:
    def __init__(self, house: DemoHouse, websocket: WebSocket, people: tuple[Person, ...]) -> None:
        self._house = house
        self._websocket = websocket
        self._people = people
        self._out: asyncio.Queue[Json] = asyncio.Queue(MAX_PENDING)
        self._over = asyncio.Event()
        self._subscriptions: dict[int, Callable[[], None]] = {}
        self._last_id = 0

    async def serve(self) -> None:
        await self._websocket.accept()
        try:
            person = await self._signed_in()
            if person is not None:
                self._person = person
                self._commands = Commands(self._house, person, self._house.clock.now())
                await self._converse()
        except (WebSocketDisconnect, ValueError, KeyError):
            return  # it disconnected before signing in, or sent invalid JSON
        finally:
            for unsubscribe in self._subscriptions.values():
                unsubscribe()

    async def _signed_in(self) -> Person | None:
        await self._websocket.send_json({"type": "auth_required", "ha_version": shapes.VERSION})
        message = await self._websocket.receive_json()
        token = message.get("access_token") if isinstance(message, dict) else None
        person = whose(self._people, token)
        if person is not None:
            await self._websocket.send_json({"type": "auth_ok", "ha_version": shapes.VERSION})
            return person
        await self._websocket.send_json(
            {"type": "auth_invalid", "message": "Invalid access token or password"}
        )
        await self._websocket.close()
        return None

    async def _converse(self) -> None:
        async with asyncio.TaskGroup() as group:
            tasks = (group.create_task(self._read()), group.create_task(self._write()))
            await self._over.wait()
            for task in tasks:
                task.cancel()
        if self._out.full():
            await self._websocket.close()

    async def _read(self) -> None:
        try:
            while True:
                message = await self._websocket.receive_json()
                for one in message if isinstance(message, list) else [message]:
                    self._answer(one)
        except (WebSocketDisconnect, ValueError, KeyError):
            # The client disconnected or sent invalid JSON; Home Assistant disconnects then too.
            self._over.set()

    async def _write(self) -> None:
        try:
            while True:
                await self._websocket.send_json(await self._out.get())
        except WebSocketDisconnect:
            self._over.set()

    def _send(self, message: Json) -> None:
        if self._out.full():
            self._over.set()
        else:
            self._out.put_nowait(message)

    def _answer(self, message: Any) -> None:
        id_ = message.get("id") if isinstance(message, dict) else None
        if not isinstance(id_, int) or not isinstance(message.get("type"), str):
            self._fail(id_, "invalid_format", "Message incorrectly formatted.")
        elif id_ <= self._last_id:
            self._fail(id_, "id_reuse", "Identifier values have to increase.")
        elif message["type"] == "ping":
            self._last_id = id_
            self._send({"id": id_, "type": "pong"})
        else:
            self._last_id = id_
            self._run(id_, message)

    def _run(self, id_: int, message: Json) -> None:
        special = self.special_commands()
        try:
            if message["type"] in special:
                special[message["type"]](id_, message)
            else:
                self._succeed(id_, self._commands.answer(message))
        except CommandError as error:
            self._fail(id_, error.code, str(error))

    def special_commands(self) -> dict[str, Callable[[int, Json], None]]:
        """Return the handlers of the commands that send their own results."""
        return {
            "subscribe_events": self._subscribe_events,
            "subscribe_entities": self._subscribe_entities,
            "unsubscribe_events": self._unsubscribe,
        }

    def _succeed(self, id_: int, result: Any = None) -> None:
        self._send({"id": id_, "type": "result", "success": True, "result": result})

    def _fail(self, id_: Any, code: str, text: str) -> None:
        error = {"code": code, "message": text}
        self._send({"id": id_, "type": "result", "success": False, "error": error})

    def _unsubscribe(self, id_: int, message: Json) -> None:
        unsubscribe = self._subscriptions.pop(message.get("subscription", 0), None)
        if unsubscribe is None:
            raise CommandError("not_found", "Subscription not found.")
        unsubscribe()
        self._succeed(id_)

    def _subscribe_events(self, id_: int, message: Json) -> None:
        wanted = message.get("event_type")
        if wanted not in FOR_ANYONE and not self._person.is_admin:
            raise CommandError("unauthorized", "Unauthorized")

        def tell_change(change: StateChange) -> None:
            self._event(id_, shapes.state_changed(change))

        def tell(event: Event) -> None:
            if wanted in (None, event.kind):
                self._event(id_, shapes.event(event, self._house.clock.now()))

        ends = [self._house.listen_events(tell)]
        if wanted in (None, "state_changed"):
            ends.append(self._house.listen(tell_change))

        def end() -> None:
            for unsubscribe in ends:
                unsubscribe()

        self._subscriptions[id_] = end
        self._succeed(id_)

    def _subscribe_entities(self, id_: int, message: Json) -> None:
        wanted = message.get("entity_ids")

        def tell(change: StateChange) -> None:
            if wanted is None or change.entity_id in wanted:
                self._event(id_, shapes.compressed_change(change))

        self._subscriptions[id_] = self._house.listen(tell)
        self._succeed(id_)
        states = {
            snapshot.entity_id: shapes.compressed_state(snapshot)
            for snapshot in self._house.all()
            if wanted is None or snapshot.entity_id in wanted
        }
        self._event(id_, {"a": states})

    def _event(self, id_: int, event: Json) -> None:
        self._send({"id": id_, "type": "event", "event": event})


_ENTITY_ID = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+")
_MISASKED = {
    "only": "The action requires responses and must be called with return_response=True",
    "none": "An action which does not return responses can't be called with return_response=True",
}


class CommandError(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Commands:
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
            "get_services": lambda message: actions.action_list(house),
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
        entity_ids = needed(message, "entity_ids")
        for one in entity_ids:
            if not _ENTITY_ID.fullmatch(str(one)):
                raise CommandError("invalid_format", f"Entity ID {one} is an invalid entity ID")
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
        config = scripts.config(self._house, str(needed(message, "entity_id")))
        if config is None:
            raise CommandError("not_found", "Entity not found")
        return {"config": config}

    def _call_service(self, message: Json) -> Json:
        domain, service = str(message.get("domain")), str(message.get("service"))
        data = {**(message.get("service_data") or {}), "target": message.get("target") or {}}
        wants_answer = bool(message.get("return_response"))
        try:
            known = actions.offered(self._house, domain, service)
            if known.is_misasked(wants_answer):
                raise services.UnfitError(_MISASKED[known.response])
            answer = actions.run(self._house, domain, service, data)
        except services.ServiceError as error:
            raise CommandError(error.code, f"{error.prefix}{error}") from error
        except (KeyError, TypeError, ValueError) as error:
            raise CommandError("invalid_format", f"wrong service data: {error}") from error
        result: Json = {"context": shapes.context("", self._person.user_id)}
        return {**result, "response": dict(answer)} if wants_answer else result

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
            # null stands for the entity's own name; without it, that name is no longer matched.
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
        return self._told("area", "update", area.area_id, shapes.areas)

    def _create_label(self, message: Json) -> Json:
        try:
            label_id = self._house.labels.create(str(needed(message, "name")))
        except ValueError as error:
            raise CommandError("invalid_info", str(error)) from error
        return self._told("label", "create", label_id, shapes.labels)

    def _update_floor(self, message: Json) -> Json:
        floor = self._house.floors.get(message.get("floor_id", ""))
        if floor is None:
            raise CommandError("invalid_info", "Floor ID doesn't exist")
        self._house.floors[floor.floor_id] = replace(floor, **_named(message))
        return self._told("floor", "update", floor.floor_id, shapes.floors)

    def _told(
        self, kind: str, action: str, id_: str, rows: Callable[[DemoHouse, datetime], list[Json]]
    ) -> Json:
        key = f"{kind}_id"
        self._house.fire(f"{kind}_registry_updated", action=action, **{key: id_})
        return next(row for row in rows(self._house, self._since) if row[key] == id_)

    def _area(self, area_id: Any) -> str | None:
        if area_id is not None and area_id not in self._house.areas:
            raise CommandError("invalid_info", "Area ID doesn't exist")
        return area_id if isinstance(area_id, str) else None


def _named(message: Mapping[str, Any]) -> Json:
    changes: Json = {}
    if "name" in message:
        changes["name"] = str(message["name"])
    if "aliases" in message:
        changes["aliases"] = tuple(message["aliases"])
    return changes


def needed(message: Mapping[str, Any], key: str) -> Any:
    if key not in message:
        raise CommandError("invalid_format", f"required key not provided at '{key}'. Got None")
    return message[key]
