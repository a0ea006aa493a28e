"""Tests of the doctor's checks of the house that need a double."""

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from assistant.config.schema import Settings
from assistant.doctor import house
from assistant.doctor.finding import Finding, Found, examine
from assistant.doctor.house import HouseScene
from assistant.domain.tool_call import Tier
from integrations.home_assistant.house import Entity, House
from integrations.home_assistant.mobile_app import Address
from integrations.home_assistant.rest import Instance
from integrations.mcp import sandbox
from integrations.mcp.servers import HOME_ASSISTANT, ServerSpec, ServerState
from tests.unit.assistant.doctor.scenes import scene
from tests.unit.integrations.mqtt.broker import (
    DISCONNECT,
    PUBLISH,
    V5,
    accepted,
    fake_broker,
    refused,
)


def settings(data: Path) -> Settings:
    home = {"url": "http://127.0.0.1:9", "token": "t"}
    return Settings.model_validate({"assistant": {"data": str(data)}, "home_assistant": home})


async def test_a_password_in_the_address_is_not_shown(tmp_path: Path) -> None:
    address = Address("http://me:secret@home:8123", "token")
    answer = Instance("2026.11.0", "RUNNING", "Home")
    scene = HouseScene(settings(tmp_path), None, address, answer, None)  # type: ignore[arg-type]
    (check,) = (check for check in house.CHECKS if check.name == "home assistant")
    found = await check.look(scene)
    assert found.detail == "2026.11.0 at http://home:8123"
    assert "secret" not in repr(address)


@pytest.mark.parametrize(
    ("name", "status", "detail"),
    [
        ("America/New_York", "warn", "this machine's clock shows 12:00, the house's 07:00"),
        ("Africa/Abidjan", "ok", "Africa/Abidjan"),  # another name of the same time
        ("Nowhere/At_All", "warn", "this machine doesn't know Nowhere/At_All"),
        ("", "warn", "unknown"),
    ],
)
def test_a_machine_in_another_time_zone_is_told(name: str, status: str, detail: str) -> None:
    found = house.judge_time_zone(name, datetime(2026, 11, 27, 12, tzinfo=UTC), UTC)
    assert (found.status, found.detail[-len(detail) :]) == (status, detail)


@pytest.mark.parametrize(
    ("ahead_s", "told"),
    [(0.0, ""), (-59.0, ""), (600.0, "10 min ahead of"), (-90_000.0, "1,500 min behind")],
)
def test_two_clocks_that_differ_are_told(ahead_s: float, told: str) -> None:
    found = house.judge_clocks(ahead_s)
    assert (told in found.detail and found.status == "warn") if found else not told


def test_a_line_for_each_tool_server() -> None:
    states = [
        ServerState(HOME_ASSISTANT, False, "It is away."),
        ServerState("search", True, ""),
        ServerState("notes", False, "npx is not installed."),
        ServerState("empty", True, ""),
    ]
    servers = {state.name: ServerSpec(state.name, "http") for state in states}
    found = house.judge_servers(states, {"search": 1, HOME_ASSISTANT: 20}, servers)
    assert [(one.check, one.status) for one in found] == [
        ("server search", "ok"),
        ("server notes", "warn"),
        ("server empty", "warn"),
    ]
    assert found[0].detail == "1 tool"
    assert found[1].mend == "npx is not installed."
    assert "allow" in found[2].mend


@pytest.mark.parametrize(
    ("abi", "wanted", "status", "told"),
    [
        (5, True, "ok", "sandboxed, cannot read Hearth's files"),
        (0, True, "warn", "no Landlock"),
        (5, False, "warn", "can read Hearth's tokens"),
    ],
)
def test_the_sandbox_of_a_program(
    abi: int, wanted: bool, status: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "landlock_abi", lambda: abi)
    spec = ServerSpec("notes", "stdio", command="notes", sandbox=wanted)
    (found,) = house.judge_servers([ServerState("notes", True, "")], {"notes": 2}, {"notes": spec})
    assert found.status == status
    assert told in found.detail
    assert bool(found.mend) == (status != "ok")


GATE, LEFT = Entity("switch.gate", "Front gate", "off"), Entity("cover.left", "Left", "closed")


LAMP = Entity("light.lamp", "Lamp", "off")


def judged(*things: Entity, seen: str = "", **tiers: Tier) -> Found:
    seen_opening = {seen: frozenset({"lock.front"})} if seen else {}
    made = House(entities={one.entity_id: one for one in things}, seen_opening=seen_opening)
    first = {one.entity_id: one.name.partition(" ")[0] for one in things}
    rated = {name: tiers[word] for name, word in first.items() if word in tiers}
    return house.judge_openers(made, rated)


def test_what_nobody_has_rated_is_named_with_the_mend() -> None:
    found = judged(GATE, LEFT, LAMP, Left=Tier.COMFORT)
    assert found.status == "warn"
    assert found.detail == (
        "rated harmless, so allowed without asking: Left; need confirmation until they are rated: "
        "Front gate"
    )
    assert found.mend == 'if one opens nothing, run: hearth tools rate "NAME" comfort'


def test_what_is_free_since_it_was_rated_is_told() -> None:
    found = judged(GATE, LEFT, Front=Tier.SECURE, Left=Tier.COMFORT)
    assert found.status == "ok"
    assert found.detail.startswith(
        "rated harmless, so allowed without asking: Left (to require confirmation again: "
        "hearth tools rate"
    )


def test_what_was_seen_to_open_something_is_told() -> None:
    found = judged(LAMP, seen="light.lamp", Lamp=Tier.SECURE)
    assert (found.status, found.detail) == ("ok", "seen opening something: Lamp")


@pytest.mark.parametrize("platform", ["template", "command_line", "rest", ""])
def test_what_runs_whatever_was_written_for_it_is_named(platform: str) -> None:
    shelf = Entity("switch.shelf", "Shelf", "off", platform=platform)
    found = judged(shelf, LAMP)
    assert (found.status, found.detail) == ("warn", "need confirmation until they are rated: Shelf")
    assert judged(shelf, Shelf=Tier.COMFORT).detail.startswith(
        "rated harmless, so allowed without asking: Shelf"
    )


def test_where_all_is_known_all_is_well() -> None:
    assert judged(LAMP).status == "ok"


def test_a_long_list_is_cut() -> None:
    many = [Entity(f"cover.c{number}", f"Cover {number}", "closed") for number in range(7)]
    assert "Cover 0, Cover 1, Cover 2, Cover 3, Cover 4 and 2 more" in judged(*many).detail


async def test_a_house_that_is_away_tells_nothing_of_it(tmp_path: Path) -> None:
    away = SimpleNamespace(client=SimpleNamespace(connected=False))
    address = Address("http://127.0.0.1:9", "t")
    answer = Instance("2026.11.0", "RUNNING", "Home")
    scene = HouseScene(settings(tmp_path), away, address, answer, None)  # type: ignore[arg-type]
    (check,) = (check for check in house.CHECKS if check.name == "what may open")
    assert (await check.look(scene)).status == "warn"


async def look(port: int | None) -> Finding:
    mqtt = {} if port is None else {"host": "127.0.0.1", "port": port, "password": "secret"}
    (finding,) = await examine(house.BROKER_CHECKS, scene(Settings.model_validate({"mqtt": mqtt})))
    return finding


async def test_none_is_set() -> None:
    assert (await look(None)).status == "ok"


async def test_it_lets_us_in_and_is_told_nothing() -> None:
    async with fake_broker(accepted(V5)) as there:
        finding = await look(there.port)
        visit = await there.until(1, DISCONNECT)
    assert (finding.status, finding.detail) == ("ok", f"connected to 127.0.0.1:{there.port}")
    assert visit.clean
    assert b"hearth-doctor-" in visit.connect
    assert PUBLISH not in visit.kinds()


async def test_it_does_not_let_us_in() -> None:
    async with fake_broker(refused(0x87, V5)) as there:
        finding = await look(there.port)
    assert finding.status == "fail"
    assert "check mqtt.username and mqtt.password" in finding.detail
    assert "secret" not in str(finding)
