"""Tests of gated calls that are cut off, withdrawn or refused: nothing stays waiting, or
silenced."""

import asyncio
from dataclasses import replace

from assistant.domain.tool_call import (
    CallContext,
    Decision,
    Settlement,
    Status,
    ToolCall,
    ToolOutcome,
)
from assistant.tools.execution.guards import CallGuards
from tests.unit.assistant.tools.embedded import living

ASK = CallContext(can_ask=True, spoken=True)
OFF, DOOR = "HassTurnOff", {"name": "Front door"}


class Room:
    """Media that take time to fall silent, or do not."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet
        self.asked = asyncio.Event()
        self.silent = asyncio.Event()
        self.resumed = 0

    async def __call__(self) -> "Room":
        self.asked.set()
        await self.silent.wait()
        return self

    async def resume(self) -> None:
        self.resumed += 1


async def test_a_call_cut_off_while_the_room_falls_silent_does_not_wait() -> None:
    room = Room(quiet=True)
    async with living("Hall", governance=CallGuards(hush=room)) as house:
        call = ToolCall("x", OFF, DOOR)
        calling = asyncio.create_task(house.box.call(call, "turn", "unlock it", situation=ASK))
        await room.asked.wait()
        calling.cancel()
        await asyncio.wait([calling])
        typed = replace(ASK, spoken=False)
        other = await house.box.call(replace(call, id="y"), "another", "unlock it", situation=typed)
        assert other.decision is Decision.NEEDS_CONFIRMATION  # no question is open
        assert house.box.question("another", "y") is not None


async def test_a_call_taken_back_while_the_room_falls_silent_is_not_asked_about() -> None:
    room = Room(quiet=True)
    async with living("Hall", governance=CallGuards(hush=room)) as house:
        call = ToolCall("x", OFF, DOOR)
        calling = asyncio.create_task(house.box.call(call, "turn", "unlock it", situation=ASK))
        await room.asked.wait()
        house.box.withdraw("turn")
        room.silent.set()
        outcome = await calling
        assert (outcome.decision, outcome.status) == (Decision.ALLOWED, Status.NOT_RUN)
        assert house.box.question("turn", "x") is None
        assert room.resumed == 1
        other = await house.box.call(replace(call, id="y"), "turn", "unlock it", situation=ASK)
        assert other.decision is Decision.NEEDS_CONFIRMATION  # the request of another brain
        assert house.demo.calls == []


async def test_nor_is_one_that_is_taken_back_while_it_is_written_down() -> None:
    async with living("Hall") as house:
        keep = house.journal.finish_call

        async def slow(turn_id: str, outcome: ToolOutcome) -> None:
            house.box.withdraw("turn")
            await keep(turn_id, outcome)

        house.journal.finish_call = slow  # type: ignore[method-assign]
        outcome = await house.do(OFF, DOOR, situation=ASK)
        assert outcome.decision is Decision.ALLOWED
        assert house.box.question("turn", outcome.id) is None


async def test_what_was_paused_for_a_question_that_is_not_asked_plays_on() -> None:
    room = Room(quiet=False)  # something else keeps playing, so no question is asked
    room.silent.set()
    async with living("Hall", governance=CallGuards(hush=room)) as house:
        outcome = await house.do(OFF, DOOR, situation=ASK)
        assert outcome.rule == "noisy"
        assert room.resumed == 1
        assert house.box.question("turn", outcome.id) is None


async def test_after_a_no_the_same_may_be_asked_again_in_another_turn() -> None:
    async with living("Hall") as house:
        call = ToolCall("x", OFF, DOOR)
        await house.box.call(call, "turn", "unlock it", situation=ASK)
        question = house.box.question("turn", "x")
        assert question is not None
        await house.box.settle(question, Settlement("no"))
        again = await house.box.call(replace(call, id="y"), "another", "unlock it", situation=ASK)
        assert again.decision is Decision.NEEDS_CONFIRMATION
