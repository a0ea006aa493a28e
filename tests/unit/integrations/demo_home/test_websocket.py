"""The websocket: sign-in, registries, states and their changes."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from integrations.demo_home import DemoHome
from integrations.demo_home.house import CallerPlace
from integrations.demo_home.tools import call_tool


class Client:
    """A client for commands with answers; the test reads events itself."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.id = 0

    async def send(self, type_: str, **fields: Any) -> int:
        self.id += 1
        await self.socket.send(json.dumps({"id": self.id, "type": type_, **fields}))
        return self.id

    async def receive(self) -> dict[str, Any]:
        message = json.loads(await self.socket.recv())
        assert isinstance(message, dict)
        return message

    async def ask(self, type_: str, **fields: Any) -> Any:
        id_ = await self.send(type_, **fields)
        answer = await self.receive()
        assert (answer["id"], answer["type"], answer["success"]) == (id_, "result", True)
        return answer["result"]


@asynccontextmanager
async def unsigned(home: DemoHome) -> AsyncIterator[ClientConnection]:
    address = home.url.replace("http", "ws") + "/api/websocket"
    async with connect(address, proxy=None) as socket:
        hello = json.loads(await socket.recv())
        assert hello == {"type": "auth_required", "ha_version": "2026.11.0"}
        yield socket


@asynccontextmanager
async def signed_in(home: DemoHome) -> AsyncIterator[Client]:
    async with unsigned(home) as socket:
        await socket.send(json.dumps({"type": "auth", "access_token": home.token}))
        assert json.loads(await socket.recv())["type"] == "auth_ok"
        yield Client(socket)


def turn(home: DemoHome, **arguments: Any) -> None:
    call_tool(home.house, "light__HassLightSet", arguments, CallerPlace())


async def test_a_wrong_token_is_turned_away(home: DemoHome) -> None:
    wrong: list[Any] = [{"type": "auth", "access_token": "wrong"}, {"type": "ping", "id": 1}, []]
    for message in wrong:
        async with unsigned(home) as socket:
            await socket.send(json.dumps(message))
            assert json.loads(await socket.recv()) == {
                "type": "auth_invalid",
                "message": "Invalid access token or password",
            }
            with pytest.raises(ConnectionClosed):
                await socket.recv()


async def test_what_is_no_json_ends_the_conversation(home: DemoHome) -> None:
    for nonsense in ("{", b"\x00"):
        async with signed_in(home) as client:
            await client.socket.send(nonsense)
            with pytest.raises(ConnectionClosed):
                await client.receive()


async def test_registries_lead_from_entity_to_area_and_floor(home: DemoHome) -> None:
    async with signed_in(home) as client:
        floors = {row["floor_id"]: row for row in await client.ask("config/floor_registry/list")}
        areas = {row["area_id"]: row for row in await client.ask("config/area_registry/list")}
        devices = {row["id"]: row for row in await client.ask("config/device_registry/list")}
        entities = {
            row["entity_id"]: row for row in await client.ask("config/entity_registry/list")
        }
        exposed = await client.ask("homeassistant/expose_entity/list")
    assert areas["living_room"]["aliases"] == ["lounge", "salón"]
    assert floors[areas["bedroom"]["floor_id"]]["name"] == "Upper"
    lamp = entities["light.bedroom_lamp"]
    assert lamp["area_id"] is None
    assert devices[lamp["device_id"]]["area_id"] == "bedroom"
    assert entities["light.kitchen"]["area_id"] == "kitchen"
    assert "aliases" not in lamp
    assert set(entities) == set(home.states) - {"sun.sun"}
    assert exposed["exposed_entities"]["light.workbench"] == {"conversation": False}
    assert exposed["exposed_entities"]["light.kitchen"] == {"conversation": True}


async def test_labels_are_made_and_borne(home: DemoHome) -> None:
    async with signed_in(home) as client:
        label = await client.ask("config/label_registry/create", name="Front doors")
        assert (label["label_id"], label["name"]) == ("front_doors", "Front doors")
        assert await client.ask("config/label_registry/list") == [label]
        given = {"labels": ["front_doors"]}
        lock = home.house.things["lock.front_door"]
        await client.ask("config/entity_registry/update", entity_id=lock.entity_id, **given)
        await client.ask("config/area_registry/update", area_id="hall", **given)
        await client.ask("config/device_registry/update", device_id=lock.device_id, **given)
        for kind, key, item in (
            ("entity", "entity_id", lock.entity_id),
            ("area", "area_id", "hall"),
            ("device", "id", lock.device_id),
        ):
            rows = await client.ask(f"config/{kind}_registry/list")
            assert [row[key] for row in rows if row["labels"]] == [item]
        await client.send("config/label_registry/create", name="front DOORS")
        refused = await client.receive()
        assert refused["error"]["code"] == "invalid_info"


async def test_aliases_are_in_the_extended_entries(home: DemoHome) -> None:
    async with signed_in(home) as client:
        entries = await client.ask(
            "config/entity_registry/get_entries", entity_ids=["light.kitchen", "light.nowhere"]
        )
    assert entries["light.kitchen"]["aliases"] == [None, "luz de la cocina"]
    assert entries["light.kitchen"]["original_name"] == "Kitchen light"
    assert entries["light.nowhere"] is None


async def test_states_equal_those_of_rest(home: DemoHome) -> None:
    async with signed_in(home) as client:
        states = await client.ask("get_states")
    assert {state["entity_id"]: state["state"] for state in states} == home.states


async def test_a_change_comes_as_an_event(home: DemoHome) -> None:
    async with signed_in(home) as client:
        await client.ask("subscribe_events", event_type="state_changed")
        turn(home, name="Kitchen light", brightness=30)
        message = await client.receive()
    assert (message["id"], message["type"]) == (1, "event")
    data = message["event"]["data"]
    assert data["entity_id"] == "light.kitchen"
    assert (data["old_state"]["state"], data["new_state"]["state"]) == ("off", "on")
    assert data["new_state"]["attributes"]["brightness"] == 76


async def test_subscribed_entities_come_compressed(home: DemoHome) -> None:
    async with signed_in(home) as client:
        await client.ask("subscribe_entities", entity_ids=["light.dining_room"])
        first = (await client.receive())["event"]["a"]
        assert list(first) == ["light.dining_room"]
        assert first["light.dining_room"]["s"] == "on"
        assert first["light.dining_room"]["a"]["brightness"] == 180
        turn(home, name="Kitchen light")  # not subscribed
        turn(home, name="Dining room light", brightness=30)
        turn(home, name="Dining room light", brightness=0)
        dimmed = (await client.receive())["event"]["c"]["light.dining_room"]["+"]
        off = (await client.receive())["event"]["c"]["light.dining_room"]["+"]
    assert dimmed["a"] == {"brightness": 76}
    assert "lu" in dimmed
    assert not {"s", "lc"} & set(dimmed)
    assert off["s"] == "off"
    assert off["a"] == {"brightness": None}
    assert "lc" in off


async def test_no_events_after_unsubscribing(home: DemoHome) -> None:
    async with signed_in(home) as client:
        await client.ask("subscribe_events", event_type="state_changed")
        await client.ask("unsubscribe_events", subscription=1)
        turn(home, name="Kitchen light")
        assert await client.ask("get_config") is not None


async def test_a_service_call_acts(home: DemoHome) -> None:
    async with signed_in(home) as client:
        await client.ask(
            "call_service",
            domain="switch",
            service="turn_on",
            target={"entity_id": "switch.coffee_machine"},
        )
    assert home.states["switch.coffee_machine"] == "on"


async def test_ping_unknown_commands_and_ids_that_do_not_rise(home: DemoHome) -> None:
    async with signed_in(home) as client:
        await client.send("ping")
        assert await client.receive() == {"id": 1, "type": "pong"}
        await client.send("config/nonsense/list")
        error = await client.receive()
        assert (error["success"], error["error"]["code"]) == (False, "unknown_command")
        client.id = 0
        await client.send("ping")
        assert (await client.receive())["error"]["code"] == "id_reuse"


async def test_shutdown_with_an_open_socket_takes_its_subscription_away() -> None:
    async with DemoHome(settle_s=0) as home, signed_in(home) as client:
        await client.ask("subscribe_events", event_type="state_changed")
        assert len(home.house._listeners) == 1
        await home.__aexit__(None, None, None)
        assert home.house._listeners == []
        with pytest.raises(ConnectionClosed):
            await client.receive()
