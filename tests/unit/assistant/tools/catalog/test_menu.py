"""Tests of a menu: its tools, those left out and why, and when it is the same menu."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from assistant.domain.tool_call import Tier
from assistant.tools.builtin.protocol import NO_ARGUMENTS, BuiltIn, BuiltInRequest, BuiltInResult
from assistant.tools.catalog.menu import MAX_TOKENS, MAX_TOOLS, Menu, MenuKeeper, build_menu
from integrations.gemini.tokens import tool_tokens
from integrations.mcp.servers import HOME_ASSISTANT, McpTool, ServerSpec, home_assistant_server

HOME = home_assistant_server("http://127.0.0.1:1", "")
TRUSTED = ServerSpec("trusted", "http", trust="trusted", allow=("rated",))
OTHER = ServerSpec("other", "http", allow=("rated",))
LAST = ServerSpec("last", "http", trust="trusted")
SERVERS = {spec.name: spec for spec in (OTHER, HOME, TRUSTED, LAST)}
SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}}


def tool(
    name: str, server: str = HOME_ASSISTANT, *, reads: bool = False, about: str = ""
) -> McpTool:
    return McpTool(server, name, f"Title of {name}", about, SCHEMA, reads)


async def _run(arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
    raise AssertionError("nothing is run here")


def own(name: str, *replaces: str) -> BuiltIn:
    return BuiltIn(name, "", NO_ARGUMENTS, Tier.READ, _run, frozenset(replaces))


def names(menu: Menu) -> list[str]:
    return [entry.declaration.name for entry in menu.offered()]


def why(menu: Menu) -> dict[str, str]:
    return {one.declaration.name: one.why_hidden for one in menu.entries if one.hidden}


def test_a_tool_of_the_home_that_doubles_a_built_in_is_hidden_with_the_reason() -> None:
    built_in = [own("GetDateTime"), own("find_devices", "GetLiveContext", "HassStartTimer")]
    listed = ["llm__GetDateTime", "GetLiveContext", "intent__HassStartTimer", "intent__HassTurnOn"]
    tools = [*map(tool, listed), tool("GetLiveContext", "trusted"), tool("find_devices", "trusted")]
    menu = build_menu(tools, SERVERS, built_in)
    assert why(menu) == {
        "llm__GetDateTime": "Hearth does this itself (GetDateTime)",
        "GetLiveContext": "Hearth does this itself (find_devices)",
        "intent__HassStartTimer": "Hearth does this itself (find_devices)",
    }
    offered = ["GetDateTime", "find_devices", "intent__HassTurnOn", "trusted__GetLiveContext"]
    assert names(menu) == [*offered, "trusted__find_devices"]
    assert menu.find("GetLiveContext") is None


def test_names_are_legal_and_unique() -> None:
    listed = ["a b", "a.b", "a b", "1", "ñ" * 130, "ñ" * 130, "ñ" * 130]
    menu = build_menu([tool(name, "trusted") for name in listed], SERVERS)
    declared = names(menu)
    assert declared[:4] == ["a_b", "a.b", "trusted__a_b", "_1"]
    assert len(set(declared)) == len(listed)
    assert all(len(name) <= 128 for name in declared)
    assert [menu.find(name) for name in declared] == list(menu.entries)


def test_the_title_stands_in_for_a_description() -> None:
    menu = build_menu([tool("a", "trusted"), tool("b", "trusted", about="About b")], SERVERS)
    told = [entry.declaration.description for entry in menu.entries]
    assert told == ["Title of a", "About b"]


def test_more_than_the_api_takes() -> None:
    built_in = [own(f"own_{n}") for n in range(10)]
    short = [replace(tool(f"t{n}", "trusted"), input_schema={}, title="") for n in range(600)]
    menu = build_menu([*short, tool("intent__HassTurnOn")], SERVERS, built_in)
    assert len(names(menu)) == MAX_TOOLS
    assert {"own_9", "intent__HassTurnOn", "t500"} <= set(names(menu))
    assert list(why(menu)) == [f"t{n}" for n in range(501, 600)]
    assert set(why(menu).values()) == {"there are more than 512 tools, and others have priority"}


def test_more_than_a_turn_should_cost() -> None:
    tools = [tool(f"t{n}", "trusted", about="word " * 250) for n in range(100)]
    menu = build_menu(tools, SERVERS)
    total = sum(tool_tokens(entry.declaration) for entry in menu.offered())
    assert MAX_TOKENS - 400 < total <= MAX_TOKENS
    assert names(menu) == [f"t{n}" for n in range(len(names(menu)))]
    assert set(why(menu).values()) == {
        "all tools would take more than 16,000 tokens per turn, and others have priority"
    }


def test_a_giant_makes_way_for_smaller_ones() -> None:
    choices = {"enum": [f"some choice {n:03}" for n in range(450)]}
    many = {f"argument_{n}": choices for n in range(12)}
    giant = replace(tool("giant", "trusted"), input_schema={"properties": many})
    menu = build_menu([giant, tool("small", "trusted")], SERVERS)
    assert names(menu) == ["small"]
    assert list(why(menu)) == ["giant"]


def test_a_full_house_is_far_from_the_limit() -> None:
    tools = [tool(f"intent__Hass{n}", about="a sentence or two about it " * 4) for n in range(50)]
    assert why(build_menu(tools, SERVERS)) == {}


def test_the_most_useful_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    best_first = [
        tool("intent__HassTurnOn"),
        tool("homeassistant__GetLiveContext", reads=True),
        tool("script__movie_night"),
        tool("rated", "trusted"),
        tool("reads", "trusted", reads=True),
        tool("changes", "trusted"),
        tool("trusted_last", "last", reads=True),
        tool("rated", "other"),
        tool("first_listed", "other", reads=True),  # an untrusted claim
        tool("then_listed", "other"),
    ]
    for keep in range(len(best_first) + 1):
        monkeypatch.setattr("assistant.tools.catalog.menu.MAX_TOOLS", keep)
        # The servers are asked in any order, and each lists its tools in its own order.
        listed = sorted(best_first, key=lambda one: one.server)
        menu = build_menu(listed, SERVERS)
        kept = [entry.tool for entry in menu.offered()]
        assert sorted(kept, key=best_first.index) == best_first[:keep]


class TestKept:
    """Tests that the same menu is kept while nothing changes."""

    def test_equal_tools_give_the_same_object(self) -> None:
        keeper, built_in = MenuKeeper(), [own("GetDateTime")]
        first = keeper.menu([tool("a"), tool("b")], SERVERS, built_in)
        assert keeper.menu([tool("a"), tool("b")], dict(SERVERS), list(built_in)) is first
        assert names(first) == ["GetDateTime", "a", "b"]

    @pytest.mark.parametrize(
        ("tools", "servers", "built_in"),
        [
            ([tool("a")], SERVERS, []),
            ([tool("a"), tool("b", about="new")], SERVERS, []),
            ([tool("a"), replace(tool("b"), input_schema={})], SERVERS, []),
            ([tool("b"), tool("a")], SERVERS, []),
            ([tool("a"), tool("b")], {**SERVERS, "other": replace(OTHER, allow=())}, []),
            ([tool("a"), tool("b")], SERVERS, [own("c")]),
        ],
    )
    def test_any_change_makes_a_new_one(
        self, tools: list[McpTool], servers: dict[str, ServerSpec], built_in: list[BuiltIn]
    ) -> None:
        keeper = MenuKeeper()
        first = keeper.menu([tool("a"), tool("b")], SERVERS)
        changed = keeper.menu(tools, servers, built_in)
        assert changed is not first
        assert keeper.menu(tools, servers, built_in) is changed

    def test_a_schema_that_cannot_be_written_is_never_taken_for_another(self) -> None:
        deep: dict[str, Any] = {}
        for _ in range(5_000):
            deep = {"items": deep}
        mixed: dict[str, Any] = {"properties": {1: {}, "a": {}}}
        for schema in (deep, mixed):
            odd = replace(tool("a"), input_schema=schema)
            keeper = MenuKeeper()
            assert names(keeper.menu([odd], SERVERS)) == ["a"]
            assert names(keeper.menu([odd, tool("b")], SERVERS)) == ["a", "b"]
            assert names(keeper.menu([odd], SERVERS)) == ["a"]

    def test_no_tools_at_all(self) -> None:
        keeper = MenuKeeper()
        assert keeper.menu([], {}).entries == ()
        assert names(keeper.menu([], {}, [own("a")])) == ["a"]
