"""The brain on Gemini Live against the simulated service: trouble, and the session's life."""

import asyncio
from dataclasses import replace

import pytest

from assistant.domain.brain import BrainFault
from tests.simulators.script import (
    Call,
    Close,
    Done,
    Drop,
    Gate,
    GoAway,
    Hear,
    LiveStep,
    Opening,
    Say,
    Stall,
    Turn,
)
from tests.unit.assistant.brains.gemini.doubles import ScriptedBriefer
from tests.unit.assistant.brains.gemini.talk import (
    BRIEFING,
    FUNCTIONS,
    QUICK,
    SPEECH,
    YES,
    talk,
)


@pytest.mark.parametrize(
    ("steps", "kind", "retryable"),
    [
        ([Done()], "empty", True),
        ([Done(reason="MALFORMED_FUNCTION_CALL")], "empty", True),
        ([Done(reason="GENERATED_CONTENT_SAFETY")], "blocked", False),
        ([Stall()], "timeout", True),
        ([Call("HassTurnOn"), Stall()], "timeout", True),
        ([Drop()], "unreachable", True),
        ([Say("The"), Drop()], "unreachable", True),
        ([Close(1011, "Internal error encountered.")], "unreachable", True),
        ([Close(1011, "Resource has been exhausted (e.g. check quota).")], "quota", False),
    ],
)
async def test_each_trouble_is_a_fault_and_the_next_turn_works(
    steps: list[LiveStep], kind: str, retryable: bool
) -> None:
    async with talk(Turn("audio", steps, cut=None), Turn("audio", YES)) as on:
        fault = (await on.play())[-1]
        assert isinstance(fault, BrainFault)
        assert (fault.kind, fault.retryable) == (kind, retryable)
        assert await on.answer() == "Yes, it is."


async def test_a_drop_while_the_person_speaks() -> None:
    first = Turn("audio", (), during=[Hear("is"), Drop()], cut=None)
    async with talk(first, Turn("audio", YES)) as on:
        request = on.spoken(finished=False)
        events = await on.play(request)
        assert isinstance(events[-1], BrainFault)
        assert events[-1].retryable
        assert request.audio is not None
        request.audio.finish()
        assert await on.answer(replace(request, heard="is")) == "Yes, it is."
        on.service.turns[1].assert_heard(SPEECH, covers=(0, 32_000))


async def test_the_session_is_resumed_and_a_refused_handle_makes_way() -> None:
    turns = [Turn("audio", [Hear("is it on"), *YES])] + [Turn("audio", YES)] * 2
    openings = [Opening(), Opening(), Opening(refuse_handle=True)]
    async with talk(*turns, openings=openings, timeouts=replace(QUICK, warm_s=0.1)) as on:
        for number in range(3):
            assert await on.answer() == "Yes, it is."
            await on.service.until(lambda: on.service.open_sockets == 0)
            assert on.service.turns[number].cut == ""
        first, second, refused, last = on.service.connections
        assert (second.resumed, refused.handle is not None, last.handle) == (True, True, None)
        assert last.setup is not None
        assert "is it on" in str(last.setup)
        assert first.stray == second.stray == last.stray == b""


async def test_go_away_between_turns_and_mid_reply() -> None:
    gate = Gate()
    first = Turn("audio", [Say("Yes,"), GoAway(60), Stall(until=gate), Say(" it is."), Done()])
    async with talk(first, Turn("audio", YES)) as on:
        async with asyncio.TaskGroup() as group:
            answer = group.create_task(on.answer())
            await on.service.until(
                lambda: bool(on.service.turns) and bool(on.service.turns[0].reply_text)
            )
            assert on.service.open_sockets == 1
            gate.open()
            assert await answer == "Yes, it is."
        await on.service.until(lambda: on.service.total_sockets == 2)
        await on.service.until(lambda: on.service.connections[1].ready_at is not None)
        assert on.service.open_sockets == 1
        assert on.service.connections[1].resumed
        assert await on.answer() == "Yes, it is."


async def test_a_changed_menu_is_told_in_the_session() -> None:
    fewer = replace(BRIEFING, declarations=FUNCTIONS[:1], instruction="It is noon.")
    briefer = ScriptedBriefer(BRIEFING, fewer)
    async with talk(Turn("audio", YES), Turn("audio", YES), briefer=briefer) as on:
        await on.answer()
        await on.answer()
        (update,) = on.service.connections[0].updates
        assert {"systemInstruction", "tools"} == update.keys()


async def test_anticipation_costs_a_connect_and_no_sound() -> None:
    async with talk(timeouts=replace(QUICK, unused_s=0.1)) as on:
        on.brain.anticipate()
        on.brain.anticipate()
        await on.service.until(lambda: on.service.total_sockets == 1)
        await on.service.until(lambda: on.service.open_sockets == 0)
        assert on.service.heard_samples == 0


async def test_forty_turns_with_three_reconnects() -> None:
    turns = [Turn("audio", YES) for _ in range(40)]
    async with talk(*turns, timeouts=replace(QUICK, late_text_s=0.0)) as on:
        tasks: set[int] = set()
        for number in range(40):
            if number in (10, 30):
                on.service.connections[-1].drop()
            elif number == 20:
                on.service.connections[-1].go_away(50)
            assert await on.persist() == "Yes, it is."
            tasks.add(len(asyncio.all_tasks()))
        assert on.service.total_sockets == 4
        assert len(on.service.turns) == 40
        assert max(tasks) - min(tasks) <= 5  # none is left from turn to turn
