"""Tests of the turn machine's whole memory after an event, field by field.

The tables beside this file look at the state and the effects; a memory shows only one or more
events later.
"""

from dataclasses import replace

import pytest

from assistant.conversation.rules.effects import StopWatching
from assistant.conversation.rules.events import (
    BrainFailed,
    ConfirmationAsked,
    Event,
    PlaybackEnded,
    PlaybackStarted,
    Ringing,
    SetAside,
    SourceEnded,
    SpeechPassed,
    SpeechStarted,
    TalkEnded,
    Tick,
    Typed,
)
from assistant.conversation.rules.machine import Machine, MicrophoneState, Rules, State, reduce
from tests.unit.assistant.conversation.situations import (
    FOLLOW_UP,
    IDLE,
    LISTENING,
    SPEAKING,
    THINKING,
    WAKE,
    WAKING,
)

ECHO = replace(THINKING, silent_since_ms=2_500)  # our voice ended half a second before
CONFIRMING = replace(
    SPEAKING, state=State.CONFIRMING, confirming="ear", since_ms=6_000, silent_since_ms=6_000
)
SPEECH_RULES = Rules(barge_in="speech")

REMEMBERED: list[tuple[str, Machine, Event, Machine]] = [
    (
        "a wake word",
        replace(IDLE, source="text", now_ms=900),
        WAKE,
        replace(IDLE, state=State.WAKING, turn=1, source="voice", since_ms=1_000, now_ms=900),
    ),
    (
        "a pressed button: its tone was played already",
        IDLE,
        replace(WAKE, pressed=True),
        replace(IDLE, state=State.WAKING, turn=1, since_ms=1_000, sounded=True),
    ),
    (
        "the wake sound, which comes once",
        WAKING,
        Tick(1_400),
        replace(WAKING, now_ms=1_400, sounded=True),
    ),
    (
        "a follow-up, whose longest sentence counts from its beginning",
        replace(FOLLOW_UP, asks=True),
        SpeechStarted(7_000),
        replace(
            FOLLOW_UP, state=State.LISTENING, turn=2, source="follow_up", since_ms=7_000, asks=False
        ),
    ),
    (
        "the beginning of an answer, long after our question",
        CONFIRMING,
        SpeechStarted(9_000),
        replace(CONFIRMING, answering=True, answer_near=False, since_ms=9_000),
    ),
    (
        "the beginning of an answer that may be the question's echo",
        CONFIRMING,
        SpeechStarted(7_000),
        replace(CONFIRMING, answering=True, answer_near=True, since_ms=7_000),
    ),
    (
        "the end of the file",
        LISTENING,
        SourceEnded(4_000),
        replace(LISTENING, state=State.THINKING, microphone=MicrophoneState.ENDED, now_ms=4_000),
    ),
    (
        "a typed sentence",
        replace(IDLE, microphone=MicrophoneState.LOST, state=State.FAULT),
        Typed("what time is it"),
        replace(IDLE, microphone=MicrophoneState.LOST, state=State.THINKING, turn=1, source="text"),
    ),
    (
        "a program's sentence: nothing of it sounds",
        IDLE,
        Typed("what time is it", caller="kitchen"),
        replace(IDLE, state=State.THINKING, turn=1, source="text", silent=True),
    ),
    (
        "trouble, of which the first is told",
        THINKING,
        BrainFailed(1, "unreachable", "Gone."),
        replace(THINKING, error=("unreachable", "Gone.")),
    ),
    (
        "what was our own voice",
        THINKING,
        SetAside(1, "echo"),
        replace(THINKING, error=("echo", "The sentence was Hearth's own voice.")),
    ),
    (
        "what was a stop word",
        THINKING,
        SetAside(1, "stop_word"),
        replace(THINKING, error=("stopped", "The sentence was a stop word.")),
    ),
    (
        "a question for a yes: earlier trouble and talk are over",
        replace(THINKING, error=("unreachable", "Gone."), over_ms=2_800),
        ConfirmationAsked(1, "keys"),
        replace(THINKING, confirming="keys"),
    ),
    (
        "a good-bye: after this answer nothing is listened for",
        replace(THINKING, asks=True),
        TalkEnded(1),
        replace(THINKING, asks=True, over=True),
    ),
    (
        "a short word beside a ringing timer, whose end is waited for",
        replace(IDLE, ringing=True, over_ms=4_000),
        SpeechPassed(4_100),
        replace(IDLE, ringing=True, over_ms=4_000),
    ),
    (
        "talk over a timer that rings no more: it was meant for the timer",
        replace(IDLE, ringing=True, over_ms=4_000, now_ms=4_100),
        Ringing(False),
        replace(IDLE, now_ms=4_100),
    ),
    (
        "the end of a sound while an answer is awaited",
        CONFIRMING,
        PlaybackEnded(1),
        CONFIRMING,
    ),
    (
        "the end of our voice",
        replace(SPEAKING, now_ms=5_500, microphone=MicrophoneState.ENDED),
        PlaybackEnded(1),
        replace(
            SPEAKING,
            now_ms=5_500,
            microphone=MicrophoneState.ENDED,
            state=State.IDLE,
            silent_since_ms=5_500,
        ),
    ),
]


@pytest.mark.parametrize(
    ("before", "event", "after"),
    [row[1:] for row in REMEMBERED],
    ids=[row[0] for row in REMEMBERED],
)
def test_what_is_remembered(before: Machine, event: Event, after: Machine) -> None:
    assert reduce(before, event)[0] == after


def test_the_wake_sound_is_not_played_again() -> None:
    sounded, _ = reduce(WAKING, Tick(1_400))
    assert reduce(sounded, Tick(1_500)) == (replace(sounded, now_ms=1_500), [])


def test_only_an_answer_that_is_awaited_begins_to_sound() -> None:
    """In a turn that listens again, or already speaks, the first sample opens nothing."""
    for state in (State.SPEAKING, State.CONFIRMING, State.LISTENING):
        machine = replace(SPEAKING, state=state, rules=SPEECH_RULES)
        assert reduce(machine, PlaybackStarted(1)) == (machine, [])


def test_a_question_ends_the_watch_for_talk_over_our_voice() -> None:
    over = replace(SPEAKING, rules=SPEECH_RULES)
    assert reduce(over, ConfirmationAsked(1, "ear"))[1] == [StopWatching()]
    # Without barge-in, or before anything sounds, there is no watch to end.
    assert reduce(SPEAKING, ConfirmationAsked(1, "ear"))[1] == []
    thinking = replace(THINKING, rules=SPEECH_RULES)
    assert reduce(thinking, ConfirmationAsked(1, "ear"))[1] == []


def test_speech_soon_after_our_voice_may_be_its_echo() -> None:
    opening = reduce(replace(ECHO, state=State.IDLE), replace(WAKE, at_ms=4_000, mark_ms=3_700))
    assert opening[1][0].near_own_speech  # type: ignore[union-attr]
    later = reduce(replace(ECHO, state=State.IDLE), replace(WAKE, at_ms=4_900, mark_ms=4_500))
    assert not later[1][0].near_own_speech  # type: ignore[union-attr]
