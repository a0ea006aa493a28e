"""The conversation's clock: sound counts in samples, waiting in real time."""

from assistant.conversation.turn_services import ConversationClock, Timeline
from assistant.domain.clock import VirtualClock


def test_while_listening_real_time_does_not_count() -> None:
    clock = VirtualClock()
    conversation = ConversationClock(clock)
    conversation.listen()
    conversation.heard(500.0)
    clock.advance(7.0)
    assert conversation.now_ms == 500.0


def test_from_the_end_of_the_sentence_real_time_counts() -> None:
    clock = VirtualClock()
    conversation = ConversationClock(clock)
    conversation.listen()
    conversation.heard(2_000.0)
    conversation.stand()
    clock.advance(0.25)
    assert conversation.now_ms == 2_250.0
    conversation.heard(9_000.0)  # a microphone goes on meanwhile
    assert conversation.now_ms == 2_250.0


def test_listening_again_goes_on_from_there() -> None:
    clock = VirtualClock()
    conversation = ConversationClock(clock)
    conversation.listen()
    conversation.heard(2_000.0)
    conversation.stand()
    clock.advance(1.0)
    conversation.listen()
    assert conversation.now_ms == 3_000.0
    conversation.heard(2_020.0)
    assert conversation.now_ms == 3_020.0
    assert conversation.at(2_010.0) == 3_010.0


def test_without_sound_it_begins_at_zero_and_runs() -> None:
    clock = VirtualClock()
    conversation = ConversationClock(clock)
    assert conversation.now_ms == 0.0
    clock.advance(0.5)
    assert conversation.now_ms == 500.0


def test_moments_keep_their_first_time_and_the_last_result() -> None:
    clock = VirtualClock()
    timeline = Timeline(ConversationClock(clock))
    for _ in range(2):
        clock.advance(0.1)
        timeline.mark("first_tool_call")
        timeline.mark("last_tool_result")
    timeline.mark("wake", 12.34)
    assert timeline.as_dict() == {
        "wake": 12.3,
        "first_tool_call": 100.0,
        "last_tool_result": 200.0,
    }
    assert list(timeline.as_dict()) == ["wake", "first_tool_call", "last_tool_result"]
