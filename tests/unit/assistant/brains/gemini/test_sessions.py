"""Tests that each owner, such as a program, has a separate conversation with Gemini Live."""

from collections.abc import AsyncIterator

import pytest

from assistant.brains.gemini.brain import MAX_KEPT, LiveSessions
from assistant.domain.brain import PEOPLE, ConversationOwner, Spent, TurnRequest
from assistant.domain.tool_call import ToolCall
from tests.simulators.records import HeardTurn
from tests.simulators.script import Call, Done, Drop, GoAway, LiveStep, Say, Tokens, Turn
from tests.unit.assistant.brains.gemini.doubles import BRIEFING, ScriptedBriefer, outcome_of
from tests.unit.assistant.brains.gemini.talk import YES, Talk, talk

AGENT, PANEL = ConversationOwner("mcp:agent"), ConversationOwner("http:panel", recalls=False)


def typed(text: str, owner: ConversationOwner = PEOPLE) -> TurnRequest:
    return TurnRequest(f"t-{text}", "en", "text", text, None, owner=owner)


def answers(turn: HeardTurn) -> tuple[LiveStep, ...]:
    return YES


def keepers_of(on: Talk) -> LiveSessions:
    return on.brain._sessions


@pytest.fixture
async def on() -> AsyncIterator[Talk]:
    async with talk(respond=answers) as on:
        yield on


async def test_it_is_briefed_for_whom_it_answers() -> None:
    briefer = ScriptedBriefer(BRIEFING)
    async with talk(respond=answers, briefer=briefer) as on:
        for owner in (PEOPLE, AGENT, PANEL):
            await on.answer(typed("hello", owner))
    assert briefer.owners == [PEOPLE, AGENT, PANEL]


async def test_the_same_name_with_another_token_is_another_owner(on: Talk) -> None:
    for token in ("one", "two", "one"):
        await on.answer(typed("hello", ConversationOwner("mcp:agent", token)))
    assert [len(one.turns) for one in on.service.connections] == [2, 1]


async def test_what_people_are_told_and_forget_is_not_the_programs(on: Talk) -> None:
    await on.answer(typed("my word is bandicoot", AGENT))
    on.brain.learn("(The lamp is on.)")
    on.brain.cut_off("t-my word is bandicoot", "Yes,")
    on.brain.forget()
    await on.answer(typed("and more", AGENT))
    await on.answer(typed("hello"))
    await on.answer(typed("hello again"))
    assert [turn.text for turn in on.service.turns] == [
        "my word is bandicoot",
        "and more",
        "hello",
        "hello again",
    ]
    assert on.service.connections[0].open


async def test_what_people_are_to_know_waits_for_them(on: Talk) -> None:
    on.brain.learn("(The lamp is on.)")
    await on.answer(typed("hello", AGENT))
    await on.answer(typed("hello"))
    assert [turn.text for turn in on.service.turns] == ["hello", "(The lamp is on.)\nhello"]


async def test_what_came_of_a_programs_call_is_told_to_it_alone() -> None:
    """Its session broke before the result was there, so the next turn begins with the result."""
    turns = [
        Turn("text", [Call("HassTurnOn", wait=False), Drop()], cut=None),
        Turn("text", YES),
        Turn("text", YES),
    ]
    async with talk(*turns) as on:
        turn = on.brain.begin(typed("turn it on", AGENT))
        events = [event async for event in turn.events()]
        [call] = [event for event in events if isinstance(event, ToolCall)]
        await turn.answer(outcome_of(call.id, sentence="Bandicoot lamp: on"))
        await on.answer(typed("hello"))
        await on.answer(typed("go on", AGENT))
        assert on.service.turns[1].text == "hello"
        assert "Bandicoot lamp: on" in on.service.turns[2].text


async def test_a_programs_session_that_must_be_left_is_not_opened_anew() -> None:
    turns = [
        Turn("text", [*YES, GoAway(0.0)]),
        Turn("text", YES),
    ]
    async with talk(*turns) as on:
        await on.answer(typed("hello", AGENT))
        await on.service.until(lambda: on.service.open_sockets == 0)
        assert on.service.total_sockets == 1, "nobody asks: nothing is opened"
        await on.answer(typed("hello", AGENT))
        assert on.service.total_sockets == 2
        assert on.service.connections[1].resumed


async def test_a_programs_refused_session_takes_another_programs_place() -> None:
    async with talk(respond=answers, most_sessions=2) as on:
        await on.answer(typed("hello"))
        await on.answer(typed("hello", AGENT))
        await on.answer(typed("hello", PANEL))
        people, agent, *rest = on.service.connections
        assert people.open
        assert not agent.open
        assert rest[-1].open
        assert on.brain.openings == 3


async def test_without_any_to_close_a_refusal_is_told() -> None:
    async with talk(respond=answers, most_sessions=1) as on:
        await on.answer(typed("hello"))
        [*_, fault] = await on.play(typed("hello", AGENT))
        assert getattr(fault, "kind", "") == "quota"
        assert await on.answer(typed("hello again")) == "Yes, it is."
        assert len(on.service.connections[0].turns) == 2


async def test_one_that_is_in_use_is_not_closed_for_another(on: Talk) -> None:
    await on.answer(typed("hello", AGENT))
    keeper = keepers_of(on).of(AGENT)

    def post(item: object) -> None:
        """Ignore a turn's event."""

    await keeper.acquire(BRIEFING, post)
    assert not await keeper.rest()
    assert on.service.open_sockets == 1
    keeper.leave(post, usable=True)
    assert await keeper.rest()
    assert not await keeper.rest(), "it is closed"


async def test_of_many_owners_the_oldest_goes_and_its_costs_are_told_later() -> None:
    used = Tokens(100, 20, prompt_details={"TEXT": 100}, response_details={"AUDIO": 20})
    late = (Say("Yes.", audio_s=0.1), Done(usage=used))

    def respond(turn: HeardTurn) -> tuple[LiveStep, ...]:
        return late

    async with talk(respond=respond) as on:
        keepers = keepers_of(on)
        spent = []
        for number in range(MAX_KEPT + 1):
            owner = ConversationOwner(f"mcp:agent{number}")
            events = await on.play(typed("hello", owner))
            spent += [event for event in events if isinstance(event, Spent)]
        assert len(keepers._programs) == MAX_KEPT
        assert on.brain.openings == MAX_KEPT + 1
        # The service reports the tokens after the end, when the turn is already over.
        total = sum(one.usage.output_tokens for one in spent)
        untold = [keeper.meter.take() for keeper in keepers._all]
        total += sum(one.output_tokens for told in untold for one in told)
        total += sum(one.output_tokens for one in keepers.take_owed())
        assert total == 20 * (MAX_KEPT + 1)
        await on.service.until(lambda: not on.service.connections[0].open)
