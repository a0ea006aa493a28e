"""A websocket that answers as Home Assistant does, from rows that a test may change."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.house import House
from integrations.serving import serving

Row = dict[str, Any]
QUICK = (0.01, 0.05)  # seconds between attempts


class FakeHome:
    """A house. It refuses unknown commands as Home Assistant does."""

    def __init__(self) -> None:
        self.floors: list[Row] = []
        self.labels: list[Row] = []
        self.is_admin = False
        self.areas: list[Row] = []
        self.devices: list[Row] = []
        self.entries: dict[str, Row] = {}
        self.states: dict[str, Row] = {}
        self.related: dict[str, Row] = {}
        self.config: Row = {"state": "RUNNING"}
        self.refused: set[str] = set()  # command types, or events of subscribe_events
        self.failing: set[str] = set()  # items for which search/related raises an error
        self.configs: dict[str, Any] = {}  # of scripts and automations, by entity id
        self.scenes: dict[str, Any] = {}  # configurations from REST, by the scene's own id
        self.asked_scenes: list[str] = []
        self.holding = False  # answers of search/related wait for `release`
        self._held: list[Row] = []
        self.asked: list[Row] = []  # every command
        self.subscriptions: dict[int, Row] = {}  # of the newest connection, by id
        self._socket: WebSocket | None = None
        self._told = asyncio.Condition()

    @asynccontextmanager
    async def serve(self) -> AsyncIterator[str]:
        """Yield the URL while it answers."""

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http":
                await self._rest(scope["path"])(scope, receive, send)
            else:
                await self._converse(WebSocket(scope, receive, send))

        async with serving(app, "127.0.0.1", 0) as port:
            yield f"http://127.0.0.1:{port}"

    def entity(
        self, entity_id: str, name: str = "", state: str = "on", *, entry: Row | None = None
    ) -> None:
        """Add an entity; without `entry` it is not in the registry."""
        attributes = {"friendly_name": name or entity_id}
        self.states[entity_id] = {
            "entity_id": entity_id,
            "state": state,
            "attributes": attributes,
            "last_updated": "2026-11-22T00:00:00",
        }
        if entry is not None:
            self.entries[entity_id] = {"entity_id": entity_id, **entry}

    def script(self, name: str, related: Row | None = None) -> None:
        """Add a script; `related` is the answer of search/related."""
        self.entity(f"script.{name}", name, "off", entry={})
        if related is not None:
            self.related[f"script.{name}"] = related

    def area(self, area_id: str, name: str, **more: Any) -> None:
        self.areas.append({"area_id": area_id, "name": name, "aliases": [], **more})

    async def tell(self, event_type: str, **data: Any) -> None:
        """Send an event to its subscribers."""
        assert self._socket is not None
        event = {"event_type": event_type, "data": data}
        for number, wanted in list(self.subscriptions.items()):
            if wanted.get("event_type", wanted["type"]) == event_type:
                await self._socket.send_json({"id": number, "type": "event", "event": event})

    async def heard(self, kind: str, times: int = 1) -> None:
        """Wait until the command was received `times` times."""
        async with asyncio.timeout(20), self._told:
            await self._told.wait_for(lambda: self.count(kind) >= times)

    def count(self, kind: str) -> int:
        """Return how often the command was received."""
        return sum(1 for message in self.asked if message["type"] == kind)

    async def release(self) -> None:
        """Send the answers that were held back, and hold no more."""
        assert self._socket is not None
        self.holding = False
        while self._held:
            await self._answer(self._socket, self._held.pop())

    async def hang_up(self) -> None:
        """Close the connection."""
        assert self._socket is not None
        await self._socket.close()

    def _rest(self, path: str) -> Response:
        before, _, scene_id = path.rpartition("/")
        assert before == "/api/config/scene/config", path
        self.asked_scenes.append(scene_id)
        if scene_id not in self.scenes:
            return JSONResponse({"message": "Resource not found"}, 404)
        config = self.scenes[scene_id]
        return Response(config) if isinstance(config, str) else JSONResponse(config)

    async def _converse(self, socket: WebSocket) -> None:
        await socket.accept()
        await socket.send_json({"type": "auth_required"})
        await socket.receive_json()
        await socket.send_json({"type": "auth_ok"})
        self._socket, self.subscriptions = socket, {}
        try:
            while True:
                await self._answer(socket, await socket.receive_json())
        except (WebSocketDisconnect, RuntimeError):  # RuntimeError: closed by us
            return

    async def _answer(self, socket: WebSocket, message: Row) -> None:
        if self.holding and message["type"] == "search/related":
            self._held.append(message)
            return
        reply: Row = {"id": message["id"], "type": "result", "success": True}
        event = message.get("event_type")
        if message["type"] in self.refused or event in self.refused:
            reply |= {"success": False, "error": {"code": "unauthorized", "message": "no"}}
        elif message.get("item_id") in self.failing:
            reply |= {"success": False, "error": {"code": "unknown_error", "message": "no"}}
        else:
            try:
                reply["result"] = self._result(message)
            except KeyError:
                error = {"code": "unknown_command", "message": "Unknown command."}
                if message["type"].endswith("/config") and self.configs:
                    error = {"code": "not_found", "message": "Entity not found"}
                reply |= {"success": False, "error": error}
        await socket.send_json(reply)
        async with self._told:
            self.asked.append(message)
            self._told.notify_all()

    def _result(self, message: Row) -> Any:
        kind = message["type"]
        if kind in ("subscribe_events", "some/subscription"):
            self.subscriptions[message["id"]] = message
            return None
        if kind == "unsubscribe_events":
            del self.subscriptions[message["subscription"]]
            return None
        if kind == "search/related":
            return self.related[message["item_id"]]
        if kind in ("script/config", "automation/config") and self.configs:
            return {"config": self.configs[message["entity_id"]]}
        if kind == "config/entity_registry/get_entries":
            return {name: self.entries.get(name) for name in message["entity_ids"]}
        answers: Mapping[str, Any] = {
            "get_states": list(self.states.values()),
            "get_config": self.config,
            "auth/current_user": {"id": "user", "is_admin": self.is_admin},
            "config/floor_registry/list": self.floors,
            "config/label_registry/list": self.labels,
            "config/area_registry/list": self.areas,
            "config/device_registry/list": self.devices,
            "config/entity_registry/list": list(self.entries.values()),
        }
        return answers[kind]


@asynccontextmanager
async def followed(fake: FakeHome) -> AsyncIterator[HomeAssistant]:
    async with fake.serve() as url, HomeAssistant(url, "t", pause_s=QUICK, settle_s=0.0) as home:
        assert home.connected
        yield home


async def until(home: HomeAssistant, look: Callable[[House], bool]) -> None:
    """Wait until it is connected and `look` is true of the house."""
    async with asyncio.timeout(20):
        while not home.connected or not look(home.house):  # noqa: ASYNC110 (it has no event)
            await asyncio.sleep(0.01)
