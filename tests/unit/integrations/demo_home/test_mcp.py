"""The MCP endpoint against replies recorded from Home Assistant 2026.11.0, and the SDK's client."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from integrations.demo_home import DemoHome
from tests.shared_data import shared

ASSIST = "/api/mcp/assist"
LIST: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
JSON_HEADERS = {"Accept": "application/json", "Content-Type": "application/json"}


def recorded(name: str) -> Any:
    return json.loads(shared("home-assistant", name).read_text(encoding="utf-8"))


async def rpc(client: httpx.AsyncClient, method: str, params: Any = None) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params or {}}
    answer = await client.post(ASSIST, json=message, headers={"Accept": "application/json"})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    body = answer.json()
    assert isinstance(body, dict)
    return body


@asynccontextmanager
async def sdk(home: DemoHome, mode: Literal["auto", "legacy"]) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {home.token}"}
    async with (
        httpx2.AsyncClient(headers=headers, trust_env=False) as http,
        Client(streamable_http_client(home.url + ASSIST, http_client=http), mode=mode) as client,
    ):
        yield client


# Our request for each recorded answer.
TRANSPORT: dict[str, dict[str, Any]] = {
    "bad_token": {"headers": {**JSON_HEADERS, "Authorization": "Bearer wrong"}, "json": LIST},
    "no_token": {"headers": {**JSON_HEADERS, "Authorization": ""}, "json": LIST},
    "accept_star": {"headers": {**JSON_HEADERS, "Accept": "*/*"}, "json": LIST},
    "accept_sse_only": {"headers": {**JSON_HEADERS, "Accept": "text/event-stream"}, "json": LIST},
    "ctype": {"headers": {**JSON_HEADERS, "Content-Type": "text/plain"}, "content": "{}"},
    "get_api_mcp": {"method": "GET", "path": "/api/mcp"},
    "delete_api_mcp": {"method": "DELETE", "path": "/api/mcp"},
    "unknown_api": {"path": "/api/mcp/nope", "json": LIST},
    "/.well-known/oauth-protected-resource/api/mcp": {
        "method": "GET",
        "path": "/.well-known/oauth-protected-resource/api/mcp",
    },
    "bad_json": {"content": "{nonsense"},
    "batch": {"json": [LIST]},
    "no_jsonrpc": {"json": {"id": 1, "method": "tools/list"}},
    "notification": {"json": {"jsonrpc": "2.0", "method": "notifications/initialized"}},
    "call_no_name": {"json": {**LIST, "method": "tools/call", "params": {"arguments": {}}}},
    "future_proto_header": {
        "headers": {**JSON_HEADERS, "MCP-Protocol-Version": "2026-07-28"},
        "json": LIST,
    },
}


@pytest.mark.parametrize("case", TRANSPORT)
async def test_statuses_and_bodies_as_recorded(client: httpx.AsyncClient, case: str) -> None:
    expected = recorded("transport-results.json")[case]
    request = {"method": "POST", "path": ASSIST, "headers": JSON_HEADERS, **TRANSPORT[case]}
    answer = await client.request(request.pop("method"), request.pop("path"), **request)
    assert answer.status_code == expected["status"]
    if expected["body"].startswith("{"):
        assert answer.json() == json.loads(expected["body"])
    else:
        assert answer.text == expected["body"]
    for name in ("content-type", "allow", "www-authenticate"):
        if name in expected.get("headers", {}):
            value = expected["headers"][name].replace("127.0.0.1:18123", "demo.home")
            assert answer.headers[name] == value


async def test_a_session_header_is_ignored(client: httpx.AsyncClient) -> None:
    headers = {**JSON_HEADERS, "Mcp-Session-Id": "anything"}
    answer = await client.post("/api/mcp", json=LIST, headers=headers)
    assert answer.status_code == 200
    assert "mcp-session-id" not in answer.headers
    assert len(answer.json()["result"]["tools"]) == 31


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        *((version, version) for version in ("2024-11-05", "2025-03-26", "2025-06-18")),
        ("2025-11-25", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ],
)
async def test_initialize(client: httpx.AsyncClient, asked: str, given: str) -> None:
    info = {"name": "test", "version": "1"}
    params = {"protocolVersion": asked, "capabilities": {}, "clientInfo": info}
    result = (await rpc(client, "initialize", params))["result"]
    assert result["protocolVersion"] == given
    assert result["serverInfo"] == {"name": "home-assistant", "version": ""}
    assert set(result["capabilities"]) == {"prompts", "resources", "tools"}
    assert result["capabilities"]["tools"] == {"listChanged": False}


async def test_ping_and_unknown_methods(client: httpx.AsyncClient) -> None:
    assert (await rpc(client, "ping"))["result"] == {}
    assert (await rpc(client, "no/such"))["error"] == {
        "code": -32601,
        "message": "Method not found",
        "data": "no/such",
    }


async def test_a_device_id_that_is_no_text(client: httpx.AsyncClient) -> None:
    params = {"_meta": {"io.home-assistant/device_id": 5}}
    assert (await rpc(client, "tools/list", params))["error"]["code"] == 0


async def test_the_menu_is_the_recorded_one(client: httpx.AsyncClient) -> None:
    """Equal except for descriptions and the contents of the house."""
    theirs = {tool["name"]: tool for tool in recorded("tools-list-assist.json")["result"]["tools"]}
    theirs["calendar__get_events"]["inputSchema"]["properties"]["calendar"]["enum"] = ["Family"]
    ours = (await rpc(client, "tools/list"))["result"]["tools"]
    assert {tool["name"] for tool in ours} - set(theirs) == {"script__welcome_home"}
    assert {name.partition("__")[0] for name in set(theirs) - {tool["name"] for tool in ours}} == {
        "lawn_mower"
    }
    assert [tool["name"] for tool in ours if tool["name"] in theirs] == [
        name for name in theirs if name in {tool["name"] for tool in ours}
    ]
    for tool in ours:
        if tool["name"] in theirs:
            expected = theirs[tool["name"]]
            assert tool["title"] == expected["title"]
            assert tool["annotations"] == expected["annotations"]
            assert _bare(tool["inputSchema"]) == _bare(expected["inputSchema"]), tool["name"]


def _bare(schema: Any) -> Any:
    """Remove descriptions from a schema; nothing is left of one that had only a description."""
    if isinstance(schema, dict):
        return {key: _bare(value) for key, value in schema.items() if key != "description"}
    return [_bare(value) for value in schema] if isinstance(schema, list) else schema


# Recorded names and ids, and their counterparts here.
CAST = {
    "light.kitchen_lights": "light.living_room",
    "Kitchen Lights": "Living room light",
    "light.test_lamp_bedroom": "light.bedroom_lamp",
    "light.bed_light": "light.bedroom",
    "Bed Light": "Bedroom light",
    "climate.heatpump": "climate.bedroom",
    "HeatPump": "Bedroom thermostat",
    "media_player.walkman": "media_player.living_room_speaker",
    "Walkman": "Living room speaker",
    "cover.living_room_window": "cover.living_room_blinds",
    "Living Room Window": "Living room blinds",
    "cover.kitchen_window": "cover.bedroom_shade",
    "Kitchen Window": "Bedroom shade",
    "lock.kitchen_door": "lock.front_door",
    "Kitchen Door": "Front door",
    "Ceiling Lights": "Workbench light",
    "vacuum.demo_vacuum_0_ground_floor": "vacuum.robbie",
    "Demo vacuum 0 ground floor": "Robbie",
}
# Answers with the recorded house's own content, or tools that only an administrator has.
ELSEWHERE = {
    *("live_all", "live_name", "live_area_domain", "datetime", "todo_get", "calendar"),
    *("all_domain_no_area", "merged_call_action", "merged_render_template"),
}


async def test_every_recorded_call_is_answered_alike(client: httpx.AsyncClient) -> None:
    calls = recorded("call-results.json")
    assert len(calls) == 49
    for case, call in calls.items():
        if case in ELSEWHERE:
            continue
        text = json.dumps([call["request"], call["response"]["result"]])
        for theirs, ours in CAST.items():
            text = text.replace(theirs, ours)
        request, expected = json.loads(text)
        result = (await rpc(client, "tools/call", request))["result"]
        assert result["isError"] == expected["isError"], case
        assert _told(result) == _told(expected), case


def _told(result: dict[str, Any]) -> Any:
    """Return the answer's content without the order of successes, because entities are ordered
    differently here."""
    (content,) = result["content"]
    if not content["text"].startswith("{"):
        return content
    told = json.loads(content["text"])
    if "data" in told:
        told["data"]["success"].sort(key=lambda entry: entry["id"])
    return told


@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
async def test_the_sdk_client(
    home: DemoHome, mode: Literal["auto", "legacy"], version: str
) -> None:
    async with sdk(home, mode) as client:
        assert client.protocol_version == version
        assert len((await client.list_tools()).tools) == 31
        result = await client.call_tool("intent__HassTurnOn", {"name": "Kitchen light"})
        assert not result.is_error
        failure = await client.call_tool("intent__HassTurnOn", {"name": "Lamp"})
        assert failure.is_error
        (prompt,) = (await client.list_prompts()).prompts
        assert prompt.name == "Device control"
        message = (await client.get_prompt(prompt.name)).messages[0]
        assert "Kitchen light" in message.model_dump_json()
        (resource,) = (await client.list_resources()).resources
        contents = (await client.read_resource(resource.uri)).contents[0]
        assert "state: 'on'" in contents.model_dump()["text"]
    assert home.states["light.kitchen"] == "on"
    assert home.calls == [
        ("intent__HassTurnOn", {"name": "Kitchen light"}),
        ("intent__HassTurnOn", {"name": "Lamp"}),
    ]


async def test_the_device_of_the_caller_settles_equal_names(
    unserved: DemoHome, client: httpx.AsyncClient
) -> None:
    device = unserved.house.things["climate.bedroom"].device_id
    meta = {"_meta": {"io.home-assistant/device_id": device}}
    params = {"name": "intent__HassTurnOn", "arguments": {"name": "Lamp"}, **meta}
    assert not (await rpc(client, "tools/call", params))["result"]["isError"]
    assert unserved.states["light.bedroom_lamp"] == "on"
    assert unserved.states["light.living_room_lamp"] == "off"
    prompt = await rpc(client, "prompts/get", {"name": "Device control", **meta})
    assert "You are in area Bedroom" in json.dumps(prompt)


async def test_twenty_calls_at_once_each_run_once(home: DemoHome) -> None:
    changes: list[str] = []
    home.house.listen(lambda change: changes.append(change.entity_id))
    async with sdk(home, "auto") as client, asyncio.TaskGroup() as group:
        for percent in range(1, 21):
            arguments = {"name": "Kitchen light", "brightness": percent}
            group.create_task(client.call_tool("light__HassLightSet", arguments))
    assert changes == ["light.kitchen"] * 20
    brightness = sorted(arguments["brightness"] for _, arguments in home.calls)
    assert brightness == list(range(1, 21))


async def test_failures_that_a_test_orders(unserved: DemoHome, client: httpx.AsyncClient) -> None:
    unserved.fail_next("light.kitchen")
    call = {"name": "intent__HassTurnOn", "arguments": {"name": "Kitchen light"}}
    result = (await rpc(client, "tools/call", call))["result"]
    assert result["isError"]
    assert result["content"][0]["text"] == (
        "Error calling tool: Failed to call turn_on for: ['light.kitchen']"
    )
    unserved.jam("lock.front_door")
    unlock = {"name": "intent__HassTurnOff", "arguments": {"name": "Front door"}}
    assert not (await rpc(client, "tools/call", unlock))["result"]["isError"]
    assert unserved.states["lock.front_door"] == "jammed"
    unserved.lose("light.kitchen")
    assert not (await rpc(client, "tools/call", call))["result"]["isError"]
    assert unserved.states["light.kitchen"] == "unavailable"


async def test_an_error_in_the_body_comes_out_as_it_is() -> None:
    home = DemoHome()

    async def fail_on_the_way() -> None:
        async with home:
            home.house.travel("lock.front_door", "unlocking", "unlocked")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail_on_the_way()
    with pytest.raises(httpx.ConnectError):
        async with httpx.AsyncClient(trust_env=False) as client:
            await client.get(home.url)
