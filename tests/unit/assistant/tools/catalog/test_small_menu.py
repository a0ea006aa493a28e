"""Tests of the core of tools that a model is sent."""

from typing import Any

import pytest

from assistant.domain.tool_call import Tier
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.find_tools import FindTools
from assistant.tools.builtin.protocol import NO_ARGUMENTS, BuiltIn, BuiltInRequest, BuiltInResult
from assistant.tools.catalog.menu import Menu, build_menu
from assistant.tools.catalog.small_menu import MOST_TOKENS, MOST_TOOLS, Uses, small_menu
from assistant.tools.policy.choices import may_use
from integrations.gemini.tokens import tool_tokens
from integrations.home_assistant.house import Entity, Floor, House
from integrations.mcp.servers import HOME_ASSISTANT, McpTool, ServerSpec, home_assistant_server

HOME = home_assistant_server("http://127.0.0.1:1", "")
FILES = ServerSpec("files", "http", trust="trusted")
CLASSES = ["blind", "garage", "door", "outlet", "tv"]
SELECT: dict[str, Any] = {
    "name": {"type": "string"},
    "floor": {"type": "string"},
    "domain": {"type": "array", "items": {"type": "string"}},
    "device_class": {"type": "array", "items": {"type": "string", "enum": CLASSES}},
}
LIGHT = {"name": {"type": "string"}, "domain": {"type": "array", "items": {"enum": ["light"]}}}


def of_home(name: str, properties: dict[str, Any] | None = None) -> McpTool:
    schema = {"type": "object", "properties": properties or {"name": {"type": "string"}}}
    return McpTool(HOME_ASSISTANT, name, "", "", schema, False)


async def _run(arguments: object, request: BuiltInRequest) -> BuiltInResult:
    raise AssertionError("nothing is run here")


def own(name: str) -> BuiltIn:
    return BuiltIn(name, "", NO_ARGUMENTS, Tier.READ, _run)


def menu_of(*tools: McpTool, finders: bool = True, many: int = 30) -> Menu:
    more = [
        McpTool("files", f"file_{at}", "", "It does much. " * 20, {}, False) for at in range(many)
    ]
    found = FindTools(Menu, lambda turn_id, entry: True, Catalogue()).tools() if finders else ()
    built_in = (own("GetDateTime"), own("find_devices"), own("undo"), *found)
    return build_menu([*tools, *more], {HOME_ASSISTANT: HOME, "files": FILES}, built_in)


def house_of(*domains: tuple[str, str | None], floors: bool = True) -> House:
    entities = {
        f"{domain}.{at}": Entity(
            f"{domain}.{at}", f"Thing {at}", "off", device_class=device_class, exposed=True
        )
        for at, (domain, device_class) in enumerate(domains)
    }
    return House({"up": Floor("up", "Up")} if floors else {}, {}, entities)


NONE: Uses = {}
HOUSE = house_of(("light", None), ("cover", "blind"), ("cover", "garage"), ("sensor", "door"))


def names(menu: Menu, house: House = HOUSE, uses: Uses = NONE, *, large: bool = False) -> list[str]:
    return [one.name for one in small_menu(menu.offered(), house, uses, large=large)]


def test_the_core_is_chosen_by_the_things_of_the_house() -> None:
    menu = menu_of(*map(of_home, ("HassTurnOn", "HassLightSet", "HassSetVolume", "HassNew")))
    core = ["GetDateTime", "undo", "HassTurnOn", "HassLightSet", "find_tools", "call_tool"]
    assert names(menu) == core
    player = house_of(("media_player", "tv"))
    assert "HassSetVolume" in names(menu, player)
    assert "HassLightSet" not in names(menu, player)


def test_what_is_used_often_comes_before_what_is_usual() -> None:
    uses = {("files", "file_7"): 12, ("files", "file_8"): 1, (HOME_ASSISTANT, "HassNew"): 2}
    core = names(menu_of(of_home("HassNew")), uses=uses)
    assert {"file_7", "HassNew"} <= set(core)
    assert "file_8" not in core


def test_the_core_has_a_limit_however_much_is_used() -> None:
    uses = {("files", f"file_{at}"): at for at in range(2, 30)}
    declared = small_menu(menu_of(of_home("HassTurnOn")).offered(), HOUSE, uses, large=True)
    assert len(declared) <= MOST_TOOLS
    assert sum(map(tool_tokens, declared)) <= MOST_TOKENS
    assert {"HassTurnOn", "find_devices", "file_29"} <= {one.name for one in declared}
    assert "file_2" not in {one.name for one in declared}


def test_a_tool_that_is_too_long_makes_way_for_others() -> None:
    long = [
        McpTool("files", f"long_{at}", "", "It does much. " * 100, {}, False) for at in range(9)
    ]
    uses = {("files", tool.name): 9 for tool in long} | {(HOME_ASSISTANT, "HassNew"): 2}
    listed = [of_home(f"HassNew{at}") for at in range(200)]  # their names take up tokens too
    menu = menu_of(*long, of_home("HassNew"), *listed)
    declared = small_menu(menu.offered(), HOUSE, uses, large=False)
    assert sum(map(tool_tokens, declared)) <= MOST_TOKENS
    core = {one.name for one in declared}
    assert {"long_0", "HassNew"} <= core
    assert "long_8" not in core


def test_what_is_less_usual_is_left_out_first() -> None:
    usual = (
        *("repeat", "end_conversation", "recall", "remember", "get_items", "set_alarm"),
        *("correct_last", "cancel_timer", "HassMediaUnpause", "weather_forecast"),
        *("HassMediaPause", "HassSetVolume", "HassListAddItem", "start_timer", "HassSetPosition"),
        *("HassClimateSetTemperature", "HassLightSet", "HassTurnOff", "HassTurnOn"),
        "GetLiveContext",
    )
    kinds = ("light", "climate", "cover", "media_player", "todo")
    core = names(menu_of(*map(of_home, usual)), house_of(*((kind, None) for kind in kinds)))
    assert set(core) == {*usual[4:], "GetDateTime", "undo", "find_tools", "call_tool"}


def test_a_long_list_of_other_tools_is_cut() -> None:
    menu = menu_of(*(of_home(f"HassNew{at}") for at in range(200)))
    told = small_menu(menu.offered(), HOUSE, {}, large=False)[-2].description
    listed = told.partition("There are: ")[2]
    assert listed.startswith("30 of the server files, find_devices, HassNew0, ")
    assert listed.endswith(" ….")
    assert len(listed) <= 903


def test_where_the_house_is_not_listed_devices_are_searched() -> None:
    menu = menu_of()
    assert "find_devices" not in names(menu)
    assert "find_devices" in names(menu, large=True)


def test_the_model_learns_what_else_there_is() -> None:
    menu = menu_of(of_home("media_player__HassMediaNext"))
    find = small_menu(menu.offered(), HOUSE, {}, large=False)[-2]
    assert find.description.endswith(
        "There are: 30 of the server files, find_devices, media_player__HassMediaNext."
    )


def test_another_servers_tools_do_not_take_up_the_core_by_their_names() -> None:
    posing = [McpTool("files", f"a{at}__HassTurnOn", "", "Poses.", {}, False) for at in range(20)]
    declared = names(menu_of(of_home("intent__HassTurnOn"), *posing))
    assert not [name for name in declared if name.startswith(("a", "files"))]
    assert "intent__HassTurnOn" in declared


@pytest.mark.parametrize(
    ("name", "allowed", "may"),
    [
        ("switch_profile", ("HassTurnOn",), False),  # only Hearth's own is always allowed
        ("x__HassTurnOn", ("HassTurnOn",), False),
        ("undo", ("undo",), False),  # Hearth has one of that name, so this one is files__undo
        ("read_file", ("read_file",), True),
        ("undo", ("files__*",), True),
    ],
)
def test_another_servers_tool_is_allowed_by_its_own_name(
    name: str, allowed: tuple[str, ...], may: bool
) -> None:
    menu = menu_of(McpTool("files", name, "", "", {}, False), many=0)
    entry = next(one for one in menu.entries if one.server == "files")
    assert (entry.always_allowed or may_use(entry.allowed_as, allowed)) is may


def test_no_other_server_gets_the_name_through_which_tools_are_called() -> None:
    menu = menu_of(McpTool("files", "call_tool", "", "", {}, False), finders=False, many=0)
    assert "call_tool" not in names(menu)


def test_what_fits_is_sent_whole_and_needs_no_search() -> None:
    assert names(menu_of(of_home("HassNew"), many=0)) == [
        *("GetDateTime", "find_devices", "undo", "HassNew"),
    ]


def test_what_is_too_long_or_too_much_is_not_sent_whole() -> None:
    long = [
        McpTool("files", f"long_{at}", "", "It does much. " * 100, {}, False) for at in range(9)
    ]
    assert "find_tools" in names(menu_of(*long, many=0))
    many = (of_home(f"HassNew{at}") for at in range(MOST_TOOLS))
    assert "find_tools" in names(menu_of(*many, many=0))


def test_without_the_tools_that_find_others_all_are_sent_as_they_are() -> None:
    menu = menu_of(of_home("HassTurnOn", SELECT), finders=False)
    declared = small_menu(menu.offered(), HOUSE, {}, large=False)
    assert declared == tuple(entry.declaration for entry in menu.offered())


def arguments(tool: McpTool, house: House) -> dict[str, Any]:
    declared = small_menu(menu_of(tool).offered(), house, {}, large=False)
    parameters = next(one for one in declared if one.name == tool.name).parameters
    assert parameters is not None
    found: dict[str, Any] = parameters["properties"]
    return found


def test_values_that_the_house_lacks_are_left_out() -> None:
    told = arguments(of_home("HassTurnOn", SELECT), HOUSE)
    assert told["device_class"]["items"]["enum"] == ["blind", "garage"]
    assert set(told) == set(SELECT)
    fewer = house_of(("light", None), ("cover", "blind"), floors=False)
    assert arguments(of_home("HassTurnOn", SELECT), fewer)["device_class"]["items"]["enum"] == [
        "blind"
    ]
    assert "floor" not in arguments(of_home("HassTurnOn", SELECT), fewer)


def test_an_argument_without_a_choice_is_left_out() -> None:
    assert set(arguments(of_home("HassLightSet", LIGHT), HOUSE)) == {"name"}
    only = house_of(("cover", "blind"), ("cover", "blind"))
    assert "device_class" not in arguments(of_home("HassSetPosition", SELECT), only)
    assert "device_class" not in arguments(of_home("HassTurnOn", SELECT), house_of(("light", None)))


def test_a_kind_that_the_tool_does_not_reach_is_left_out() -> None:
    house = house_of(("cover", "blind"), ("cover", "garage"), ("media_player", "tv"))
    told = arguments(of_home("HassSetPosition", SELECT), house)
    assert told["device_class"]["items"]["enum"] == ["blind", "garage"]


def test_a_required_argument_is_not_left_out() -> None:
    schema = {"type": "object", "properties": LIGHT, "required": ["domain"]}
    tool = McpTool(HOME_ASSISTANT, "HassLightSet", "", "", schema, False)
    assert set(arguments(tool, HOUSE)) == {"name", "domain"}


def test_of_an_unknown_house_nothing_is_left_out() -> None:
    assert set(arguments(of_home("HassTurnOn", SELECT), House())) == set(SELECT)


def test_a_server_cannot_pass_for_the_tools_that_find_others() -> None:
    posing = [McpTool("files", name, "", "", {}, False) for name in ("find_tools", "call_tool")]
    menu = menu_of(*posing, finders=False)
    assert not any(entry.finds_others for entry in menu.offered())
