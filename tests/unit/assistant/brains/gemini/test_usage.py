"""Tests of a Gemini conversation's token counts: all tokens are reported exactly once."""

from dataclasses import replace

import pytest

from assistant.brains.gemini.usage import UsageMeter, spent
from integrations.gemini.events import (
    FunctionCall,
    FunctionCalls,
    GenerationComplete,
    InputText,
    OutputAudio,
    OutputText,
    TokensUsed,
    TurnComplete,
)
from integrations.gemini.setup import LiveSetup, full_at_tokens
from tests.unit.assistant.brains.gemini.doubles import ROW

SETUP = LiveSetup(ROW, "x" * 4_000, ())  # 1,000 tokens
SECOND = bytes(2 * 16_000)  # 25 tokens
SAID = OutputAudio(bytes(2 * 24_000), 24_000)  # 25 tokens


def used(count: int) -> TokensUsed:
    return TokensUsed(count, count // 10, {"input_audio": count, "output_audio": count // 10})


@pytest.fixture
def meter() -> UsageMeter:
    made = UsageMeter()
    made.opened(SETUP)
    made.begin()
    return made


def ask(meter: UsageMeter, *answer: OutputAudio | OutputText | TokensUsed | FunctionCalls) -> None:
    """Speak for a second and receive the answer."""
    meter.heard(SECOND)
    meter.generates()
    for event in answer:
        meter.note(event)


# --- What the service reports.


def test_the_last_counts_of_an_interaction_hold(meter: UsageMeter) -> None:
    meter.count(used(100))
    meter.count(used(300))
    assert meter.take() == (used(300),)
    assert meter.take() == ()


def test_what_comes_after_telling_is_told_next_time(meter: UsageMeter) -> None:
    meter.count(used(100))
    meter.take()
    meter.count(used(150))
    meter.begin()
    meter.count(used(20))
    assert meter.take() == (used(50), used(20))


def test_what_a_cut_off_turn_cost_is_told_with_the_next(meter: UsageMeter) -> None:
    meter.count(used(100))
    meter.begin()
    assert meter.take() == (used(100),)


def test_counts_that_shrink_take_nothing_back(meter: UsageMeter) -> None:
    meter.count(used(100))
    meter.take()
    meter.count(used(40))
    assert meter.take() == ()


# --- What it does not report.


def test_an_answer_without_usage_is_estimated(meter: UsageMeter) -> None:
    ask(meter, SAID, SAID)
    (found,) = meter.take()
    parts = {"input_text": 1_000, "input_audio": 25, "output_audio": 50}
    assert found == TokensUsed(1_025, 50, parts, estimated=True)
    cost = spent(ROW, found)
    assert cost.usage.estimated
    assert cost.cost_usd == pytest.approx((1_000 * 0.75 + 25 * 3 + 50 * 12) / 1e6)


def test_the_context_is_read_again_in_every_turn_and_after_every_result(meter: UsageMeter) -> None:
    call = FunctionCalls((FunctionCall("1", "turn_on", {}),))  # "turn_on{}": 3 tokens
    ask(meter, call)
    meter.wrote("x" * 40)
    meter.generates()
    meter.note(SAID)
    (found,) = meter.take()
    assert found.input_tokens == (1_000 + 25) + (1_000 + 25 + 3 + 10)
    meter.begin()
    ask(meter, SAID)
    (found,) = meter.take()
    assert found.input_tokens == 1_000 + 25 + 13 + 25 + 25


def test_usage_that_comes_after_its_estimate_is_not_paid_twice(meter: UsageMeter) -> None:
    ask(meter, SAID)
    (estimate,) = meter.take()
    meter.count(TokensUsed(1_500, 25, {"input_text": 1_500, "output_audio": 25}))
    meter.begin()
    (rest,) = meter.take()
    assert estimate.input_tokens + rest.input_tokens == 1_500
    assert (rest.output_tokens, rest.estimated) == (0, False)


def test_a_request_that_fails_before_any_answer_costs_nothing(meter: UsageMeter) -> None:
    ask(meter)
    meter.note(InputText("turn on the"))
    meter.note(GenerationComplete())
    assert meter.take() == ()
    meter.note(TurnComplete())
    (found,) = meter.take()
    assert (found.input_tokens, found.estimated) == (1_025, True)


def test_a_request_that_hearth_gives_up_may_be_charged(meter: UsageMeter) -> None:
    ask(meter)
    meter.give_up()
    (found,) = meter.take()
    assert (found.input_tokens, found.output_tokens, found.estimated) == (1_025, 0, True)


def test_what_the_next_interaction_has_read_is_its_own(meter: UsageMeter) -> None:
    ask(meter, SAID)
    meter.heard(SECOND)
    meter.generates(is_next=True)
    meter.count(used(1_100))
    meter.begin()
    meter.note(SAID)
    first, second = meter.take()
    assert first == used(1_100)
    assert (second.input_tokens, second.estimated) == (1_000 + 3 * 25, True)


# --- The session's context.


def test_a_session_is_full_one_turn_before_the_service_trims_it(meter: UsageMeter) -> None:
    assert full_at_tokens(SETUP) == 8_500
    meter.count(TokensUsed(2_600, 50))
    assert not meter.is_full
    meter.begin()
    meter.count(TokensUsed(8_400, 50))
    assert not meter.is_full
    ask(meter, SAID)
    assert meter.is_full
    meter.opened(replace(SETUP, handle="h"))
    assert meter.is_full, "a resumed session keeps its context"
    meter.opened(SETUP)
    assert not meter.is_full


def test_without_usage_the_estimate_fills_it(meter: UsageMeter) -> None:
    turns = 0
    while not meter.is_full:
        ask(meter, *[SAID] * 20)
        turns += 1
    assert turns == 15  # 7,500 tokens of conversation, 525 a turn


def test_a_small_window_is_the_limit() -> None:
    small = replace(ROW, context_tokens=4_000)
    assert full_at_tokens(replace(SETUP, row=small)) == 2_500


def test_one_that_is_full_from_the_start_is_kept(meter: UsageMeter) -> None:
    meter.count(TokensUsed(9_000, 10))
    assert not meter.is_full, "a new session would be as full"
    meter.begin()
    meter.count(TokensUsed(11_500, 10))
    assert meter.is_full


def test_a_changed_menu_replaces_the_old_one(meter: UsageMeter) -> None:
    meter.changed(SETUP, replace(SETUP, instruction="x" * 6_000))
    ask(meter, SAID)
    (found,) = meter.take()
    assert found.by_modality["input_text"] == 1_500
