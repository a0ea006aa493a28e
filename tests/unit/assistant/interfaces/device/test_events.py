"""Tests of Home Assistant's events: in order, never late, without words that are not shared."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from assistant.domain.clock import VirtualClock
from assistant.domain.events import BusEvent
from assistant.interfaces.device.sensors import FRESH_S, DeviceEvents
from tests.unit.assistant.interfaces.device.doubles import Webhook


@pytest.fixture
def bus() -> Webhook:
    return Webhook()


@asynccontextmanager
async def telling(
    bus: Webhook, clock: VirtualClock, *, words: bool = False, registered: bool = True
) -> AsyncIterator[DeviceEvents]:
    events = DeviceEvents(bus, lambda: "device-1", "Hearth Kitchen", clock, lambda: words)
    if registered:
        events.registered("hook")
    async with events:
        yield events


async def test_what_happens_is_an_event_with_the_device_in_it(
    bus: Webhook, clock: VirtualClock
) -> None:
    async with telling(bus, clock) as events:
        events.happened(BusEvent("wake", "t1", {"word": "okay_nabu", "score": 0.9}))
        events.happened(BusEvent("timer", "", {"id": "7", "what": "rings"}))
        await clock.settle()
    common = {"device_id": "device-1", "device_name": "Hearth Kitchen"}
    assert bus.seen == [
        ("hearth_wake", {**common, "turn_id": "t1", "word": "okay_nabu", "score": 0.9}),
        ("hearth_timer", {**common, "turn_id": "", "id": "7", "what": "rings"}),
    ]


@pytest.mark.parametrize("shared", [True, False])
async def test_words_are_told_where_they_are_shared_and_the_intent_always(
    bus: Webhook, clock: VirtualClock, shared: bool
) -> None:
    async with telling(bus, clock, words=shared) as events:
        events.happened(BusEvent("heard", "t1", {}, {"sentence": "good night"}))
        for name in ("intent__HassTurnOff", "intent__HassLightSet"):
            events.happened(BusEvent("tool_call", "t1", {"name": name}))
        events.happened(BusEvent("answer", "t1", {"brain": "offline"}, {"answer": "Sleep well."}))
        events.happened(BusEvent("answer", "t2", {"brain": "offline"}, {"answer": "Fine."}))
        await clock.settle()
    heard, _, _, answer, other = (data for _, data in bus.seen)
    assert (heard.get("sentence") == "good night") is shared
    assert (answer.get("answer") == "Sleep well.") is shared
    assert (answer["turn_id"], answer["intent"]) == ("t1", "HassTurnOff")
    assert "intent" not in other
    assert ("good night" in str(bus.seen)) is shared


async def test_a_question_that_came_as_a_message_is_told_by_who_asked_it(
    bus: Webhook, clock: VirtualClock
) -> None:
    async with telling(bus, clock) as events:
        for caller in ("home-assistant", "http:admin"):
            events.happened(BusEvent("question", "t1", {"caller": caller, "result": "unclear"}))
        await clock.settle()
    assert [data["caller"] for _, data in bus.seen] == ["http:admin"]


async def test_while_the_house_is_away_events_are_dropped_and_not_delayed(
    bus: Webhook, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with telling(bus, clock) as events:
        bus.connected = False
        with caplog.at_level(logging.INFO):
            for number in range(3):
                events.fire("hearth_wake", {"n": number})
                await clock.run(1)
        bus.connected = True
        await clock.run(60)
        assert bus.seen == []
        events.fire("hearth_answer", {})
        await clock.settle()
        assert bus.kinds == ["hearth_answer"]
        assert events.dropped == 3
    assert len(caplog.records) == 1


async def test_before_it_is_registered_nothing_is_told(bus: Webhook, clock: VirtualClock) -> None:
    async with telling(bus, clock, registered=False) as events:
        events.fire("hearth_wake", {})
        events.registered("hook")
        await clock.settle()
        assert (bus.seen, events.dropped) == ([], 1)


async def test_what_could_not_be_told_in_time_is_dropped(bus: Webhook, clock: VirtualClock) -> None:
    async with telling(bus, clock) as events:
        bus.free.clear()  # a connection that is silently dead
        events.fire("hearth_wake", {})
        await clock.settle()
        events.fire("hearth_heard", {})
        await clock.run(FRESH_S + 0.1)
        events.fire("hearth_answer", {})
        bus.free.set()
        await clock.settle()
        assert bus.kinds == ["hearth_wake", "hearth_answer"]
        assert events.dropped == 1


@pytest.mark.parametrize("trouble", ["away", "hooks"])
async def test_a_house_that_does_not_take_one_is_not_asked_for_it_again(
    bus: Webhook, clock: VirtualClock, trouble: str
) -> None:
    async with telling(bus, clock) as events:
        setattr(bus, trouble, True if trouble == "away" else {"another"})
        events.fire("hearth_wake", {})
        await clock.settle()
        bus.away, bus.hooks = False, {"hook"}
        events.fire("hearth_answer", {})
        await clock.run(60)
        assert bus.kinds == ["hearth_answer"]
        assert events.dropped == 1


async def test_of_too_many_the_oldest_are_dropped(bus: Webhook, clock: VirtualClock) -> None:
    async with telling(bus, clock) as events:
        for number in range(70):
            events.fire("hearth_wake", {"n": number})
        await clock.settle()
        await clock.run(1)
        assert [data["n"] for _, data in bus.seen] == list(range(6, 70))
        assert events.dropped == 6


async def test_the_secret_is_in_no_log(
    bus: Webhook, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        async with telling(bus, clock) as events:
            events.registered("5ec3e7")
            events.fire("hearth_wake", {})
            await clock.settle()
    assert "5ec3e7" not in caplog.text
    assert events.dropped == 1
