"""Whose the events of a session are."""

import pytest

from assistant.brains.gemini.event_reader import TurnAttribution
from integrations.gemini.events import (
    FunctionCall,
    FunctionCalls,
    InputText,
    Interrupted,
    LiveEvent,
    OutputAudio,
    OutputText,
    TurnComplete,
)

TEXT = OutputText("Yes.", with_sound=True)
SOUND = OutputAudio(b"", 24_000)
CALLS = FunctionCalls((FunctionCall("1", "f", {}),))
HEARD = InputText("turn on")
END = TurnComplete()


def answering() -> TurnAttribution:
    """A turn whose sentence is over."""
    belonging = TurnAttribution()
    belonging.attach()
    belonging.speech_begins()
    belonging.sentence_over()
    return belonging


def cut_off() -> TurnAttribution:
    """A new turn is listening, the one before it left in the middle of the answer."""
    belonging = answering()
    belonging.judge(TEXT)
    belonging.leave()
    belonging.attach()
    return belonging


@pytest.mark.parametrize("event", [TEXT, SOUND, CALLS, HEARD, END])
def test_after_the_sentence_everything_is_the_turns(event: LiveEvent) -> None:
    assert answering().judge(event)


@pytest.mark.parametrize("event", [TEXT, SOUND, CALLS, END])
def test_an_answer_before_the_end_of_the_sentence_is_an_earlier_turns(event: LiveEvent) -> None:
    belonging = TurnAttribution()
    belonging.attach()
    assert not belonging.judge(event)


def test_what_is_heard_comes_early() -> None:
    belonging = TurnAttribution()
    belonging.attach()
    belonging.speech_begins()
    assert belonging.judge(HEARD)


def test_what_is_transcribed_before_a_turn_speaks_was_said_in_an_earlier_one() -> None:
    belonging = answering()
    belonging.judge(END)
    belonging.attach()
    assert not belonging.judge(HEARD)


def test_nothing_of_a_typed_turn_is_heard() -> None:
    belonging = TurnAttribution()
    belonging.attach()
    belonging.sentence_over()
    assert not belonging.judge(HEARD)


@pytest.mark.parametrize("event", [TEXT, HEARD, CALLS])
def test_without_a_turn_nothing_is_anyones(event: LiveEvent) -> None:
    assert not TurnAttribution().judge(event)


@pytest.mark.parametrize(
    "before", [[END], [Interrupted(), END], [TEXT, SOUND, CALLS, Interrupted(), END]]
)
def test_a_cut_off_answer_is_discarded_up_to_its_end(before: list[LiveEvent]) -> None:
    belonging = cut_off()
    belonging.sentence_over()
    assert [belonging.judge(event) for event in before] == [False] * len(before)
    assert belonging.judge(TEXT)


def test_an_interaction_that_goes_on_is_not_its_end() -> None:
    belonging = cut_off()
    assert not belonging.judge(TurnComplete(idle=False))
    assert belonging.debt


def test_after_an_interruption_any_end_is() -> None:
    belonging = cut_off()
    belonging.judge(Interrupted())
    belonging.judge(TurnComplete(idle=False))
    assert not belonging.debt


def test_an_answer_that_ended_between_the_turns_leaves_nothing_behind() -> None:
    belonging = answering()
    belonging.leave()
    belonging.judge(END)
    belonging.attach()
    belonging.sentence_over()
    assert belonging.judge(TEXT)


def test_a_complete_answer_leaves_nothing_behind() -> None:
    belonging = answering()
    belonging.judge(END)
    belonging.leave()
    assert not belonging.debt


def test_an_interruption_of_what_was_already_complete_is_no_turns() -> None:
    belonging = answering()
    belonging.judge(END)
    belonging.leave()
    belonging.attach()
    assert [belonging.judge(event) for event in (Interrupted(), END)] == [False, False]
    belonging.sentence_over()
    assert belonging.judge(TEXT)


def test_an_interruption_of_the_answer_itself_is_the_turns() -> None:
    belonging = answering()
    belonging.judge(TEXT)
    assert belonging.judge(Interrupted())


def test_results_for_an_earlier_turn_make_it_go_on() -> None:
    belonging = TurnAttribution()
    belonging.attach()
    belonging.continues()
    belonging.sentence_over()
    assert [belonging.judge(event) for event in (TEXT, END, TEXT)] == [False, False, True]
