"""Tests that every tool of either house is declared to the model, with nothing important lost."""

import pytest

from integrations.gemini.declarations import convert
from tests.home_assistant.conftest import Address, real_only
from tests.home_assistant.line import Json
from tests.home_assistant.talk import Talk
from tests.unit.integrations.gemini.declared import accepted

ALL_TOOLS = "/api/mcp"  # of the integration's own setting: by default since 2026.10 all, for admins

# The model is told of all of it, in other words: what it writes then is looked at by us.
TOLD_OTHERWISE = ("(said in the description)", "no object can be given", "given as JSON text")


def _declared(tools: list[Json]) -> None:
    for tool in tools:
        declaration = accepted(convert(tool["name"], tool["description"], tool["inputSchema"]))
        arguments = tool["inputSchema"].get("properties", {})
        assert list((declaration.parameters or {}).get("properties", {})) == list(arguments)
        lost = [one for one in declaration.losses if not one.endswith(TOLD_OTHERWISE)]
        assert lost == [], tool


@pytest.mark.changes_nothing
async def test_the_menu_of_the_home(person: Talk) -> None:
    tools = (await person.result("tools/list"))["tools"]
    assert len(tools) > 10
    _declared(tools)


@pytest.mark.since(2026, 11)
@real_only
async def test_all_that_an_administrator_may_call(house: Address) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    async with Talk(house.url, house.admin_token) as talk:
        answer = await talk.http.post(
            ALL_TOOLS, json=message, headers={"Accept": "application/json"}
        )
    assert answer.status_code == 200, answer.text
    tools = answer.json()["result"]["tools"]
    assert len(tools) > 32
    _declared(tools)
