"""Programs that hang, die, flood, lie or send garbage: each call ends, and the others work."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from integrations.errors import Misconfigured, Unavailable
from integrations.mcp import session, transport
from integrations.mcp.hub import McpHub
from integrations.mcp.listing import MAX_TEXT
from integrations.mcp.servers import CallLost, McpResult
from tests.unit.integrations.mcp.rogues import all_gone, memory, rogue, started

LIMIT_S = 60.0  # for one test, on a busy machine
HANGS_S = 2.0  # for a step of a server that hangs


@pytest.fixture(autouse=True)
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "OPEN_S", 3.0)
    monkeypatch.setattr(session, "PROBE_S", 0.3)


@asynccontextmanager
async def beside_an_honest_one(
    mode: str, folder: Path, patience_s: float = LIMIT_S
) -> AsyncIterator[McpHub]:
    """Open and list both servers; afterwards nothing of either is left.

    `patience_s` is the limit for a step of the bad one, HANGS_S if it hangs.
    """
    bad, good = folder / "bad", folder / "good"
    before = asyncio.all_tasks()
    async with asyncio.timeout(LIMIT_S):
        specs = [rogue(mode, bad, patience_s), rogue("good", good, LIMIT_S, "honest")]
        async with McpHub(specs) as hub:
            await hub.tools(wait_s=LIMIT_S)
            yield hub
            assert (await hub.call("honest", "t", {})).text == "fine"
    assert await all_gone(bad)
    assert await all_gone(good)
    assert asyncio.all_tasks() <= before


@pytest.mark.parametrize("mode", ["hang-start", "die-start", "pour-start", "hang-list", "die-list"])
async def test_a_server_that_does_not_get_so_far_has_no_tools(mode: str, tmp_path: Path) -> None:
    async with beside_an_honest_one(mode, tmp_path, HANGS_S) as hub:
        assert [tool.server for tool in await hub.tools()] == ["honest"]
        bad, good = hub.states()
        assert not bad.ok
        assert good.ok
        assert bad.reason.count(". ") == 0
        assert "canary" not in bad.reason


LOST = [
    "die-call",
    "long-line",
    "long-text",
    "notices",
    "questions",
    "half-json",
    "no-utf-8",
    "half-characters",
    "result-is-text",
    "content-is-number",
    "no-content",
    "wants-more",
    "closed-error",
    "closes-output",
]


@pytest.mark.parametrize("mode", LOST)
async def test_a_call_that_gets_no_answer_may_have_run(mode: str, tmp_path: Path) -> None:
    async with beside_an_honest_one(mode, tmp_path, LIMIT_S / 2) as hub:
        lost = asyncio.ensure_future(hub.call("rogue", "t", {}))
        assert (await hub.call("honest", "t", {})).text == "fine"
        with pytest.raises(CallLost) as caught:
            await lost
        assert "canary" not in str(caught.value)
        assert "rogue" in [tool.server for tool in await hub.tools(wait_s=LIMIT_S)]


@pytest.mark.parametrize("mode", ["hang-call", "stubborn", "other-id"])
async def test_a_call_that_hangs_ends_in_time_and_the_program_is_started_anew(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "OPEN_S", LIMIT_S)  # which all of them reach
    if mode == "other-id":
        # it is alive, and says so as soon as it can
        monkeypatch.setattr(session, "PROBE_S", LIMIT_S)
    async with beside_an_honest_one(mode, tmp_path, HANGS_S) as hub:
        waiting = asyncio.ensure_future(hub.call("rogue", "t", {}))
        assert (await hub.call("honest", "t", {})).text == "fine"
        with pytest.raises(TimeoutError):
            await waiting
        assert {tool.server for tool in await hub.tools(wait_s=LIMIT_S)} == {"rogue", "honest"}
        assert len(started(tmp_path / "bad")) == (1 if mode == "other-id" else 2)


@pytest.mark.parametrize(
    ("mode", "result"),
    [
        ("long-enough", McpResult("w" * MAX_TEXT + "\n[the rest left out]", False)),
        ("no-json", McpResult("fine", False)),
        ("odd-error", McpResult("no\0\u202e way", True)),
        ("long-error", McpResult("e" * MAX_TEXT, True)),
        ("slow-pattern", McpResult("fine", False)),
        ("loud", McpResult("fine", False)),
    ],
)
async def test_what_can_be_read_is_read(mode: str, result: McpResult, tmp_path: Path) -> None:
    async with beside_an_honest_one(mode, tmp_path) as hub:
        for _ in range(3):
            assert await hub.call("rogue", "t", {}) == result
        assert len(started(tmp_path / "bad")) == 1


async def test_parts_without_number_are_cut(tmp_path: Path) -> None:
    async with beside_an_honest_one("many-parts", tmp_path) as hub:
        text = (await hub.call("rogue", "t", {})).text
        assert len(text) < 3_000
        assert text.endswith("[the rest left out]")


async def test_a_picture_is_named_and_no_more(tmp_path: Path) -> None:
    async with beside_an_honest_one("pictures", tmp_path) as hub:
        text = (await hub.call("rogue", "t", {})).text
        assert text.startswith("[image/pngimage/png")
        assert text.endswith(" left out]\nfine")
        assert len(text) < 100


@pytest.mark.parametrize(
    ("mode", "count", "first"),
    [
        ("endless-pages", 50, "t0"),
        ("ten-thousand", 1_000, "t0"),
        ("doubled", 2, "t"),
        ("long-words", 1, "t"),
        ("large-schema", 1, "t"),
        ("rather-deep", 2, "t"),
        ("recursive", 2, "t"),
        ("names-of-the-home", 3, "HassTurnOn"),
        ("deep", 0, ""),
        ("list-of-words", 0, ""),
    ],
)
async def test_a_list_is_kept_within_measure(
    mode: str, count: int, first: str, tmp_path: Path
) -> None:
    async with beside_an_honest_one(mode, tmp_path) as hub:
        tools = [tool for tool in await hub.tools(wait_s=LIMIT_S) if tool.server == "rogue"]
        assert len(tools) == count
        assert [tool.name for tool in tools[:1]] == ([first] if first else [])
        assert all(len(tool.description) <= 8_000 for tool in tools)


async def test_a_list_that_changes_is_seen_as_it_is_now(tmp_path: Path) -> None:
    async with beside_an_honest_one("changing", tmp_path) as hub:
        for number in (1, 2):
            (tool,) = [tool for tool in await hub.tools(wait_s=LIMIT_S) if tool.server == "rogue"]
            assert tool.description == f"Number {number}."


async def test_one_that_dies_after_each_answer_is_started_less_and_less_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "PROGRAM_PAUSE_S", (3600.0, 3600.0))
    async with beside_an_honest_one("die-after", tmp_path) as hub:
        for _ in range(2):  # the first end causes no pause
            assert (await hub.call("rogue", "t", {})).text == "fine"
            while hub.states()[0].ok:  # noqa: ASYNC110 (nobody is told of a program's end)
                await asyncio.sleep(0.01)
        with pytest.raises(Unavailable, match=r"ended \(exit code 0\)") as caught:
            await hub.call("rogue", "t", {})
        assert not isinstance(caught.value, CallLost)
        assert len(started(tmp_path / "bad")) == 2


async def test_what_a_program_has_started_ends_with_it(tmp_path: Path) -> None:
    async with beside_an_honest_one("with-child", tmp_path) as hub:
        assert (await hub.call("rogue", "t", {})).text == "fine"
        assert len(started(tmp_path / "bad")) == 2


@pytest.mark.parametrize("mode", ["long-line", "long-text", "notices"])
async def test_a_flood_is_not_kept(mode: str, tmp_path: Path) -> None:
    async with beside_an_honest_one(mode, tmp_path) as hub:
        before = most = memory()
        lost = asyncio.ensure_future(hub.call("rogue", "t", {}))
        while not lost.done():
            await asyncio.wait([lost], timeout=0.005)
            most = max(most, memory())
        with pytest.raises(CallLost):
            await lost
        assert most - before < 30_000_000


async def test_what_it_says_on_standard_error_is_logged_without_secrets(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG, logger="integrations.mcp")
    async with beside_an_honest_one("die-start", tmp_path):
        pass
    said = [record for record in caplog.records if "No API key" in record.getMessage()]
    assert [(one.levelno, one.getMessage()) for one in said] == [
        (logging.DEBUG, "rogue: No API key: ***")
    ]
    assert capfd.readouterr().err == ""


async def test_no_end_of_standard_error_fills_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="integrations.mcp.transport")
    async with beside_an_honest_one("loud", tmp_path) as hub:
        for _ in range(5):
            assert (await hub.call("rogue", "t", {})).text == "fine"
    lines = [record.getMessage() for record in caplog.records]
    assert 0 < len(lines) < 500
    assert "canary" not in " ".join(lines)


async def test_a_secret_goes_to_its_own_server_alone(tmp_path: Path) -> None:
    async with asyncio.timeout(LIMIT_S):
        specs = [
            replace(rogue("good", tmp_path, LIMIT_S, name), env={"A_KEY": f"k-{name}"})
            for name in ("one", "other")
        ]
        async with McpHub(specs) as hub:
            for name in ("one", "other"):
                seen = json.loads((await hub.call(name, "environment", {})).text)
                assert seen.pop("A_KEY") == f"k-{name}"
                # The last two come from its sandbox and from Python itself.
                assert set(seen) <= {"PATH", "HOME", "LANG", "TMPDIR", "LC_CTYPE"}


async def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    spec = replace(rogue("good", tmp_path), cwd="/nowhere")
    async with McpHub([spec]) as hub:
        with pytest.raises(Misconfigured, match="/nowhere"):
            await hub.call("rogue", "t", {})
