"""Tests of the turn machine for announcements, mute, and false or upcoming wake words."""

from dataclasses import replace

import pytest

from assistant.conversation.rules.effects import (
    Anticipate,
    CancelTurn,
    CloseTurn,
    Effect,
    EndListening,
    FinishSpeech,
    ForgetSound,
    OpenTurn,
    PlaySound,
    StopWatching,
    WatchSpeech,
)
from assistant.conversation.rules.events import (
    Announced,
    Event,
    Muted,
    PlaybackEnded,
    PlaybackStarted,
    SpeechNotMeant,
    StopAsked,
    Tick,
    Typed,
    WakeRising,
)
from assistant.conversation.rules.machine import Machine, Rules, State, reduce
from assistant.conversation.rules.state import ANNOUNCEMENTS_WAITING
from assistant.speech.sink import Manner
from tests.unit.assistant.conversation.situations import (
    CUT_OFF,
    FAULT,
    FOLLOW_UP,
    IDLE,
    LISTENING,
    OVER_OURS,
    SPEAKING,
    THINKING,
    WAKE,
    WAKING,
    WATCH,
    Row,
    check,
)

RISING = WakeRising(900)
NEWS, OTHER = (
    Announced("The cake is done.", "en"),
    Announced("Hay pan.", "es", Manner("announce", 0.5)),
)
NOT_MEANT = ("not_meant", "The sentence was probably not meant for Hearth.")

GIVEN_UP: list[Effect] = [
    ForgetSound(),
    StopWatching(),
    CancelTurn(1, "muted"),
    CloseTurn(1, "muted", "The microphone was muted in the middle of the sentence."),
]


def opening_of(news: Announced, turn: int) -> OpenTurn:
    return OpenTurn(
        turn, "announcement", text=news.text, language=news.language, manner=news.manner
    )


ROWS: list[Row] = [
    # a wake word that is coming up
    ("before a turn it is told", IDLE, RISING, State.IDLE, [Anticipate()]),
    ("before an answer to us too", FOLLOW_UP, RISING, State.FOLLOW_UP, [Anticipate()]),
    ("before it cuts in too", SPEAKING, RISING, State.SPEAKING, [Anticipate()]),
    ("while the brain is at work it is nothing", THINKING, RISING, State.THINKING, []),
    ("nor while it listens", LISTENING, RISING, State.LISTENING, []),
    ("nor without a microphone", FAULT, RISING, State.FAULT, []),
    # not meant for us
    (
        "what was not said to us gets a tone",
        THINKING,
        SpeechNotMeant(1),
        State.THINKING,
        [PlaySound("unmeant"), FinishSpeech(1)],
    ),
    (
        "even before its end",
        LISTENING,
        SpeechNotMeant(1),
        State.THINKING,
        [
            StopWatching(),
            EndListening(1, None, 2_000),
            PlaySound("unmeant"),
            FinishSpeech(1),
        ],
    ),
    # mute
    ("mute when idle", IDLE, Muted(True), State.IDLE, [ForgetSound()]),
    ("mute gives a wake word up", WAKING, Muted(True), State.IDLE, GIVEN_UP),
    ("mute gives a sentence up", LISTENING, Muted(True), State.IDLE, GIVEN_UP),
    (
        "mute ends a follow-up",
        FOLLOW_UP,
        Muted(True),
        State.IDLE,
        [ForgetSound(), StopWatching()],
    ),
    ("the thinking goes on", THINKING, Muted(True), State.THINKING, [ForgetSound()]),
    ("and so does the answer", SPEAKING, Muted(True), State.SPEAKING, [ForgetSound()]),
    ("mute twice is once", replace(IDLE, muted=True), Muted(True), State.IDLE, []),
    ("heard again", replace(IDLE, muted=True), Muted(False), State.IDLE, []),
    ("muted, nothing wakes", replace(IDLE, muted=True), WAKE, State.IDLE, []),
    ("nor seems to", replace(IDLE, muted=True), RISING, State.IDLE, []),
    (
        "nor is a question left open",
        replace(SPEAKING, muted=True, asks=True),
        PlaybackEnded(1),
        State.IDLE,
        [CloseTurn(1)],
    ),
    (
        "a person can still type",
        replace(IDLE, muted=True),
        Typed("hi"),
        State.THINKING,
        [OpenTurn(1, "text", text="hi")],
    ),
    # announcements
    ("when idle it is said", IDLE, NEWS, State.THINKING, [opening_of(NEWS, 1)]),
    ("without a microphone too", FAULT, NEWS, State.THINKING, [opening_of(NEWS, 1)]),
    ("it waits for the command", WAKING, NEWS, State.WAKING, []),
    ("it waits for the sentence", LISTENING, NEWS, State.LISTENING, []),
    ("it waits for the answer", THINKING, NEWS, State.THINKING, []),
    ("it waits for its end", SPEAKING, NEWS, State.SPEAKING, []),
    (
        "it waits for a yes or no",
        replace(SPEAKING, state=State.CONFIRMING, confirming="ear"),
        NEWS,
        State.CONFIRMING,
        [],
    ),
    ("it waits for the person's answer", FOLLOW_UP, NEWS, State.FOLLOW_UP, []),
    (
        "after the answer it is said",
        replace(SPEAKING, announcements=(NEWS,)),
        PlaybackEnded(1),
        State.THINKING,
        [CloseTurn(1), opening_of(NEWS, 2)],
    ),
    (
        "an open question comes first",
        replace(SPEAKING, announcements=(NEWS,), asks=True),
        PlaybackEnded(1),
        State.FOLLOW_UP,
        [CloseTurn(1), PlaySound("open"), WatchSpeech(from_ms=3_000, after_ms=3_200)],
    ),
    (
        "and if nobody answers it is said",
        replace(FOLLOW_UP, announcements=(NEWS,)),
        Tick(14_000),
        State.THINKING,
        [StopWatching(), opening_of(NEWS, 2)],
    ),
    (
        "it asks nothing",
        replace(SPEAKING, source="announcement", rules=Rules(follow_up="always")),
        PlaybackEnded(1),
        State.IDLE,
        [CloseTurn(1)],
    ),
    (
        "it is stopped, and the next one is said",
        replace(SPEAKING, source="announcement", announcing=OTHER, announcements=(NEWS,)),
        StopAsked(),
        State.THINKING,
        [
            StopWatching(),
            CancelTurn(1, "stop"),
            CloseTurn(1, "interrupted", "The turn was stopped."),
            opening_of(NEWS, 2),
        ],
    ),
    (
        "it is talked over",
        replace(SPEAKING, source="announcement", announcing=NEWS),
        WAKE,
        State.WAKING,
        [*CUT_OFF, replace(OVER_OURS, near_own_speech=True), WATCH],
    ),
]


@pytest.mark.parametrize(
    ("machine", "event", "state", "effects"),
    [row[1:] for row in ROWS],
    ids=[row[0] for row in ROWS],
)
def test_row(machine: Machine, event: Event, state: State, effects: list[Effect]) -> None:
    check(machine, event, state, effects)


def test_announcements_come_in_order_and_the_oldest_is_given_up() -> None:
    machine = SPEAKING
    for number in range(ANNOUNCEMENTS_WAITING + 1):
        machine, _ = reduce(machine, Announced(f"{number}", "en"))
    said: list[str | None] = []
    while machine.state is not State.IDLE:
        machine, effects = reduce(machine, PlaybackEnded(machine.turn))
        said += [effect.text for effect in effects if isinstance(effect, OpenTurn)]
    assert said == [f"{number}" for number in range(1, ANNOUNCEMENTS_WAITING + 1)]


@pytest.mark.parametrize(("begun", "left"), [(False, (NEWS, OTHER)), (True, (OTHER,))])
def test_an_announcement_cut_off_before_its_first_sample_waits_again(
    begun: bool, left: tuple[Announced, ...]
) -> None:
    machine, _ = reduce(IDLE, NEWS)
    machine, _ = reduce(machine, OTHER)
    if begun:
        machine, _ = reduce(machine, PlaybackStarted(machine.turn))
    machine, _ = reduce(machine, WAKE)
    assert machine.state is State.WAKING
    assert machine.announcements == left
    assert machine.announcing is None


def test_what_was_not_said_to_us_is_written_down_as_such_without_a_follow_up() -> None:
    machine, _ = reduce(replace(THINKING, rules=Rules(follow_up="always")), SpeechNotMeant(1))
    check(machine, PlaybackEnded(1), State.IDLE, [CloseTurn(1, *NOT_MEANT)])


def test_mute_is_to_be_seen_and_lasts() -> None:
    machine, _ = reduce(LISTENING, Muted(True))
    assert machine.muted
    machine, _ = reduce(machine, Typed("hi"))
    assert machine.muted
    assert not reduce(machine, Muted(False))[0].muted
