"""A timeline as stages, and the one that was waited for longest."""

from assistant.journal.trace import Stage, slowest, stages

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
    """A live model tells them late: it has thought since the sentence was over."""
    late = {"end_of_turn": 2300.0, "first_reply_text": 2800.0, "heard": 3000.0}
    (thinking,) = [stage for stage in stages(late) if stage.name == "thinking"]
    assert (thinking.start, thinking.end) == (2300.0, 2800.0)


def test_a_typed_turn_has_no_pause() -> None:
    assert [stage.name for stage in stages({"end_of_turn": 0.0, "heard": 80.0})] == ["recognition"]
