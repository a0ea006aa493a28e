"""Tests of which brain gets a turn, and of when no further brain may get it."""

import asyncio
from dataclasses import replace

import pytest

from assistant.brains.fallback import SETTLE_S
from assistant.domain.brain import (
    PEOPLE,
    BrainFault,
    FaultKind,
    Heard,
    NotMeant,
    Reached,
    ReplyAudio,
    ReplyText,
    Restarted,
    Serving,
    ToolCallsCancelled,
    TurnDone,
)
from assistant.domain.tool_call import ToolCall
from tests.unit.assistant.brains.scripted import (
    DONE,
    LIVE,
    ONCE,
    REQUEST,
    Answered,
    Hold,
    Stage,
    Step,
    call,
    fault,
    outcome_of,
    said,
    served,
)

# --- from one attempt to the next


Scripts = list[list[Step]]
HELLO: list[Step] = [Reached("connected"), Heard("hello", "en"), *DONE]
SOUND, HALF = ReplyAudio(b"\0\0", 24_000), ReplyText("Half a")
EMPTY, AWAY_TOO = fault("empty", retryable=True), fault("house_away", retryable=True)
ATTEMPTS: dict[str, tuple[Scripts, Scripts, list[Step]]] = {
    "the first slot serves": ([HELLO], [], [Serving(LIVE), *HELLO]),
    "silence that is meant is an end": ([[NotMeant()]], [], [Serving(LIVE), NotMeant()]),
    "once more": ([[EMPTY], DONE], [], [Serving(LIVE), Serving(LIVE), *DONE]),
    "after two the next": (
        [[EMPTY], [EMPTY]], [DONE], [Serving(LIVE), Serving(LIVE), Serving(ONCE), *DONE],
    ),
    "after two the next, also without the house": (
        [[AWAY_TOO]] * 2, [DONE], [Serving(LIVE), Serving(LIVE), Serving(ONCE), *DONE],
    ),
    "what was said before a fault is void": (
        [[HALF, EMPTY], DONE], [], [Serving(LIVE), HALF, Restarted(), Serving(LIVE), *DONE],
    ),
    "so is its own voice": (
        [[SOUND, fault()]], [DONE], [Serving(LIVE), SOUND, Restarted(), Serving(ONCE), *DONE],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("live", "once", "events"), ATTEMPTS.values(), ids=ATTEMPTS.keys())
async def test_from_one_attempt_to_the_next(
    stage: Stage, live: Scripts, once: Scripts, events: list[Step]
) -> None:
    stage.expect(live=live, once=once)
    assert await stage.run() == events


async def test_any_other_fault_goes_to_the_next_slot_at_once(stage: Stage) -> None:
    stage.expect(live=[[fault("blocked")]], once=[DONE])
    assert served(await stage.run()) == [LIVE, ONCE]


async def test_a_third_attempt_is_made_only_in_another_way(stage: Stage) -> None:
    same, other = fault(retryable=True), replace(fault(retryable=True), differs=True)
    stage.expect(live=[[same], [other], [other]], once=[[same], [other], DONE])
    events = await stage.run()
    assert served(events) == [*[LIVE] * 3, *[ONCE] * 3]
    assert events[-1] == TurnDone()


@pytest.mark.parametrize(
    ("script", "attempts"),
    [([ValueError("a bug")], 1), ([], 2), ([Reached("connected")], 2)],
    ids=["raises", "yields nothing", "ends without an end"],
)
async def test_a_brain_that_breaks_is_a_fault(
    stage: Stage, script: list[Step], attempts: int
) -> None:
    stage.expect(live=[script] * attempts, once=[DONE])
    events = await stage.run()
    assert served(events) == [*[LIVE] * attempts, ONCE]
    assert events[-1] == TurnDone()


async def test_what_was_heard_goes_with_the_turn(stage: Stage) -> None:
    stage.expect(live=[[Heard("the light", "en"), fault(retryable=True)], [fault()]], once=[DONE])
    await stage.run()
    assert [turn.request.heard for turn in stage.live.turns] == [None, "the light"]
    wanted = replace(REQUEST, heard="the light", next_brains=("offline",))
    assert stage.once.turns[0].request == wanted


async def test_each_brain_is_told_which_one_follows(stage: Stage) -> None:
    stage.expect(
        live=[[fault("blocked")], [fault("blocked")]], once=[[fault("quota")]], offline=[DONE, DONE]
    )
    await stage.run()
    await stage.run()  # without `once`, which is skipped after its quota
    told = [[turn.request.next_brains for turn in one.turns] for one in (stage.live, stage.once)]
    assert told == [[("gemini-once", "offline"), ("offline",)], [("offline",)]]
    assert [turn.request.next_brains for turn in stage.offline.turns] == [(), ()]


async def test_a_brain_before_one_that_is_skipped_is_not_the_last(stage: Stage) -> None:
    stage.expect(live=[DONE])
    ladder = stage.of(stage.live, stage.once)
    ladder.slots[1].failed(PEOPLE, fault("quota"))
    await stage.run(ladder)
    assert stage.live.turns[0].request.next_brains == ("gemini-once",)


async def test_a_sentence_that_the_last_rung_does_not_know_is_its_answer(stage: Stage) -> None:
    stage.expect(
        live=[[fault("blocked")]],
        once=[[fault("blocked")]],
        offline=[[ReplyText("I cannot."), TurnDone(understood=False)]],
    )
    events = await stage.run()
    assert events[-1] == TurnDone(understood=False)
    assert said(events).endswith("so I'll answer on my own. I cannot.")


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        (("unreachable", "retired", "house_away"), "retired"),
        (("sign_in", "sign_in", "broken"), "sign_in"),
        (("quota", "unreachable", "house_away"), "quota"),
        (("unreachable", "unreachable", "house_away"), "house_away"),
        (("broken", "timeout", "empty"), "timeout"),
        (("broken", "broken", "broken"), "broken"),
    ],
)
async def test_when_all_fail_the_most_telling_fault_is_told(
    stage: Stage, kinds: tuple[FaultKind, FaultKind, FaultKind], told: FaultKind
) -> None:
    live, once, offline = ([[fault(kind)]] for kind in kinds)
    stage.expect(live, once, offline)
    assert (await stage.run())[-1] == fault(told)


async def test_a_fault_that_leaves_is_not_to_be_retried(stage: Stage) -> None:
    again = [[fault(retryable=True)]] * 2
    stage.expect(live=again, once=again, offline=again)
    assert (await stage.run())[-1] == fault(retryable=False)


# --- never twice


@pytest.mark.parametrize("retryable", [True, False])
async def test_after_a_mutation_nobody_is_asked_again(stage: Stage, retryable: bool) -> None:
    light = call("c1", "light")
    stage.expect(live=[[light, Answered("c1"), fault("unreachable", retryable)]])
    assert await stage.run() == [
        Serving(LIVE),
        light,
        BrainFault(
            "unreachable",
            "It is unreachable.",
            retryable=False,
            spoken="The light is on. Then I lost the connection.",
        ),
    ]
    assert len(stage.house.deeds) == 1


async def test_a_mutation_under_way_is_waited_for(stage: Stage) -> None:
    stage.expect(live=[[call("c1", "slow"), fault()]])
    async with asyncio.TaskGroup() as group:
        turn = group.create_task(stage.run())
        await stage.clock.run(SETTLE_S - 0.1)
        assert not turn.done()
        stage.house.go_on.set()
    assert turn.result()[-1].spoken == "The light is on. Then I lost the connection."  # type: ignore[union-attr]
    assert len(stage.live.turns[0].answers) == 1


async def test_one_that_does_not_come_back_is_told_as_unknown(stage: Stage) -> None:
    stage.expect(live=[[call("c1", "light"), call("c2", "slow"), fault("timeout")]])
    async with asyncio.TaskGroup() as group:
        turn = group.create_task(stage.run())
        await stage.clock.run(SETTLE_S)
        stage.house.go_on.set()  # the runner still waits for it
    assert turn.result()[-1].spoken == (  # type: ignore[union-attr]
        "The light is on. I don't know yet whether your last request worked. "
        "Then I lost the connection."
    )


async def test_a_call_that_was_not_sent_yet_is_stopped_and_the_turn_goes_on(stage: Stage) -> None:
    stage.expect(live=[[call("c1", "late"), fault()]], once=[DONE])
    async with asyncio.TaskGroup() as group:
        turn = group.create_task(stage.run())
        await stage.clock.settle()
        assert not stage.once.turns  # nobody else is asked before it is settled
        stage.house.go_on.set()
    assert turn.result()[-1] == TurnDone()
    assert stage.house.deeds == []
    assert [answer.id for answer in stage.live.turns[0].answers] == ["c1"]


async def test_a_call_that_is_asked_for_in_the_last_moment_counts(stage: Stage) -> None:
    """The fault is there before the runner has begun the call."""
    stage.expect(live=[[call("c1", "light"), fault(retryable=True)]])
    events = await stage.run()
    assert isinstance(events[-1], BrainFault)
    assert len(stage.house.deeds) == 1


async def test_a_mutation_of_the_second_attempt_counts_as_well(stage: Stage) -> None:
    stage.expect(
        live=[[fault(retryable=True)], [call("c1", "light"), Answered("c1"), fault()]],
    )
    events = await stage.run()
    assert isinstance(events[-1], BrainFault)
    assert events[-1].spoken == "The light is on. Then I lost the connection."


async def test_a_reading_that_takes_long_holds_the_turn_up_for_a_while_only(stage: Stage) -> None:
    stage.expect(live=[[call("c1", "slow_read"), fault()]], once=[DONE])
    async with asyncio.TaskGroup() as group:
        turn = group.create_task(stage.run())
        await stage.clock.run(SETTLE_S)
        await stage.clock.settle()
        assert stage.once.turns[0].closed
        stage.house.go_on.set()  # the runner still waits for it
    assert turn.result()[-1] == TurnDone()
    assert [answer.id for answer in stage.live.turns[0].answers] == ["c1"]


async def test_readings_do_not_bind(stage: Stage) -> None:
    stage.expect(live=[[call("c1", "read"), Answered("c1"), fault()]], once=[DONE])
    assert (await stage.run())[-1] == TurnDone()


@pytest.mark.parametrize(
    ("kind", "tail"),
    [
        ("unreachable", " Then I lost the connection."),
        ("timeout", " Then I lost the connection."),
        ("empty", " Then something went wrong and I had to stop."),
        ("broken", " Then something went wrong and I had to stop."),
        ("blocked", " Then something went wrong and I had to stop."),
        ("quota", " Then something went wrong and I had to stop."),
    ],
)
async def test_how_the_turn_broke_off_is_told(stage: Stage, kind: FaultKind, tail: str) -> None:
    stage.expect(live=[[call("c1", "light"), Answered("c1"), fault(kind)]])
    events = await stage.run()
    assert isinstance(events[-1], BrainFault)
    assert events[-1].spoken == f"The light is on.{tail}"


async def test_the_account_is_in_the_language_of_the_turn(stage: Stage) -> None:
    stage.expect(live=[[Heard("enciende la luz"), call("c1", "light"), Answered("c1"), fault()]])
    events = await stage.run()
    assert isinstance(events[-1], BrainFault)
    assert events[-1].spoken == "The light is on. Después he perdido la conexión."


async def test_half_a_sentence_before_the_account_is_void(stage: Stage) -> None:
    stage.expect(live=[[call("c1", "light"), Answered("c1"), ReplyText("The li"), fault()]])
    events = await stage.run()
    assert events[-2:] == [Restarted(), events[-1]]


async def test_every_thing_is_told_once(stage: Stage) -> None:
    calls = [call("c1", "light", "fan"), call("c2", "light", "lamp"), call("c3", "light", "fan")]
    stage.expect(live=[[*calls, *(Answered(each.id) for each in calls), TurnDone()]])
    assert said(await stage.run()) == "The fan is on. The lamp is on."


# --- the ids of calls


async def test_two_attempts_may_use_the_same_ids(stage: Stage) -> None:
    stage.expect(
        live=[
            [call("1", "read"), Answered("1"), fault(retryable=True)],
            [call("1", "read"), Answered("1"), fault()],
        ],
        once=[[call("1", "light"), Answered("1"), *DONE]],
    )
    events = await stage.run()
    ids = [event.id for event in events if isinstance(event, ToolCall)]
    assert ids == ["1", "1~2", "1~3"]
    turns = [*stage.live.turns, *stage.once.turns]
    assert [[answer.id for answer in turn.answers] for turn in turns] == [["1"], ["1"], ["1"]]
    assert events[-1] == TurnDone()


async def test_cancelled_ids_are_the_ones_that_were_given(stage: Stage) -> None:
    stage.expect(
        live=[[fault()]],
        once=[[call("1", "read"), ToolCallsCancelled(("1",)), *DONE]],
    )
    assert ToolCallsCancelled(("1~2",)) in await stage.run()


async def test_a_call_that_is_taken_back_and_made_again_runs_once(stage: Stage) -> None:
    stage.expect(
        live=[
            [
                call("1", "light"),
                Answered("1"),
                ToolCallsCancelled(("1",)),
                call("2", "light"),
                Answered("2"),
                call("3", "light"),  # this one is another wish
                Answered("3"),
                *DONE,
            ]
        ]
    )
    events = await stage.run()
    assert [event.id for event in events if isinstance(event, ToolCall)] == ["1", "3"]
    assert len(stage.house.deeds) == 2
    assert [answer.id for answer in stage.live.turns[0].answers] == ["1", "2", "3"]


async def test_one_that_is_made_again_while_it_runs_is_answered_once(stage: Stage) -> None:
    again: list[Step] = [
        call("1", "slow"),
        ToolCallsCancelled(("1",)),
        call("2", "slow"),
        Answered("2"),
    ]
    stage.expect(live=[[*again, *DONE]])
    async with asyncio.TaskGroup() as group:
        turn = group.create_task(stage.run())
        await stage.clock.settle()
        stage.house.go_on.set()
    assert turn.result()[-1] == TurnDone()
    assert len(stage.house.deeds) == 1
    assert [answer.id for answer in stage.live.turns[0].answers] == ["2"]


async def test_a_late_result_goes_to_the_attempt_that_asked(stage: Stage) -> None:
    stage.expect(live=[[call("1", "slow"), Hold()]])
    turn = stage.ladder.begin(REQUEST)
    events = turn.events()
    assert [await anext(events), await anext(events)] == [Serving(LIVE), call("1", "slow")]
    await events.aclose()
    await turn.answer(outcome_of(call("1", "slow")))
    assert [answer.id for answer in stage.live.turns[0].answers] == ["1"]


async def test_a_result_that_nobody_asked_for_is_dropped(stage: Stage) -> None:
    turn = stage.ladder.begin(REQUEST)
    await turn.answer(outcome_of(call("1", "light")))


# --- cut off


@pytest.mark.parametrize("script", [[ReplyText("Half a"), Hold()], [call("1", "slow"), Hold()]])
async def test_a_turn_that_is_closed_closes_its_attempt(stage: Stage, script: list[Step]) -> None:
    stage.expect(live=[script])
    events = stage.ladder.begin(REQUEST).events()
    await anext(events)
    await anext(events)
    await events.aclose()
    assert stage.live.turns[0].closed


@pytest.mark.parametrize("script", [[Hold()], [call("1", "slow"), fault()]])
async def test_a_turn_that_is_cancelled_leaves_nothing_behind(
    stage: Stage, script: list[Step]
) -> None:
    stage.expect(live=[script])
    async with asyncio.TaskGroup() as group:
        turn = group.create_task(stage.run())
        await stage.clock.settle()
        turn.cancel()
    assert len(asyncio.all_tasks()) == 1
    assert stage.live.turns[0].closed


# --- two turns in a row are two turns


async def test_nothing_of_a_turn_stays_for_the_next(stage: Stage) -> None:
    stage.expect(live=[[Heard("one"), fault("blocked")], DONE], once=[DONE])
    await stage.run()
    await stage.run()
    assert stage.live.turns[1].request.heard is None
