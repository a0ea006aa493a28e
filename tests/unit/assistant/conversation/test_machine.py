"""Table-driven tests of the turn machine: state, event, next state, effects."""

from dataclasses import replace

import pytest

from assistant.conversation.rules.effects import (
    AnnounceLine,
    CancelTurn,
    CloseTurn,
    Effect,
    EndListening,
    FinishSpeech,
    OpenTurn,
    PlaySound,
    ReleaseSound,
    SayLine,
    SayText,
    StopWatching,
    WatchSpeech,
)
from assistant.conversation.rules.events import (
    BrainFailed,
    BrainFinished,
    Event,
    PlaybackEnded,
    PlaybackStarted,
    SourceBack,
    SourceEnded,
    SourceLost,
    SpeechEnded,
    SpeechStarted,
    StopAsked,
    Tick,
    Typed,
)
from assistant.conversation.rules.machine import Machine, MicrophoneState, Rules, State, reduce
from tests.unit.assistant.conversation.situations import (
    CUT_OFF,
    ENDED,
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
    waited,
)

ROWS: list[Row] = [
    # the wake word
    ("wake opens a turn", IDLE, WAKE, State.WAKING, [OpenTurn(1, "voice", 700, WAKE), WATCH]),
    ("a second wake at once is the same one", WAKING, WAKE, State.WAKING, []),
    ("a wake word inside the sentence is part of it", LISTENING, WAKE, State.LISTENING, []),
    (
        "the wake word stops the answer",
        SPEAKING,
        WAKE,
        State.WAKING,
        [*CUT_OFF, replace(OVER_OURS, near_own_speech=True), WATCH],
    ),
    (
        "the wake word stops the thinking",
        THINKING,
        WAKE,
        State.WAKING,
        [*CUT_OFF, OVER_OURS, WATCH],
    ),
    (
        "the wake word counts in a follow-up",
        FOLLOW_UP,
        WAKE,
        State.WAKING,
        [OpenTurn(2, "voice", 700, WAKE), WATCH],
    ),
    ("without a microphone nothing wakes", FAULT, WAKE, State.FAULT, []),
    # waiting for the command
    ("no wake sound in the first 400 ms", WAKING, Tick(1_399), State.WAKING, []),
    ("wake sound after 400 ms of silence", WAKING, Tick(1_400), State.WAKING, [PlaySound("wake")]),
    ("it plays once", replace(WAKING, sounded=True), Tick(1_500), State.WAKING, []),
    ("the command begins", WAKING, SpeechStarted(1_300), State.LISTENING, [ReleaseSound(1)]),
    (
        "five seconds are waited for it",
        replace(WAKING, sounded=True),
        Tick(5_999),
        State.WAKING,
        [],
    ),
    (
        "then the turn ends quietly",
        replace(WAKING, sounded=True),
        Tick(6_000),
        State.IDLE,
        [
            StopWatching(),
            CancelTurn(1, "no_speech"),
            EndListening(1, None, 6_000),
            CloseTurn(1, "no_speech", "Nothing was said after the wake word."),
        ],
    ),
    (
        "a file that ends after the wake word had no command",
        WAKING,
        SourceEnded(1_500),
        State.IDLE,
        [
            StopWatching(),
            CancelTurn(1, "no_speech"),
            EndListening(1, None, 1_500),
            CloseTurn(1, "no_speech", "Nothing was said after the wake word."),
        ],
    ),
    # listening
    (
        "silence ends the sentence",
        LISTENING,
        SpeechEnded(2_400, 3_100),
        State.THINKING,
        [StopWatching(), EndListening(1, 2_400, 3_100), *waited(1)],
    ),
    ("twenty seconds are allowed", LISTENING, Tick(20_999), State.LISTENING, []),
    (
        "and no more",
        LISTENING,
        Tick(21_000),
        State.THINKING,
        [StopWatching(), EndListening(1, None, 21_000), *waited(1)],
    ),
    (
        "the end of a file ends the sentence",
        LISTENING,
        SourceEnded(2_500),
        State.THINKING,
        [StopWatching(), EndListening(1, None, 2_500), *waited(1)],
    ),
    ("speech after the sentence is not ours", THINKING, SpeechStarted(3_100), State.THINKING, []),
    ("nor is its end", THINKING, SpeechEnded(3_200, 3_900), State.THINKING, []),
    (
        "a typed sentence ends a follow-up",
        FOLLOW_UP,
        Typed("hi"),
        State.THINKING,
        [StopWatching(), OpenTurn(2, "text", text="hi")],
    ),
    # the answer
    ("the first sample starts the speaking", THINKING, PlaybackStarted(1), State.SPEAKING, []),
    (
        "the brain's end ends the speech",
        SPEAKING,
        BrainFinished(1, False),
        State.SPEAKING,
        [FinishSpeech(1)],
    ),
    (
        "a brain that ends early ends the listening",
        LISTENING,
        BrainFinished(1, False),
        State.THINKING,
        [StopWatching(), EndListening(1, None, 2_000), FinishSpeech(1)],
    ),
    ("the measured end closes the turn", SPEAKING, PlaybackEnded(1), State.IDLE, [CloseTurn(1)]),
    (
        "an answer without words closes it too",
        THINKING,
        PlaybackEnded(1),
        State.IDLE,
        [CloseTurn(1)],
    ),
    ("an old turn's end means nothing", SPEAKING, PlaybackEnded(0), State.SPEAKING, []),
    ("nor does a closed turn's", FOLLOW_UP, PlaybackEnded(1), State.FOLLOW_UP, []),
    (
        "nor an old brain's failure",
        SPEAKING,
        BrainFailed(0, "broken", "It broke."),
        State.SPEAKING,
        [],
    ),
    (
        "a failure is said",
        THINKING,
        BrainFailed(1, "unreachable", "It is away."),
        State.THINKING,
        [PlaySound("error"), SayLine(1, "fault.unreachable"), FinishSpeech(1)],
    ),
    (
        "a failure with words of its own",
        THINKING,
        BrainFailed(1, "quota", "429", "Google says that is enough for today."),
        State.THINKING,
        [
            PlaySound("error"),
            SayText(1, "Google says that is enough for today."),
            FinishSpeech(1),
        ],
    ),
    (
        "a second failure of the same turn is not",
        replace(SPEAKING, error=("unreachable", "It is away.")),
        BrainFailed(1, "broken", "It broke."),
        State.SPEAKING,
        [],
    ),
    (
        "a failure while the person speaks ends the listening",
        LISTENING,
        BrainFailed(1, "broken", "It broke."),
        State.THINKING,
        [
            StopWatching(),
            EndListening(1, None, 2_000),
            PlaySound("error"),
            SayLine(1, "fault.broken"),
            FinishSpeech(1),
        ],
    ),
    (
        "a failed turn is closed with its error",
        replace(THINKING, error=("broken", "It broke.")),
        PlaybackEnded(1),
        State.IDLE,
        [CloseTurn(1, "broken", "It broke.")],
    ),
    # follow-up
    (
        "a question opens the microphone",
        replace(SPEAKING, asks=True),
        PlaybackEnded(1),
        State.FOLLOW_UP,
        [CloseTurn(1), PlaySound("open"), WatchSpeech(from_ms=3_000, after_ms=3_200)],
    ),
    (
        "not after a typed turn",
        replace(SPEAKING, asks=True, source="text"),
        PlaybackEnded(1),
        State.IDLE,
        [CloseTurn(1)],
    ),
    (
        "not when the file is over",
        replace(SPEAKING, asks=True, microphone=ENDED),
        PlaybackEnded(1),
        State.IDLE,
        [CloseTurn(1)],
    ),
    (
        "not when the habit is never",
        replace(SPEAKING, asks=True, rules=Rules(follow_up="never")),
        PlaybackEnded(1),
        State.IDLE,
        [CloseTurn(1)],
    ),
    (
        "without a question when the habit is always",
        replace(SPEAKING, rules=Rules(follow_up="always")),
        PlaybackEnded(1),
        State.FOLLOW_UP,
        [CloseTurn(1), PlaySound("open"), WatchSpeech(from_ms=3_000, after_ms=3_200)],
    ),
    (
        "the answer to it is a turn",
        FOLLOW_UP,
        SpeechStarted(7_000),
        State.LISTENING,
        [OpenTurn(2, "follow_up", mark_ms=6_700)],
    ),
    (
        "without what was said before the microphone was opened",
        FOLLOW_UP,
        SpeechStarted(6_210),
        State.LISTENING,
        [OpenTurn(2, "follow_up", mark_ms=6_000)],
    ),
    ("eight seconds are waited", FOLLOW_UP, Tick(13_999), State.FOLLOW_UP, []),
    ("then the microphone closes", FOLLOW_UP, Tick(14_000), State.IDLE, [StopWatching()]),
    ("or with the file", FOLLOW_UP, SourceEnded(7_000), State.IDLE, [StopWatching()]),
    # typed turns
    (
        "a typed sentence is a turn",
        IDLE,
        Typed("hi"),
        State.THINKING,
        [OpenTurn(1, "text", text="hi")],
    ),
    (
        "a typed sentence needs no microphone",
        FAULT,
        Typed("hi"),
        State.THINKING,
        [OpenTurn(1, "text", text="hi")],
    ),
    (
        "it takes the place of the answer under way",
        SPEAKING,
        Typed("hi"),
        State.THINKING,
        [StopWatching(), *CUT_OFF, OpenTurn(2, "text", text="hi")],
    ),
    # stop
    ("stop when idle is nothing", IDLE, StopAsked(), State.IDLE, []),
    (
        "stop silences",
        SPEAKING,
        StopAsked(),
        State.IDLE,
        [
            StopWatching(),
            CancelTurn(1, "stop"),
            CloseTurn(1, "interrupted", "The turn was stopped."),
        ],
    ),
    (
        "stop ends the listening",
        LISTENING,
        StopAsked(),
        State.IDLE,
        [
            StopWatching(),
            CancelTurn(1, "stop"),
            CloseTurn(1, "interrupted", "The turn was stopped."),
        ],
    ),
    ("stop closes the microphone", FOLLOW_UP, StopAsked(), State.IDLE, [StopWatching()]),
    # the microphone goes
    ("loss when idle", IDLE, SourceLost(), State.FAULT, [StopWatching()]),
    (
        "loss in the sentence",
        LISTENING,
        SourceLost(),
        State.FAULT,
        [
            StopWatching(),
            CancelTurn(1, "source_lost"),
            CloseTurn(
                1, "microphone_lost", "The microphone was lost in the middle of the sentence."
            ),
            AnnounceLine("microphone.lost_while_speaking"),
        ],
    ),
    ("loss in the answer: it is still given", SPEAKING, SourceLost(), State.SPEAKING, []),
    (
        "and afterwards the fault shows",
        replace(SPEAKING, microphone=MicrophoneState.LOST),
        PlaybackEnded(1),
        State.FAULT,
        [CloseTurn(1)],
    ),
    ("it comes back", FAULT, SourceBack(), State.IDLE, []),
]


@pytest.mark.parametrize(
    ("machine", "event", "state", "effects"),
    [row[1:] for row in ROWS],
    ids=[row[0] for row in ROWS],
)
def test_row(machine: Machine, event: Event, state: State, effects: list[Effect]) -> None:
    check(machine, event, state, effects)


def test_one_breath_from_wake_to_follow_up() -> None:
    """A whole conversation: the states in order, and each opened turn is closed once."""
    events: list[Event] = [
        WAKE,
        Tick(1_100),
        SpeechStarted(1_250),
        Tick(2_000),
        SpeechEnded(2_400, 3_100),
        PlaybackStarted(1),
        BrainFinished(1, asks=True),
        PlaybackEnded(1),
        Tick(5_000),
        SpeechStarted(5_600),
        SpeechEnded(6_000, 6_700),
        BrainFinished(2, asks=False),
        PlaybackEnded(2),
    ]
    machine, states, effects = Machine(), [], []
    for event in events:
        machine, done = reduce(machine, event)
        states.append(machine.state)
        effects += done
    assert states == [
        State.WAKING,
        State.WAKING,
        State.LISTENING,
        State.LISTENING,
        State.THINKING,
        State.SPEAKING,
        State.SPEAKING,
        State.FOLLOW_UP,
        State.FOLLOW_UP,
        State.LISTENING,
        State.THINKING,
        State.THINKING,
        State.IDLE,
    ]
    assert [e.turn for e in effects if isinstance(e, OpenTurn)] == [1, 2]
    assert [e.turn for e in effects if isinstance(e, CloseTurn)] == [1, 2]


@pytest.mark.parametrize("state", State)
def test_a_pulled_file_moves_only_while_it_is_listened_to(state: State) -> None:
    waiting = {State.CONFIRMING, State.FOLLOW_UP}
    open_ears = {State.IDLE, State.WAKING, State.LISTENING, *waiting}
    assert Machine(state=state).wants_sound is (state in open_ears)
