"""Tests that every follower gets the events."""

import pytest

from assistant.domain.events import BusEvent, EventBus


def test_everybody_who_follows_is_told_and_nobody_after_leaving(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bus = EventBus()
    first, second = list[BusEvent](), list[BusEvent]()

    def broken(happening: BusEvent) -> None:
        raise RuntimeError("broken")

    bus.follow(broken)
    leave = bus.follow(first.append)
    bus.follow(second.append)
    bus.publish("wake", "t1", word="alexa")
    leave()
    leave()
    bus.publish("heard", "t1", {"sentence": "lights on"})
    assert first == [BusEvent("wake", "t1", {"word": "alexa"})]
    assert second == [*first, BusEvent("heard", "t1", {}, {"sentence": "lights on"})]
    assert caplog.text.count("a listener of events failed") == 2


def test_words_of_those_whose_words_are_not_kept_are_told_to_nobody() -> None:
    keeps = [True]
    bus = EventBus(lambda: keeps[0])
    told: list[BusEvent] = []
    bus.follow(told.append)
    bus.publish("heard", "t1", {"heard": "lights on"}, language="en")
    keeps[0] = False
    bus.publish("heard", "t2", {"heard": "lights off"}, language="en")
    assert told == [
        BusEvent("heard", "t1", {"language": "en"}, {"heard": "lights on"}),
        BusEvent("heard", "t2", {"language": "en"}),
    ]
