"""Tests of Hearth's own tools on the common path, and of what is known of a turn's calls."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from assistant.domain.clock import VirtualClock
from assistant.domain.tool_call import Decision, Status, Tier, ToolCall
from assistant.tools.builtin.protocol import BuiltInRequest, BuiltInResult
from assistant.tools.execution.toolbox import Toolbox
from integrations.errors import Unavailable
from tests.fakes.journal import FakeJournal
from tests.unit.assistant.tools.doubles import Hub, nothing, own_tool, tool, toolbox


@pytest.fixture
def hub() -> Hub:
    return Hub(tool("change"), tool("water"), tool("look", reads=True))


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def journal() -> FakeJournal:
    return FakeJournal()


@pytest.fixture
def box(hub: Hub, clock: VirtualClock, journal: FakeJournal) -> Toolbox:
    return toolbox(hub, clock, journal)


async def test_built_ins_stand_first_in_the_menu_with_their_tier(box: Toolbox) -> None:
    box.offer(own_tool("ponder", nothing))
    rows = [
        (entry.declaration.name, entry.server, entry.tier, entry.rule)
        for entry in (await box.menu()).entries[:2]
    ]
    assert rows == [
        ("GetDateTime", "hearth", Tier.READ, "built-in"),
        ("ponder", "hearth", Tier.COMFORT, "built-in"),
    ]


async def test_they_run_without_any_server(clock: VirtualClock) -> None:
    outcome = await toolbox(Hub(), clock).call(ToolCall("a", "GetDateTime", {}), "t")
    assert (outcome.server, outcome.status) == ("hearth", Status.DONE)
    assert json.loads(outcome.data)["time"] == "12:00"


async def test_they_are_judged_fitted_and_journaled_like_any_other(
    box: Toolbox, journal: FakeJournal
) -> None:
    asked: list[tuple[Mapping[str, Any], BuiltInRequest]] = []

    async def run(arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        asked.append((arguments, request))
        return BuiltInResult("It is so.", "42")

    box.offer(own_tool("ponder", run))
    outcome = await box.call(ToolCall("a", "ponder", {"query": 7}), "t", "what is it", "es")
    assert asked == [
        ({"query": "7"}, BuiltInRequest("t-a", "t", "what is it", "es", said=("what is it",)))
    ]
    assert (outcome.sentence, outcome.data) == ("It is so.", "42")
    assert (outcome.decision, outcome.tier) == (Decision.ALLOWED, Tier.COMFORT)
    assert [row.server for row in journal.started] == ["hearth"]
    assert (journal.turns, journal.finished) == (["t"], [outcome])
    explained = await box.explain("ponder", {})
    assert explained is not None
    assert explained[1].rule == "built-in"


async def test_a_failed_one_says_what_would_have_worked(box: Toolbox) -> None:
    async def run(arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        return BuiltInResult("Which?", failed=True, valid_options=("one", "two"))

    box.offer(own_tool("ponder", run))
    outcome = await box.call(ToolCall("a", "ponder", {}), "t")
    assert (outcome.status, outcome.retryable) == (Status.FAILED, True)
    assert outcome.valid_options == ("one", "two")


async def test_one_that_reaches_nobody_has_failed(box: Toolbox) -> None:
    async def run(arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        raise Unavailable("No network.")

    box.offer(own_tool("ponder", run))
    outcome = await box.call(ToolCall("a", "ponder", {}), "t")
    assert (outcome.status, outcome.data) == (Status.FAILED, "No network.")


async def test_an_unknown_tool_names_the_nearest(box: Toolbox) -> None:
    outcome = await box.call(ToolCall("a", "chance", {}), "t")
    assert (outcome.status, outcome.retryable) == (Status.NOT_RUN, True)
    assert outcome.valid_options == ("change",)
    assert outcome.sentence == ("There's no tool called chance. Did you mean change?")


async def test_a_mutation_is_known_from_its_sending_to_its_end(box: Toolbox, hub: Hub) -> None:
    async with asyncio.TaskGroup() as group:
        await box.menu()
        group.create_task(box.call(ToolCall("a", "change", {}), "t"))
        group.create_task(box.call(ToolCall("b", "look", {}), "t"))
        await VirtualClock().settle()
        assert [(one.name, one.outcome) for one in box.mutations("t")] == [("change", None)]
        hub.answer("done", 0)
        hub.answer("seen", 1)
    (only,) = box.mutations("t")
    assert only.outcome is not None
    assert only.outcome.status is Status.DONE


async def test_what_was_refused_is_no_mutation(box: Toolbox) -> None:
    assert (await box.call(ToolCall("a", "change", {"no": "x"}), "t")).status is Status.NOT_RUN
    assert box.mutations("t") == ()


async def test_a_cancelled_mutation_stays_known(box: Toolbox, hub: Hub) -> None:
    await box.menu()
    task = asyncio.ensure_future(box.call(ToolCall("a", "change", {}), "t"))
    await VirtualClock().settle()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    (only,) = box.mutations("t")
    assert only.outcome is not None
    assert (only.outcome.status, only.outcome.server) == (Status.UNKNOWN, "slow")


async def test_a_call_that_is_cancelled_before_it_was_sent_did_not_run(
    box: Toolbox, hub: Hub, journal: FakeJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def tools() -> list[Any]:
        await asyncio.Event().wait()
        return []

    monkeypatch.setattr(hub, "tools", tools)
    call = ToolCall("a", "change", {"query": "x"})
    task = asyncio.ensure_future(box.call(call, "t"))
    await VirtualClock().settle()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    [turn_id], [kept] = journal.turns, journal.finished
    assert (turn_id, kept.name, kept.arguments) == ("t", "change", {"query": "x"})
    assert kept.status is Status.NOT_RUN
    assert await box.call(call, "t") == kept
    assert box.mutations("t") == ()


async def test_two_brains_may_give_the_same_id(
    box: Toolbox, hub: Hub, journal: FakeJournal
) -> None:
    async with asyncio.TaskGroup() as group:
        await box.menu()
        first = group.create_task(box.call(ToolCall("call-1", "change", {}), "t"))
        second = group.create_task(box.call(ToolCall("call-1", "water", {}), "t"))
        again = group.create_task(box.call(ToolCall("call-1", "water", {}), "t"))
        await VirtualClock().settle()
        hub.answer("changed", 0)
        hub.answer("watered", 1)
    assert [name for name, _ in hub.calls] == ["change", "water"]
    assert [task.result().id for task in (first, second)] == ["call-1", "call-1"]
    assert again.result() is second.result()
    assert [row.id for row in journal.started] == ["call-1", "call-1~2"]
    assert [row.id for row in journal.finished] == ["call-1", "call-1~2"]


async def test_a_withdrawn_call_is_never_sent(
    box: Toolbox, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = asyncio.Event()

    async def tools() -> list[Any]:
        await listed.wait()
        return [tool("change")]

    monkeypatch.setattr(hub, "tools", tools)
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(box.call(ToolCall("a", "change", {}), "t"))
        await VirtualClock().settle()
        box.withdraw("t")
        anew = group.create_task(box.call(ToolCall("a", "change", {}), "t"))
        listed.set()
        await VirtualClock().settle()
        hub.answer("changed")
    assert waiting.result().status is Status.NOT_RUN
    assert anew.result().status is Status.DONE
    assert len(hub.calls) == 1
