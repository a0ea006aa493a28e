"""Tests of our sensors in Home Assistant, through restarts of either side."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from assistant.conversation.rules.state import Standing, State
from assistant.domain.clock import VirtualClock
from assistant.interfaces.device.sensors import DeviceSensors
from assistant.interfaces.entities import MOBILE_APP
from assistant.interfaces.status import StatusSnapshot
from assistant.speech.catalogue import Catalogue
from audio.device_status import MicrophoneStatus
from tests.unit.assistant.interfaces.device.doubles import Webhook

LISTENING = Standing(State.IDLE, False, MicrophoneStatus.LISTENING)
CLOSED = Standing(State.IDLE, True, MicrophoneStatus.CLOSED)
WORDS = {"last_heard", "last_answer"}


@pytest.fixture
def home() -> Webhook:
    return Webhook()


class Teller:
    """Sensors at work, and the facts that they show."""

    def __init__(self, home: Webhook, clock: VirtualClock, language: str, **how: bool) -> None:
        self.facts = StatusSnapshot(LISTENING, heard="turn it on", answer="It is on.", turn_id="t1")
        self.sensors = DeviceSensors(
            home, Catalogue(), language, clock, lambda: self.facts, **{"words": True, **how}
        )

    def change(self, **facts: Any) -> None:
        self.facts = replace(self.facts, **facts)
        self.sensors.changed()


@asynccontextmanager
async def telling(
    home: Webhook, clock: VirtualClock, language: str = "en", **how: bool
) -> AsyncIterator[Teller]:
    teller = Teller(home, clock, language, **how)
    async with teller.sensors:
        yield teller


async def test_all_is_shown_as_soon_as_the_device_is_registered(
    home: Webhook, clock: VirtualClock
) -> None:
    async with telling(home, clock) as teller:
        teller.change(standing=CLOSED)
        await clock.run(5)
        assert home.asked == []
        teller.sensors.registered("hook")
        await clock.run(5)
        assert set(home.states) == set(MOBILE_APP)
        assert (home.states["microphone_muted"], home.states["microphone"]) == (True, "closed")
        assert (home.names["microphone_muted"], home.names["last_heard"]) == (
            "Microphone muted",
            "Last heard",
        )
        assert home.attributes["last_heard"] == {"text": "turn it on", "turn_id": "t1"}
        assert home.asked == ["register_sensor"] * len(MOBILE_APP) + ["update_sensor_states"]


async def test_it_follows_and_tells_nothing_twice(home: Webhook, clock: VirtualClock) -> None:
    async with telling(home, clock, "es") as teller:
        teller.sensors.registered("hook")
        await clock.run(5)
        assert home.names["microphone_muted"] == "Micrófono silenciado"
        home.asked.clear()
        for standing in (LISTENING, CLOSED, CLOSED):
            teller.change(standing=standing)
            await clock.run(1)
        assert (home.states["microphone_muted"], home.states["microphone"]) == (True, "closed")
        assert home.asked == ["update_sensor_states"]


async def test_a_burst_of_changes_is_one_update(home: Webhook, clock: VirtualClock) -> None:
    async with telling(home, clock) as teller:
        teller.sensors.registered("hook")
        await clock.run(5)
        home.asked.clear()
        for state in State:
            teller.change(standing=Standing(state, False, MicrophoneStatus.LISTENING))
            await clock.settle()
        teller.change(timers=3)
        await clock.run(1)
        assert home.asked == ["update_sensor_states"]
        assert (home.states["state"], home.states["timers"]) == (list(State)[-1].name.lower(), 3)


async def test_after_a_restart_of_the_house_all_is_told_again(
    home: Webhook, clock: VirtualClock
) -> None:
    async with telling(home, clock) as teller:
        teller.sensors.registered("hook")
        await clock.run(5)
        home.away = True
        teller.change(standing=CLOSED)
        await clock.run(5)
        home.away, home.states["microphone_muted"] = False, False  # as it was left
        teller.sensors.registered("hook")
        await clock.run(60)
        assert (home.states["microphone_muted"], home.states["microphone"]) == (True, "closed")


async def test_a_new_connection_while_it_still_tells_is_told_all_too(
    home: Webhook, clock: VirtualClock
) -> None:
    async with telling(home, clock) as teller:
        teller.sensors.registered("hook")
        await clock.run(0.5)  # it waits for the entities to be made
        teller.sensors.registered("hook")
        await clock.run(10)
        assert home.asked.count("register_sensor") == 2 * len(MOBILE_APP)


async def test_a_lost_connection_is_tried_again(home: Webhook, clock: VirtualClock) -> None:
    async with telling(home, clock) as teller:
        teller.sensors.registered("hook")
        await clock.run(5)
        home.away = True
        teller.change(standing=CLOSED)
        await clock.run(20)
        home.away = False
        await clock.run(60)
        assert home.states["microphone_muted"] is True


async def test_an_entity_that_was_deleted_comes_again(home: Webhook, clock: VirtualClock) -> None:
    async with telling(home, clock) as teller:
        teller.sensors.registered("hook")
        await clock.run(5)
        del home.states["microphone_muted"]
        teller.change(standing=CLOSED)
        await clock.run(5)
        assert (home.states["microphone_muted"], home.states["microphone"]) == (True, "closed")


async def test_a_house_that_makes_entities_slowly(home: Webhook, clock: VirtualClock) -> None:
    home.slow = True
    async with telling(home, clock) as teller:
        teller.sensors.registered("hook")
        await clock.run(2)
        teller.change(standing=CLOSED)
        home.slow = False
        await clock.run(10)
        assert (home.states["microphone_muted"], home.states["microphone"]) == (True, "closed")


async def test_nobody_behind_the_webhook_any_more(home: Webhook, clock: VirtualClock) -> None:
    async with telling(home, clock) as teller:
        teller.sensors.registered("old")
        await clock.run(120)
        assert home.asked == ["register_sensor"]  # and it waits to be registered
        teller.sensors.registered("hook")
        await clock.run(5)
        assert home.states["microphone_muted"] is False


async def test_words_that_are_not_shared_are_not_there_and_none_is_left(
    home: Webhook, clock: VirtualClock
) -> None:
    home.states = {"last_heard": "open the safe"}  # from a time when it was shared
    home.attributes = {"last_heard": {"text": "open the safe"}}
    async with telling(home, clock, words=False) as teller:
        teller.sensors.registered("hook")
        await clock.run(5)
        teller.change(heard="and close it")
        await clock.run(5)
        assert set(home.states) == set(MOBILE_APP) - {"last_answer"}
        assert (home.states["last_heard"], home.attributes["last_heard"]) == ("unavailable", {})
        assert set(home.names) == set(MOBILE_APP) - WORDS


async def test_with_a_broker_there_are_none_and_those_of_before_are_unavailable(
    home: Webhook, clock: VirtualClock
) -> None:
    home.states = {"microphone_muted": True, "last_heard": "open the safe"}
    async with telling(home, clock, shown=False) as teller:
        teller.sensors.registered("hook")
        await clock.run(5)
        teller.change(standing=CLOSED)
        await clock.run(5)
        assert home.states == {"microphone_muted": "unavailable", "last_heard": "unavailable"}
        assert home.asked == ["update_sensor_states"]
        teller.sensors.registered("hook")  # the house has shown its last states again
        await clock.run(5)
        assert home.asked == ["update_sensor_states"] * 2


@pytest.mark.parametrize("passed_s", [0.1, 5])
async def test_at_the_end_nobody_tells(home: Webhook, clock: VirtualClock, passed_s: float) -> None:
    async with telling(home, clock) as teller:
        teller.sensors.registered("hook")
        await clock.run(passed_s)  # a tenth: the entities are just being made
    assert set(home.states.values()) == {"unavailable"}
    assert home.attributes["last_heard"] == {}


@pytest.mark.parametrize(
    ("trouble", "why"),
    [
        ("connected", None),
        ("away", "The connection to Home Assistant closed."),
        ("hangs", "no answer in time"),
    ],
)
async def test_at_the_end_a_house_in_trouble_is_not_waited_for(
    home: Webhook,
    clock: VirtualClock,
    trouble: str,
    why: str | None,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setattr("assistant.interfaces.device.sensors.FAREWELL_S", 0.02)
    async with telling(home, clock) as teller:
        teller.sensors.registered("hook")
        await clock.run(5)
        setattr(home, trouble, trouble != "connected")
    assert home.states["microphone_muted"] is False
    assert (f"could not be told that Hearth is shutting down: {why}" in caplog.text) is (
        why is not None
    )


async def test_without_a_registration_there_is_nothing_to_end(
    home: Webhook, clock: VirtualClock
) -> None:
    async with telling(home, clock) as teller:
        teller.change(timers=1)
        await clock.run(1)
    assert home.asked == []
