"""Tests of a Gemini Live that falls silent, or whose session ends between turns or in time."""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pytest

from integrations.gemini.once import OnceClient
from tests.chaos.faults import fault
from tests.chaos.judged import judged
from tests.chaos.live_words import (
    AGAIN,
    ANSWER,
    BY_ITSELF,
    CALLED,
    HEARD,
    IS_DONE,
    LOOK,
    LOST,
    NEVER,
    NEXT,
    NEXT_ASKED,
    NEXT_SAID,
    NEXT_TURN,
    ON,
    ONCE_SERVED,
    SAID,
    SERVED,
    TOLD,
    WHOLE,
    assert_told,
)
from tests.pipeline.gemini_rig import LIVE, OFFICE, OFFLINE, ONCE, TURN_ON, ended, said
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import Drop, GoAway, OnceTurn, Opening, Say, Stall, Step, Turn

pytestmark = pytest.mark.faults

NOT_IN_TIME = "Gemini took too long, so I'll answer on my own for now."
before_a_deed = fault(
    "Gemini Live stops responding before any change",
    hears=f"after 6 to 10 s {ANSWER}",
    retried=NEXT,
    kept=WHOLE,
)
after_a_deed = fault(
    "Gemini Live stops responding after a change",
    hears=f"after 6 to 10 s: “{LOST}”",
    retried=NEVER,
    kept=TOLD,
)


@pytest.mark.parametrize(
    ("before", "served"),
    [
        pytest.param([], (ONCE, None, SAID), marks=before_a_deed, id="before any sign"),
        pytest.param([HEARD], (ONCE, None, SAID), marks=before_a_deed, id="after hearing"),
        pytest.param([HEARD, LOOK], (ONCE, None, SAID), marks=before_a_deed, id="after a look"),
        pytest.param([HEARD, ON], (LIVE, "timeout", LOST), marks=after_a_deed, id="after a deed"),
        pytest.param(
            [HEARD, ON, Say("The")], (LIVE, "timeout", LOST), marks=after_a_deed, id="mid-reply"
        ),
    ],
)
async def test_it_falls_silent(
    tmp_path: Path, office: Path, before: Sequence[Step], served: tuple[str, str | None, str]
) -> None:
    once = ONCE_SERVED if served[0] == ONCE else ()
    told = served[2] == LOST
    turns = [Turn("audio", [*before, Stall()]), *([NEXT_TURN] if told else [])]
    service = GeminiSimulator(turns, once=once)
    async with judged(tmp_path, service, hears=True) as on, asyncio.TaskGroup() as group:
        hearing = group.create_task(on.hear(office))
        await on.falling_silent()
        turn = await hearing
        assert (*ended(turn), said(turn)) == served
        if told:
            await assert_told(on, IS_DONE)
        assert on.house_calls == [(TURN_ON, OFFICE)]


@fault(
    "Gemini Live and Gemini's REST API both stop responding",
    hears=f"“{NOT_IN_TIME}”, and the answer",
    retried="the turn with the next brain, and finally with the local one",
    kept=WHOLE,
)
async def test_all_of_it_falls_silent(tmp_path: Path, office: Path) -> None:
    service = GeminiSimulator([Turn("audio", [Stall()])], once=[OnceTurn([Stall()])])
    impatient = partial(OnceClient, patience_s=0.3)  # it goes by the machine's clock
    with patch("integrations.gemini.once.OnceClient", impatient):
        async with judged(tmp_path, service, hears=True) as on, asyncio.TaskGroup() as group:
            hearing = group.create_task(on.hear(office))
            await on.falling_silent()
            await on.until(lambda: len(service.once_requests) == 1)
            on.clock.leap(10)
            turn = await hearing
            assert (ended(turn), said(turn)) == ((OFFLINE, None), f"{NOT_IN_TIME} {BY_ITSELF}")
            assert on.house_calls == [(TURN_ON, OFFICE)]


def talked_to_twice(*openings: Opening) -> GeminiSimulator:
    """Return a service that breaks the connection between a spoken and a typed turn."""
    turns = [Turn("audio", [*SERVED, Drop()], cut=None), NEXT_TURN]
    return GeminiSimulator(turns, openings=openings)


@fault(
    "the connection to Gemini Live breaks between two turns",
    hears=ANSWER,
    retried=("the connection at the next wake word; Hearth resumes the conversation by its handle"),
    kept="the conversation",
)
async def test_between_two_turns(tmp_path: Path, office: Path) -> None:
    service = talked_to_twice(Opening(), Opening())
    async with judged(tmp_path, service, hears=True) as on:
        assert said(await on.hear(office)) == SAID
        await on.until(lambda: service.open_sockets == 0)
        turn = await on.ask(NEXT_ASKED)
        assert (ended(turn), said(turn)) == ((LIVE, None), NEXT_SAID)
    assert service.connections[1].resumed


@fault(
    "Gemini Live has forgotten the conversation and rejects its handle",
    hears=ANSWER,
    retried="the connection once, without the handle",
    kept="the conversation, which the new session gets as text",
)
async def test_a_handle_that_is_refused(tmp_path: Path, office: Path) -> None:
    service = talked_to_twice(Opening(), Opening(refuse_handle=True))
    async with judged(tmp_path, service, hears=True) as on:
        assert said(await on.hear(office)) == SAID
        await on.until(lambda: service.open_sockets == 0)
        assert said(await on.ask(NEXT_ASKED)) == NEXT_SAID
    fresh = service.connections[-1].setup
    assert fresh is not None
    assert SAID in fresh.instruction


@fault(
    ("the deadline that Gemini Live has announced (GoAway) passes during the answer"),
    hears=ANSWER,
    retried=AGAIN,
    kept=WHOLE,
)
async def test_the_deadline_passes_within_the_answer(tmp_path: Path, office: Path) -> None:
    service = GeminiSimulator(
        [Turn("audio", [HEARD, GoAway(1), Say("It"), Stall()], cut=True), Turn("audio", SERVED)]
    )
    async with judged(tmp_path, service, hears=True) as on, asyncio.TaskGroup() as group:
        hearing = group.create_task(on.hear(office))
        await on.until(lambda: bool(service.turns and service.turns[0].reply_text))
        on.clock.leap(2)
        turn = await hearing
        assert (ended(turn), said(turn)) == ((LIVE, None), SAID)
        assert on.house_calls == [(TURN_ON, OFFICE)]


@fault(
    "the deadline that Gemini Live has announced (GoAway) passes while a tool is running",
    hears=f"“{LOST}”",
    retried=NEVER,
    kept=TOLD,
)
async def test_the_deadline_passes_while_a_tool_runs(tmp_path: Path, office: Path) -> None:
    turns = [Turn("audio", [HEARD, CALLED, GoAway(1), Stall()]), NEXT_TURN]
    service = GeminiSimulator(turns)
    async with judged(tmp_path, service, hears=True) as on, on.holding_the_house() as house:
        on.lost_calls = 1
        async with asyncio.TaskGroup() as group:
            hearing = group.create_task(on.hear(office))
            await house.reached.wait()
            async with on.clock.hurrying():
                await on.until(lambda: service.open_sockets == 0)
            house.go_on.set()
        turn = hearing.result()
        assert (ended(turn), said(turn)) == ((LIVE, "unreachable"), LOST)
        await assert_told(on, IS_DONE)
        assert on.house_calls == [(TURN_ON, OFFICE)]
