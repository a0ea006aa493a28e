"""Tests of the Model Context Protocol of both houses: statuses, texts, menu, prompt, resource."""

import json

import httpx
import jsonschema
import pytest

from tests.home_assistant.admin import Admin
from tests.home_assistant.conftest import Address
from tests.home_assistant.talk import ASSIST, DEVICE_KEY, Talk
from tests.home_assistant.things import called, look

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
JSON = {"Accept": "application/json", "Content-Type": "application/json"}


@pytest.mark.since(2026, 11)
@pytest.mark.parametrize(
    ("headers", "content", "status", "text"),
    [
        ({"Accept": "*/*"}, json.dumps(LIST), 400, "Client must accept application/json"),
        ({"Accept": "text/event-stream"}, json.dumps(LIST), 400, "Client must accept"),
        ({"Content-Type": "text/plain"}, "{}", 400, "Content-Type must be application/json"),
        ({}, "{nonsense", 400, "Request must be a JSON-RPC message"),
        ({}, json.dumps([LIST]), 400, "Request must be a JSON-RPC message"),
        ({}, json.dumps({"id": 1, "method": "ping"}), 400, "Request must be a JSON-RPC message"),
        ({}, json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}), 202, ""),
    ],
)
async def test_what_is_no_request(
    person: Talk, headers: dict[str, str], content: str, status: int, text: str
) -> None:
    answer = await person.http.post(ASSIST, content=content, headers={**JSON, **headers})
    assert answer.status_code == status
    assert answer.text.startswith(text)


@pytest.mark.since(2026, 11)
@pytest.mark.parametrize("token", ["", "Bearer wrong", "wrong"])
async def test_who_is_not_known_gets_no_menu(house: Address, token: str) -> None:
    async with httpx.AsyncClient(base_url=house.url, trust_env=False) as stranger:
        answer = await stranger.post(ASSIST, json=LIST, headers={**JSON, "Authorization": token})
    assert (answer.status_code, answer.text) == (401, "401: Unauthorized")
    assert answer.headers["www-authenticate"].startswith("Bearer ")


@pytest.mark.since(2026, 11)
@pytest.mark.parametrize("path", ["/api/mcp", "/api/mcp/no_such_api"])
async def test_only_an_administrator_gets_other_interfaces(
    person: Talk, admin: Admin, house: Address, path: str
) -> None:
    refused = await person.http.post(path, json=LIST, headers=JSON)
    assert (refused.status_code, refused.text) == (403, "403: Forbidden")
    async with Talk(house.url, house.admin_token) as chief:
        answer = await chief.http.post(path, json=LIST, headers=JSON)
    assert answer.status_code == (200 if path == "/api/mcp" else 404)


@pytest.mark.since(2026, 11)
@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
async def test_it_takes_posts_only(person: Talk, method: str) -> None:
    answer = await person.http.request(method, ASSIST)
    assert answer.status_code == 405
    assert "POST" in answer.headers["allow"]


@pytest.mark.parametrize(
    ("asked", "given"),
    [("2024-11-05", "2024-11-05"), ("2025-06-18", "2025-06-18"), ("1999-01-01", "2025-11-25")],
)
async def test_the_handshake_gives_the_asked_version(person: Talk, asked: str, given: str) -> None:
    who = {"name": "contract", "version": "1"}
    result = await person.result(
        "initialize", protocolVersion=asked, capabilities={}, clientInfo=who
    )
    assert result["protocolVersion"] == given
    assert result["serverInfo"]["name"] == "home-assistant"
    assert result["capabilities"]["tools"] == {"listChanged": False}
    assert {"prompts", "resources", "tools"} <= set(result["capabilities"])


@pytest.mark.since(2026, 11)
async def test_a_session_is_neither_needed_nor_made(person: Talk) -> None:
    headers = {**JSON, "Mcp-Session-Id": "anything"}
    answer = await person.http.post(ASSIST, json=LIST, headers=headers)
    assert answer.status_code == 200
    assert "mcp-session-id" not in answer.headers
    assert answer.headers["content-type"].startswith("application/json")


async def test_the_newest_protocol_is_discovered(person: Talk) -> None:
    envelope = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "contract", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    found = await person.rpc(
        "server/discover", {"_meta": envelope}, MCP_Protocol_Version="2026-07-28"
    )
    assert found["result"]["supportedVersions"] == ["2026-07-28"]
    bare = await person.rpc("tools/list", MCP_Protocol_Version="2026-07-28")
    assert bare["error"]["code"] == -32602


@pytest.mark.parametrize(
    ("method", "params", "code", "message"),
    [
        ("no/such", {}, -32601, "Method not found"),
        ("resources/templates/list", {}, -32601, "Method not found"),
        ("server/discover", {}, -32601, "Method not found"),
        ("tools/call", {"arguments": {}}, -32602, "Invalid request parameters"),
        ("prompts/get", {}, -32602, "Invalid request parameters"),
        ("prompts/get", {"name": "nope"}, 0, "Unknown prompt: nope"),
        ("resources/read", {"uri": "homeassistant://nope"}, 0, "Unknown resource: "),
    ],
)
async def test_errors_of_the_protocol(
    person: Talk, method: str, params: dict[str, object], code: int, message: str
) -> None:
    error = (await person.rpc(method, params))["error"]
    assert error["code"] == code
    assert error["message"].startswith(message)


async def test_a_device_id_must_be_a_text(person: Talk) -> None:
    body = await person.rpc("tools/list", {"_meta": {DEVICE_KEY: 5}})
    assert body["error"]["code"] == 0


async def test_an_unknown_device_changes_nothing(person: Talk) -> None:
    assert await person.tools("no-such-device") == await person.tools()
    assert await person.prompt("no-such-device") == await person.prompt()


async def test_ping(person: Talk) -> None:
    assert await person.result("ping") == {}


async def test_every_tool_has_a_schema_and_hints(person: Talk) -> None:
    for tool in (await person.tools()).values():
        assert tool["title"]
        assert tool["inputSchema"]["type"] == "object"
        jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
        assert set(tool["annotations"]) == {
            *("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
        }
        assert "outputSchema" not in tool


async def test_reading_tools_say_so(person: Talk) -> None:
    menu = await person.tools()
    reading = {name for name, tool in menu.items() if tool["annotations"]["readOnlyHint"]}
    assert {"GetLiveContext", "GetDateTime", "get_items"} <= reading
    assert not reading & {"HassTurnOn", "HassTurnOff", "HassLightSet", "HassListAddItem"}


async def test_the_menu_follows_what_is_exposed(person: Talk, admin: Admin) -> None:
    things = await look(person, admin)
    vacuums = [t.entity_id for t in things.all if t.domain == "vacuum" and t.exposed]
    assert "HassVacuumStart" in await person.tools()
    await admin.expose(vacuums, exposed=False)
    try:
        assert "HassVacuumStart" not in await person.tools()
        assert (await person.call("vacuum__HassVacuumStart")).text.endswith("not found")
    finally:
        await admin.expose(vacuums, exposed=True)
    assert "HassVacuumStart" in await person.tools()


async def test_a_script_is_a_tool_with_its_fields(person: Talk, admin: Admin) -> None:
    script = (await look(person, admin)).find("script")
    services = (await person.told("get_services"))["script"]
    name = script.entity_id.partition(".")[2]
    tool = (await person.tools())[name]
    assert tool["name"].endswith(f"script__{name}") or tool["name"] == name
    assert set(tool["inputSchema"]["properties"]) == set(services[name]["fields"])
    assert script.name in tool["description"]


async def test_a_list_stands_in_the_schema(person: Talk, admin: Admin) -> None:
    todo = (await look(person, admin)).find("todo")
    schema = (await person.tools())["get_items"]["inputSchema"]
    assert todo.name in schema["properties"]["todo_list"]["enum"]


async def test_the_prompt_names_what_is_exposed_and_nothing_else(
    person: Talk, admin: Admin
) -> None:
    things = await look(person, admin)
    text = await person.prompt()
    light, hidden = things.light(), things.hidden_light()
    area = things.areas[light.area_id]
    places = ", ".join((area["name"], *sorted(area["aliases"])))
    lines = text.splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith(f"- names: {light.name}"))
    assert lines[at + 1 : at + 3] == ["  domain: light", f"  areas: {places}"]
    assert f"names: {hidden.name}\n" not in text
    assert "not able to start timers" in text
    assert "ask the user to specify an area" in text or "ask which area" in text
    # scripts are tools, and not in the list
    assert "domain: script" not in text


@pytest.mark.since(2026, 11)
async def test_an_alias_is_in_the_prompt_beside_the_name(person: Talk, admin: Admin) -> None:
    light = (await look(person, admin)).light()
    async with called(admin, light, None, "Glühwürmchen"):
        assert f"- names: {light.name}, Glühwürmchen\n" in await person.prompt()
    assert "Glühwürmchen" not in await person.prompt()


async def test_the_resource_is_the_live_context(person: Talk) -> None:
    (resource,) = (await person.result("resources/list"))["resources"]
    assert resource["uri"] == "homeassistant://assist/context-snapshot"
    (contents,) = (await person.result("resources/read", uri=resource["uri"]))["contents"]
    assert contents["mimeType"] == "text/plain"
    assert contents["text"] == (await person.call("GetLiveContext")).answer["result"]
