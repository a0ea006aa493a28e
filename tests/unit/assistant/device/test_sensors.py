"""What Home Assistant sees of the microphone, whatever happens to either."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from assistant.clock import VirtualClock
from assistant.device.sensors import MICROPHONE, MUTED, DeviceSensors
from assistant.speech.catalogue import Catalogue
from assistant.turn.standing import Standing
from assistant.turn.state import State
from audio.steady import MicrophoneStatus
from integrations.errors import Unavailable

LISTENING = Standing(State.IDLE, False, MicrophoneStatus.LISTENING)
CLOSED = Standing(State.IDLE, True, MicrophoneStatus.CLOSED)


class Home:
    """A Home Assistant that makes entities, and nothing else."""

    def __init__(self) -> None:
        self.connected = True
        self.hooks = {"hook"}
        self.states: dict[str, Any] = {}
        self.names: dict[str, str] = {}
        self.asked: list[str] = []
        self.away = False
        self.slow = False  # its entities are not there when it answers
        self.hangs = False

    async def command(self, kind: str, **fields: Any) -> Any:
        assert kind == "webhook/handle"
        if self.hangs:
            await asyncio.Event().wait()
        if self.away:
            raise Unavailable("The connection to Home Assistant closed.")
        asked = json.loads(fields["body"])
        self.asked.append(asked["type"])
        if fields["webhook_id"] not in self.hooks:
            return {"status": 200, "body": None}
        match asked["type"]:
            case "register_sensor":
                self._register(asked["data"])
                return {"status": 201, "body": json.dumps({"success": True})}
            case "update_sensor_states":
                told = {row["unique_id"]: self._update(row) for row in asked["data"]}
                return {"status": 200, "body": json.dumps(told)}
        raise AssertionError(asked)

    def _register(self, data: dict[str, Any]) -> None:
        if not self.slow:
            self.states[data["unique_id"]] = data["state"]
            self.names[data["unique_id"]] = data["name"]

    def _update(self, row: dict[str, Any]) -> dict[str, Any]:
        if row["unique_id"] not in self.states:
            return {"success": False, "error": {"code": "not_registered"}}
        self.states[row["unique_id"]] = row["state"]
        return {"success": True}


@pytest.fixture
def home() -> Home:
    return Home()


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@asynccontextmanager
async def telling(
    home: Home, clock: VirtualClock, language: str = "en"
) -> AsyncIterator[DeviceSensors]:
    async with DeviceSensors(home, Catalogue(), language, clock, LISTENING) as sensors:
        yield sensors


async def test_it_is_shown_as_soon_as_the_device_is_registered(
    home: Home, clock: VirtualClock
) -> None:
    async with telling(home, clock) as sensors:
        sensors.stand(CLOSED)
        await clock.run(5)
        assert home.asked == []
        sensors.registered("hook")
        await clock.run(5)
        assert home.states == {MUTED: True, MICROPHONE: "closed"}
        assert home.names == {MUTED: "Microphone muted", MICROPHONE: "Microphone"}
        assert home.asked == ["register_sensor"] * 2 + ["update_sensor_states"]


async def test_it_follows_and_tells_nothing_twice(home: Home, clock: VirtualClock) -> None:
    async with telling(home, clock, "es") as sensors:
        sensors.registered("hook")
        await clock.run(5)
        assert home.names[MUTED] == "Micrófono silenciado"
        home.asked.clear()
        for standing in (LISTENING, CLOSED, CLOSED):
            sensors.stand(standing)
            await clock.settle()
        assert home.states == {MUTED: True, MICROPHONE: "closed"}
        assert home.asked == ["update_sensor_states"]
        for status in MicrophoneStatus:
            sensors.stand(Standing(State.IDLE, False, status))
            await clock.settle()
            assert home.states == {MUTED: False, MICROPHONE: status.name.lower()}


async def test_a_turn_is_no_news(home: Home, clock: VirtualClock) -> None:
    async with telling(home, clock) as sensors:
        sensors.registered("hook")
        await clock.run(5)
        home.asked.clear()
        for state in State:
            sensors.stand(Standing(state, False, MicrophoneStatus.LISTENING))
            await clock.settle()
        assert home.asked == []


async def test_after_a_restart_of_the_house_all_is_told_again(
    home: Home, clock: VirtualClock
) -> None:
    async with telling(home, clock) as sensors:
        sensors.registered("hook")
        await clock.run(5)
        home.away = True
        sensors.stand(CLOSED)
        await clock.run(5)
        home.away, home.states = False, {MUTED: False, MICROPHONE: "listening"}  # as it was left
        sensors.registered("hook")
        await clock.run(60)
        assert home.states == {MUTED: True, MICROPHONE: "closed"}


async def test_a_lost_connection_is_tried_again(home: Home, clock: VirtualClock) -> None:
    async with telling(home, clock) as sensors:
        sensors.registered("hook")
        await clock.run(5)
        home.away = True
        sensors.stand(CLOSED)
        await clock.run(20)
        home.away = False
        await clock.run(60)
        assert home.states[MUTED] is True


async def test_an_entity_that_was_deleted_comes_again(home: Home, clock: VirtualClock) -> None:
    async with telling(home, clock) as sensors:
        sensors.registered("hook")
        await clock.run(5)
        del home.states[MUTED]
        sensors.stand(CLOSED)
        await clock.run(5)
        assert home.states == {MUTED: True, MICROPHONE: "closed"}


async def test_a_house_that_makes_entities_slowly(home: Home, clock: VirtualClock) -> None:
    home.slow = True
    async with telling(home, clock) as sensors:
        sensors.registered("hook")
        await clock.run(2)
        sensors.stand(CLOSED)
        home.slow = False
        await clock.run(10)
        assert home.states == {MUTED: True, MICROPHONE: "closed"}


async def test_nobody_behind_the_webhook_any_more(home: Home, clock: VirtualClock) -> None:
    async with telling(home, clock) as sensors:
        sensors.registered("old")
        await clock.run(120)
        assert home.asked == ["register_sensor"]  # and it waits to be registered
        sensors.registered("hook")
        await clock.run(5)
        assert home.states[MUTED] is False


async def test_at_the_end_nobody_tells(home: Home, clock: VirtualClock) -> None:
    async with telling(home, clock) as sensors:
        sensors.registered("hook")
        await clock.run(5)
    assert home.states == {MUTED: "unavailable", MICROPHONE: "unavailable"}


@pytest.mark.parametrize("trouble", ["connected", "away", "hangs"])
async def test_at_the_end_a_house_in_trouble_is_not_waited_for(
    home: Home, clock: VirtualClock, trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assistant.device.sensors.FAREWELL_S", 0.02)
    async with telling(home, clock) as sensors:
        sensors.registered("hook")
        await clock.run(5)
        setattr(home, trouble, trouble != "connected")
    assert home.states[MUTED] is False


async def test_without_a_registration_there_is_nothing_to_end(
    home: Home, clock: VirtualClock
) -> None:
    async with telling(home, clock):
        await clock.settle()
    assert home.asked == []
