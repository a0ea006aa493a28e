"""Calls are answered once, and those of one frame together."""

import asyncio

import pytest

from assistant.brains.gemini.calls import OpenCalls
from integrations.gemini.events import FunctionCall

DONE: dict[str, object] = {"status": "done"}


@pytest.fixture
def calls() -> OpenCalls:
    """Two calls of one frame and one of another."""
    opened = OpenCalls()
    opened.opened([FunctionCall("1", "f", {}), FunctionCall("2", "g", {})])
    opened.opened([FunctionCall("3", "h", {})])
    return opened


def test_a_batch_goes_when_its_last_result_is_there(calls: OpenCalls) -> None:
    assert calls.answered("2", DONE) == ()
    answers = calls.answered("1", DONE)
    assert answers is not None
    assert [(one.id, one.name) for one in answers] == [("2", "g"), ("1", "f")]


def test_batches_do_not_wait_for_each_other(calls: OpenCalls) -> None:
    assert [one.id for one in calls.answered("3", DONE) or ()] == ["3"]


@pytest.mark.parametrize("id", ["3", "9"])
def test_a_second_or_unknown_result_is_nobodys(calls: OpenCalls, id: str) -> None:
    calls.answered("3", DONE)
    assert calls.answered(id, DONE) is None


def test_an_open_call_that_comes_again_is_not_new(calls: OpenCalls) -> None:
    again = [FunctionCall("2", "g", {}), FunctionCall("4", "i", {})]
    assert [call.id for call in calls.opened(again)] == ["4"]


def test_a_cancelled_call_is_not_answered(calls: OpenCalls) -> None:
    assert calls.cancelled(["3", "9"]) == (("3",), ())
    assert calls.answered("3", DONE) is None


def test_the_rest_of_a_batch_goes_when_the_missing_one_is_cancelled(calls: OpenCalls) -> None:
    calls.answered("1", DONE)
    gone, to_send = calls.cancelled(["2"])
    assert (gone, [one.id for one in to_send]) == (("2",), ["1"])


def test_a_ready_result_is_not_sent_after_its_cancellation(calls: OpenCalls) -> None:
    calls.answered("1", DONE)
    calls.cancelled(["1"])
    assert [one.id for one in calls.answered("2", DONE) or ()] == ["2"]


def test_giving_up_answers_everything_once(calls: OpenCalls) -> None:
    calls.answered("1", DONE)
    answers = calls.give_up({"status": "unknown"})
    assert [(one.id, one.response["status"]) for one in answers] == [
        ("1", "done"),
        ("2", "unknown"),
        ("3", "unknown"),
    ]
    assert calls.answered("2", DONE) is None


async def test_settled_when_nothing_is_open(calls: OpenCalls) -> None:
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(calls.settled())
        calls.cancelled(["1", "2"])
        await asyncio.sleep(0)
        assert not waiting.done()
        calls.answered("3", DONE)
