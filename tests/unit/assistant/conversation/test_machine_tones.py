"""Table-driven tests of the rules of the short tones."""

from dataclasses import replace

import pytest

from assistant.conversation.rules.effects import Effect, PlaySound, WatchThinking
from assistant.conversation.rules.events import (
    Acknowledged,
    BrainFinished,
    ConfirmationAsked,
    Event,
    PlaybackEnded,
    PlaybackStarted,
    StillThinking,
    Typed,
    WakeHeard,
    WentOffline,
)
from assistant.conversation.rules.machine import Machine, State, reduce
from tests.unit.assistant.conversation.situations import (
    FOLLOW_UP,
    IDLE,
    LISTENING,
    SPEAKING,
    THINKING,
    WAKE,
    WAKING,
    Row,
    check,
)

TYPED = replace(THINKING, source="text")
UNASKED = replace(THINKING, source="announcement")
BARGED = replace(THINKING, source="barge_in")
ASKED = replace(THINKING, confirming="ear")
CONFIRMING = replace(ASKED, state=State.CONFIRMING)
FAILED = replace(THINKING, error=("timeout", "The answer took too long."))
TOLD = replace(THINKING, acknowledged=True)
AGAIN = WatchThinking(1, 4_000)
SOFT: list[Effect] = [PlaySound("thinking"), AGAIN]

ROWS: list[Row] = [
    # while we think
    ("the answer takes its time", THINKING, StillThinking(1), State.THINKING, SOFT),
    ("also after a barge-in", BARGED, StillThinking(1), State.THINKING, SOFT),
    ("muted or not", replace(THINKING, muted=True), StillThinking(1), State.THINKING, SOFT),
    ("the answer sounds already", SPEAKING, StillThinking(1), State.SPEAKING, []),
    ("the words of a fault are on their way", FAILED, StillThinking(1), State.THINKING, []),
    ("a tone has told it all", TOLD, StillThinking(1), State.THINKING, []),
    ("the question for a yes is on its way", ASKED, StillThinking(1), State.THINKING, []),
    ("a yes or a PIN is being said", CONFIRMING, StillThinking(1), State.CONFIRMING, []),
    ("nobody waits in a room", TYPED, StillThinking(1), State.THINKING, []),
    ("nobody asked", UNASKED, StillThinking(1), State.THINKING, []),
    ("of an older turn", replace(THINKING, turn=2), StillThinking(1), State.THINKING, []),
    ("the turn is over", IDLE, StillThinking(0), State.IDLE, []),
    ("the turn is over, we listen", FOLLOW_UP, StillThinking(1), State.FOLLOW_UP, []),
    ("the person speaks again", WAKING, StillThinking(0), State.WAKING, []),
    # done
    ("seen to be done", THINKING, Acknowledged(1), State.THINKING, [PlaySound("done")]),
    ("words sound already", SPEAKING, Acknowledged(1), State.SPEAKING, []),
    ("a question of ours comes", ASKED, Acknowledged(1), State.THINKING, []),
    ("a yes is being said", CONFIRMING, Acknowledged(1), State.CONFIRMING, []),
    ("it went wrong meanwhile", FAILED, Acknowledged(1), State.THINKING, []),
    ("it was typed", TYPED, Acknowledged(1), State.THINKING, []),
    ("it was of an older turn", replace(THINKING, turn=2), Acknowledged(1), State.THINKING, []),
    # offline
    ("this device alone serves", THINKING, WentOffline(1), State.THINKING, [PlaySound("offline")]),
    ("not over words", SPEAKING, WentOffline(1), State.SPEAKING, []),
    ("not over a question of ours", CONFIRMING, WentOffline(1), State.CONFIRMING, []),
    ("not for what was typed", TYPED, WentOffline(1), State.THINKING, []),
]


@pytest.mark.parametrize(
    ("machine", "event", "state", "effects"), [row[1:] for row in ROWS], ids=[r[0] for r in ROWS]
)
def test_row(machine: Machine, event: Event, state: State, effects: list[Effect]) -> None:
    check(machine, event, state, effects)


def test_a_tone_in_place_of_words_counts_for_its_turn_alone() -> None:
    told, _ = reduce(THINKING, Acknowledged(1))
    assert told.acknowledged
    assert reduce(told, StillThinking(1))[1] == []
    for event in (WAKE, Typed("hi")):
        assert not reduce(told, event)[0].acknowledged


def test_a_tone_in_place_of_words_ends_the_turn_like_words() -> None:
    told, _ = reduce(THINKING, Acknowledged(1))
    finished, _ = reduce(told, BrainFinished(1, asks=False))
    assert reduce(finished, PlaybackEnded(1))[0].state is State.IDLE


def test_no_soft_tone_between_question_and_verdict() -> None:
    asked, _ = reduce(THINKING, ConfirmationAsked(1, "ear"))
    sounding, _ = reduce(asked, PlaybackStarted(1))
    waiting, _ = reduce(sounding, PlaybackEnded(1))
    assert waiting.state is State.CONFIRMING
    for machine in (asked, sounding, waiting):
        assert reduce(machine, StillThinking(1))[1] == []


def test_a_button_is_answered_by_the_wake_tone_and_nothing_more() -> None:
    pressed = WakeHeard("button", 1.0, at_ms=1_000, mark_ms=1_000, pressed=True)
    opened, effects = reduce(IDLE, pressed)
    assert PlaySound("wake") in effects
    assert reduce(opened, StillThinking(1)) == (opened, [])
    assert reduce(LISTENING, StillThinking(1)) == (LISTENING, [])
