"""What the service bills is told once."""

from assistant.brains.gemini.calls import UsageMeter
from integrations.gemini.events import TokensUsed


def used(count: int) -> TokensUsed:
    return TokensUsed(count, count // 10, {"input_audio": count})


def test_the_last_counts_of_an_interaction_hold() -> None:
    meter = UsageMeter()
    meter.begin()
    meter.count(used(100))
    meter.count(used(300))
    assert meter.take() == (used(300),)
    assert meter.take() == ()


def test_what_comes_after_telling_is_told_next_time() -> None:
    meter = UsageMeter()
    meter.count(used(100))
    meter.take()
    meter.count(used(150))
    meter.begin()
    meter.count(used(20))
    assert meter.take() == (used(50), used(20))


def test_what_a_cut_off_turn_cost_is_told_with_the_next() -> None:
    meter = UsageMeter()
    meter.count(used(100))
    meter.begin()
    assert meter.take() == (used(100),)


def test_counts_that_shrink_take_nothing_back() -> None:
    meter = UsageMeter()
    meter.count(used(100))
    meter.take()
    meter.count(used(40))
    assert meter.take() == (TokensUsed(0, 0, {"input_audio": 0}),)
