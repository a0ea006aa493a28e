"""Tests of opening the home while Home Assistant does not answer."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from assistant.app.home import open_home
from assistant.config.schema import Settings
from assistant.domain.clock import SystemClock
from integrations.home_assistant import client
from integrations.mcp import session


@pytest.fixture
async def away(tmp_path: Path) -> AsyncIterator[Settings]:
    """Yield settings of a Home Assistant that accepts connections and never answers."""

    async def mute(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with await asyncio.start_server(mute, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield Settings.model_validate(
            {"assistant": {"data": str(tmp_path)}, "home_assistant": {"url": url, "token": "t"}}
        )


async def test_a_house_that_is_away_is_waited_for_once(
    away: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "FIRST_PICTURE_S", 2.0)
    monkeypatch.setattr(session, "OPEN_S", 0.1)
    async with open_home(away, SystemClock()) as home:
        assert not home.client.connected
        # The tools were requested at the same time, so the first turn need not wait for them.
        assert "did not answer in time" in home.hub.states()[0].reason


async def test_nothing_is_learnt_of_a_house_that_is_away(
    away: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "FIRST_PICTURE_S", 0.1)
    monkeypatch.setattr("assistant.app.home._LEARN_WITHIN_S", 60.0)
    async with asyncio.timeout(20), open_home(away, SystemClock()) as home:
        assert not home.client.connected


async def test_cancelled_while_it_opens_it_leaves_nothing_behind(away: Settings) -> None:
    before = asyncio.all_tasks()

    async def enter() -> None:
        async with open_home(away, SystemClock()):
            pytest.fail("nobody answers")

    entering = asyncio.create_task(enter())
    names: set[str] = set()
    async with asyncio.timeout(20):
        while "home-assistant" not in names:
            await asyncio.sleep(0)
            names = {task.get_name() for task in asyncio.all_tasks()}
    entering.cancel()
    with pytest.raises(asyncio.CancelledError):
        await entering
    left = {task.get_name() for task in asyncio.all_tasks() - before}
    assert not left & {"home-assistant", "mcp-home_assistant", "what is exposed"}
