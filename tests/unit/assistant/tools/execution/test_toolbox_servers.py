"""Tests of whole calls to a server that hangs, dies, floods, lies or answers garbage.

The call ends in time with a sentence, and the other servers' tools work meanwhile.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assistant.domain.clock import SystemClock
from assistant.domain.tool_call import Decision, Status, ToolCall
from assistant.speech.catalogue import Catalogue
from assistant.tools.execution.outcomes import MAX_DATA
from assistant.tools.execution.toolbox import Toolbox
from integrations.mcp import session
from integrations.mcp.hub import McpHub
from tests.fakes.home import StillHome
from tests.fakes.journal import FakeJournal
from tests.unit.integrations.mcp.rogues import all_gone, rogue

LIMIT_S = 20.0  # for one test on a busy machine
HONEST = "honest__t"  # the menu's name for it, because the other server has a tool of the same name


@pytest.fixture(autouse=True)
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "OPEN_S", 3.0)


@asynccontextmanager
async def tools_of(mode: str, folder: Path) -> AsyncIterator[Toolbox]:
    """Yield a toolbox with a server that fails as `mode` says and, after it, an honest one."""
    bad = replace(rogue(mode, folder / "bad", timeout_s=1.0), allow=("t",))
    good = replace(rogue("good", folder / "good", LIMIT_S, "honest"), allow=("t",))
    async with asyncio.timeout(LIMIT_S):
        async with McpHub([bad, good]) as hub:
            await hub.tools(wait_s=LIMIT_S)
            box = Toolbox(hub, StillHome(), FakeJournal(), Catalogue(), SystemClock())
            await box.menu()
            yield box
    assert await all_gone(folder / "bad")
    assert await all_gone(folder / "good")


def called(box: Toolbox, name: str, number: int = 1, **arguments: Any) -> Any:
    call = ToolCall(f"{name}-{number}", name, arguments)
    return asyncio.ensure_future(box.call(call, "turn", "do it"))


@pytest.mark.parametrize(
    ("mode", "status", "sentence"),
    [
        ("hang-call", Status.TIMEOUT, "tools.late_there"),
        ("die-call", Status.UNKNOWN, "tools.lost"),
        ("long-line", Status.UNKNOWN, "tools.lost"),
        ("long-text", Status.UNKNOWN, "tools.lost"),
        ("notices", Status.UNKNOWN, "tools.lost"),
        ("half-json", Status.UNKNOWN, "tools.lost"),
        ("no-content", Status.UNKNOWN, "tools.lost"),
        ("other-id", Status.TIMEOUT, "tools.late_there"),
    ],
)
async def test_a_bad_answer_is_a_sentence_and_the_others_work(
    mode: str, status: Status, sentence: str, tmp_path: Path
) -> None:
    async with tools_of(mode, tmp_path) as box:
        bad, good = called(box, "t"), called(box, HONEST)
        fine = await good
        assert (fine.status, fine.data) == (Status.DONE, "fine")
        outcome = await bad
        assert (outcome.decision, outcome.status) == (Decision.ALLOWED, status)
        assert outcome.sentence == Catalogue().say(sentence, "en", server="rogue")
        assert outcome.ms < 5_000
        assert (await called(box, HONEST, 2)).status is Status.DONE
        assert {entry.declaration.name for entry in (await box.menu()).offered()} >= {HONEST}


async def test_a_refusal_is_cleaned_and_told(tmp_path: Path) -> None:
    async with tools_of("odd-error", tmp_path) as box:
        outcome = await called(box, "t")
        assert outcome.status is Status.FAILED
        assert outcome.sentence
        assert "no way" in outcome.sentence + outcome.data
        assert "\u202e" not in outcome.sentence + outcome.data


async def test_a_long_answer_is_cut(tmp_path: Path) -> None:
    async with tools_of("long-enough", tmp_path) as box:
        outcome = await called(box, "t")
        assert outcome.status is Status.DONE
        assert len(outcome.data) <= MAX_DATA + 100


@pytest.mark.parametrize("mode", ["hang-start", "die-start", "hang-list", "deep", "list-of-words"])
async def test_a_server_that_lists_nothing_leaves_the_others_theirs(
    mode: str, tmp_path: Path
) -> None:
    async with tools_of(mode, tmp_path) as box:
        names = [entry.declaration.name for entry in (await box.menu()).offered()]
        assert "t" in names
        assert HONEST not in names  # no other server has a tool of that name
        assert (await called(box, "t")).status is Status.DONE
        outcome = await called(box, "rogue__t")
        assert (outcome.decision, outcome.status) == (Decision.DENIED, Status.NOT_RUN)


@pytest.mark.parametrize(
    "mode", ["doubled", "ten-thousand", "long-words", "large-schema", "rather-deep", "recursive"]
)
async def test_no_list_breaks_the_menu(mode: str, tmp_path: Path) -> None:
    async with tools_of(mode, tmp_path) as box:
        menu = await box.menu()
        names = [entry.declaration.name for entry in menu.offered()]
        assert len(names) == len(set(names))
        theirs = next(entry for entry in menu.offered() if entry.server == "honest")
        assert (await called(box, theirs.declaration.name)).status is Status.DONE


async def test_the_homes_names_are_not_taken(tmp_path: Path) -> None:
    async with tools_of("names-of-the-home", tmp_path) as box:
        names = {entry.declaration.name for entry in (await box.menu()).offered()}
        assert "HassTurnOn" not in names
        assert "intent__HassTurnOff" not in names
        outcome = await called(box, "rogue__HassTurnOn")
        assert outcome.decision is not Decision.ALLOWED
