"""Tests of the turn machine when somebody talks over us: with echo cancellation, and half
duplex."""

from dataclasses import replace

import pytest

from assistant.conversation.rules.effects import (
    CancelTurn,
    CloseTurn,
    Duck,
    Effect,
    EndListening,
    FinishSpeech,
    ForgetSound,
    Hush,
    ListenForStop,
    OpenTurn,
    PlaySound,
    StopWatching,
    WatchSpeech,
)
from assistant.conversation.rules.events import (
    Announced,
    BrainFinished,
    ConfirmationAsked,
    Event,
    Muted,
    PlaybackEnded,
    PlaybackStarted,
    Ringing,
    SetAside,
    SourceBack,
    SourceLost,
    SpeechEnded,
    SpeechHeld,
    SpeechPassed,
    SpeechStarted,
    StopAsked,
    StopHeard,
    Typed,
    WakeHeard,
)
from assistant.conversation.rules.machine import Machine, MicrophoneState, Rules, State, reduce
from assistant.speech.sink import PLAIN
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
    waited,
)

DUPLEX = Rules(barge_in="speech")
TALKING = replace(SPEAKING, rules=DUPLEX)
OVER = replace(TALKING, over_ms=4_000)  # somebody has begun to speak over it
FOLLOWED = replace(FOLLOW_UP, rules=DUPLEX, over_ms=5_900)  # our voice ended under their speech
ASKED = replace(FOLLOWED, asks=True)
BARGED = replace(LISTENING, turn=2, source="barge_in", since_ms=4_000, rules=DUPLEX)
RINGS = replace(IDLE, ringing=True, now_ms=500)
HELD = SpeechHeld(at_ms=4_320, began_ms=4_000)
PASSED = SpeechPassed(4_150)
LATER_WAKE = WakeHeard("okay_nabu", 0.9, at_ms=5_300, mark_ms=5_000)
STOP_WORD = WakeHeard("stop", 0.9, at_ms=4_400, mark_ms=4_100)
BUTTON = WakeHeard("button", 1.0, at_ms=1_000, mark_ms=1_000, pressed=True)
STOPPED: list[Effect] = [
    StopWatching(),
    CancelTurn(1, "stop"),
    CloseTurn(1, "interrupted", "The turn was stopped."),
]
BARGE_IN = OpenTurn(2, "barge_in", mark_ms=3_700, near_own_speech=True, over_ours=True)
NEWS = Announced("The cake is done.", "en")

ROWS: list[Row] = [
    # with echo cancellation: speech counts while our voice sounds
    (
        "with the first sample the ear begins to watch",
        replace(THINKING, rules=DUPLEX),
        PlaybackStarted(1),
        State.SPEAKING,
        [WatchSpeech(from_ms=3_000, after_ms=3_000)],
    ),
    (
        "of an announcement too",
        replace(THINKING, rules=DUPLEX, source="announcement", announcing=NEWS),
        PlaybackStarted(1),
        State.SPEAKING,
        [WatchSpeech(from_ms=3_000, after_ms=3_000)],
    ),
    (
        "not where nobody can be heard",
        replace(THINKING, rules=DUPLEX, microphone=MicrophoneState.LOST),
        PlaybackStarted(1),
        State.SPEAKING,
        [],
    ),
    (
        "nor while muted",
        replace(THINKING, rules=DUPLEX, muted=True),
        PlaybackStarted(1),
        State.SPEAKING,
        [],
    ),
    (
        "speech lowers our voice at once",
        TALKING,
        SpeechStarted(4_000),
        State.SPEAKING,
        [Duck(True)],
    ),
    (
        "it was nothing: our voice rises, and a short word is looked at",
        OVER,
        PASSED,
        State.SPEAKING,
        [ListenForStop(4_000, after=1), Duck(False)],
    ),
    (
        "it ended without having lasted",
        OVER,
        SpeechEnded(4_200, 4_900),
        State.SPEAKING,
        [ListenForStop(4_000, after=1), Duck(False)],
    ),
    ("what passed before it began is nothing", TALKING, PASSED, State.SPEAKING, []),
    (
        "speech that lasts cuts our voice and has the word, from its beginning on",
        OVER,
        HELD,
        State.LISTENING,
        [*CUT_OFF, BARGE_IN, Duck(False)],
    ),
    (
        "also after a cough that had passed",
        TALKING,
        HELD,
        State.LISTENING,
        [*CUT_OFF, BARGE_IN],
    ),
    (
        "in an announcement too",
        replace(OVER, source="announcement", announcing=NEWS),
        HELD,
        State.LISTENING,
        [*CUT_OFF, BARGE_IN, Duck(False)],
    ),
    (
        "nothing is kept from before the source began",
        TALKING,
        SpeechHeld(420, 100),
        State.LISTENING,
        [*CUT_OFF, replace(BARGE_IN, mark_ms=0)],
    ),
    (
        "before our voice it is not for us",
        replace(THINKING, rules=DUPLEX),
        HELD,
        State.THINKING,
        [],
    ),
    ("nor when nothing is under way", replace(IDLE, rules=DUPLEX), HELD, State.IDLE, []),
    ("nor twice", BARGED, HELD, State.LISTENING, []),
    (
        "the wake word cuts as ever",
        OVER,
        WAKE,
        State.WAKING,
        [*CUT_OFF, replace(OVER_OURS, near_own_speech=True), WATCH, Duck(False)],
    ),
    (
        "stop raises our voice for the next time",
        OVER,
        StopAsked(),
        State.IDLE,
        [*STOPPED, Duck(False)],
    ),
    (
        "a typed sentence too",
        OVER,
        Typed("hi"),
        State.THINKING,
        [StopWatching(), *CUT_OFF, OpenTurn(2, "text", text="hi"), Duck(False)],
    ),
    (
        "muted, nobody is waited for",
        OVER,
        Muted(True),
        State.SPEAKING,
        [ForgetSound(), Duck(False)],
    ),
    ("nor without a microphone", OVER, SourceLost(), State.SPEAKING, [Duck(False)]),
    (
        "the end of our voice ends the watch",
        TALKING,
        PlaybackEnded(1),
        State.IDLE,
        [CloseTurn(1), StopWatching()],
    ),
    (
        "a question of ours is watched for anew",
        replace(TALKING, asks=True),
        PlaybackEnded(1),
        State.FOLLOW_UP,
        [CloseTurn(1), PlaySound("open"), WatchSpeech(from_ms=3_000, after_ms=3_200)],
    ),
    # our voice ends while somebody begins to speak over it
    (
        "they are heard on",
        OVER,
        PlaybackEnded(1),
        State.FOLLOW_UP,
        [CloseTurn(1), Duck(False)],
    ),
    (
        "and have the word if they go on",
        FOLLOWED,
        SpeechHeld(6_100, 5_900),
        State.LISTENING,
        [replace(BARGE_IN, mark_ms=5_600)],
    ),
    ("if they do not, it is over", FOLLOWED, PASSED, State.IDLE, [StopWatching()]),
    ("by its end at the latest", FOLLOWED, SpeechEnded(6_000, 6_700), State.IDLE, [StopWatching()]),
    ("after a question we wait on", ASKED, PASSED, State.FOLLOW_UP, []),
    # a question for a yes is heard to its end
    (
        "nobody talks over it",
        OVER,
        ConfirmationAsked(1, "ear"),
        State.SPEAKING,
        [StopWatching(), Duck(False)],
    ),
    (
        "its own voice is not watched over",
        replace(THINKING, rules=DUPLEX, confirming="ear"),
        PlaybackStarted(1),
        State.SPEAKING,
        [],
    ),
    (
        "and speech that lasts does not cut it",
        replace(TALKING, confirming="ear"),
        HELD,
        State.SPEAKING,
        [],
    ),
    # half duplex
    ("half duplex watches nothing", THINKING, PlaybackStarted(1), State.SPEAKING, []),
    ("speech does nothing there", SPEAKING, SpeechStarted(4_000), State.SPEAKING, []),
    ("however long it lasts", SPEAKING, HELD, State.SPEAKING, []),
    (
        "the wake word is heard all the same",
        SPEAKING,
        WAKE,
        State.WAKING,
        [*CUT_OFF, replace(OVER_OURS, near_own_speech=True), WATCH],
    ),
    # the sentence that cut us
    (
        "it began with the wake word",
        BARGED,
        LATER_WAKE,
        State.WAKING,
        [
            CancelTurn(2, "barge_in"),
            CloseTurn(2, "interrupted", "A new sentence interrupted this one."),
            OpenTurn(3, "voice", 5_000, LATER_WAKE, near_own_speech=True, over_ours=True),
            WatchSpeech(5_000, 5_500),
        ],
    ),
    (
        "a wake word in the middle of it is a word",
        replace(BARGED, since_ms=3_999),
        LATER_WAKE,
        State.LISTENING,
        [],
    ),
    (
        "a long one is a sentence",
        BARGED,
        SpeechEnded(5_501, 6_200),
        State.THINKING,
        [StopWatching(), EndListening(2, 5_501, 6_200), *waited(2)],
    ),
    (
        "a short one may be a stop word",
        BARGED,
        SpeechEnded(5_500, 6_200),
        State.THINKING,
        [
            StopWatching(),
            EndListening(2, 5_500, 6_200),
            *waited(2),
            ListenForStop(4_000, after=2),
        ],
    ),
    (
        "our own echo wants no answer, and no sound",
        THINKING,
        SetAside(1, "echo"),
        State.THINKING,
        [FinishSpeech(1)],
    ),
    (
        "nor does it while it is still heard",
        LISTENING,
        SetAside(1, "echo"),
        State.THINKING,
        [StopWatching(), EndListening(1, None, 2_000), FinishSpeech(1)],
    ),
    (
        "it is written down as such",
        replace(
            THINKING,
            error=("stopped", "The sentence was a stop word."),
            rules=Rules(follow_up="always"),
        ),
        PlaybackEnded(1),
        State.IDLE,
        [CloseTurn(1, "stopped", "The sentence was a stop word.")],
    ),
    # stop words by ear
    ("a stop word stops", SPEAKING, STOP_WORD, State.IDLE, STOPPED),
    ("heard by decoding too", SPEAKING, StopHeard(1), State.IDLE, STOPPED),
    (
        "while the answer to it is made",
        THINKING,
        StopHeard(1),
        State.IDLE,
        STOPPED,
    ),
    ("but not the turn after it", SPEAKING, StopHeard(0), State.SPEAKING, []),
    ("a stop word answers our question", FOLLOW_UP, STOP_WORD, State.IDLE, [StopWatching()]),
    ("when idle it is nothing", IDLE, STOP_WORD, State.IDLE, []),
    ("by decoding neither", IDLE, StopHeard(0), State.IDLE, []),
    ("in a sentence it is a word", LISTENING, STOP_WORD, State.LISTENING, []),
    ("so it is after the wake word", WAKING, STOP_WORD, State.WAKING, []),
    ("it may be the end of the sentence just heard", THINKING, STOP_WORD, State.THINKING, []),
    # what rings
    ("what rings is listened at", IDLE, Ringing(True), State.IDLE, [WatchSpeech(0.0, 0.0)]),
    ("until it is silent", RINGS, Ringing(False), State.IDLE, [StopWatching()]),
    ("a turn's own watch is left alone", THINKING, Ringing(True), State.THINKING, []),
    (
        "after a turn it is listened at again",
        replace(SPEAKING, ringing=True),
        PlaybackEnded(1),
        State.IDLE,
        [CloseTurn(1), WatchSpeech(3_000, 3_000)],
    ),
    ("somebody speaks beside it", RINGS, SpeechStarted(600), State.IDLE, []),
    (
        "a short word may be meant for it",
        replace(RINGS, over_ms=600),
        SpeechEnded(900, 1_600),
        State.IDLE,
        [ListenForStop(600, after=0)],
    ),
    (
        "a long sentence is not",
        replace(RINGS, over_ms=600),
        SpeechEnded(2_101, 2_800),
        State.IDLE,
        [],
    ),
    ("however long they speak", replace(RINGS, over_ms=600, rules=DUPLEX), HELD, State.IDLE, []),
    ("a stop word silences it", RINGS, STOP_WORD, State.IDLE, [Hush()]),
    ("by decoding too", RINGS, StopHeard(0), State.IDLE, [Hush()]),
    (
        "and with it the words about it",
        replace(SPEAKING, ringing=True),
        STOP_WORD,
        State.IDLE,
        [*STOPPED, Hush(), WatchSpeech(3_000, 3_000)],
    ),
    (
        "the wake word is heard over it",
        RINGS,
        WAKE,
        State.WAKING,
        [OpenTurn(1, "voice", 700, WAKE, over_ours=True), WATCH],
    ),
    # a button in place of the wake word
    (
        "a button is heard at once",
        IDLE,
        BUTTON,
        State.WAKING,
        [OpenTurn(1, "voice", 1_000, BUTTON), PlaySound("wake"), WatchSpeech(1_000, 1_200)],
    ),
    ("not without a microphone", FAULT, BUTTON, State.FAULT, []),
    ("nor while muted", replace(IDLE, muted=True), BUTTON, State.IDLE, []),
    ("nor in a sentence", LISTENING, BUTTON, State.LISTENING, []),
    # what is waiting is said without a microphone too
    (
        "the microphone goes: what waits is said all the same",
        replace(FOLLOW_UP, announcements=(NEWS,)),
        SourceLost(),
        State.THINKING,
        [StopWatching(), OpenTurn(2, "announcement", text=NEWS.text, language="en", manner=PLAIN)],
    ),
]


@pytest.mark.parametrize(
    ("machine", "event", "state", "effects"),
    [row[1:] for row in ROWS],
    ids=[row[0] for row in ROWS],
)
def test_row(machine: Machine, event: Event, state: State, effects: list[Effect]) -> None:
    check(machine, event, state, effects)


def test_a_cough_and_then_a_sentence_over_one_answer() -> None:
    events: list[Event] = [
        PlaybackStarted(1),
        SpeechStarted(3_500),
        SpeechPassed(3_650),
        SpeechEnded(3_650, 4_350),
        BrainFinished(1, asks=False),
        SpeechStarted(5_000),
        SpeechHeld(5_300, 5_000),
        SpeechEnded(7_000, 7_700),
        PlaybackStarted(2),
        PlaybackEnded(2),
    ]
    machine, effects = replace(THINKING, rules=DUPLEX), []
    for event in events:
        machine, done = reduce(machine, event)
        effects += done
    assert [effect.on for effect in effects if isinstance(effect, Duck)] == [True, False] * 2
    assert [effect.turn for effect in effects if isinstance(effect, CancelTurn)] == [1]
    assert [effect.turn for effect in effects if isinstance(effect, CloseTurn)] == [1, 2]
    assert machine.state is State.IDLE


def test_time_goes_on_over_a_gap_and_begins_anew_with_another_source() -> None:
    spoke = replace(FAULT, now_ms=9_000, since_ms=8_000, silent_since_ms=8_500)
    on, _ = reduce(spoke, SourceBack(60_000))
    assert (on.state, on.now_ms, on.silent_since_ms) == (State.IDLE, 60_000, 8_500)
    anew, _ = reduce(spoke, SourceBack(0.0))
    assert (anew.state, anew.now_ms, anew.since_ms, anew.silent_since_ms) == (
        State.IDLE,
        0.0,
        0.0,
        None,
    )


@pytest.mark.parametrize("state", State)
def test_a_typed_stop_word_counts_where_there_is_something_to_stop(state: State) -> None:
    stops = {State.SPEAKING, State.CONFIRMING, State.FOLLOW_UP, State.THINKING}
    assert Machine(state=state).stops_by_text is (state in stops)
    assert Machine(state=state, ringing=True).stops_by_text
