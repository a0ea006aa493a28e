"""Tests of the memory of questions, announcements, lost microphones and barge-in."""

from dataclasses import replace

import pytest

from assistant.conversation.rules.effects import (
    CloseTurn,
    Duck,
    Effect,
    FinishSpeech,
    Hush,
    NoAnswer,
    OpenTurn,
    StopWatching,
)
from assistant.conversation.rules.events import (
    Announced,
    ConfirmationSettled,
    Event,
    ForAnswer,
    OpeningSounded,
    PlaybackEnded,
    SourceBack,
    SourceLost,
    SpeechHeld,
    SpeechPassed,
    SpeechStarted,
    StopAsked,
    Withdrawn,
)
from assistant.conversation.rules.machine import Machine, MicrophoneState, Rules, State, reduce
from tests.unit.assistant.conversation.situations import (
    FAULT,
    FOLLOW_UP,
    IDLE,
    LISTENING,
    SPEAKING,
    THINKING,
    WAKING,
)
from tests.unit.assistant.conversation.test_machine_programs import FOR_TALK, LINE, QUESTION

OVER = Rules(barge_in="speech")
TALKED_OVER = replace(SPEAKING, rules=OVER, over_ms=4_000, now_ms=4_300)
ASKING = replace(SPEAKING, confirming="ear", now_ms=6_000, answering=True)
CONFIRMING = replace(ASKING, state=State.CONFIRMING, since_ms=6_000)
ASKED_BY_PROGRAM = replace(THINKING, announcing=QUESTION, confirming="ear", now_ms=6_000)
SPOILT = replace(
    SPEAKING,
    sounded=True,
    asks=True,
    over=True,
    confirming="keys",
    answering=True,
    over_ms=1.0,
    acknowledged=True,
    silent=True,
    error=("unreachable", "Gone."),
    announcing=LINE,
)

REMEMBERED: list[tuple[str, Machine, Event, Machine]] = [
    (
        "an announcement",
        IDLE,
        Announced("The cake is done.", "en"),
        replace(
            IDLE,
            state=State.THINKING,
            turn=1,
            source="announcement",
            announcing=Announced("The cake is done.", "en"),
        ),
    ),
    (
        "a program's question",
        IDLE,
        QUESTION,
        replace(
            IDLE,
            state=State.THINKING,
            turn=1,
            source="announcement",
            announcing=QUESTION,
            confirming="ear",
        ),
    ),
    (
        "a program's line, which needs no yes",
        IDLE,
        LINE,
        replace(IDLE, state=State.THINKING, turn=1, source="announcement", announcing=LINE),
    ),
    (
        "our question has been heard",
        ASKING,
        PlaybackEnded(1),
        replace(
            ASKING, state=State.CONFIRMING, since_ms=6_000, silent_since_ms=6_000, answering=False
        ),
    ),
    (
        "an answer that settles it",
        CONFIRMING,
        ConfirmationSettled(1),
        replace(CONFIRMING, state=State.THINKING, confirming=None, answering=False),
    ),
    (
        "something else that was typed instead",
        CONFIRMING,
        ConfirmationSettled(1, new_command=True, text="what time is it"),
        replace(
            CONFIRMING,
            state=State.THINKING,
            turn=2,
            source="text",
            confirming=None,
            answering=False,
        ),
    ),
    (
        "something else that was said instead",
        CONFIRMING,
        ConfirmationSettled(1, new_command=True),
        replace(
            CONFIRMING,
            state=State.THINKING,
            turn=2,
            source="follow_up",
            confirming=None,
            answering=False,
        ),
    ),
    (
        "the microphone goes",
        IDLE,
        SourceLost(),
        replace(IDLE, state=State.FAULT, microphone=MicrophoneState.LOST),
    ),
    (
        "it comes back, in the same time",
        replace(FAULT, now_ms=5_000, since_ms=3_000, silent_since_ms=4_000),
        SourceBack(5_000),
        replace(
            FAULT,
            state=State.IDLE,
            microphone=MicrophoneState.OPEN,
            now_ms=5_000,
            since_ms=3_000,
            silent_since_ms=4_000,
        ),
    ),
    (
        "it comes back, in another time",
        replace(FAULT, now_ms=5_000, since_ms=3_000, silent_since_ms=4_000),
        SourceBack(100),
        replace(FAULT, state=State.IDLE, microphone=MicrophoneState.OPEN, now_ms=100, since_ms=100),
    ),
    (
        "somebody has cut our voice",
        replace(SPEAKING, rules=OVER),
        SpeechHeld(4_300, 4_000),
        replace(
            SPEAKING,
            rules=OVER,
            state=State.LISTENING,
            turn=2,
            source="barge_in",
            since_ms=4_000,
        ),
    ),
    (
        "speech over our voice",
        replace(SPEAKING, rules=OVER),
        SpeechStarted(4_000),
        replace(SPEAKING, rules=OVER, over_ms=4_000),
    ),
    (
        "speech beside nothing at all",
        replace(IDLE, rules=OVER),
        SpeechStarted(4_000),
        replace(IDLE, rules=OVER),
    ),
    (
        "our voice ends under somebody's speech",
        TALKED_OVER,
        PlaybackEnded(1),
        replace(TALKED_OVER, state=State.FOLLOW_UP, since_ms=4_300, silent_since_ms=4_300),
    ),
    (
        "and that speech was nothing",
        replace(TALKED_OVER, state=State.FOLLOW_UP, since_ms=4_300, asks=True),
        SpeechPassed(4_400),
        replace(TALKED_OVER, state=State.FOLLOW_UP, since_ms=4_300, asks=True, over_ms=None),
    ),
    (
        "a question whose answer is listened for",
        replace(SPEAKING, asks=True, now_ms=6_000),
        PlaybackEnded(1),
        replace(
            SPEAKING,
            asks=True,
            now_ms=6_000,
            state=State.FOLLOW_UP,
            since_ms=6_000,
            silent_since_ms=6_000,
        ),
    ),
    (
        "silence is asked for while we speak",
        replace(SPEAKING, over_ms=2_900),
        StopAsked(),
        replace(SPEAKING, state=State.IDLE, silent_since_ms=3_000),
    ),
    (
        "and while we think: no voice of ours has ended",
        THINKING,
        StopAsked(),
        replace(THINKING, state=State.IDLE),
    ),
    (
        "whoever asked has gone",
        replace(ASKED_BY_PROGRAM, over_ms=5_900),
        Withdrawn(QUESTION.then),  # type: ignore[arg-type]
        replace(ASKED_BY_PROGRAM, state=State.IDLE),
    ),
    (
        "a program's tone was heard",
        replace(ASKED_BY_PROGRAM, state=State.SPEAKING, over_ms=5_900, answering=True),
        OpeningSounded(1, heard=True),
        replace(ASKED_BY_PROGRAM, state=State.CONFIRMING, since_ms=6_000),
    ),
]


@pytest.mark.parametrize(
    ("before", "event", "after"),
    [row[1:] for row in REMEMBERED],
    ids=[row[0] for row in REMEMBERED],
)
def test_what_is_remembered(before: Machine, event: Event, after: Machine) -> None:
    assert reduce(before, event)[0] == after


def test_nothing_of_one_turn_is_left_in_the_next() -> None:
    """All fields are compared, except those about the box."""
    clean = SPOILT.fresh()
    assert clean == replace(SPEAKING, announcing=None)


@pytest.mark.parametrize(
    ("machine", "effects"),
    [
        (CONFIRMING, [StopWatching(), NoAnswer(1, waited=True), FinishSpeech(1)]),
        (replace(CONFIRMING, confirming="phone"), [FinishSpeech(1)]),
        (ASKED_BY_PROGRAM, [FinishSpeech(1)]),
    ],
)
def test_who_was_listened_to_is_let_go(machine: Machine, effects: list[Effect]) -> None:
    """An answer that came another way ends the listening, if there was any."""
    assert reduce(machine, ConfirmationSettled(1))[1] == effects


def test_a_line_whose_tone_nobody_heard_ends_the_turn() -> None:
    line = replace(SPEAKING, announcing=LINE, source="announcement", over_ms=2_900)
    after, effects = reduce(line, OpeningSounded(1, heard=False))
    assert after == replace(line, state=State.IDLE, over_ms=None)
    assert effects == [CloseTurn(1), Duck(False)]


def test_silence_ends_what_rings_too() -> None:
    ringing = replace(THINKING, ringing=True)
    after, effects = reduce(ringing, StopAsked())
    assert after.state is State.IDLE
    assert Hush() in effects
    assert reduce(replace(IDLE, ringing=True), StopAsked())[1] == [Hush()]


def test_speech_over_a_microphone_that_has_gone_is_no_speech() -> None:
    after, _ = reduce(TALKED_OVER, SourceLost())
    assert after.over_ms is None
    assert after.microphone is MicrophoneState.LOST


def test_the_longest_sentence_counts_from_the_opening() -> None:
    """A microphone that a program opened is never open for longer."""
    opened = replace(FOLLOW_UP, announcing=LINE)
    assert reduce(opened, SpeechStarted(9_000))[0].since_ms == FOLLOW_UP.since_ms
    assert reduce(FOLLOW_UP, SpeechStarted(9_000))[0].since_ms == 9_000


def test_an_announcement_is_opened_with_whoever_asked_for_it() -> None:
    opening = reduce(IDLE, QUESTION)[1][0]
    assert isinstance(opening, OpenTurn)
    assert isinstance(opening.then, ForAnswer)
    assert opening.caller == opening.then.caller
    assert FOR_TALK.caller == reduce(IDLE, LINE)[1][0].caller  # type: ignore[union-attr]


def test_a_sentence_under_way_is_not_counted_anew_when_the_source_comes_back() -> None:
    for machine in (WAKING, LISTENING):
        assert reduce(machine, SourceBack(machine.now_ms))[0].since_ms == machine.since_ms
