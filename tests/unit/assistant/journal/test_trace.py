"""Tests of a turn's picture: the place and length of each phase, within a terminal's width."""

import textwrap
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from assistant.domain.records import (
    CallRecord,
    ConfirmationRecord,
    ErrorRecord,
    FaultRecord,
    TurnRecord,
)
from assistant.domain.tool_call import Decision, Observed, Status, Tier
from assistant.journal.trace import (
    Stage,
    draw_bar,
    draw_trace,
    faults_during,
    first_sound_ms,
    slowest,
    stages,
    turn_and_calls_json,
)

TIMELINE = {
    "wake": 800.0,
    "speech_start": 300.0,
    "speech_end": 2300.0,
    "end_of_turn": 2800.0,
    "heard": 2900.0,
    "first_reply_text": 3010.0,
    "first_tool_call": 2910.0,
    "last_tool_result": 3000.0,
    "first_audio_out": 3100.0,
    "answer_done": 4300.0,
}
TURN = TurnRecord(
    "01hv0000abcd",
    datetime(2026, 1, 1, 12, tzinfo=UTC),
    "voice",
    "en",
    brain="offline",
    heard="turn on the office lights",
    answer="The office lights are on.",
    timeline=TIMELINE,
)
CALL = CallRecord(
    "01hv0000abcd",
    "c1",
    "home",
    "HassTurnOn",
    {"area": "Office"},
    Decision.ALLOWED,
    Tier.COMFORT,
    TURN.started_at,
    Status.DONE,
    (Observed("light.office", "off", "on"),),
    90.0,
)


def test_the_waterfall() -> None:
    _, *lines = draw_trace(TURN, [CALL])
    expected = """\
        heard        turn on the office lights
        wake word   |      *                                               |     at 500
        speech      |===========================                           |    2000 ms
        pause       |                          ========                    |     500 ms
        recognition |                                 ==                   |     100 ms
        thinking    |                                  =                   |      10 ms
        house       |                                  ==                  |      90 ms
        first words |                                   *                  |    at 2710
        voice       |                                   ===                |      90 ms
        answer      |                                     =================|    1200 ms
        call         home HassTurnOn {"area": "Office"}: allowed, done (90 ms);
                     light.office off -> on
        answer       The office lights are on.
        latency      first sound 800 ms after the last word
        longest wait pause, 500 ms"""
    assert lines == textwrap.dedent(expected).splitlines()


def test_the_head_names_the_turn() -> None:
    head = draw_trace(TURN, [])[0]
    began = TURN.started_at.astimezone()
    assert head == f"01hv0000abcd  {began:%Y-%m-%d %H:%M:%S}  voice  offline  en"


def test_what_went_wrong_is_told() -> None:
    turn = TurnRecord(
        "t",
        TURN.started_at,
        "voice",
        "en",
        error=ErrorRecord("timeout", "The house did not answer."),
        confirmation=ConfirmationRecord("Unlock the front door?", None, "silence"),
    )
    under_way = CallRecord(
        "t", "c", "home", "X", {}, Decision.ALLOWED, Tier.SECURE, TURN.started_at
    )
    assert draw_trace(turn, [under_way])[1:] == [
        "heard        (nothing, or erased)",
        "call         home X {}: allowed, under way (0 ms)",
        "asked        Unlock the front door? silence",
        "answer       (nothing, or erased)",
        "error        timeout: The house did not answer.",
    ]


def test_the_servers_own_reason_is_shown_below_the_call() -> None:
    failed = replace(CALL, status=Status.FAILED, observed=(), reason="MatchFailedError: no lamp")
    lines = draw_trace(TURN, [failed])
    assert lines[-5:-3] == [
        'call         home HassTurnOn {"area": "Office"}: allowed, failed (90 ms)',
        "reason       MatchFailedError: no lamp",
    ]


def test_the_faults_that_began_during_the_turn_are_shown() -> None:
    def fault(problem: str, after_ms: float) -> FaultRecord:
        began = TURN.started_at + timedelta(milliseconds=after_ms)
        return FaultRecord("gemini_set_up", problem, began, began)

    faults = [
        fault("after it", 4000.1),
        fault("at its end", 4000.0),  # the timeline spans 4,000 ms
        fault("at its start", 0.0),
        fault("before it", -0.1),
    ]
    found = faults_during(TURN, faults)
    assert [one.problem for one in found] == ["at its start", "at its end"]
    lines = draw_trace(TURN, [CALL], faults=found)
    told = [lines.index(f"fault        {one.problem}") for one in found]
    assert told == [lines.index("answer       The office lights are on.") - 2 + n for n in (0, 1)]
    as_json = turn_and_calls_json(TURN, [CALL], [], found)["faults"]
    assert [(one["problem"], one["began_at"]) for one in as_json] == [
        ("at its start", "2026-01-01T12:00:00+00:00"),
        ("at its end", "2026-01-01T12:00:04+00:00"),
    ]


def test_how_far_an_answer_was_heard_is_told() -> None:
    turn = TurnRecord("t", TURN.started_at, "voice", "en", answer="One two.", cut_at="One")
    assert draw_trace(turn, [])[2:] == [
        "answer       One two.",
        "cut at       One",
    ]


@pytest.mark.parametrize("stretch", [1.0, 0.001, 1000.0])
def test_no_line_is_wider_than_a_terminal(stretch: float) -> None:
    timeline = {moment: ms * stretch for moment, ms in TIMELINE.items()}
    turn = TurnRecord("t", TURN.started_at, "voice", "en", answer="word " * 100, timeline=timeline)
    assert max(map(len, draw_trace(turn, [CALL]))) <= 80


def test_the_bar() -> None:
    assert draw_bar(TIMELINE, 42) == "|==================-----#+~>>>>>>>>>>>|"
    assert len(draw_bar(TIMELINE)) <= 60


@pytest.mark.parametrize(
    ("timeline", "bar"),
    [
        ({}, ""),
        ({"wake": 5.0}, ""),
        ({"wake": 5.0, "answer_done": 5.0}, "||"),
        ({"heard": 0.0, "first_tool_call": 1.0, "last_tool_result": 50.0}, "|++++++++|"),
        ({"speech_end": 0.0, "heard": 60.0, "answer_done": 60.1}, "|######>|"),
    ],
)
def test_bars_of_turns_that_lack_phases(timeline: dict[str, float], bar: str) -> None:
    assert draw_bar(timeline, 10) == bar


def test_latency_counts_from_the_last_word() -> None:
    assert first_sound_ms(TIMELINE) == 800.0
    assert first_sound_ms({"end_of_turn": 5.0, "first_audio_out": 70.0}) == 65.0  # a typed turn
    assert first_sound_ms({"first_audio_out": 70.0}) is None
    assert first_sound_ms({"wake": 1.0}) is None


SPOKEN = {
    "wake": 500.0,
    "speech_start": 800.0,
    "speech_end": 2000.0,
    "end_of_turn": 2300.0,
    "heard": 2400.0,
    "first_tool_call": 2450.0,
    "last_tool_result": 2700.0,
    "first_reply_text": 2710.0,
    "first_audio_out": 2900.0,
    "answer_done": 4000.0,
}


def test_stages_of_a_spoken_turn() -> None:
    found = {stage.name: (stage.start, stage.end) for stage in stages(SPOKEN) if not stage.instant}
    assert found == {
        "speech": (800.0, 2000.0),
        "pause": (2000.0, 2300.0),
        "recognition": (2300.0, 2400.0),
        "thinking": (2400.0, 2450.0),
        "house": (2450.0, 2700.0),
        "voice": (2710.0, 2900.0),
        "answer": (2900.0, 4000.0),
    }


def test_nobody_waits_for_speech_and_answer() -> None:
    longest = slowest(stages(SPOKEN))
    assert longest == Stage("pause", 2000.0, 2300.0, waited=True)
    assert longest.ms == 300.0


def test_a_quick_turn_has_no_slowest_stage() -> None:
    assert slowest(stages({"end_of_turn": 10.0, "heard": 40.0, "answer_done": 60.0})) is None
    assert stages({}) == []


def test_words_that_come_while_it_answers_already() -> None:
    """A live model reports them late: it has been thinking since the sentence was over."""
    late = {"end_of_turn": 2300.0, "first_reply_text": 2800.0, "heard": 3000.0}
    (thinking,) = [stage for stage in stages(late) if stage.name == "thinking"]
    assert (thinking.start, thinking.end) == (2300.0, 2800.0)


def test_a_typed_turn_has_no_pause() -> None:
    assert [stage.name for stage in stages({"end_of_turn": 0.0, "heard": 80.0})] == ["recognition"]
