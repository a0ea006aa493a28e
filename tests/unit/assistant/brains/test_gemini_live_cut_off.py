"""The brain on Gemini Live, between strict doubles: turns that are cut off, and many of them."""

import asyncio

from assistant.domain.brain import BrainFault, Reached, ReplySettled, ReplyText, TurnDone
from assistant.domain.call import ToolCall
from integrations.errors import Unavailable
from integrations.gemini.events import (
    FunctionCall,
    FunctionCalls,
    Interrupted,
    OutputText,
    TurnComplete,
)
from tests.unit.assistant.brains.gemini.doubles import Sent, outcome_of
from tests.unit.assistant.brains.gemini.stage import (
    SOUND,
    YES,
    sentence,
    session,
    spoken,
    stage,
)

CALLS = FunctionCalls((FunctionCall("1", "f", {}), FunctionCall("2", "g", {})))


async def test_barge_in_discards_the_rest_of_the_earlier_answer() -> None:
    talk = session(
        *sentence(OutputText("Once upon a", True)),
        Sent("start", then=(OutputText(" time", True), Interrupted(), TurnComplete())),
        *sentence(*YES)[1:],
    )
    async with stage(talk) as on:
        events, _ = await on.until(on.brain.begin(spoken()), ReplyText)
        await events.aclose()
        assert await on.play(spoken()) == [ReplyText("Yes."), ReplySettled(), TurnDone()]


async def test_an_earlier_answer_that_never_ends_costs_one_attempt_and_the_session() -> None:
    talk = session(*sentence(OutputText("Once upon a", True)), *sentence(*YES[:1]))
    async with stage(talk, session(*sentence(*YES))) as on:
        events, _ = await on.until(on.brain.begin(spoken()), ReplyText)
        await events.aclose()
        assert await on.play(spoken()) == [
            BrainFault("timeout", "Gemini stopped answering.", retryable=True)
        ]
        assert await on.play(spoken()) == [ReplyText("Yes."), ReplySettled(), TurnDone()]


async def test_a_sentence_cut_off_in_the_middle_is_not_ended_but_left() -> None:
    talk = session(Sent("start"), Sent("sound", SOUND), handle="h")
    async with stage(talk, session(*sentence(*YES))) as on:
        events, _ = await on.until(on.brain.begin(spoken(finished=False)), Reached)
        await on.clock.settle()
        await events.aclose()
        await on.clock.settle()
        assert talk.closed_for_good.is_set()
        assert await on.play(spoken()) == [ReplyText("Yes."), ReplySettled(), TurnDone()]
        assert on.client.setups[1].handle == "h"


async def test_calls_of_a_cut_off_turn_are_answered_before_the_next_sentence() -> None:
    one = FunctionCalls((FunctionCall("1", "f", {}),))
    talk = session(
        *sentence(one),
        Sent("answer", [("1", "f", "done")]),
        Sent("start", then=(Interrupted(), TurnComplete())),
        *sentence(*YES)[1:],
    )
    async with stage(talk) as on:
        first = on.brain.begin(spoken())
        events, _ = await on.until(first, ToolCall)
        await events.aclose()
        async with asyncio.TaskGroup() as group:
            second = group.create_task(on.play(spoken()))
            await on.clock.run(3.0)
            await first.answer(outcome_of("1", "f"))
            assert await second == [ReplyText("Yes."), ReplySettled(), TurnDone()]


async def test_after_ten_seconds_such_a_call_is_answered_as_unknown() -> None:
    one = FunctionCalls((FunctionCall("1", "f", {}),))
    talk = session(
        *sentence(one),
        Sent("answer", [("1", "f", "unknown")]),
        Sent("start", then=(Interrupted(), TurnComplete())),
        *sentence(*YES)[1:],
    )
    async with stage(talk) as on:
        events, _ = await on.until(on.brain.begin(spoken()), ToolCall)
        await events.aclose()
        assert await on.play(spoken()) == [ReplyText("Yes."), ReplySettled(), TurnDone()]
        assert 10.0 <= on.clock.monotonic() < 10.6


async def test_a_call_that_nobody_waits_for_is_refused() -> None:
    talk = session(*sentence(OutputText("Well,", True)), Sent("answer", [("9", "f", "not_run")]))
    async with stage(talk) as on:
        events, _ = await on.until(on.brain.begin(spoken()), ReplyText)
        await events.aclose()
        talk.emit(FunctionCalls((FunctionCall("9", "f", {}),)))
        await on.clock.settle()


async def test_a_call_that_the_turn_had_not_taken_yet_is_refused_as_well() -> None:
    talk = session(
        *sentence(OutputText("Well,", True)),
        Sent("answer", [("9", "f", "not_run")]),
        Sent("start", then=(Interrupted(), TurnComplete())),
        *sentence(*YES)[1:],
    )
    async with stage(talk) as on:
        events, _ = await on.until(on.brain.begin(spoken()), ReplyText)
        talk.emit(FunctionCalls((FunctionCall("9", "f", {}),)))
        await events.aclose()
        assert await on.play(spoken()) == [ReplyText("Yes."), ReplySettled(), TurnDone()]
        assert on.clock.monotonic() < 1.0


async def test_a_turn_that_is_cancelled_while_it_leaves_gives_the_session_back() -> None:
    talk = session(*sentence(*YES[:1]))
    async with stage(talk) as on, asyncio.TaskGroup() as group:
        turn = on.brain.begin(spoken())
        events, _ = await on.until(turn, ReplyText)
        leaving = group.create_task(events.aclose())
        await asyncio.sleep(0)
        leaving.cancel()  # it waits for the upload's end
        await on.clock.run(200.0)
        assert talk.closed_for_good.is_set()


async def test_a_result_for_a_session_that_is_gone_is_dropped() -> None:
    talk = session(*sentence(CALLS))
    async with stage(talk) as on:
        turn = on.brain.begin(spoken())
        events, _ = await on.until(turn, ToolCall)
        talk.break_off(Unavailable("Gone."))
        await turn.answer(outcome_of("1", "f"))
        await events.aclose()
        await turn.answer(outcome_of("2", "g"))


async def test_forty_turns_with_three_reconnects_leave_nothing_behind() -> None:
    def talks(turns: int) -> list[Sent]:
        return [step for _ in range(turns) for step in sentence(*YES)]

    sessions = [session(*talks(10), handle=f"h{number}") for number in range(4)]
    async with stage(*sessions) as on:
        tasks = 0
        for number in range(40):
            if number == 1:
                tasks = len(asyncio.all_tasks())
            if number and number % 10 == 0:
                sessions[number // 10 - 1].break_off(Unavailable("Gone."))
            assert await on.play(spoken()) == [ReplyText("Yes."), ReplySettled(), TurnDone()]
        assert len(asyncio.all_tasks()) == tasks
        assert [setup.handle for setup in on.client.setups] == [None, "h0", "h1", "h2"]
