"""The websocket of Home Assistant 2026.11: sign-in, registries, states and their changes."""

import asyncio
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from integrations.demo_home import services, shapes
from integrations.demo_home.house import Change, DemoHouse
from integrations.demo_home.rest import call_service

MAX_PENDING = 4096  # Home Assistant drops a client that lets more messages pile up

Json = dict[str, Any]


class CommandError(Exception):
    """A command is answered with this code and message."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Socket:
    """One client's connection, from the sign-in to the end."""

    def __init__(self, house: DemoHouse, websocket: WebSocket, token: str) -> None:
        self._house = house
        self._websocket = websocket
        self._token = token
        self._since = house.clock.now()
        self._out: asyncio.Queue[Json] = asyncio.Queue(MAX_PENDING)
        self._over = asyncio.Event()
        self._subscriptions: dict[int, Callable[[], None]] = {}
        self._last_id = 0

    async def serve(self) -> None:
        """Talk until the client goes."""
        await self._websocket.accept()
        try:
            if await self._signed_in():
                await self._converse()
        except (WebSocketDisconnect, ValueError, KeyError):
            return  # gone before the sign-in was over, or it sent what is no JSON text
        finally:
            for unsubscribe in self._subscriptions.values():
                unsubscribe()

    async def _signed_in(self) -> bool:
        await self._websocket.send_json({"type": "auth_required", "ha_version": shapes.VERSION})
        message = await self._websocket.receive_json()
        token = message.get("access_token") if isinstance(message, dict) else None
        if isinstance(token, str) and secrets.compare_digest(token.encode(), self._token.encode()):
            await self._websocket.send_json({"type": "auth_ok", "ha_version": shapes.VERSION})
            return True
        await self._websocket.send_json(
            {"type": "auth_invalid", "message": "Invalid access token or password"}
        )
        await self._websocket.close()
        return False

    async def _converse(self) -> None:
        """Read commands and write messages until the client goes or is too slow."""
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
                self._answer(await self._websocket.receive_json())
        except (WebSocketDisconnect, ValueError, KeyError):
            # Gone, or it sent what is no JSON text: Home Assistant hangs up then too.
            self._over.set()

    async def _write(self) -> None:
        try:
            while True:
                await self._websocket.send_json(await self._out.get())
        except WebSocketDisconnect:
            self._over.set()

    def _send(self, message: Json) -> None:
        """Queue a message; a client that lets too many pile up is cut off."""
        if self._out.full():
            self._over.set()
        else:
            self._out.put_nowait(message)

    def _answer(self, message: Any) -> None:
        """Answer one command; its id must be larger than the one before."""
        id_ = message.get("id") if isinstance(message, dict) else None
        if not isinstance(id_, int) or not isinstance(message.get("type"), str):
            self._fail(0, "invalid_format", "Message incorrectly formatted.")
        elif id_ <= self._last_id:
            self._fail(id_, "id_reuse", "Identifier values have to increase.")
        elif message["type"] == "ping":
            self._last_id = id_
            self._send({"id": id_, "type": "pong"})
        else:
            self._last_id = id_
            self._run(id_, message)

    def _run(self, id_: int, message: Json) -> None:
        if message["type"] in ("subscribe_events", "subscribe_entities"):
            self._subscribe(id_, message)
            return
        try:
            result = self._result(message)
        except CommandError as error:
            self._fail(id_, error.code, str(error))
            return
        self._send({"id": id_, "type": "result", "success": True, "result": result})

    def _fail(self, id_: int, code: str, text: str) -> None:
        error = {"code": code, "message": text}
        self._send({"id": id_, "type": "result", "success": False, "error": error})

    def _result(self, message: Json) -> Any:
        """The result of a command that is answered once."""
        house, since = self._house, self._since
        match message["type"]:
            case "get_states":
                return [shapes.state(snapshot) for snapshot in house.all()]
            case "get_config":
                return shapes.config()
            case "config/floor_registry/list":
                return shapes.floors(house, since)
            case "config/area_registry/list":
                return shapes.areas(house, since)
            case "config/device_registry/list":
                return shapes.devices(house, since)
            case "config/entity_registry/list":
                return [shapes.entity(thing, since) for thing in house.things.values()]
            case "config/entity_registry/get":
                return self._entry(message.get("entity_id"))
            case "config/entity_registry/get_entries":
                return self._entries(message.get("entity_ids"))
            case "homeassistant/expose_entity/list":
                return shapes.exposure(house)
            case "call_service":
                return self._call_service(message)
            case "unsubscribe_events":
                return self._unsubscribe(message.get("subscription"))
            case _:
                raise CommandError("unknown_command", "Unknown command.")

    def _entry(self, entity_id: Any) -> Json:
        if entity_id not in self._house.things:
            raise CommandError("not_found", "Entity not found")
        return shapes.extended_entity(self._house.things[entity_id], self._since)

    def _entries(self, entity_ids: Any) -> dict[str, Json | None]:
        """Each asked entity; null for one that does not exist."""
        if not isinstance(entity_ids, list):
            raise CommandError("invalid_format", "required key not provided @ data['entity_ids']")
        things = self._house.things
        return {
            entity_id: self._entry(entity_id) if entity_id in things else None
            for entity_id in entity_ids
        }

    def _call_service(self, message: Json) -> Json:
        domain, service = str(message.get("domain")), str(message.get("service"))
        given = message.get("service_data") or {}
        data: Mapping[str, Any] = {**given, "target": message.get("target") or {}}
        try:
            response = call_service(self._house, domain, service, data)
        except services.UnknownServiceError:
            raise CommandError("not_found", f"Service {domain}.{service} not found.") from None
        except services.ServiceError as error:
            raise CommandError("home_assistant_error", str(error)) from error
        except (KeyError, TypeError, ValueError) as error:
            raise CommandError("invalid_format", f"wrong service data: {error}") from error
        return {"context": shapes.context(""), "response": response}

    def _unsubscribe(self, subscription: Any) -> None:
        unsubscribe = self._subscriptions.pop(subscription, None)
        if unsubscribe is None:
            raise CommandError("not_found", "Subscription not found.")
        unsubscribe()

    def _subscribe(self, id_: int, message: Json) -> None:
        """Send changes until unsubscribed; other events than state changes never come."""
        entities = message["type"] == "subscribe_entities"
        wanted = message.get("entity_ids")
        event_type = message.get("event_type", "state_changed")

        def tell(change: Change) -> None:
            if entities and (wanted is None or change.new.entity_id in wanted):
                diff = shapes.compressed_change(change)
                self._event(id_, {"c": {change.new.entity_id: diff}})
            elif not entities and event_type == "state_changed":
                self._event(id_, shapes.state_changed(change))

        self._subscriptions[id_] = self._house.listen(tell)
        self._send({"id": id_, "type": "result", "success": True, "result": None})
        if entities:
            states = {
                snapshot.entity_id: shapes.compressed_state(snapshot)
                for snapshot in self._house.all()
                if wanted is None or snapshot.entity_id in wanted
            }
            self._event(id_, {"a": states})

    def _event(self, id_: int, event: Json) -> None:
        self._send({"id": id_, "type": "event", "event": event})
