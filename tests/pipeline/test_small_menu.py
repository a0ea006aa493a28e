"""The small menu: what goes with every turn, by the size of the house, and calls through it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from assistant.app.build import App, open_app
from assistant.brains.briefing.briefer import Briefing
from assistant.conversation.record import FinishedTurn
from assistant.domain.tool_call import Decision, Status
from integrations.demo_home import DemoHome
from integrations.gemini.tokens import prompt_tokens
from integrations.mcp.hub import McpHub
from integrations.mcp.servers import McpTool, ServerSpec
from tests.benchmarks.declarations import OTHERS
from tests.benchmarks.scale.houses import plan
from tests.pipeline.gemini_rig import LIVE, ONCE, gemini_settings
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.records import HeardTurn, OnceRequest
from tests.simulators.script import Call, Done, Say, Step
from tests.simulators.threads import in_thread

SERVERS = {f"server{number}": ServerSpec(f"server{number}", "http") for number in range(5)}
SERVED = [
    McpTool(name, f"do_{number}", "", "Does one thing or another with a file or a page. " * 3,
            OTHERS[number % len(OTHERS)], False)
    for name in SERVERS
    for number in range(15)
]  # fmt: skip


@asynccontextmanager
async def hearth(tmp_path: Path, service: GeminiSimulator, **changed: Any) -> AsyncIterator[App]:
    with in_thread(service):
        settings = gemini_settings(service, tmp_path, **changed)
        async with open_app(settings, None, hears=False) as app:
            yield app


async def asked(app: App, text: str) -> FinishedTurn:
    turns: list[FinishedTurn] = []
    app.log.on_turn(turns.append)
    await app.runner.ask(text)
    return turns[-1]


def size_of(briefing: Briefing) -> int:
    """Return the tokens of instruction and menu."""
    return prompt_tokens(briefing.instruction, briefing.declarations)


async def test_the_demo_house_takes_at_most_2500_tokens(tmp_path: Path) -> None:
    area = {"data": str(tmp_path / "data"), "area": "Kitchen"}
    async with hearth(tmp_path, GeminiSimulator(), assistant=area) as app:
        briefing = await app.brains.briefer.brief()
        assert 15 <= len(briefing.declarations) <= 20
        assert size_of(briefing) <= 2_500
        offered = {entry.declaration.name for entry in app.home.tools.current_menu.offered()}
        assert len(offered) > 50


async def test_a_large_house_with_five_servers_takes_at_most_4000_tokens(tmp_path: Path) -> None:
    tools, servers = McpHub.tools, McpHub.servers

    async def served(hub: McpHub, *waits: float) -> list[McpTool]:
        return [*await tools(hub, *waits), *SERVED]

    def known(hub: McpHub) -> Mapping[str, ServerSpec]:
        assert isinstance(servers, property)
        assert servers.fget is not None
        return {**servers.fget(hub), **SERVERS}

    house = plan(1_000)
    async with DemoHome(things=house.things, areas=house.areas, floors=house.floors) as home:
        with (
            patch.object(McpHub, "tools", served),
            patch.object(McpHub, "servers", property(known)),
        ):
            changed = {
                "home_assistant": {"url": home.url, "token": home.person_token},
                "assistant": {"data": str(tmp_path / "data"), "area": "Kitchen"},
            }
            async with hearth(tmp_path, GeminiSimulator(), **changed) as app:
                briefing = await app.brains.briefer.brief()
    names = [one.name for one in briefing.declarations]
    assert 15 <= len(names) <= 20
    assert "find_devices" in names
    assert size_of(briefing) <= 4_000
    find = next(one for one in briefing.declarations if one.name == "find_tools")
    assert "15 of the server server4" in find.description


async def test_the_whole_menu_is_still_there(tmp_path: Path) -> None:
    async with hearth(tmp_path, GeminiSimulator(), gemini={"menu": "whole"}) as app:
        names = {one.name for one in (await app.brains.briefer.brief()).declarations}
        offered = {entry.declaration.name for entry in app.home.tools.current_menu.offered()}
        assert names == offered | {"StaySilent"}
        assert "find_tools" not in names


def fan(heard: object) -> list[Step]:
    found = Call(
        "find_tools",
        {"query": "fan speed"},
        answer=lambda told: "fan__HassFanSetSpeed" in told["data"],
    )
    to_half = {"name": "fan__HassFanSetSpeed", "arguments": '{"name": "Zephyra", "percentage": 50}'}
    return [found, Call("call_tool", to_half, answer={"status": "done"}), Say("Done."), Done()]


@pytest.mark.parametrize("brain", [LIVE, ONCE])
async def test_a_found_tool_is_called_like_any_other(tmp_path: Path, brain: str) -> None:
    service = GeminiSimulator(respond=fan, respond_once=fan)
    async with hearth(tmp_path, service, brain={"order": [brain]}) as app:
        turn = await asked(app, "set the fan to half")
        assert app.home.demo is not None
        assert app.home.demo.house.get("fan.zephyra").attributes["percentage"] == 50
    found, called = turn.outcomes
    assert (found.name, called.name) == ("find_tools", "fan__HassFanSetSpeed")
    assert called.arguments == {"name": "Zephyra", "percentage": 50}
    assert called.status is Status.DONE


@pytest.mark.parametrize("brain", [LIVE, ONCE])
async def test_the_simulated_model_calls_what_it_was_not_sent(tmp_path: Path, brain: str) -> None:
    def half(heard: object) -> list[Step]:
        return [
            Call("fan__HassFanSetSpeed", {"name": "Zephyra", "percentage": 50}),
            Say("Done."),
            Done(),
        ]

    service = GeminiSimulator(respond=half, respond_once=half)
    async with hearth(tmp_path, service, brain={"order": [brain]}) as app:
        turn = await asked(app, "set the fan to half")
    assert [(call.name, call.status) for call in turn.outcomes] == [
        ("fan__HassFanSetSpeed", Status.DONE)
    ]


def door(heard: object) -> list[Step]:
    to_open = {"name": "HassTurnOff", "arguments": {"name": "Front door"}}
    return [Call("call_tool", to_open), Say("Done."), Done()]


@pytest.mark.parametrize("brain", [LIVE, ONCE])
async def test_no_door_opens_through_call_tool_without_a_yes(tmp_path: Path, brain: str) -> None:
    service = GeminiSimulator(respond=door, respond_once=door)
    async with hearth(tmp_path, service, brain={"order": [brain]}) as app:
        turn = await asked(app, "unlock the front door")
        assert app.home.demo is not None
        assert app.home.demo.house.get("lock.front_door").state == "locked"
    (called,) = turn.outcomes
    assert called.name == "intent__HassTurnOff"
    assert called.decision in (Decision.NEEDS_CONFIRMATION, Decision.DENIED)


def wrong(heard: object) -> list[Step]:
    broken = {"name": "intent__HassTurnOn", "arguments": '{"area": "Office"'}
    unknown = {"name": "HassNothing", "arguments": "{}"}
    itself = {"name": "call_tool", "arguments": '{"name": "call_tool"}'}
    refused = lambda told: told["status"] != "done"  # noqa: E731
    calls = [Call("call_tool", args, answer=refused) for args in (broken, unknown, itself)]
    return [*calls, Say("I can't."), Done()]


@pytest.mark.parametrize("brain", [LIVE, ONCE])
async def test_what_cannot_be_read_is_refused_and_does_nothing(tmp_path: Path, brain: str) -> None:
    service = GeminiSimulator(respond=wrong, respond_once=wrong)
    async with hearth(tmp_path, service, brain={"order": [brain]}) as app:
        turn = await asked(app, "turn on the office lights")
        assert app.home.demo is not None
        assert app.home.demo.house.get("light.office").state == "off"
    assert [call.name for call in turn.outcomes] == ["call_tool", "HassNothing", "call_tool"]
    assert all(call.status is not Status.DONE for call in turn.outcomes)
    assert not [one for one in turn.outcomes if one.entities]


async def test_a_profile_finds_and_calls_only_its_own_tools(tmp_path: Path) -> None:
    def outside(heard: HeardTurn | OnceRequest) -> list[Step]:
        found = Call(
            "find_tools", {"query": "fan speed"}, answer=lambda told: "Fan" not in told["data"]
        )
        blocked = {
            "name": "fan__HassFanSetSpeed",
            "arguments": '{"name": "Zephyra", "percentage": 50}',
        }
        return [found, Call("call_tool", blocked), Say("No."), Done()]

    allowed = [
        "HassL*",
        "HassM*",
        "HassS*",
        "HassT*",
        "HassV*",
        "Get*",
        "*timer*",
        "set_*",
        "re*",
        "voice*",
    ]
    allowed += [
        "find_devices",
        "correct*",
        "forget*",
        "what*",
        "why*",
        "do_later",
        "think*",
        "undo",
    ]
    changed = {"profiles": {"child": {"tools": allowed, "persona": "Kind."}}}
    service = GeminiSimulator(respond=outside)
    async with hearth(tmp_path, service, brain={"order": [LIVE]}, **changed) as app:
        app.runner.use_profile("child")
        turn = await asked(app, "set the fan to half")
    assert turn.outcomes[-1].decision is Decision.DENIED
