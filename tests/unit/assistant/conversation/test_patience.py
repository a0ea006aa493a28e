"""How long a silent brain is waited for."""

import asyncio

import pytest

from assistant.conversation.thinking import Patience


async def _wait(patience: Patience) -> None:
    async with patience.bound():
        try:
            await asyncio.Event().wait()
        finally:
            patience.excuse("too late")  # neither mends nor breaks anything any more
            patience.expect("too late")


def _ends_at(patience: Patience) -> float | None:
    assert patience._timeout is not None
    return patience._timeout.when()


async def test_it_ends_when_nothing_comes() -> None:
    patience = Patience(0.01)
    with pytest.raises(TimeoutError):
        await _wait(patience)
    patience.excuse("outside")


async def test_it_lasts_while_there_is_any_excuse() -> None:
    patience = Patience(30.0)
    patience.excuse("the person speaks")
    async with patience.bound():
        assert _ends_at(patience) is None
        patience.excuse("a call")
        patience.expect("the person speaks")
        assert _ends_at(patience) is None
        patience.expect("a call")
        assert _ends_at(patience) is not None
        patience.expect("a call")  # twice is once
        patience.excuse("another call")
        assert _ends_at(patience) is None


async def test_each_word_begins_it_anew() -> None:
    loop = asyncio.get_running_loop()
    patience = Patience(30.0)
    async with patience.bound():
        before = loop.time()
        patience.excuse("its own words")
        patience.expect("its own words")
        ends_at = _ends_at(patience)
    assert ends_at is not None
    assert before + 30.0 <= ends_at <= loop.time() + 30.0


async def test_a_cancelled_turn_is_no_impatience() -> None:
    task = asyncio.create_task(_wait(Patience(30.0)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
