"""Tests of finding tools by words, and of calls through `call_tool`."""

import json
from typing import Any

import pytest

from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.find_tools import MOST_FOUND, FindTools, called_through, search
from assistant.tools.builtin.protocol import BuiltInRequest
from assistant.tools.catalog.menu import build_menu
from integrations.mcp.servers import McpTool, ServerSpec, home_assistant_server

HOME = home_assistant_server("http://127.0.0.1:1", "")
FILES = ServerSpec("files", "http", trust="trusted")
TOOLS = {
    "media_player__HassMediaNext": "Skips a media player to the next item",
    "media_player__HassSetVolumeRelative": "Increases or decreases the volume of a media player",
    "vacuum__HassVacuumStart": "Starts a vacuum",
    "vacuum__HassVacuumReturnToBase": "Returns a vacuum to base",
    "fan__HassFanSetSpeed": "Sets a fan's speed by percentage",
}
TAKES = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
MENU = build_menu(
    [
        *(McpTool(HOME.name, name, "", about, {}, False) for name, about in TOOLS.items()),
        McpTool("files", "read_file", "", "Reads a text", TAKES, True),
    ],
    {HOME.name: HOME, "files": FILES},
)
REQUEST = BuiltInRequest("1", "turn", None, "en")


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("next song", "media_player__HassMediaNext"),
        ("change the volume", "media_player__HassSetVolumeRelative"),
        ("send the vacuum to its base", "vacuum__HassVacuumReturnToBase"),
        ("HassVacuumStart", "vacuum__HassVacuumStart"),
        ("fan speed", "fan__HassFanSetSpeed"),
        ("a path", "read_file"),
        ("files", "read_file"),
        ("call read_file", "read_file"),
        ("other speeds", "fan__HassFanSetSpeed"),
        ("HassMediaNext, not the volume that increases", "media_player__HassMediaNext"),
    ],
)
def test_the_best_tool_comes_first(query: str, first: str) -> None:
    assert search(query, MENU.offered())[0].declaration.name == first


def first_of(query: str, tools: dict[str, str]) -> str:
    made = [McpTool("files", name, "", about, {}, True) for name, about in tools.items()]
    return search(query, build_menu(made, {"files": FILES}).offered())[0].declaration.name


def test_another_servers_tool_is_not_named_by_a_word_of_the_query() -> None:
    posing = McpTool("files", "base", "", "", {}, False)
    entries = [*build_menu([posing], {"files": FILES}).offered(), *MENU.offered()]
    found = search("send the vacuum to its base", entries)
    assert found[0].declaration.name == "vacuum__HassVacuumReturnToBase"


def test_a_server_is_part_of_its_tools_names() -> None:
    assert first_of("files", {"note": "Does it"}) == "note"


def test_a_rare_word_counts_more_than_common_ones() -> None:
    common = {f"tool_{at}": "Opens a page" for at in range(9)}
    assert first_of("a page that opens and rings", common | {"last": "Rings"}) == "last"


def test_a_word_in_the_name_counts_more() -> None:
    assert first_of("ring", {"first": "Rings a bell", "ring_it": "Does it"}) == "ring_it"


def test_words_that_no_tool_has_find_nothing() -> None:
    assert search("zebra", MENU.offered()) == []
    assert search("", MENU.offered()) == []


def test_only_the_best_are_told() -> None:
    tools = [McpTool("files", f"file_{at}", "", "", {}, True) for at in range(20)]
    assert len(search("file", build_menu(tools, {"files": FILES}).offered())) == MOST_FOUND


async def find(query: str, permits: Any = lambda turn_id, entry: True) -> dict[str, Any]:
    found, _ = FindTools(lambda: MENU, permits, Catalogue()).tools()
    result = await found.run({"query": query}, REQUEST)
    told: dict[str, Any] = json.loads(result.data)
    return told


async def test_a_found_tool_is_described_with_its_arguments() -> None:
    (found,) = (await find("read_file"))["found"]
    schema = {"type": "OBJECT", "properties": {"path": {"type": "STRING"}}, "required": ["path"]}
    assert found == {"name": "read_file", "description": "Reads a text", "arguments": schema}


async def test_where_nothing_is_found_all_names_are_told() -> None:
    told = await find("zebra")
    assert told["found"] == []
    assert set(told["names_of_all_tools"]) == {*TOOLS, "read_file"}


async def test_what_the_turn_may_not_use_is_not_found() -> None:
    told = await find(
        "fan speed", lambda turn_id, entry: turn_id != "turn" or "Fan" not in entry.suffix
    )
    assert "fan__HassFanSetSpeed" not in json.dumps(told)


async def test_the_tools_that_find_others_are_not_found() -> None:
    ways = FindTools(lambda: menu, lambda turn_id, entry: True, Catalogue()).tools()
    menu = build_menu([], {}, ways)
    told = json.loads((await ways[0].run({"query": "call_tool"}, REQUEST)).data)
    assert told == {"found": [], "names_of_all_tools": []}


async def test_a_call_that_names_no_tool_is_refused() -> None:
    _, call = FindTools(lambda: MENU, lambda turn_id, entry: True, Catalogue()).tools()
    result = await call.run({"name": "x", "arguments": {}}, REQUEST)
    assert result.failed
    assert "JSON object" in result.sentence


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        ({"name": "undo", "arguments": '{"steps": 2}'}, ("undo", {"steps": 2})),
        ({"name": "undo", "arguments": {"steps": 2}}, ("undo", {"steps": 2})),
        ({"name": " undo "}, ("undo", {})),
        ({"name": "undo", "arguments": ""}, ("undo", {})),
        ({"name": "undo", "arguments": None}, ("undo", {})),
    ],
)
def test_the_named_tool_is_what_is_called(
    arguments: dict[str, Any], meant: tuple[str, dict[str, Any]]
) -> None:
    assert called_through("call_tool", arguments) == meant


@pytest.mark.parametrize(
    "arguments",
    [
        {"name": "undo", "steps": 2},  # beside `arguments`, where they would be lost
        {"name": "undo", "arguments": []},
        {"name": "undo", "arguments": 0},
        {"name": "undo", "arguments": "[1]"},
        {"name": "undo", "arguments": '{"steps": NaN}'},
        {"name": "undo", "arguments": '{"steps": "\\ud800"}'},
    ],
)
def test_a_call_whose_arguments_would_be_lost_is_not_passed_on(arguments: dict[str, Any]) -> None:
    assert called_through("call_tool", arguments) == ("call_tool", arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"name": ""},
        {"name": 3},
        {"name": "undo", "arguments": '{"steps": '},
        {"name": "undo", "arguments": "[1]"},
        {"name": "undo", "arguments": [1]},
        {"name": "undo", "arguments": "[" * 100_000},
    ],
)
def test_what_cannot_be_read_stays_as_it_is(arguments: dict[str, Any]) -> None:
    assert called_through("call_tool", arguments) == ("call_tool", arguments)


def test_other_calls_are_left_alone() -> None:
    arguments = {"name": "Lamp", "arguments": "{}"}
    assert called_through("HassTurnOn", arguments) == ("HassTurnOn", arguments)
