"""What happens is told to everybody who follows."""

import pytest

from assistant.domain.events import EventBus, Happening


def test_everybody_who_follows_is_told_and_nobody_after_leaving(
    caplog: pytest.LogCaptureFixture,
) -> None:
    happenings = EventBus()
    first, second = list[Happening](), list[Happening]()

    def broken(happening: Happening) -> None:
        raise RuntimeError("broken")

    happenings.follow(broken)
    leave = happenings.follow(first.append)
    happenings.follow(second.append)
    happenings.tell("wake", "t1", word="alexa")
    leave()
    leave()
    happenings.tell("heard", "t1", {"sentence": "lights on"})
    assert first == [Happening("wake", "t1", {"word": "alexa"})]
    assert second == [*first, Happening("heard", "t1", {}, {"sentence": "lights on"})]
    assert caplog.text.count("a follower of events broke") == 2


def test_words_of_those_whose_words_are_not_kept_are_told_to_nobody() -> None:
    keeps = [True]
    happenings = EventBus(lambda: keeps[0])
    told: list[Happening] = []
    happenings.follow(told.append)
    happenings.tell("heard", "t1", {"heard": "lights on"}, language="en")
    keeps[0] = False
    happenings.tell("heard", "t2", {"heard": "lights off"}, language="en")
    assert told == [
        Happening("heard", "t1", {"language": "en"}, {"heard": "lights on"}),
        Happening("heard", "t2", {"language": "en"}),
    ]
