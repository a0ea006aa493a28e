"""Tests of whole turns of gemini-once with the real client and the simulated service."""

from contextlib import AsyncExitStack, aclosing

import pytest

from assistant.brains.briefing.briefer import Briefing
from assistant.brains.gemini_once import GeminiOnceBrain
from assistant.domain.brain import (
    BrainEvent,
    BrainFault,
    FaultKind,
    Reached,
    ReplyText,
    Spent,
    TurnDone,
    TurnRequest,
)
from assistant.domain.tool_call import ToolCall
from assistant.domain.turn_audio import TurnAudio
from integrations.gemini.access import Access
from integrations.gemini.declarations import Declaration
from integrations.gemini.models import model_row
from integrations.gemini.once import OnceClient
from tests.simulators.gemini_live import KEY, GeminiSimulator
from tests.simulators.script import (
    Blocked,
    Call,
    CallTogether,
    Done,
    Drop,
    HttpError,
    OnceTurn,
    Say,
    Step,
)
from tests.unit.assistant.brains.gemini.doubles import ScriptedBriefer
from tests.unit.assistant.brains.scripted import House, play

ROW, _ = model_row("gemini-3.8-flash")
DECLARATIONS = (
    Declaration("light", "Turns it on.", None, ()),
    Declaration("read", "Reads it.", None, ()),
)
SOUND = bytes(index * 31 % 256 for index in range(32_000))


BRIEFING = Briefing("Be brief.", DECLARATIONS, (), (), "", "")


def spoken() -> TurnRequest:
    audio = TurnAudio()
    audio.append(SOUND)
    audio.finish()
    return TurnRequest("t", "en", "voice", None, audio)


async def run(*turns: OnceTurn, house: House | None = None) -> list[list[BrainEvent]]:
    """Play spoken turns one after the other and return their events."""
    async with AsyncExitStack() as stack:
        service = await stack.enter_async_context(GeminiSimulator(once=list(turns)))
        access = Access(KEY, service.url, str(service.ca_file))
        client = await stack.enter_async_context(aclosing(OnceClient(access)))
        brain = GeminiOnceBrain(client, ScriptedBriefer(BRIEFING), ROW)
        return [await play(brain.begin(spoken()), house or House()) for _ in turns]


def words(events: list[BrainEvent]) -> str:
    return "".join(event.delta for event in events if isinstance(event, ReplyText))


async def test_a_chain_of_calls_on_a_recording() -> None:
    house = House()
    (events,) = await run(
        OnceTurn(
            [
                CallTogether(Call("light"), Call("read")),
                Call("read"),
                Say("It is on."),
                Done(),
            ]
        ),
        house=house,
    )
    assert events[0] == Reached("first_upload")
    assert [event.name for event in events if isinstance(event, ToolCall)] == [
        "light",
        "read",
        "read",
    ]
    assert (len(house.deeds), len(house.reads)) == (1, 2)
    assert words(events) == "It is on."
    assert events[-1] == TurnDone()
    assert sum(event.cost_usd for event in events if isinstance(event, Spent)) > 0


@pytest.mark.parametrize(
    ("steps", "kind", "retryable"),
    [
        ([HttpError(429)], "quota", False),
        ([HttpError(503)], "unreachable", True),
        ([HttpError(400)], "refused", False),
        ([Say("Half a"), Drop()], "unreachable", True),
        ([Blocked()], "blocked", False),
        ([Done()], "empty", True),
    ],
    ids=str,
)
async def test_how_a_turn_fails(steps: list[Step], kind: FaultKind, retryable: bool) -> None:
    (events,) = await run(OnceTurn(steps, cut=None))
    last = events[-1]
    assert isinstance(last, BrainFault)
    assert (last.kind, last.retryable) == (kind, retryable)


async def test_many_turns_share_a_client() -> None:
    turn = OnceTurn([Call("read"), Say("Yes."), Done()])
    assert [words(events) for events in await run(*([turn] * 5))] == ["Yes."] * 5
