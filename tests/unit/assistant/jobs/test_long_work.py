"""Tests of long thinking, of asking what goes on, and of dropping it."""

from dataclasses import replace

import pytest

from assistant.domain.brain import BrainFault
from assistant.domain.tool_call import (
    CALLERS,
    CallContext,
    Decision,
    Status,
    Tier,
    ToolCall,
    ToolOutcome,
)
from assistant.jobs.thinking import MAX_CALLS, MAX_ROUNDS, LongThinking
from assistant.speech.catalogue import Catalogue
from assistant.tools.execution.toolbox import Toolbox
from assistant.tools.policy.rules import Rulings
from tests.fakes.home import StillHome
from tests.fakes.journal import FakeJournal
from tests.unit.assistant.jobs.conftest import Bench
from tests.unit.assistant.tools.doubles import Hub, nothing, own_tool


async def ask(bench: Bench, name: str, **arguments: str) -> ToolOutcome:
    task = bench.begin(name, "asking", **arguments)
    await bench.settle()
    return task.result()


async def test_a_quick_thought_is_the_calls_answer(bench: Bench) -> None:
    task = bench.begin("think_longer", question="Why?")
    await bench.settle()
    bench.thinker.answer(" Because. ")
    await bench.settle()
    outcome = task.result()
    assert (outcome.status, outcome.tier, outcome.data) == (Status.DONE, Tier.COMFORT, "Because.")
    assert bench.announced == []
    assert bench.spent == [("t-a", 10, 0.25)]


async def test_a_long_thought_is_announced(bench: Bench) -> None:
    assert (await bench.job("think_longer", question="Why?")).running
    bench.thinker.answer("Because.")
    await bench.settle()
    assert bench.announced == [("Here's the answer I was working on. Because.", "en")]


@pytest.mark.parametrize("after_s", [20.0, None])
async def test_no_more_than_three_thoughts_at_once(after_s: float | None) -> None:
    async with Bench(words=False, after_s=after_s).open() as bench:
        tasks = [bench.begin("think_longer", f"t{number}", question="Why?") for number in range(4)]
        await bench.settle()
        assert [task.done() for task in tasks] == [False, False, False, True]
        assert tasks[3].result().sentence.startswith("I'm already working on several things")
        bench.thinker.answer("Because.", 0)
        await bench.settle()
        assert tasks[0].done()
        another = bench.begin("think_longer", "t5", question="Why?")
        await bench.settle()
        assert not another.done()


async def test_it_thinks_as_the_profile_says_with_the_homes_tools(bench: Bench) -> None:
    bench.begin("think_longer", language="es", question="Why?")
    await bench.settle()
    (asked,) = bench.thinker.asked
    assert asked.question == "Why?"
    assert asked.instruction.startswith("You are the mind of the house.")
    assert "language es" in asked.instruction
    assert asked.declarations == ("GetDateTime", "change", "look")
    assert (asked.rounds, asked.thinking) == (MAX_ROUNDS, "high") == (15, "high")
    bench.thinker.answer("Because.")


async def test_its_calls_are_a_turn_of_their_own_with_the_persons_words(bench: Bench) -> None:
    bench.begin("think_longer", question="Why?")
    await bench.settle()
    first = bench.thinker.asked[0].call(ToolCall("x", "change", {}))
    async with bench.running(first) as running:
        bench.hub.answer("changed")
    assert running.result().status is Status.DONE
    assert [row.turn_id for row in bench.journal.started] == ["t", "t-a"]
    assert [one.name for one in bench.box.mutations("t-a")] == ["change"]
    assert [one.name for one in bench.box.mutations("t")] == ["think_longer"]
    bench.thinker.answer("Because.")


@pytest.mark.parametrize(
    ("situation", "rule"),
    [
        (CallContext(), "unbolt"),
        (CallContext(near_own_speech=True), "own_speech"),
        (CallContext(searched=True), "tainted"),
    ],
)
async def test_its_calls_may_no_more_than_their_turn(
    bench: Bench, situation: CallContext, rule: str
) -> None:
    secure = own_tool("unbolt", nothing, Tier.SECURE)
    loose = Rulings(secure="allow")
    box = Toolbox(Hub(), StillHome(), FakeJournal(), Catalogue(), bench.clock, rulings=loose)
    thinking = LongThinking(bench.thinker, box, bench.jobs, bench.guide, bench.spend, Catalogue())
    box.offer(thinking.tool(), secure)
    call = ToolCall("a", "think_longer", {"question": "Why?"})
    async with bench.running(box.call(call, "t", "why", "en", situation)):
        outcome = await bench.thinker.asked[0].call(ToolCall("x", "unbolt", {}))
        bench.thinker.answer("Because.")
    allowed = rule == "unbolt"
    assert outcome.decision is (Decision.ALLOWED if allowed else Decision.DENIED)
    assert outcome.rule == ("built-in" if allowed else rule)


@pytest.mark.parametrize("name", ["think_longer", "drop_it", "what_are_you_doing"])
async def test_it_cannot_think_about_itself(bench: Bench, name: str) -> None:
    bench.begin("think_longer", question="Why?")
    await bench.settle()
    outcome = await bench.thinker.asked[0].call(ToolCall("x", name, {"question": "Why?"}))
    assert outcome.status is Status.NOT_RUN
    assert len(bench.thinker.asked) == 1
    bench.thinker.answer("Because.")


async def test_its_calls_are_counted(bench: Bench) -> None:
    bench.begin("think_longer", question="Why?")
    await bench.settle()
    call = bench.thinker.asked[0].call
    made = [await call(ToolCall(str(i), "GetDateTime", {})) for i in range(MAX_CALLS + 1)]
    assert [one.status for one in made[-2:]] == [Status.DONE, Status.NOT_RUN]
    bench.thinker.answer("Because.")


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (
            BrainFault("unreachable", "No network.", retryable=True),
            "I couldn't reach the AI service I use. Please try again in a moment.",
        ),
        (" ", "I thought about it but didn't find an answer."),
    ],
)
async def test_no_answer_is_told_at_once_or_announced(
    bench: Bench, answer: str | BrainFault, sentence: str
) -> None:
    task = bench.begin("think_longer", "t1", question="Why?")
    await bench.settle()
    bench.thinker.answer(answer)
    await bench.settle()
    assert task.result().status is Status.FAILED
    assert task.result().sentence.startswith(sentence)
    await bench.job("think_longer", "t2", question="Why?")
    bench.thinker.answer(answer)
    await bench.settle()
    ((text, _),) = bench.announced
    assert text.startswith(f"About Why?: {sentence}")


async def test_what_failed_was_paid_for_all_the_same(bench: Bench) -> None:
    bench.begin("think_longer", question="Why?")
    await bench.settle()
    bench.thinker.answer(BrainFault("timeout", "Too late.", retryable=True))
    await bench.settle()
    assert bench.spent == [("t-a", 10, 0.25)]


async def test_only_so_many_at_once(bench: Bench) -> None:
    for number in range(3):
        await bench.job("think_longer", f"t{number}", question="Why?")
    outcome = await ask(bench, "think_longer", question="And why?")
    assert outcome.status is Status.FAILED
    assert outcome.sentence.startswith("I'm already working on several things")
    assert len(bench.thinker.asked) == 3


async def test_nothing_to_do_is_said(bench: Bench) -> None:
    for name in ("what_are_you_doing", "drop_it"):
        outcome = await ask(bench, name)
        assert outcome.sentence == "I'm not working on anything in the background."


async def test_what_goes_on_is_told_with_its_beginning(bench: Bench) -> None:
    await bench.job("think_longer", "t1", question="Best day for the garden?")
    await bench.clock.run(60)
    await bench.job("look", "t2", query="trains")
    outcome = await ask(bench, "what_are_you_doing")
    assert outcome.sentence == (
        "I'm still working on this: "
        "Best day for the garden?, since 12:00; look, trains, since 12:01."
    )


async def test_drop_it_drops_all(bench: Bench) -> None:
    await bench.job("think_longer", "t1", question="Why?")
    await bench.job("look", "t2", query="trains")
    outcome = await ask(bench, "drop_it")
    assert outcome.sentence == "OK, I've stopped working on this: Why?; look, trains."
    await bench.settle()
    assert bench.jobs.under_way() == ()
    assert bench.announced == []


@pytest.mark.parametrize("which", ["the JARDIN thing", "best day", "jardín?"])
async def test_drop_it_drops_the_one_that_is_named(bench: Bench, which: str) -> None:
    await bench.job("think_longer", "t1", question="Best day for the jardín?")
    await bench.job("look", "t2", query="trains to the sea")
    outcome = await ask(bench, "drop_it", which=which)
    assert outcome.status is Status.DONE
    await bench.settle()
    assert [job.turn_id for job in bench.jobs.under_way()] == ["t2"]


@pytest.mark.parametrize(
    ("which", "start"),
    [
        ("the weather", "I'm not working on that"),
        ("trains", "Which one do you mean"),
        ("dinner", "I'm not working on that"),
    ],
)
async def test_in_doubt_nothing_is_dropped(bench: Bench, which: str, start: str) -> None:
    await bench.job("look", "t1", query="the trains north")
    await bench.job("look", "t2", query="the trains south")
    outcome = await ask(bench, "drop_it", which=which)
    assert outcome.sentence.startswith(start)
    assert len(outcome.valid_options) == 2
    assert len(bench.jobs.under_way()) == 2


async def test_it_never_drops_itself_or_its_own_turn(bench: Bench) -> None:
    bench.begin("look", "asking")
    await bench.settle()
    outcome = await ask(bench, "drop_it")
    assert outcome.sentence == "I'm not working on anything in the background."
    bench.hub.answer("seen")


async def test_a_programs_thinking_is_told_no_more_of_people_than_it_may_read(bench: Bench) -> None:
    for rights, recalls in ((CALLERS, False), (replace(CALLERS, recalls=True), True)):
        bench.box.restrict(f"t{recalls}", rights, "mcp:agent")
        bench.begin("think_longer", f"t{recalls}", question="Why?")
        await bench.settle()
        assert bench.recalls is recalls
    bench.begin("think_longer", "of people", question="Why?")
    await bench.settle()
    assert bench.recalls is True
    for number in range(3):
        bench.thinker.answer("Because.", number)


async def test_people_are_told_of_a_programs_work_without_its_words(bench: Bench) -> None:
    bench.box.restrict("of a program", CALLERS, "mcp:agent")
    await bench.job("think_longer", "of a program", question="about a bandicoot")
    told = await bench.box.call(ToolCall("b", "what_are_you_doing", {}), "t2")
    assert "bandicoot" not in told.sentence
    assert "think longer" in told.sentence
    bench.thinker.answer("Because.")
