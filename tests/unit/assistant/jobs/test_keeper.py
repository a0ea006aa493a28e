"""The life of a job: its end, its limit, its being dropped or left."""

import pytest

from assistant.domain.outcome import Status
from tests.unit.assistant.jobs.conftest import Bench


async def test_a_job_is_given_up_in_the_end(bench: Bench) -> None:
    await bench.job("change", query="the awning")
    await bench.clock.run(599)
    assert bench.announced == []
    await bench.clock.run(1)
    await bench.settle()
    assert bench.announced == [
        ("I gave this up, because it took too long: change, the awning.", "en")
    ]
    assert bench.jobs.under_way() == ()


async def test_a_job_that_breaks_says_so_and_hurts_no_other(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    await bench.job("change", "t1")
    await bench.job("change", "t2")
    bench.hub.answers[0].set_exception(ZeroDivisionError())
    await bench.settle()
    assert bench.announced == [
        ("I could not finish this: change. Something went wrong inside me.", "en")
    ]
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
    assert task.result().sentence.startswith("It was dropped")


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
