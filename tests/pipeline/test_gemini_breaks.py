"""Tests of a connection that breaks or falls silent at every moment of a turn. Simulated
service."""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pytest

from assistant.domain.tool_call import Status
from audio.sound_files import read_wav
from integrations.gemini.once import OnceClient
from tests.pipeline.gemini_rig import (
    ASKED,
    KITCHEN,
    LIVE,
    OFFICE,
    OFFICE_ON,
    OFFLINE,
    ONCE,
    SAID,
    TURN_ON,
    ended,
    outcomes,
    said,
    scene,
    settled,
)
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import (
    AwaitAnswers,
    Call,
    Cancel,
    Close,
    Done,
    Drop,
    GoAway,
    Hear,
    OnceTurn,
    Opening,
    Say,
    Sound,
    Stall,
    Step,
    Turn,
)

HEARD = Hear(ASKED, language="en-GB")
ON = Say(SAID)
SERVED: list[Step] = [Call(TURN_ON, OFFICE, answer={"status": "done"}), ON, Done()]
LOOK = Call("GetLiveContext", {"area": "office"})
LOST = f"{OFFICE_ON} Then I lost the connection."
BROKEN: list[Step] = [Drop(), Close(1011, "Internal error encountered.")]
by_drop_and_1011 = pytest.mark.parametrize("broken", BROKEN, ids=["dropped", "1011"])


# --- the connection breaks


@by_drop_and_1011
async def test_while_the_person_speaks(tmp_path: Path, command: Path, broken: Step) -> None:
    service = GeminiSimulator(
        [Turn("audio", during=[broken], cut=None), Turn("audio", [HEARD, *SERVED])]
    )
    async with scene(tmp_path, service, hears=True) as on:
        turn = await on.hear(command)
        assert ended(turn) == (LIVE, None)
        assert said(turn) == SAID
    # Nothing of what was said while the connection was away is missing.
    moments = turn.record.timeline
    speech = (round(moments["wake"] * 16), round(moments["speech_end"] * 16))
    service.turns[1].assert_heard(read_wav(command), covers=speech)


async def test_twice_while_the_person_speaks(tmp_path: Path, command: Path) -> None:
    breaks = Turn("audio", during=[Drop()], cut=None)
    service = GeminiSimulator([breaks, breaks], once=[OnceTurn(SERVED)])
    async with scene(tmp_path, service, hears=True) as on:
        turn = await on.hear(command)
        assert ended(turn) == (ONCE, None)
        assert said(turn) == SAID
    moments, audio = turn.record.timeline, service.once_requests[0].audio
    said_in = slice(round(moments["wake"] * 16) * 2, round(moments["speech_end"] * 16) * 2)
    assert read_wav(command)[said_in] in audio


async def test_a_spoken_turn_whose_reply_breaks_off_is_sent_again(
    tmp_path: Path, command: Path
) -> None:
    service = GeminiSimulator(
        [Turn("audio", [HEARD, Say("The"), Drop()]), Turn("audio", [HEARD, *SERVED])]
    )
    async with scene(tmp_path, service, hears=True) as on:
        turn = await on.hear(command)
        assert ended(turn) == (LIVE, None)
        assert said(turn) == SAID
    assert service.turns[0].pcm == service.turns[1].pcm


@by_drop_and_1011
async def test_while_a_tool_runs(tmp_path: Path, broken: Step) -> None:
    steps: list[Step] = [Call(TURN_ON, OFFICE, wait=False), broken]
    service = GeminiSimulator([Turn("text", steps)])
    async with scene(tmp_path, service) as on, on.holding_the_house() as house:
        on.lost_calls = 1
        async with asyncio.TaskGroup() as group:
            asking = group.create_task(on.ask(ASKED))
            await on.until(lambda: service.total_sockets == 1 and service.open_sockets == 0)
            house.go_on.set()
        turn = asking.result()
        assert ended(turn) == (LIVE, "unreachable")
        assert said(turn) == LOST
        assert outcomes(turn) == [Status.DONE]
        assert on.house_calls == [(TURN_ON, OFFICE)]


@by_drop_and_1011
async def test_while_the_reply_comes_before_anything_was_done(tmp_path: Path, broken: Step) -> None:
    service = GeminiSimulator([Turn("text", [Say("It is"), broken]), Turn("text", SERVED)])
    async with scene(tmp_path, service) as on:
        turn = await on.ask(ASKED)
        assert ended(turn) == (LIVE, None)
        assert said(turn) == SAID


@by_drop_and_1011
async def test_while_the_reply_comes_after_only_looking(tmp_path: Path, broken: Step) -> None:
    service = GeminiSimulator([Turn("text", [LOOK, Say("It"), broken]), Turn("text", SERVED)])
    async with scene(tmp_path, service) as on:
        turn = await on.ask(ASKED)
        assert ended(turn) == (LIVE, None)
        assert said(turn) == SAID


@by_drop_and_1011
async def test_while_the_reply_comes_after_a_deed(tmp_path: Path, broken: Step) -> None:
    steps = [Call(TURN_ON, OFFICE), Say("The office"), broken]
    async with scene(tmp_path, GeminiSimulator([Turn("text", steps)])) as on:
        turn = await on.ask(ASKED)
        assert ended(turn) == (LIVE, "unreachable")
        assert said(turn) == LOST
        assert on.house_calls == [(TURN_ON, OFFICE)]


async def test_after_the_whole_reply_it_is_no_fault(tmp_path: Path) -> None:
    service = GeminiSimulator([Turn("text", [*SERVED, Drop()], cut=None)])
    async with scene(tmp_path, service) as on:
        turn = await on.ask(ASKED)
        assert ended(turn) == (LIVE, None)
        assert said(turn) == SAID


async def test_the_next_turn_knows_what_was_done_before_the_break(tmp_path: Path) -> None:
    service = GeminiSimulator(
        [
            Turn("text", [Call(TURN_ON, OFFICE, wait=False), Drop()]),
            Turn("text", [Say("Yes, it is."), Done()]),
        ]
    )
    async with scene(tmp_path, service) as on:
        on.lost_calls = 1
        await on.ask(ASKED)
        assert said(await on.ask("is it on now?")) == "Yes, it is."
    known = "Done. The office light is on at 100 %; the desk lamp is on."
    assert known in service.turns[1].text
    assert service.turns[1].text.endswith("is it on now?")


# --- the service takes a call back


async def test_a_call_that_is_taken_back_while_it_runs(tmp_path: Path) -> None:
    steps: list[Step] = [
        Call(TURN_ON, OFFICE, wait=False),
        Cancel(),
        Say("I leave it."),
        Done(),
    ]
    service = GeminiSimulator([Turn("text", steps), Turn("text", [Say("Yes."), Done()])])
    async with scene(tmp_path, service) as on:
        turn = await on.ask(ASKED)
        assert ended(turn) == (LIVE, None)
        # It had gone to the house already: the model learns of it, and does not do it again.
        assert outcomes(turn) == [Status.DONE]
        await on.ask("is it on?")
        assert on.house_calls == [(TURN_ON, OFFICE)]
    assert settled(service.turns[0]) == ["cancelled"]
    assert "cut off, but it had started" in service.turns[1].text


async def test_a_call_that_is_taken_back_and_made_again_runs_once(tmp_path: Path) -> None:
    louder = {"name": "Kitchen speaker", "volume_step": 10}
    steps: list[Step] = [
        Call("media_player__HassSetVolumeRelative", louder, wait=False),
        Cancel(),
        Call("media_player__HassSetVolumeRelative", louder, answer={"status": "done"}),
        Say("It is louder."),
        Done(),
    ]
    service = GeminiSimulator([Turn("text", steps)])
    async with scene(tmp_path, service) as on:
        turn = await on.ask("make the kitchen speaker louder")
        assert ended(turn) == (LIVE, None)
        assert len(on.house_calls) == 1
        assert outcomes(turn) == [Status.DONE]
    assert settled(service.turns[0]) == ["cancelled", "answered"]


async def test_one_of_two_calls_is_taken_back(tmp_path: Path) -> None:
    steps: list[Step] = [
        Call(TURN_ON, OFFICE, id="a", wait=False),
        Call(TURN_ON, KITCHEN, id="b", wait=False),
        Cancel("a"),
        AwaitAnswers(),
        LOOK,
        Say("Done."),
        Done(),
    ]
    service = GeminiSimulator([Turn("text", steps)])
    async with scene(tmp_path, service) as on:
        async with on.holding_the_house() as house, asyncio.TaskGroup() as group:
            asking = group.create_task(on.ask(ASKED))
            await on.until(lambda: [*map(settled, service.turns)] == [["cancelled", "open"]])
            house.go_on.set()
        assert ended(asking.result()) == (LIVE, None)
        assert said(asking.result()) == "Done."
    assert settled(service.turns[0]) == ["cancelled", "answered", "answered"]


# --- the service wants to close


async def test_go_away_in_the_middle_of_a_reply(tmp_path: Path) -> None:
    steps = [Say("The office lights"), GoAway(30), Say(" are on."), Done()]
    service = GeminiSimulator([Turn("text", steps), Turn("text", [Say("Yes."), Done()])])
    async with scene(tmp_path, service) as on:
        turn = await on.ask(ASKED)
        assert ended(turn) == (LIVE, None)
        assert said(turn) == SAID  # never in the middle of it
        await on.until(lambda: service.connections[0].closed_at is not None)
        assert said(await on.ask("is it on?")) == "Yes."
    assert service.connections[1].resumed
    assert service.turns[0].cut == ""


async def test_go_away_while_a_tool_runs(tmp_path: Path) -> None:
    steps: list[Step] = [Call(TURN_ON, OFFICE, wait=False), GoAway(30), AwaitAnswers(), ON, Done()]
    service = GeminiSimulator([Turn("text", steps), Turn("text", [Say("Yes."), Done()])])
    async with scene(tmp_path, service) as on:
        turn = await on.ask(ASKED)
        assert ended(turn) == (LIVE, None)
        assert said(turn) == SAID
        assert said(await on.ask("is it on?")) == "Yes."
    assert settled(service.turns[0]) == ["answered"]


async def test_go_away_while_the_person_speaks(tmp_path: Path, command: Path) -> None:
    service = GeminiSimulator([Turn("audio", [HEARD, *SERVED], during=[GoAway(30)])])
    async with scene(tmp_path, service, hears=True) as on:
        turn = await on.hear(command)
        assert ended(turn) == (LIVE, None)
        assert said(turn) == SAID


async def test_a_go_away_whose_deadline_passes_within_a_reply(tmp_path: Path) -> None:
    service = GeminiSimulator(
        [Turn("text", [GoAway(1), Say("It"), Stall()], cut=True), Turn("text", SERVED)]
    )
    async with scene(tmp_path, service) as on:
        async with asyncio.TaskGroup() as group:
            asking = group.create_task(on.ask(ASKED))
            await on.until(lambda: bool(service.turns and service.turns[0].reply_text))
            on.clock.leap(2)
        assert ended(asking.result()) == (LIVE, None)
        assert said(asking.result()) == SAID


async def test_a_go_away_whose_deadline_passes_while_a_tool_runs(tmp_path: Path) -> None:
    steps: list[Step] = [Call(TURN_ON, OFFICE, wait=False), GoAway(1), Stall()]
    service = GeminiSimulator([Turn("text", steps)])
    async with scene(tmp_path, service) as on, on.holding_the_house() as house:
        on.lost_calls = 1
        async with asyncio.TaskGroup() as group:
            asking = group.create_task(on.ask(ASKED))
            await house.reached.wait()
            async with on.clock.hurrying():
                await on.until(lambda: service.open_sockets == 0)
            house.go_on.set()
        assert ended(asking.result()) == (LIVE, "unreachable")
        assert said(asking.result()) == LOST


# --- the service refuses


async def test_a_handle_that_is_refused(tmp_path: Path) -> None:
    service = GeminiSimulator(
        [
            Turn("text", [Say("Blue."), Done(), Drop()]),
            Turn("text", [Say("Blue, I said."), Done()]),
        ],
        openings=[Opening(), Opening(refuse_handle=True)],
    )
    async with scene(tmp_path, service) as on:
        await on.ask("say a colour")
        await on.until(lambda: service.open_sockets == 0)
        turn = await on.ask("which one was it?")
        assert ended(turn) == (LIVE, None)
        assert said(turn) == "Blue, I said."
    _, refused, fresh = service.connections
    assert refused.handle is not None
    assert fresh.handle is None
    assert fresh.setup is not None
    assert "Blue." in fresh.setup.instruction  # it gets the earlier exchanges


@pytest.mark.parametrize(
    "refusal",
    [(1007, "Request contains an invalid argument."), (1008, "Operation not permitted.")],
    ids=["1007", "1008"],
)
async def test_a_setup_that_is_refused(tmp_path: Path, refusal: tuple[int, str]) -> None:
    service = GeminiSimulator(opening=Opening(refuse=refusal), once=[OnceTurn(SERVED)])
    async with scene(tmp_path, service) as on:
        turn = await on.ask(ASKED)
        assert ended(turn) == (ONCE, None)
        assert said(turn) == SAID


@pytest.mark.parametrize("opening", [Opening(refuse=(1011, "Internal error")), Opening(drop=True)])
async def test_a_connect_that_fails_once_is_tried_again(tmp_path: Path, opening: Opening) -> None:
    service = GeminiSimulator([Turn("text", SERVED)], openings=[opening])
    async with scene(tmp_path, service) as on:
        turn = await on.ask(ASKED)
        assert ended(turn) == (LIVE, None)
        assert said(turn) == SAID


# --- the service is silent


async def test_sixty_seconds_of_silence(tmp_path: Path) -> None:
    service = GeminiSimulator([Turn("text", [Stall(60)], cut=True)], once=[OnceTurn([Stall()])])
    impatient = partial(OnceClient, patience_s=3.0)  # it goes by the machine's clock
    with patch("integrations.gemini.once.OnceClient", impatient):
        async with scene(tmp_path, service) as on, asyncio.TaskGroup() as group:
            asking = group.create_task(on.ask(ASKED))
            await on.falling_silent()
            await on.until(lambda: len(service.once_requests) == 1)
            on.clock.leap(10)
            turn = await asking
            assert ended(turn) == (OFFLINE, None)
            assert said(turn).startswith("Gemini took too long, so I'll answer on my own")
            assert on.house_calls == [(TURN_ON, OFFICE)]


@pytest.mark.parametrize(
    ("before", "brain", "answer", "error"),
    [
        pytest.param([], ONCE, SAID, None, id="before any sign"),
        pytest.param([Sound(0.2)], ONCE, SAID, None, id="after sound"),
        pytest.param([LOOK], ONCE, SAID, None, id="after a reading"),
        pytest.param([Call(TURN_ON, OFFICE)], LIVE, LOST, "timeout", id="after a deed"),
        pytest.param([Call(TURN_ON, OFFICE), Say("The")], LIVE, LOST, "timeout", id="mid-reply"),
    ],
)
async def test_it_falls_silent(
    tmp_path: Path, before: Sequence[Step], brain: str, answer: str, error: str | None
) -> None:
    once = [OnceTurn(SERVED)] if brain == ONCE else []
    service = GeminiSimulator([Turn("text", [*before, Stall()])], once=once)
    async with scene(tmp_path, service) as on, asyncio.TaskGroup() as group:
        asking = group.create_task(on.ask(ASKED))
        await on.falling_silent()
        turn = await asking
        assert ended(turn) == (brain, error)
        assert said(turn) == answer
        assert on.house_calls == [(TURN_ON, OFFICE)]


async def test_the_turn_after_a_silent_one_has_a_session_of_its_own(tmp_path: Path) -> None:
    service = GeminiSimulator(
        [Turn("text", [Stall()]), Turn("text", [Say("Yes."), Done()])], once=[OnceTurn(SERVED)]
    )
    async with scene(tmp_path, service) as on, asyncio.TaskGroup() as group:
        asking = group.create_task(on.ask(ASKED))
        await on.falling_silent()
        await asking
        turn = await on.ask("is it on?")
        assert ended(turn) == (LIVE, None)
        assert said(turn) == "Yes."
    assert [connection.handle for connection in service.connections] == [None, None]
