"""The websocket of Home Assistant 2026.11: sign-in, commands, changes of states, pushes."""

import asyncio
from collections.abc import Callable
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from integrations.demo_home import shapes
from integrations.demo_home.commands import CommandError, Commands
from integrations.demo_home.house import DemoHouse, Event, StateChange
from integrations.demo_home.surroundings import Person, whose

MAX_PENDING = 4096  # Home Assistant drops a client that lets more messages pile up
# The events that a person who is no administrator may hear.
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
    """One client's connection, from the sign-in to the end."""

    def __init__(self, house: DemoHouse, websocket: WebSocket, people: tuple[Person, ...]) -> None:
        self._house = house
        self._websocket = websocket
        self._people = people
        self._out: asyncio.Queue[Json] = asyncio.Queue(MAX_PENDING)
        self._over = asyncio.Event()
        self._subscriptions: dict[int, Callable[[], None]] = {}
        self._last_id = 0

    async def serve(self) -> None:
        """Talk until the client goes."""
        await self._websocket.accept()
        try:
            person = await self._signed_in()
            if person is not None:
                self._person = person
                self._commands = Commands(self._house, person, self._house.clock.now())
                await self._converse()
        except (WebSocketDisconnect, ValueError, KeyError):
            return  # gone before the sign-in was over, or it sent what is no JSON text
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
                message = await self._websocket.receive_json()
                for one in message if isinstance(message, list) else [message]:
                    self._answer(one)
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
        """Commands that answer by themselves, or more than once."""
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
        """Send events of one type, or of all, until unsubscribed."""
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
        """Send all states, then what becomes different, until unsubscribed."""
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
