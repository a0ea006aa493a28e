"""Tests of a job's life: its end, its limit, and dropping or leaving it."""

import asyncio

import pytest

from assistant.domain.tool_call import SentenceMatch, Status, ToolCall, ToolOutcome
from tests.unit.assistant.jobs.conftest import Bench


async def test_a_job_is_given_up_in_the_end(bench: Bench) -> None:
    await bench.job("change", query="the awning")
    await bench.clock.run(599)
    assert bench.announced == []
    await bench.clock.run(1)
    await bench.settle()
    assert bench.announced == [
        ("I gave up on this because it took too long: change, the awning.", "en")
    ]
    assert bench.jobs.under_way() == ()


async def test_a_job_that_breaks_says_so_and_hurts_no_other(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    await bench.job("change", "t1")
    await bench.job("change", "t2")
    bench.hub.answers[0].set_exception(ZeroDivisionError())
    await bench.settle()
    assert bench.announced == [("I couldn't finish this: change. Something went wrong.", "en")]
    assert "ZeroDivisionError" in caplog.text
    assert [job.turn_id for job in bench.jobs.under_way()] == ["t2"]


async def test_a_dropped_job_announces_nothing(bench: Bench) -> None:
    await bench.job("change")
    bench.jobs.drop(bench.jobs.under_way())
    await bench.settle()
    assert bench.announced == []
    assert bench.jobs.under_way() == ()
    assert [outcome.status for outcome in bench.journal.finished] == [Status.UNKNOWN]


async def test_a_turn_that_still_waits_learns_that_its_call_was_dropped(bench: Bench) -> None:
    task = bench.begin("change")
    await bench.settle()
    bench.jobs.drop(bench.jobs.under_way())
    await bench.settle()
    assert (task.result().status, task.result().running) == (Status.UNKNOWN, False)
    assert task.result().sentence.startswith("The person asked to stop this")


async def test_a_turn_that_was_cut_off_is_left_in_peace(bench: Bench) -> None:
    thinking = bench.begin("think_longer", question="why")
    change = bench.begin("change")
    await bench.settle()
    bench.jobs.leave("t")
    await bench.clock.run(20)
    assert not thinking.result().running
    assert change.result().running
    bench.hub.answer("changed")
    await bench.settle()
    assert bench.announced == []
    assert [outcome.status for outcome in bench.journal.finished] == [
        Status.UNKNOWN,
        Status.DONE,
    ]


async def test_a_job_is_not_left_with_its_turn(bench: Bench) -> None:
    await bench.job("change")
    bench.jobs.leave("t")
    bench.hub.answer("changed")
    await bench.settle()
    assert len(bench.announced) == 1


# A call of more than twenty seconds goes on without the turn.


async def test_a_call_that_is_back_in_time_is_answered_as_ever(bench: Bench) -> None:
    task = bench.begin("change")
    await bench.clock.run(19.9)
    assert not task.done()
    bench.hub.answer("changed")
    await bench.settle()
    assert (task.result().status, task.result().running) == (Status.DONE, False)
    assert bench.jobs.under_way() == ()
    assert bench.clock.sleepers == 0
    assert bench.announced == []


async def test_a_call_that_takes_longer_is_answered_as_running(bench: Bench) -> None:
    outcome = await bench.job("change")
    assert (outcome.id, outcome.server, outcome.name) == ("a", "slow", "change")
    assert (outcome.status, outcome.running, outcome.retryable) == (Status.UNKNOWN, True, False)
    assert outcome.ms == 20_000
    assert outcome.sentence.startswith("This will take a while")
    (mutation,) = bench.box.mutations("t")
    assert mutation.outcome is None
    assert bench.journal.finished == []


async def test_its_end_is_journaled_and_announced_once(bench: Bench) -> None:
    await bench.job("change", language="es", query="el toldo")
    bench.hub.answer("changed")
    await bench.settle()
    assert [outcome.status for outcome in bench.journal.finished] == [Status.DONE]
    assert bench.announced == [("Sobre change, el toldo: Hecho.", "es")]
    assert bench.jobs.under_way() == ()
    assert bench.clock.sleepers == 0


async def test_a_sentence_for_the_home_goes_by_its_words(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(*_: object) -> ToolOutcome:
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(bench.box, "call", hang)
    match = SentenceMatch("start the big show", "en", "trigger")
    call = ToolCall("a", "conversation.process", {"text": match.text}, match)
    waiting = asyncio.ensure_future(bench.patient.call(call, "t", match.text, "en"))
    await bench.clock.run(20)
    assert (await waiting).running
    (job,) = bench.jobs.under_way()
    assert (job.label, job.own) == ("start the big show", False)


async def test_a_repeated_call_is_not_made_again(bench: Bench) -> None:
    first = bench.begin("change")
    second = bench.begin("change")
    await bench.clock.run(20)
    assert first.result().running
    assert second.result().running
    third = bench.begin("change")
    await bench.settle()
    assert third.result().running
    bench.hub.answer("changed")
    await bench.settle()
    last = bench.begin("change")
    await bench.settle()
    assert last.result().status is Status.DONE
    assert len(bench.hub.calls) == 1
    assert len(bench.announced) == 1


async def test_a_short_process_waits_to_the_end(short: Bench) -> None:
    task = short.begin("change")
    await short.clock.run(100)
    assert not task.done()
    short.hub.answer("changed")
    await short.settle()
    assert task.result().status is Status.DONE


async def test_a_cancelled_wait_cancels_the_call(bench: Bench) -> None:
    task = bench.begin("change")
    await bench.settle()
    task.cancel()
    await bench.settle()
    assert task.cancelled()
    assert bench.jobs.under_way() == ()
    assert [outcome.status for outcome in bench.journal.finished] == [Status.UNKNOWN]


async def test_what_breaks_in_the_wait_is_raised(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(bench.hub, "call", broken)
    with pytest.raises(ZeroDivisionError):
        await bench.patient.call(ToolCall("a", "change", {}), "t", None, "en")


async def test_leaving_ends_every_job_without_a_word() -> None:
    bench = Bench(words=False, after_s=20.0)
    async with bench.open():
        await bench.job("change", "t1")
        await bench.job("think_longer", "t2", question="why")
    assert bench.announced == []
    assert {outcome.status for outcome in bench.journal.finished} == {Status.UNKNOWN}
    assert len(asyncio.all_tasks()) == 1
