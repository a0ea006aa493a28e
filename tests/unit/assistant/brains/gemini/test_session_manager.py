"""Tests of `SessionManager` between strict doubles, on a virtual clock."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from assistant.brains.briefing.prompt import MAX_EXCHANGES, MAX_HISTORY
from assistant.domain.brain import (
    BrainEvent,
    BrainFault,
    Reached,
    ReplySettled,
    ReplyText,
    TurnDone,
)
from integrations.errors import Refused, Retired, Stale, Unavailable
from integrations.gemini.declarations import Declaration
from integrations.gemini.events import GoAway, InputText, OutputText, TurnComplete
from tests.unit.assistant.brains.gemini.doubles import (
    BRIEFING,
    SOUND,
    YES,
    ScriptedBriefer,
    Sent,
    sentence,
    session,
    spoken,
    stage,
)

ANSWER = [ReplyText("Yes."), ReplySettled(), TurnDone()]
LAMP = Declaration("Lamp", "The lamp.", None, ())


async def test_anticipation_connects_and_the_turn_uses_it() -> None:
    async with stage(session(*sentence(*YES))) as on:
        on.brain.anticipate()
        await on.clock.settle()
        assert len(on.client.setups) == 1
        assert await on.play(spoken()) == ANSWER
        assert len(on.client.setups) == 1


async def test_a_false_wake_costs_one_connect_and_nothing_is_sent() -> None:
    talk = session()
    async with stage(talk) as on:
        on.brain.anticipate()
        await on.clock.run(9.9)
        assert not talk.closed_for_good.is_set()
        await on.clock.run(0.2)
        assert talk.closed_for_good.is_set()
        on.brain.anticipate()
        await on.clock.settle()
        assert len(on.client.setups) == 1


async def test_anticipation_before_and_after_the_brains_life_does_nothing() -> None:
    async with stage() as on:
        brain = on.brain
    brain.anticipate()
    assert on.client.setups == []


async def test_a_warm_session_is_silent_and_closes_after_three_minutes() -> None:
    talk = session(*sentence(*YES))
    async with stage(talk) as on:
        await on.play(spoken())
        ended = on.clock.monotonic()
        await on.clock.run(ended + 179.5 - on.clock.monotonic())
        assert not talk.closed_for_good.is_set()
        await on.clock.run(1.0)
        assert talk.closed_for_good.is_set()


async def test_the_talk_goes_on_by_its_handle() -> None:
    async with stage(session(*sentence(*YES), handle="h"), session(*sentence(*YES))) as on:
        await on.play(spoken())
        await on.clock.run(300.0)
        await on.play(spoken())
        assert [setup.handle for setup in on.client.setups] == [None, "h"]
        assert on.client.setups[1].instruction == BRIEFING.instruction


async def test_a_resumed_session_is_told_again_what_its_instruction_had_told() -> None:
    first = session(*sentence(InputText("is the lamp on"), *YES))
    seeded = session(*sentence(*YES), handle="h")
    async with stage(first, seeded, session(*sentence(*YES))) as on:
        await on.play(spoken())
        first.break_off(Unavailable("Gone."))
        await on.play(spoken())
        await on.clock.run(300.0)
        await on.play(spoken())
        assert on.client.setups[2].handle == "h"
        assert "is the lamp on" in on.client.setups[1].instruction
        assert on.client.setups[2].instruction == on.client.setups[1].instruction


@pytest.mark.parametrize("error", [Stale("Gone."), Unavailable("Internal."), Refused("1007")])
async def test_a_refused_handle_makes_way_for_a_fresh_session_with_the_history(
    error: Unavailable,
) -> None:
    heard = InputText("is the lamp on")
    first = session(*sentence(heard, *YES), handle="h")
    async with stage(first, error, session(*sentence(*YES))) as on:
        await on.play(spoken())
        await on.clock.run(300.0)
        assert await on.play(spoken()) == ANSWER
        assert [setup.handle for setup in on.client.setups] == [None, "h", None]
        assert "is the lamp on" in on.client.setups[2].instruction
        assert "Yes." in on.client.setups[2].instruction


async def test_what_a_fresh_session_cannot_mend_is_not_tried_twice() -> None:
    async with stage(session(*sentence(*YES), handle="h"), Retired("Gone.")) as on:
        await on.play(spoken())
        await on.clock.run(300.0)
        assert await on.play(spoken()) == [BrainFault("retired", "Gone.", retryable=False)]


async def test_after_a_quiet_spell_everything_begins_anew() -> None:
    first = session(*sentence(*YES), handle="h")
    async with stage(first, session(*sentence(*YES))) as on:
        await on.play(spoken())
        await on.clock.run(601.0)
        await on.play(spoken())
        assert on.client.setups[1] == on.client.setups[0]


async def test_a_talk_that_is_not_wanted_any_more_is_neither_resumed_nor_told() -> None:
    heard = InputText("my number is 1234")
    first = session(*sentence(heard, *YES), handle="h")
    async with stage(first, session(*sentence(*YES))) as on:
        await on.play(spoken())
        on.brain.forget()
        await on.clock.settle()
        assert first.closed_for_good.is_set()
        first.emit(InputText(" and 5"))  # late: there is nothing that it could be added to
        await on.play(spoken())
        assert on.client.setups[1] == on.client.setups[0]


async def _all(events: AsyncGenerator[BrainEvent]) -> list[BrainEvent]:
    return [event async for event in events]


async def test_a_turn_in_which_it_is_said_goes_to_its_end_and_is_forgotten_too() -> None:
    first = session(*sentence(InputText("start over"), *YES), handle="h")
    async with stage(first, session(*sentence(*YES)), session(*sentence(*YES))) as on:
        events, said = await on.until(on.brain.begin(spoken()), ReplyText)
        on.brain.forget()
        await on.clock.settle()
        assert not first.closed_for_good.is_set()
        async with asyncio.TaskGroup() as group:
            rest = group.create_task(_all(events))
            await on.clock.run(5.0)
        assert said == ANSWER[0]
        assert rest.result()[-1] == ANSWER[-1]
        assert first.closed_for_good.is_set()
        assert first.closed_for_good.is_set()
        await on.play(spoken())
        assert on.client.setups[1] == on.client.setups[0]
        on.client.sessions[1].break_off(Unavailable("Gone."))
        await on.play(spoken())
        assert "Yes." in on.client.setups[2].instruction  # of the conversation since then


async def test_a_turn_right_after_it_begins_afresh() -> None:
    first = session(*sentence(*YES), handle="h")
    async with stage(first, session(*sentence(*YES))) as on:
        await on.play(spoken())
        on.brain.forget()
        assert await on.play(spoken()) == ANSWER
        assert on.client.setups[1] == on.client.setups[0]
        assert first.closed_for_good.is_set()


async def test_a_transcript_that_comes_after_the_end_belongs_to_the_history() -> None:
    first = session(*sentence(InputText("is the lamp"), *YES))
    async with stage(first, session(*sentence(*YES))) as on:
        await on.play(spoken())
        first.emit(InputText(" on"))
        first.break_off(Unavailable("Gone."))
        await on.play(spoken())
        assert "is the lamp on" in on.client.setups[1].instruction


# goAway


async def test_a_go_away_between_turns_rotates_at_once() -> None:
    first = session(*sentence(*YES), handle="h")
    async with stage(first, session(*sentence(*YES))) as on:
        await on.play(spoken())
        first.emit(GoAway(50.0))
        await on.clock.settle()
        assert first.closed_for_good.is_set()
        assert on.client.setups[1].handle == "h"
        assert await on.play(spoken()) == ANSWER


async def test_a_go_away_mid_reply_waits_for_the_end_of_the_turn() -> None:
    said = OutputText("Yes.", True)
    first = session(*sentence(said, GoAway(50.0)), handle="h")
    async with stage(first, session()) as on:
        async with asyncio.TaskGroup() as group:
            turn = group.create_task(on.play(spoken()))
            await on.clock.run(5.0)
            assert not first.closed_for_good.is_set()
            first.emit(TurnComplete())
            assert await turn == ANSWER
        await on.clock.settle()
        assert first.closed_for_good.is_set()
        assert len(on.client.sessions) == 2


async def test_the_deadline_of_a_go_away_holds_though_nothing_arrives() -> None:
    first = session(Sent("start"), Sent("sound", SOUND, (GoAway(14.0),)), handle="h")
    async with stage(first) as on:
        events = await on.play(spoken(finished=False))
        assert events == [
            BrainFault("unreachable", "Hearth gave up the connection to Gemini.", retryable=True)
        ]
        assert 7.0 <= on.clock.monotonic() < 7.3
        assert first.closed_for_good.is_set()


# Failures


async def test_connects_on_suspicion_back_off() -> None:
    away = Unavailable("No network.")
    async with stage(away, away, session()) as on:
        on.brain.anticipate()
        await on.clock.run(0.4)
        assert len(on.client.setups) == 1
        await on.clock.run(0.2)
        assert len(on.client.setups) == 2
        await on.clock.run(1.0)
        assert len(on.client.sessions) == 1


async def test_a_turn_connects_at_once_after_a_failure() -> None:
    async with stage(Unavailable("No network."), session(*sentence(*YES))) as on:
        on.brain.anticipate()
        await on.clock.settle()
        assert len(on.client.setups) == 1
        assert await on.play(spoken()) == ANSWER


async def test_a_turn_shares_the_connect_that_is_under_way() -> None:
    async with stage(session(*sentence(*YES))) as on:
        on.client.gate = asyncio.Event()
        on.brain.anticipate()
        await on.clock.settle()
        async with asyncio.TaskGroup() as group:
            turn = group.create_task(on.play(spoken()))
            await on.clock.run(1.0)
            on.client.gate.set()
            assert await turn == ANSWER
        assert len(on.client.setups) == 1


async def test_an_unusable_session_is_not_resumed() -> None:
    mute = session(*sentence(), handle="h")
    async with stage(mute, session(*sentence(*YES))) as on:
        await on.play(spoken())
        assert await on.play(spoken()) == ANSWER
        assert on.client.setups[1].handle is None


async def test_a_socket_that_a_cut_off_turn_was_closing_is_closed_before_the_next_opens() -> None:
    first = session(*sentence(*YES))
    first.may_close.clear()
    briefer = ScriptedBriefer(BRIEFING, replace(BRIEFING, language_codes=("es",)))
    async with stage(first, session(*sentence(*YES)), briefer=briefer) as on:
        await on.play(spoken())
        async with asyncio.TaskGroup() as group:
            turn = group.create_task(on.follow(on.brain.begin(spoken())))
            await asyncio.sleep(0)
            await on.clock.settle()
            turn.cancel()
        assert not first.closed_for_good.is_set()
        first.may_close.set()
        assert await on.play(spoken()) == ANSWER


async def test_leaving_is_bounded_though_a_socket_does_not_close() -> None:
    talk = session(*sentence(*YES))
    talk.may_close.clear()
    on_stage = stage(talk)
    on = await on_stage.__aenter__()
    await on.play(spoken())
    async with asyncio.TaskGroup() as group:
        leaving = group.create_task(on.brain.__aexit__(None, None, None))
        await on.clock.run(2.1)
        assert leaving.done()


async def test_a_turn_that_is_cut_off_before_its_first_word_keeps_the_session() -> None:
    talk = session(*sentence(*YES))
    async with stage(talk) as on:
        on.brain.anticipate()
        await on.clock.settle()
        events = on.brain.begin(spoken(b"", finished=False)).events()
        assert await anext(events) == Reached("connected")
        await events.aclose()
        assert await on.play(spoken()) == ANSWER


async def test_what_was_said_before_is_bounded_however_long_the_talk() -> None:
    """The oldest exchange is dropped first, so a long conversation never makes a session
    expensive."""
    talk = [
        message
        for number in range(40)
        for message in sentence(
            InputText(f"zebra {number} " * 200),
            OutputText("quagga " * 2000 + ".", with_sound=True),
            TurnComplete(),
        )
    ]
    talk[-1] = replace(talk[-1], then=(InputText("and the last one"), *YES))
    async with stage(session(*talk, handle="h"), Stale("Gone."), session(*sentence(*YES))) as on:
        for number in range(40):
            await on.play(spoken(turn_id=f"t{number}"))
        await on.clock.run(300.0)
        await on.play(spoken(turn_id="t40"))
        first, _, fresh = (setup.instruction for setup in on.client.setups)
        assert len(fresh) - len(first) <= MAX_HISTORY + 400  # with the words around it
        assert fresh.count("Person: ") <= MAX_EXCHANGES
        assert "Person: and the last one\nYou: Yes." in fresh
        assert "zebra 38" in fresh
        assert "zebra 30" not in fresh
