"""Tests of a changed briefing: sent to the open session, or used in a fresh one."""

from dataclasses import replace

import pytest

from assistant.domain.brain import (
    BrainFault,
    Reached,
    ReplySettled,
    ReplyText,
    TurnDone,
)
from integrations.errors import Refused, Unavailable
from integrations.gemini.declarations import Declaration
from integrations.gemini.events import InputText
from integrations.gemini.models import model_row
from tests.unit.assistant.brains.gemini.doubles import (
    BRIEFING,
    YES,
    ScriptedBriefer,
    Sent,
    sentence,
    session,
    spoken,
    stage,
    typed,
)

ANSWER = [ReplyText("Yes."), ReplySettled(), TurnDone()]
LAMP = Declaration("Lamp", "The lamp.", None, ())


async def test_a_changed_menu_is_told_to_the_open_session() -> None:
    later = replace(BRIEFING, instruction="It is noon.", declarations=(LAMP,))
    talk = session(
        *sentence(*YES), Sent("update", ("It is noon.", (LAMP,))), *sentence(*YES), *sentence(*YES)
    )
    async with stage(talk, briefer=ScriptedBriefer(BRIEFING, later)) as on:
        for _ in range(3):
            assert await on.play(spoken()) == ANSWER


async def test_only_what_changed_is_told() -> None:
    later = replace(BRIEFING, declarations=(LAMP,), vocabulary=("Lamp",))
    talk = session(*sentence(*YES), Sent("update", (None, (LAMP,))), *sentence(*YES))
    async with stage(talk, briefer=ScriptedBriefer(BRIEFING, later)) as on:
        await on.play(spoken())
        assert await on.play(spoken()) == ANSWER


async def test_names_alone_are_not_worth_a_new_session() -> None:
    later = replace(BRIEFING, vocabulary=("Lamp",))
    talk = session(*sentence(*YES), *sentence(*YES))
    async with stage(talk, briefer=ScriptedBriefer(BRIEFING, later)) as on:
        await on.play(spoken())
        assert await on.play(spoken()) == ANSWER


async def test_an_update_keeps_the_history_that_the_session_was_opened_with() -> None:
    first = session(*sentence(InputText("is the lamp on"), *YES))
    later = replace(BRIEFING, instruction="It is noon.")
    second = session(*sentence(*YES), Sent("update"), *sentence(*YES))
    briefer = ScriptedBriefer(BRIEFING, BRIEFING, later)
    async with stage(first, second, briefer=briefer) as on:
        await on.play(spoken())
        first.break_off(Unavailable("Gone."))
        await on.play(spoken())
        seeded = on.client.setups[1].instruction
        await on.play(spoken())
        assert second.updates == [seeded.replace(BRIEFING.instruction, "It is noon.")]


@pytest.mark.parametrize(
    ("row", "change"),
    [
        ("gemini-3.8-live-extended-thinking", {"thinking": "high"}),
        ("gemini-3.8-live", {"language_codes": ("en", "es")}),
        ("gemini-3.1-flash-live-preview", {"declarations": (LAMP,)}),
    ],
)
async def test_what_cannot_be_told_makes_a_fresh_session_with_history(
    row: str, change: dict[str, object]
) -> None:
    later = replace(BRIEFING, **change)  # type: ignore[arg-type]
    first = session(*sentence(InputText("is the lamp on"), *YES), handle="h")
    briefer = ScriptedBriefer(BRIEFING, later)
    openings = (first, session(*sentence(*YES)))
    async with stage(*openings, briefer=briefer, row=model_row(row)[0]) as on:
        await on.play(spoken())
        await on.play(spoken())
        assert on.client.setups[1].handle is None
        assert "is the lamp on" in on.client.setups[1].instruction


async def test_a_profiles_thinking_costs_no_session_where_none_can_be_set() -> None:
    briefer = ScriptedBriefer(BRIEFING, replace(BRIEFING, thinking="high"))
    async with stage(session(*sentence(*YES), *sentence(*YES)), briefer=briefer) as on:
        await on.play(spoken())
        assert await on.play(spoken()) == ANSWER


async def test_a_refused_update_makes_a_fresh_session() -> None:
    later = replace(BRIEFING, instruction="It is noon.")
    first = session(*sentence(*YES), Sent("update", fails=Refused("1007")))
    briefer = ScriptedBriefer(BRIEFING, later)
    async with stage(first, session(*sentence(*YES)), briefer=briefer) as on:
        await on.play(spoken())
        assert await on.play(spoken()) == ANSWER


async def test_an_update_that_closes_the_socket_is_not_tried_a_second_time() -> None:
    menus = [replace(BRIEFING, instruction=text) for text in ("One.", "Two.", "Two.", "Three.")]
    first = session(*sentence(*YES), Sent("update"), *sentence())
    openings = (first, session(*sentence(*YES)), session(*sentence(*YES)))
    async with stage(*openings, briefer=ScriptedBriefer(*menus)) as on:
        await on.play(spoken())
        events, _ = await on.until(on.brain.begin(spoken()), Reached)
        await on.clock.settle()
        first.break_off(Refused("1007"))
        (fault,) = [event async for event in events if isinstance(event, BrainFault)]
        assert fault.retryable
        assert await on.play(spoken()) == ANSWER
        assert await on.play(spoken()) == ANSWER


async def test_a_send_that_learns_first_that_an_update_closed_the_socket_may_be_repeated() -> None:
    later = replace(BRIEFING, instruction="It is noon.")
    first = session(*sentence(*YES), Sent("update"), Sent("start", fails=Refused("1007")))
    briefer = ScriptedBriefer(BRIEFING, later)
    async with stage(first, session(*sentence(*YES)), briefer=briefer) as on:
        await on.play(spoken())
        (fault,) = await on.play(spoken())
        assert isinstance(fault, BrainFault)
        assert (fault.kind, fault.retryable) == ("unreachable", True)
        assert await on.play(spoken()) == ANSWER


async def test_the_turns_profile_is_briefed() -> None:
    async with stage(session(Sent("text", None, YES))) as on:
        await on.play(typed(profile="guests"))
        assert on.briefer.profiles == ["guests"]
