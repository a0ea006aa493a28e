"""Tests of the turn machine while a call waits for the person's yes, one row per rule."""

from dataclasses import replace

import pytest

from assistant.conversation.rules.effects import (
    AwaitAnswer,
    CancelTurn,
    CloseTurn,
    Effect,
    EndAnswer,
    EndListening,
    FinishSpeech,
    ForgetSound,
    HearAnswer,
    NoAnswer,
    OpenTurn,
    StopWatching,
    WatchSpeech,
    WatchThinking,
)
from assistant.conversation.rules.events import (
    BrainFailed,
    ConfirmationAsked,
    ConfirmationSettled,
    Muted,
    PlaybackEnded,
    PlaybackStarted,
    SourceEnded,
    SourceLost,
    SpeechEnded,
    SpeechStarted,
    StopAsked,
    Tick,
    Typed,
    WakeHeard,
)
from assistant.conversation.rules.machine import Machine, MicrophoneState, State, reduce
from tests.unit.assistant.conversation.situations import (
    IDLE,
    LISTENING,
    SPEAKING,
    THINKING,
    WAKE,
    Row,
    check,
)

ASKED = replace(THINKING, confirming="ear")
ASKING = replace(SPEAKING, confirming="ear", now_ms=6_000)  # the question is being said
WAITING = replace(ASKING, state=State.CONFIRMING, since_ms=6_000)
ANSWERING = replace(WAITING, answering=True, since_ms=7_000, now_ms=7_000)
TYPED = replace(WAITING, confirming="keys", source="text")
ON_PHONE = replace(WAITING, confirming="phone")
OVER: list[Effect] = [StopWatching(), EndAnswer(1)]

ROWS: list[Row] = [
    (
        "a call needs a yes",
        THINKING,
        ConfirmationAsked(1, "ear"),
        State.THINKING,
        [],
    ),
    (
        "even where the brain calls before the sentence is over",
        LISTENING,
        ConfirmationAsked(1, "ear"),
        State.THINKING,
        [StopWatching(), EndListening(1, None, 2_000)],
    ),
    ("the question sounds", ASKED, PlaybackStarted(1), State.SPEAKING, []),
    (
        "once it has been heard, the answer is listened for",
        ASKING,
        PlaybackEnded(1),
        State.CONFIRMING,
        [WatchSpeech(from_ms=6_000, after_ms=6_200), AwaitAnswer(1, "ear")],
    ),
    (
        "a typed turn is answered by keys",
        replace(ASKING, confirming="keys"),
        PlaybackEnded(1),
        State.CONFIRMING,
        [AwaitAnswer(1, "keys")],
    ),
    (
        "or on the phone",
        replace(ASKING, confirming="phone"),
        PlaybackEnded(1),
        State.CONFIRMING,
        [AwaitAnswer(1, "phone")],
    ),
    (
        "without a microphone nobody can answer",
        replace(ASKING, microphone=MicrophoneState.ENDED),
        PlaybackEnded(1),
        State.THINKING,
        [NoAnswer(1, waited=False)],
    ),
    (
        "nor while it is muted",
        replace(ASKING, muted=True),
        PlaybackEnded(1),
        State.THINKING,
        [NoAnswer(1, waited=False)],
    ),
    (
        "somebody speaks: from a little before it is kept",
        WAITING,
        SpeechStarted(7_000),
        State.CONFIRMING,
        [HearAnswer(1, 6_700)],
    ),
    (
        "but nothing from before the question's end",
        WAITING,
        SpeechStarted(6_250),
        State.CONFIRMING,
        [HearAnswer(1, 6_000)],
    ),
    ("speech is no answer to what is typed", TYPED, SpeechStarted(7_000), State.CONFIRMING, []),
    ("nor to what the phone asks", ON_PHONE, SpeechStarted(7_000), State.CONFIRMING, []),
    ("more speech is the same answer", ANSWERING, SpeechStarted(7_500), State.CONFIRMING, []),
    ("the answer is over", ANSWERING, SpeechEnded(7_400, 8_000), State.THINKING, OVER),
    ("silence ends nothing", WAITING, SpeechEnded(7_400, 8_000), State.CONFIRMING, []),
    ("19.9 s are waited", WAITING, Tick(25_999), State.CONFIRMING, []),
    (
        "20 s of silence are a no",
        WAITING,
        Tick(26_000),
        State.THINKING,
        [StopWatching(), NoAnswer(1, waited=True)],
    ),
    ("whoever speaks is not cut short", ANSWERING, Tick(26_900), State.CONFIRMING, []),
    ("but nobody answers for 20 s", ANSWERING, Tick(27_000), State.THINKING, OVER),
    (
        "a file ends before any answer",
        WAITING,
        SourceEnded(9_000),
        State.THINKING,
        [StopWatching(), NoAnswer(1, waited=False)],
    ),
    ("or in the middle of it", ANSWERING, SourceEnded(9_000), State.THINKING, OVER),
    (
        "the microphone goes",
        WAITING,
        SourceLost(),
        State.THINKING,
        [StopWatching(), NoAnswer(1, waited=True)],
    ),
    (
        "the person mutes us",
        ANSWERING,
        Muted(True),
        State.THINKING,
        [ForgetSound(), StopWatching(), NoAnswer(1, waited=True)],
    ),
    (
        "the wake word begins an answer like any word",
        WAITING,
        WAKE,
        State.CONFIRMING,
        [],
    ),
    (
        "stop is a no, without a word",
        WAITING,
        StopAsked(),
        State.IDLE,
        [
            StopWatching(),
            CancelTurn(1, "stop"),
            CloseTurn(1, "interrupted", "The turn was stopped."),
        ],
    ),
    (
        "a typed sentence goes before the question",
        WAITING,
        Typed("hi"),
        State.THINKING,
        [
            StopWatching(),
            CancelTurn(1, "barge_in"),
            CloseTurn(1, "interrupted", "A new sentence interrupted this one."),
            OpenTurn(2, "text", text="hi"),
        ],
    ),
    (
        "what came of it is said",
        ASKED,
        ConfirmationSettled(1),
        State.THINKING,
        [FinishSpeech(1)],
    ),
    (
        "a further question follows, or the model's answer: the speech goes on",
        ASKED,
        ConfirmationSettled(1, more=True),
        State.THINKING,
        [],
    ),
    (
        "and where somebody answered elsewhere the ear is closed first",
        WAITING,
        ConfirmationSettled(1, more=True),
        State.THINKING,
        [StopWatching(), NoAnswer(1, waited=True)],
    ),
    (
        "a new command is a turn of its own, and nothing is said of the old one",
        ASKED,
        ConfirmationSettled(1, new_command=True),
        State.THINKING,
        [CloseTurn(1), OpenTurn(2, "follow_up", held=True), WatchThinking(2, 1_500)],
    ),
    (
        "a typed one too",
        replace(ASKED, confirming="keys"),
        ConfirmationSettled(1, new_command=True, text="lights on"),
        State.THINKING,
        [CloseTurn(1), OpenTurn(2, "text", text="lights on")],
    ),
    (
        "so soon after our question that it may be our own echo",
        replace(ASKED, answer_near=True),
        ConfirmationSettled(1, new_command=True),
        State.THINKING,
        [
            CloseTurn(1),
            OpenTurn(2, "follow_up", held=True, near_own_speech=True),
            WatchThinking(2, 1_500),
        ],
    ),
    (
        "mute does not end what the phone is asked",
        ON_PHONE,
        Muted(True),
        State.CONFIRMING,
        [ForgetSound()],
    ),
    ("nor does a microphone that goes", ON_PHONE, SourceLost(), State.CONFIRMING, []),
    ("nor the end of a file", ON_PHONE, SourceEnded(9_000), State.CONFIRMING, []),
    ("an old turn's question is nobody's", IDLE, ConfirmationAsked(1, "ear"), State.IDLE, []),
]


@pytest.mark.parametrize(
    ("machine", "event", "state", "effects"),
    [row[1:] for row in ROWS],
    ids=[row[0] for row in ROWS],
)
def test_a_rule(machine: Machine, event: object, state: State, effects: list[object]) -> None:
    check(machine, event, state, effects)  # type: ignore[arg-type]


def test_after_the_outcome_the_turn_is_over() -> None:
    machine, _ = reduce(ASKED, ConfirmationSettled(1))
    machine, _ = reduce(machine, PlaybackStarted(1))
    check(machine, PlaybackEnded(1), State.IDLE, [CloseTurn(1)])


def test_an_answer_to_a_question_of_ours_is_no_request_near_our_own_speech() -> None:
    machine, _ = reduce(replace(SPEAKING, asks=True, now_ms=6_000), PlaybackEnded(1))
    assert machine.state is State.FOLLOW_UP
    _, [opening] = reduce(machine, SpeechStarted(6_500))
    assert isinstance(opening, OpenTurn)
    assert not opening.near_own_speech


@pytest.mark.parametrize(
    ("machine", "mark_ms", "near"),
    [
        (SPEAKING, 5_000, True),  # it may be our own voice that says the wake word
        (replace(IDLE, silent_since_ms=6_000), 7_900, True),
        (replace(IDLE, silent_since_ms=6_000), 8_000, False),
        (IDLE, 700, False),  # we have not spoken yet
    ],
)
def test_a_request_near_our_own_speech_is_marked(
    machine: Machine, mark_ms: float, near: bool
) -> None:
    _, effects = reduce(machine, WakeHeard("okay_nabu", 0.9, mark_ms + 300, mark_ms))
    [opening] = [effect for effect in effects if isinstance(effect, OpenTurn)]
    assert opening.near_own_speech is near


def test_follow_up_without_a_question_is_a_request() -> None:
    spoken = replace(SPEAKING, now_ms=6_000, rules=replace(IDLE.rules, follow_up="always"))
    machine, _ = reduce(spoken, PlaybackEnded(1))
    _, [opening] = reduce(machine, SpeechStarted(6_500))
    assert isinstance(opening, OpenTurn)
    assert opening.near_own_speech


def test_trouble_before_the_question_is_void() -> None:
    failed, _ = reduce(THINKING, BrainFailed(1, "timeout", "Too long."))
    asked, _ = reduce(failed, ConfirmationAsked(1, "ear"))
    assert asked.error is None
