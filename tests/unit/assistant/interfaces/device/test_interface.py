"""Tests of the whole device: our events reach Home Assistant, and its messages act here."""

import asyncio
import json
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from assistant.config.schema import Settings
from assistant.conversation.rules.state import State
from assistant.domain.clock import VirtualClock
from assistant.interfaces.device.interface import DeviceInterface, Reach
from assistant.interfaces.device.registration import HouseDevice
from assistant.speech.catalogue import Catalogue
from integrations.home_assistant.client import HomeAssistant
from integrations.web.requests import QuestionAnswer
from tests.fakes.small_values import FakeValues
from tests.unit.assistant.interfaces.device.doubles import (
    NOON,
    SECRET,
    Json,
    Life,
    Pressed,
    Says,
    TakesDevices,
    Webhook,
)


class Sees(TakesDevices):
    """A house that also has sensors and events."""

    def __init__(self) -> None:
        super().__init__()
        self.hook = Webhook()

    @property
    def states(self) -> Json:
        return {name: (one, self.hook.attributes[name]) for name, one in self.hook.states.items()}

    async def command(self, kind: str, **fields: Any) -> Any:
        asked = json.loads(fields["body"])["type"] if kind == "webhook/handle" else ""
        if asked in ("register_sensor", "update_sensor_states", "fire_event"):
            self.hook.hooks = {fields["webhook_id"]}
            return await self.hook.command(kind, **fields)
        return await super().command(kind, **fields)


class Stage(Life):
    """A device at work, and its surroundings."""

    def __init__(self, *, guests: bool) -> None:
        super().__init__(guests=guests)
        self.home, self.box, self.says, self.clock = Sees(), Pressed(), Says(), VirtualClock()

    async def settle(self) -> None:
        for _ in range(100):
            if self.home.send is not None:
                break
            await asyncio.to_thread(lambda: None)  # behind the file's own work
            await self.clock.run(1)
        await self.clock.run(5)


@asynccontextmanager
async def at_work(tmp_path: Path, *, guests: bool = False, **settings: Any) -> AsyncIterator[Stage]:
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(max_workers=1))
    stage = Stage(guests=guests)
    clock = stage.clock
    known = Settings.model_validate(
        {
            "assistant": {"area": "Kitchen", "data": str(tmp_path)},
            "home_assistant": {"url": "http://ha:8123", "token": "token"},
            **settings,
        }
    )
    acts_on: Any = (
        stage.box,
        stage.says,
        stage.says,
        Catalogue(),
        FakeValues(),
        stage.home.register,
    )
    device = HouseDevice(known, clock)
    home = cast(HomeAssistant, stage.home)
    async with DeviceInterface(
        *(known, device, home, stage.sources, stage.bus, stage.keeps_words),
        *(Reach(*acts_on), clock),
    ):
        await stage.settle()
        yield stage


async def test_all_that_changes_is_shown(tmp_path: Path) -> None:
    async with at_work(tmp_path) as stage:
        assert stage.home.states["state"][0] == "idle"
        stage.conversation.stand(state=State.SPEAKING)
        await stage.settle()
        assert (stage.home.states["state"][0], stage.home.states["speaking"][0]) == (
            "speaking",
            True,
        )
        stage.figures.brain = "gemini-live"
        stage.figures.tell()
        await stage.settle()
        assert stage.home.states["brain"][0] == "gemini-live"
        stage.timers.due, stage.timers.count = NOON, 1
        stage.timers.tell()
        await stage.settle()
        assert (stage.home.states["next_timer"][0], stage.home.states["timers"][0]) == (
            NOON.isoformat(),
            1,
        )
        stage.troubles.sentences = ("There is no loudspeaker.",)
        stage.troubles.tell()
        await stage.settle()
        assert stage.home.states["problem"] == (True, {"problems": ["There is no loudspeaker."]})


async def test_what_happens_is_told_and_messages_act(tmp_path: Path) -> None:
    async with at_work(tmp_path) as stage:
        stage.bus.publish("wake", "t1", word="okay_nabu")
        await stage.settle()
        ((kind, data),) = stage.home.hook.seen
        assert (kind, data["device_id"], data["device_name"]) == (
            "hearth_wake",
            "device-1",
            "Hearth Kitchen",
        )
        assert stage.home.send is not None
        order = {"message": "Quiet.", "data": {"hearth_command": "mute"}}
        stage.home.send({**order, "hass_confirm_id": "1"})
        stage.home.send({"message": "News.", "hass_confirm_id": "2"})
        await stage.settle()
        assert stage.box.done == ["muted"]
        assert [name for _, name in stage.says.wanted] == ["2"]
        assert stage.home.confirmed == ["1", "2"]


@pytest.mark.parametrize(
    ("shared", "guests", "told"), [(False, False, False), (True, False, True), (True, True, False)]
)
async def test_words_are_told_only_where_they_are_shared_and_kept(
    tmp_path: Path, shared: bool, guests: bool, told: bool
) -> None:
    async with at_work(tmp_path, guests=guests, privacy={"share_heard": shared}) as stage:
        stage.bus.publish("heard", "t1", {"sentence": SECRET})
        await stage.settle()
        assert (SECRET in str(stage.home.hook.seen)) is told
        assert ("last_heard" in stage.home.states) is shared
        assert (SECRET in str(stage.home.states)) is shared  # figures contain none of guests


async def test_with_a_broker_only_messages_remain(tmp_path: Path) -> None:
    async with at_work(tmp_path, mqtt={"host": "broker"}) as stage:
        stage.bus.publish("wake", "t1", word="okay_nabu")
        stage.conversation.tell()
        assert stage.home.send is not None
        actions = [{"action": "YES", "title": "Yes"}]
        stage.home.send({"message": "Well?", "hass_confirm_id": "1", "data": {"actions": actions}})
        await stage.settle()
        assert (stage.home.states, stage.home.hook.seen) == ({}, [])
        assert stage.home.confirmed == ["1"]
        stage.box.answers.put_nowait(QuestionAnswer(result="answered", id="YES"))
        await stage.settle()
        assert [kind for kind, _ in stage.home.hook.seen] == [
            "mobile_app_notification_action",
            "hearth_question",
        ]


async def test_at_the_end_nobody_is_followed(tmp_path: Path) -> None:
    async with at_work(tmp_path) as stage:
        assert stage.conversation.followers
    for one in stage.all:
        assert one.followers == []
    assert {state for state, _ in stage.home.states.values()} == {"unavailable"}
    assert stage.home.send is None
