"""Tests of one set of settings after the other, served in one process."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from assistant.app.build import App
from assistant.app.daemon import Ended, Hooks, Requests, serve
from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.conversation.loop import ConversationLoop
from assistant.domain.records import AnnouncementRecord, ErrorRecord
from assistant.sound.devices import SoundState
from audio.steady import SteadyMicrophone
from integrations.home_assistant import client
from tests.pipeline.rig import offline_settings
from tests.ports import free_port

WITHIN_S = 60.0  # a start alone takes 4 s, and many times that beside others


class Told:
    """Follows the events of one opening."""

    def __init__(self, requests: Requests) -> None:
        self.order: list[str] = []
        self.app: App | None = None
        self.listens, self.ready = asyncio.Event(), asyncio.Event()
        self.hooks = Hooks(requests, on_listening=self._listens, on_ready=self._ready)

    def _listens(self, runner: ConversationLoop, microphone: SteadyMicrophone | None) -> None:
        self.order.append("listening")
        self.listens.set()

    def _ready(self, app: App, microphone: SteadyMicrophone | None, sound: SoundState) -> None:
        self.order.append("ready")
        self.app = app
        self.ready.set()


def without_sound(folder: Path, **sections: dict[str, Any]) -> Settings:
    return offline_settings(
        folder,
        audio={"input": "null", "output": "null"},
        http={"port": free_port(), "token": "t" * 32},
        **sections,
    )


@pytest.fixture
async def mute_house() -> AsyncIterator[str]:
    """Yield the address of a Home Assistant that accepts connections and never answers."""

    async def mute(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with await asyncio.start_server(mute, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def test_settings_follow_each_other(tmp_path: Path) -> None:
    requests = Requests()
    for wanted in (Ended.RELOAD, Ended.STOP):
        settings, told = without_sound(tmp_path), Told(requests)
        serving = asyncio.ensure_future(serve(settings, told.hooks))
        async with asyncio.timeout(WITHIN_S):
            await told.ready.wait()
            assert told.order == ["listening", "ready"]
            assert told.app is not None
            await told.app.runner.ask("turn on the office lights")
            assert told.app.log.turns[-1].record.error is None
            (requests.reload if wanted is Ended.RELOAD else requests.stop)()
            assert await serving is wanted
        with pytest.raises(httpx.ConnectError):
            async with httpx.AsyncClient() as client:
                await client.get(f"http://127.0.0.1:{settings.http.port}/healthz")
        requests.renew()


async def test_a_house_that_is_away_does_not_delay_listening_nor_the_end(
    tmp_path: Path, mute_house: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "FIRST_PICTURE_S", 10 * WITHIN_S)
    requests = Requests()
    house = {"url": mute_house, "token": "t"}
    told, settings = Told(requests), without_sound(tmp_path, home_assistant=house)
    serving = asyncio.ensure_future(serve(settings, told.hooks))
    async with asyncio.timeout(WITHIN_S):  # the process would wait for it for longer
        await told.listens.wait()
        requests.stop()
        assert await serving is Ended.STOP
    assert told.order == ["listening"]


async def test_settings_that_cannot_be_served_leave_nothing_open(tmp_path: Path) -> None:
    before = asyncio.all_tasks()
    settings = without_sound(tmp_path, brain={"order": ["gemini-live"]})
    with pytest.raises((ConfigError, ExceptionGroup)) as raised:
        await serve(settings, Hooks())
    error = raised.value
    cause = error.exceptions[0] if isinstance(error, ExceptionGroup) else error
    assert isinstance(cause, ConfigError)
    assert "no brain" in str(cause)
    assert asyncio.all_tasks() == before
    requests = Requests()
    told = Told(requests)
    serving = asyncio.ensure_future(serve(without_sound(tmp_path), told.hooks))
    async with asyncio.timeout(WITHIN_S):
        await told.ready.wait()  # as the old settings after new ones that failed
        requests.stop()
        assert await serving is Ended.STOP


async def test_a_reload_waits_for_the_turn_and_a_stop_does_not(tmp_path: Path) -> None:
    requests = Requests()
    told = Told(requests)
    serving = asyncio.ensure_future(serve(without_sound(tmp_path), told.hooks))
    async with asyncio.timeout(WITHIN_S):
        await told.ready.wait()
        assert told.app is not None
        asking = asyncio.ensure_future(told.app.runner.ask("turn on the office lights"))
        runner = told.app.runner
        await runner.until(lambda: not runner.resting)
        requests.reload()
        assert await serving is Ended.RELOAD
        assert told.app.log.turns[-1].outcomes
        await asking
    requests.stop()
    requests.reload()
    assert requests.wanted is Ended.STOP


async def test_a_reload_cuts_no_announcement_short(tmp_path: Path) -> None:
    requests = Requests()
    told = Told(requests)
    serving = asyncio.ensure_future(serve(without_sound(tmp_path), told.hooks))
    said = list[tuple[str | None, ErrorRecord | None]]()
    async with asyncio.timeout(WITHIN_S):
        await told.ready.wait()
        assert told.app is not None
        assert told.app.daemon is not None
        told.app.log.follow(lambda turn: said.append((turn.record.answer, turn.record.error)))
        now = datetime.now(UTC)
        for name, text in (("1", "The tea is ready."), ("2", "And so is the cake.")):
            record = AnnouncementRecord(name, text, now, now + timedelta(minutes=1), {})
            await told.app.daemon.announcements.keep(record)
        requests.reload()  # the first is about to begin: nobody talks yet
        assert await serving is Ended.RELOAD
    assert said == [("The tea is ready.", None), ("And so is the cake.", None)]
