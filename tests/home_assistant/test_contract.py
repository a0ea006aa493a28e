"""Tests of assumptions about Home Assistant's MCP server, in both houses.

Nothing here changes a house: the only calls are a read and calls that match nothing.
"""

import json

import jsonschema
import pytest

from integrations.errors import SignInAgain
from integrations.mcp.hub import McpHub
from integrations.mcp.servers import McpTool, home_assistant_server
from tests.home_assistant.conftest import Address

SERVER = "home_assistant"
# The tools that every home with lights in it offers, by the part of the name that is stable:
# bare up to Home Assistant 2026.8, after a prefix and `__` since.
EXPECTED = {"HassTurnOn", "HassTurnOff", "HassLightSet", "GetLiveContext"}


def bare(name: str) -> str:
    """Return a tool's name without its prefix."""
    return name.rpartition("__")[2]


def hub(house: Address) -> McpHub:
    """Return the hub as the program makes it, with this one server."""
    return McpHub([home_assistant_server(house.url, house.token)])


async def named(tools: McpHub, name: str) -> McpTool:
    """Return the tool of that bare name."""
    return next(tool for tool in await tools.tools() if bare(tool.name) == name)


async def test_the_menu_has_the_expected_tools_with_valid_schemas(house: Address) -> None:
    async with hub(house) as tools:
        menu = await tools.tools()
        assert [state.ok for state in tools.states()] == [True]
    assert {bare(tool.name) for tool in menu} >= EXPECTED
    assert len({tool.name for tool in menu}) == len(menu)
    for tool in menu:
        assert tool.server == SERVER
        assert tool.description
        assert tool.input_schema["type"] == "object"
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)


async def test_the_menu_is_the_same_when_it_is_asked_for_again(house: Address) -> None:
    async with hub(house) as tools:
        assert await tools.tools() == await tools.tools()


async def test_the_live_context_names_the_house(house: Address) -> None:
    async with hub(house) as tools:
        context = await named(tools, "GetLiveContext")
        answer = await tools.call(SERVER, context.name, {})
    assert not answer.is_error
    assert "domain: light" in json.loads(answer.text)["result"]


async def test_a_name_that_nothing_has_is_an_error_result(house: Address) -> None:
    async with hub(house) as tools:
        turn_on = await named(tools, "HassTurnOn")
        answer = await tools.call(SERVER, turn_on.name, {"name": "no such thing in this house"})
        assert answer.is_error
        assert "no such thing in this house" in answer.text
        # and the session goes on
        assert await tools.tools()


async def test_an_unknown_tool_is_an_error_and_not_the_end(house: Address) -> None:
    async with hub(house) as tools:
        answer = await tools.call(SERVER, "HassNoSuchTool", {})
        assert answer.is_error
        assert await tools.tools()


async def test_the_prompt_is_there(house: Address) -> None:
    async with hub(house) as tools:
        assert await tools.prompt(SERVER)


async def test_a_wrong_token_says_sign_in_again(house: Address) -> None:
    wrong = Address(house.url, "not-the-token")
    async with hub(wrong) as tools:
        assert await tools.tools() == []
        (state,) = tools.states()
        assert not state.ok
        assert "home_assistant.token" in state.reason
        assert "not-the-token" not in state.reason
        with pytest.raises(SignInAgain):
            await tools.prompt(SERVER)
