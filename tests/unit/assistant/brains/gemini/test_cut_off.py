"""Tests of interrupted answers: what the model and its history know of them."""

import asyncio
from dataclasses import replace

import pytest

from assistant.brains.gemini.calls import note_of_cut
from assistant.brains.gemini.session_manager import LiveSessionManager
from assistant.domain.brain import BrainFault, Reached, ReplySettled, ReplyText, TurnDone
from assistant.domain.tool_call import ToolCall
from integrations.errors import Unavailable
from integrations.gemini.events import (
    FunctionCall,
    FunctionCalls,
    InputText,
    Interrupted,
    OutputText,
    TurnComplete,
)
from tests.unit.assistant.brains.gemini.doubles import (
    ROW,
    SOUND,
    YES,
    Sent,
    outcome_of,
    sentence,
    session,
    spoken,
    stage,
    typed,
)

LONG = (InputText("how is it"), OutputText("It is fine and warm.", True), TurnComplete())
NOTE = note_of_cut("It is")


async def test_it_is_told_once_before_the_next_sentence() -> None:
    talk = session(*sentence(*LONG), Sent("context", NOTE), *sentence(*YES), *sentence(*YES))
    async with stage(talk) as on:
        await on.play(spoken(turn_id="1"))
        on.brain.cut_off("1", "It is")
        await on.play(spoken(turn_id="2"))
        await on.play(spoken(turn_id="3"))


async def test_in_front_of_a_typed_one() -> None:
    talk = session(*sentence(*LONG), Sent("text", f"{NOTE}\nturn on the lamp", YES))
    async with stage(talk) as on:
        await on.play(spoken(turn_id="1"))
        on.brain.cut_off("1", "It is")
        await on.play(typed(turn_id="2"))


async def test_where_a_model_takes_no_text_beside_speech_an_old_answer_is_not_told_of() -> None:
    row = replace(ROW, client_content=False)
    talk = session(
        *sentence(*LONG),
        Sent("text", f"{NOTE}\nturn on the lamp", YES),
        *sentence(*LONG),
        *sentence(*YES),
        Sent("text", "turn on the lamp", YES),
    )
    async with stage(talk, row=row) as on:
        await on.play(spoken(turn_id="1"))
        on.brain.cut_off("1", "It is")
        await on.play(typed(turn_id="2"))
        await on.play(spoken(turn_id="3"))
        on.brain.cut_off("3", "It")
        await on.play(spoken(turn_id="4"))  # from here on the last answer is a different one
        await on.play(typed(turn_id="5"))


async def test_a_session_that_begins_afresh_has_it_in_the_history_alone() -> None:
    first = session(*sentence(*LONG))
    async with stage(first, session(*sentence(*YES))) as on:
        await on.play(spoken(turn_id="1"))
        on.brain.cut_off("1", "It is")
        first.break_off(Unavailable("Gone."))
        await on.play(spoken(turn_id="2"))
        told = on.client.setups[1].instruction
        assert "Person: how is it\nYou: It is (cut off)\n" in told
        assert "fine" not in told


async def test_one_that_goes_on_is_told() -> None:
    first = session(*sentence(*LONG), handle="h")
    async with stage(first, session(Sent("context", NOTE), *sentence(*YES))) as on:
        await on.play(spoken(turn_id="1"))
        on.brain.cut_off("1", "It is")
        await on.clock.run(300.0)
        await on.play(spoken(turn_id="2"))
        assert on.client.setups[1].handle == "h"


async def test_what_is_cut_off_before_the_model_has_ended_is_remembered_as_heard() -> None:
    first = session(*sentence(*LONG[:2]))
    async with stage(first, session(*sentence(*YES))) as on:
        turn = on.brain.begin(spoken(turn_id="1"))
        events, _ = await on.until(turn, ReplyText)
        on.brain.cut_off("1", "")
        await events.aclose()
        first.break_off(Unavailable("Gone."))
        await on.play(spoken(turn_id="2"))
        assert "You: (cut off)\n" in on.client.setups[1].instruction


def _tell(keeper: LiveSessionManager, told: list[str]) -> None:
    with keeper.history.notes() as notes:
        told.append(notes)
        raise Unavailable("Gone.")


async def test_what_did_not_arrive_is_told_again() -> None:
    async with stage(session(*sentence(*LONG), Sent("context", NOTE), *sentence(*YES))) as on:
        await on.play(spoken(turn_id="1"))
        on.brain.cut_off("1", "It is")
        told: list[str] = []
        with pytest.raises(Unavailable):
            _tell(on.brain._sessions.people, told)
        assert told == [NOTE]
        await on.play(spoken(turn_id="2"))


async def test_or_is_in_the_history_where_the_session_broke() -> None:
    broken = session(*sentence(*LONG), Sent("context", NOTE, fails=Unavailable("No.")))
    async with stage(broken, session(*sentence(*YES))) as on:
        await on.play(spoken(turn_id="1"))
        on.brain.cut_off("1", "It is")
        await on.play(spoken(turn_id="2"))
        assert (await on.play(spoken(turn_id="2")))[-1] == TurnDone()
        assert "You: It is (cut off)\n" in on.client.setups[1].instruction


async def test_a_forgotten_talk_leaves_nothing_to_tell() -> None:
    async with stage(session(*sentence(*LONG)), session(*sentence(*YES))) as on:
        await on.play(spoken(turn_id="1"))
        on.brain.cut_off("1", "It is")
        on.brain.forget()
        await on.play(spoken(turn_id="2"))
        assert on.client.setups[1] == on.client.setups[0]


# --- Interrupted turns, and many of them, between strict doubles.

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
