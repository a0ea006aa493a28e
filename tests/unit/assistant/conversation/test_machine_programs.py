"""Tests of the turn machine when a program opens the microphone or has a sentence served."""

from dataclasses import replace
from typing import cast

import pytest

from assistant.conversation.program_questions import Inquiry
from assistant.conversation.rules.effects import (
    AwaitAnswer,
    CancelTurn,
    CloseTurn,
    Duck,
    Effect,
    EndAnswer,
    FinishSpeech,
    ForgetSound,
    HearAnswer,
    NoAnswer,
    OpenTurn,
    SayLine,
    SoundOpening,
    StopWatching,
    WatchSpeech,
)
from assistant.conversation.rules.events import (
    Announced,
    BrainFailed,
    BrainFinished,
    ConfirmationSettled,
    ForAnswer,
    ForTalk,
    Muted,
    OpeningSounded,
    PlaybackEnded,
    PlaybackStarted,
    SourceLost,
    SpeechEnded,
    SpeechHeld,
    SpeechNotMeant,
    SpeechStarted,
    StopAsked,
    Tick,
    Typed,
    WakeHeard,
    Withdrawn,
)
from assistant.conversation.rules.machine import Machine, MicrophoneState, Rules, State, reduce
from tests.unit.assistant.conversation.situations import (
    CUT_OFF,
    FOLLOW_UP,
    IDLE,
    LISTENING,
    OVER_OURS,
    SPEAKING,
    THINKING,
    WAKE,
    WATCH,
    Row,
    check,
)

NO_INQUIRY = cast(Inquiry, None)  # the machine looks at nothing of it
FOR_ANSWER = ForAnswer("http:garden", 10_000, NO_INQUIRY)
FOR_TALK = ForTalk("mqtt", "Be brief.")
QUESTION = Announced("Shall I close the blinds?", "en", then=FOR_ANSWER)
LINE = Announced("The washing is done.", "en", then=FOR_TALK)

ASKING = replace(
    SPEAKING, source="announcement", announcing=QUESTION, confirming="ear", now_ms=6_000
)
WAITING = replace(ASKING, state=State.CONFIRMING, since_ms=6_000)
ANSWERING = replace(WAITING, answering=True, now_ms=8_000)
WEIGHING = replace(ANSWERING, state=State.THINKING)
TALKING = replace(SPEAKING, source="announcement", announcing=LINE, now_ms=6_000)
OPEN = replace(TALKING, state=State.FOLLOW_UP, since_ms=6_000)
SILENT = replace(THINKING, source="text", silent=True)
BUTTON = WakeHeard("button", 1.0, 1_000, 1_000, pressed=True, caller="http:garden")
TONE: list[Effect] = [SoundOpening(1)]
GONE = "The program that asked has disconnected."

ROWS: list[Row] = [
    (
        "a question is said like any announcement",
        IDLE,
        QUESTION,
        State.THINKING,
        [
            OpenTurn(
                1,
                "announcement",
                text=QUESTION.text,
                language="en",
                manner=QUESTION.manner,
                then=FOR_ANSWER,
                caller="http:garden",
            )
        ],
    ),
    ("while a person speaks it waits", LISTENING, QUESTION, State.LISTENING, []),
    ("once it was said the tone sounds", ASKING, PlaybackEnded(1), State.SPEAKING, TONE),
    ("without a word of it heard too", WEIGHING, PlaybackEnded(1), State.SPEAKING, TONE),
    (
        "and then the microphone opens",
        ASKING,
        OpeningSounded(1, True),
        State.CONFIRMING,
        [WatchSpeech(from_ms=6_000, after_ms=6_000), AwaitAnswer(1, "ear")],
    ),
    (
        "a tone that nobody heard opens nothing",
        ASKING,
        OpeningSounded(1, False),
        State.THINKING,
        [NoAnswer(1, waited=False)],
    ),
    (
        "nor one while it was being muted",
        replace(ASKING, muted=True),
        OpeningSounded(1, True),
        State.THINKING,
        [NoAnswer(1, waited=False)],
    ),
    (
        "a microphone that has gone needs no tone",
        replace(ASKING, microphone=MicrophoneState.LOST),
        PlaybackEnded(1),
        State.THINKING,
        [NoAnswer(1, waited=False)],
    ),
    ("a tone of before is stale", ASKING, OpeningSounded(0, True), State.SPEAKING, []),
    ("an answer is not opened for twice", WAITING, OpeningSounded(1, True), State.CONFIRMING, []),
    ("a tone opens nothing else", SPEAKING, OpeningSounded(1, True), State.SPEAKING, []),
    (
        "somebody answers right after the tone",
        WAITING,
        SpeechStarted(6_100),
        State.CONFIRMING,
        [HearAnswer(1, 6_000)],
    ),
    ("the question's own time counts", WAITING, Tick(15_999), State.CONFIRMING, []),
    (
        "and then nobody has answered",
        WAITING,
        Tick(16_000),
        State.THINKING,
        [StopWatching(), NoAnswer(1, waited=True)],
    ),
    ("whoever answers is heard", ANSWERING, Tick(25_999), State.CONFIRMING, []),
    (
        "but 20 s after the opening it closes",
        ANSWERING,
        Tick(26_000),
        State.THINKING,
        [StopWatching(), EndAnswer(1)],
    ),
    (
        "the answer is over",
        ANSWERING,
        SpeechEnded(7_400, 8_000),
        State.THINKING,
        [StopWatching(), EndAnswer(1)],
    ),
    (
        "the wake word may stand before an answer",
        WAITING,
        WAKE,
        State.CONFIRMING,
        [],
    ),
    (
        "but cuts the question while it is said",
        ASKING,
        WAKE,
        State.WAKING,
        [*CUT_OFF, replace(OVER_OURS, near_own_speech=True), WATCH],
    ),
    (
        "and while it is weighed",
        WEIGHING,
        WAKE,
        State.WAKING,
        [*CUT_OFF, OVER_OURS, WATCH],
    ),
    (
        "muted it is over",
        WAITING,
        Muted(True),
        State.THINKING,
        [ForgetSound(), StopWatching(), NoAnswer(1, waited=True)],
    ),
    (
        "and without its microphone",
        WAITING,
        SourceLost(),
        State.THINKING,
        [StopWatching(), NoAnswer(1, waited=True)],
    ),
    (
        "stopped it is over",
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
        "settled it has nothing more to say",
        WEIGHING,
        ConfirmationSettled(1),
        State.THINKING,
        [FinishSpeech(1)],
    ),
    (
        "and closes",
        replace(WEIGHING, confirming=None),
        PlaybackEnded(1),
        State.IDLE,
        [CloseTurn(1)],
    ),
    (
        "whoever asked has gone",
        WAITING,
        Withdrawn(FOR_ANSWER),
        State.IDLE,
        [StopWatching(), CancelTurn(1, "withdrawn"), CloseTurn(1, "withdrawn", GONE)],
    ),
    ("another question goes on", WAITING, Withdrawn(FOR_TALK), State.CONFIRMING, []),
    (
        "what is over is not withdrawn",
        replace(ASKING, state=State.IDLE),
        Withdrawn(FOR_ANSWER),
        State.IDLE,
        [],
    ),
    # a conversation
    ("an opening line has its tone", TALKING, PlaybackEnded(1), State.SPEAKING, TONE),
    (
        "after which the person has the word",
        TALKING,
        OpeningSounded(1, True),
        State.FOLLOW_UP,
        [CloseTurn(1), WatchSpeech(from_ms=6_000, after_ms=6_000)],
    ),
    (
        "but for a tone that nobody heard",
        TALKING,
        OpeningSounded(1, False),
        State.IDLE,
        [CloseTurn(1)],
    ),
    (
        "whatever follow-up is wanted after answers",
        replace(TALKING, rules=Rules(follow_up="never")),
        PlaybackEnded(1),
        State.SPEAKING,
        TONE,
    ),
    (
        "what they say is a turn that knows of it; so soon it may be an echo of the line",
        replace(OPEN, silent_since_ms=5_900),
        SpeechStarted(6_500),
        State.LISTENING,
        [
            OpenTurn(
                2,
                "follow_up",
                mark_ms=6_200,
                near_own_speech=True,
                caller="mqtt",
                talk=LINE,
            )
        ],
    ),
    (
        "talked over, it was heard as far as it went",
        replace(TALKING, rules=Rules(barge_in="speech"), over_ms=5_000),
        SpeechHeld(5_300, 5_000),
        State.LISTENING,
        [
            *CUT_OFF,
            OpenTurn(
                2,
                "barge_in",
                mark_ms=4_700,
                near_own_speech=True,
                over_ours=True,
                talk=LINE,
            ),
            Duck(on=False),
        ],
    ),
    ("nobody speaks", OPEN, Tick(14_000), State.IDLE, [StopWatching()]),
    # a button that a program presses, after its tone
    (
        "it listens, with no further tone",
        IDLE,
        BUTTON,
        State.WAKING,
        [
            OpenTurn(1, "voice", 1_000, BUTTON, caller="http:garden"),
            WatchSpeech(1_000, 1_200),
        ],
    ),
    ("but cuts no answer", SPEAKING, BUTTON, State.SPEAKING, []),
    ("and takes nobody's word", FOLLOW_UP, BUTTON, State.FOLLOW_UP, []),
    # a sentence of a program
    (
        "it is served",
        IDLE,
        Typed("How warm is it?", "mcp:kitchen"),
        State.THINKING,
        [OpenTurn(1, "text", text="How warm is it?", caller="mcp:kitchen")],
    ),
    ("but cuts nobody short", SPEAKING, Typed("Hello", "mcp:kitchen"), State.SPEAKING, []),
    ("nor takes the word of anybody", FOLLOW_UP, Typed("Hi", "mcp"), State.FOLLOW_UP, []),
    (
        "what goes wrong in it makes no sound",
        SILENT,
        BrainFailed(1, "unreachable", "No network."),
        State.THINKING,
        [SayLine(1, "fault.unreachable"), FinishSpeech(1)],
    ),
    ("nor what was not meant", SILENT, SpeechNotMeant(1), State.THINKING, [FinishSpeech(1)]),
    (
        "its end opens nothing",
        replace(SILENT, asks=True),
        PlaybackEnded(1),
        State.IDLE,
        [CloseTurn(1)],
    ),
    ("a person's wake word cuts it", SILENT, WAKE, State.WAKING, [*CUT_OFF, OVER_OURS, WATCH]),
]


@pytest.mark.parametrize(
    ("machine", "event", "state", "effects"), [row[1:] for row in ROWS], ids=[r[0] for r in ROWS]
)
def test_row(machine: Machine, event: object, state: State, effects: list[Effect]) -> None:
    check(machine, event, state, effects)  # type: ignore[arg-type]


def test_a_question_is_not_left_waiting_where_it_was_cut() -> None:
    """Unlike with news, the program that asks decides whether it is asked again."""
    for announced, waiting in ((QUESTION, ()), (LINE, (LINE,))):
        opened, _ = reduce(IDLE, announced)
        cut, _ = reduce(opened, WAKE)
        assert cut.announcements == waiting
        assert cut.confirming is None


def test_once_more_it_has_its_whole_time_again() -> None:
    machine = WEIGHING
    for event in (PlaybackStarted(1), PlaybackEnded(1), Tick(9_000), OpeningSounded(1, True)):
        machine, _ = reduce(replace(machine, now_ms=9_000), event)
    assert (machine.state, machine.since_ms) == (State.CONFIRMING, 9_000)
    assert not machine.answering


def test_no_microphone_of_a_program_is_open_for_longer_than_a_sentence() -> None:
    """This holds however late somebody begins to speak."""
    longest = Rules().longest_ms
    for machine in (OPEN, WAITING, reduce(IDLE, BUTTON)[0]):
        at = machine.since_ms + min(4_900.0, longest)
        machine, _ = reduce(machine, SpeechStarted(at))
        machine, _ = reduce(machine, Tick(machine.since_ms + longest))
        assert machine.state is State.THINKING
        assert machine.now_ms == (1_000 if machine.source == "voice" else 6_000) + longest


def test_a_longer_wait_than_a_sentence_is_none() -> None:
    patient = Announced("Well?", "en", then=ForAnswer("mqtt", 60_000, NO_INQUIRY))
    machine, _ = reduce(replace(WAITING, announcing=patient), Tick(26_000))
    assert machine.state is State.THINKING


def test_an_answer_that_wants_another_turn_opens_it() -> None:
    machine, effects = reduce(WEIGHING, ConfirmationSettled(1, new_command=True))
    assert machine.turn == 2
    assert machine.then is None
    held = [one for one in effects if isinstance(one, OpenTurn)]
    assert [(one.held, one.caller) for one in held] == [(True, "")]
    after, _ = reduce(machine, BrainFinished(2, asks=False))
    assert after.confirming is None
