"""Tests of answers that a model breaks off, garbles or withholds. Simulated service.

Each behaviour was reported publicly; the source stands beside it.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.pipeline.gemini_rig import (
    ASKED,
    LIVE,
    OFFICE,
    OFFICE_ON,
    SAID,
    TURN_ON,
    Scene,
    ended,
    said,
    scene,
)
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import Call, Close, Done, Interrupt, Say, Stall, Step, Turn

CALL = Call(TURN_ON, OFFICE, answer={"status": "done"})
SERVED: list[Step] = [CALL, Say(SAID), Done()]
LOST = f"{OFFICE_ON} Then I lost the connection."
STOPPED = f"{OFFICE_ON} Then I couldn't finish."
INVALID = Close(1007, "Request contains an invalid argument.")


async def served_next(on: Scene) -> None:
    """The next turn is answered by Gemini Live."""
    on.repeats = True
    turn = await on.ask("what is on")
    assert (ended(turn), said(turn)) == ((LIVE, None), SAID)


# cookbook #1197; google-gemini/gemini-live-api-examples #52: then nothing more comes
@pytest.mark.parametrize("rest", [[Done()], [Stall()]], ids=["then it ends", "then silence"])
async def test_an_interruption_after_the_action_is_told(
    tmp_path: Path, rest: Sequence[Step]
) -> None:
    broken = Turn("text", [CALL, Say("The office"), Interrupt(), *rest], cut=None)
    service = GeminiSimulator([broken, Turn("text", [Say(SAID), Done()])])
    async with scene(tmp_path, service) as on:
        turn = await on.ask(ASKED)
        assert said(turn).startswith(OFFICE_ON)
        assert "The office." not in said(turn)
        await served_next(on)


async def test_an_interruption_before_anything_happened_is_tried_again(tmp_path: Path) -> None:
    turns = [Turn("text", [Say("The"), Interrupt(), Done()], cut=None), Turn("text", SERVED)]
    async with scene(tmp_path, GeminiSimulator(turns)) as on:
        turn = await on.ask(ASKED)
        assert (ended(turn), said(turn)) == ((LIVE, None), SAID)


# livekit/agents #5985: the context is exhausted; resuming fails in the same way
async def test_a_session_that_is_refused_midway_is_left_with_its_handle(tmp_path: Path) -> None:
    turns = [Turn("text", [INVALID]), Turn("text", SERVED), Turn("text", [Say(SAID), Done()])]
    service = GeminiSimulator(turns)
    async with scene(tmp_path, service) as on:
        turn = await on.ask(ASKED)
        assert (ended(turn), said(turn)) == ((LIVE, None), SAID)
        await served_next(on)
        assert [one.resumed for one in service.connections if one.setup] == [False, False]


async def test_a_set_up_that_is_accepted_and_does_not_work_is_repaired(tmp_path: Path) -> None:
    """After two refusals in one turn, the third session has no optional parts."""
    refused = Turn("text", [INVALID])
    service = GeminiSimulator([refused, refused, *[Turn("text", SERVED)] * 2])
    async with scene(tmp_path, service, brain={"order": [LIVE]}) as on:
        turn = await on.ask(ASKED)
        assert (ended(turn), said(turn)) == ((LIVE, None), SAID)
        await served_next(on)
        setups = [one.setup for one in service.connections if one.setup]
        assert ["contextWindowCompression" in one.raw for one in setups] == [True, True, False]
        on.app.brains.forget()


async def test_a_session_that_is_refused_again_and_again_is_explained(tmp_path: Path) -> None:
    service = GeminiSimulator([*[Turn("text", [INVALID])] * 3, *[Turn("text", SERVED)] * 2])
    async with scene(tmp_path, service, brain={"order": [LIVE]}) as on:
        turn = await on.ask(ASKED)
        assert ended(turn) == (LIVE, "refused")
        assert said(turn).startswith("Gemini doesn't accept my settings")
        assert said(await on.ask(ASKED)) == SAID
        await served_next(on)
        setups = [one.setup for one in service.connections if one.setup]
        assert "contextWindowCompression" in setups[-1].raw, "the next turn starts over"


# google-gemini/gemini-live-api-examples #40: 27 rejections in a row in one session
async def test_a_session_that_rejects_every_turn_is_left(tmp_path: Path) -> None:
    rejected = Turn("text", [Done(reason="RESPONSE_REJECTED", generation=False)])
    turns = [rejected, rejected, Turn("text", [Say(SAID), Done()])]
    service = GeminiSimulator(turns)
    async with scene(tmp_path, service, brain={"order": [LIVE, "offline"]}) as on:
        for _ in range(2):
            await on.ask("tell me something")
        await served_next(on)
        assert [one.resumed for one in service.connections if one.setup] == [False, False]


# AidenAI-IO/aiden-firmware #708; livekit/agents #2174
async def test_a_call_that_is_only_spoken_is_asked_for_again(tmp_path: Path) -> None:
    spoken = [Say("call:HassTurnOn area: Office, domain: light"), Done()]
    service = GeminiSimulator([Turn("text", spoken, cut=None), Turn("text", SERVED)])
    async with scene(tmp_path, service) as on:
        turn = await on.ask(ASKED)
        assert (ended(turn), said(turn)) == ((LIVE, None), SAID)


@pytest.mark.parametrize(
    ("words", "heard"),
    [
        ('tool_outputs {"status": "done", "retryable": false} The office lights are on.', SAID),
        ("tool outputs status: done", OFFICE_ON),
        ("<noise> The office lights are on. [laughs]", SAID),
    ],
)
async def test_tools_results_and_marks_are_not_read_aloud(
    tmp_path: Path, words: str, heard: str
) -> None:
    service = GeminiSimulator([Turn("text", [CALL, Say(words), Done()])])
    async with scene(tmp_path, service) as on:
        assert said(await on.ask(ASKED)) == heard


# pipecat: the model promises to go on (interactionStatus IN_PROGRESS), and does not
@pytest.mark.parametrize(
    ("words", "heard"),
    [([Say(SAID)], SAID), ([Say("The office lights")], OFFICE_ON), ([], LOST)],
    ids=["after its report", "within its report", "before its report"],
)
async def test_a_promise_to_go_on_that_is_not_kept(
    tmp_path: Path, words: Sequence[Step], heard: str
) -> None:
    broken = Turn("text", [CALL, *words, Done("IN_PROGRESS"), Stall()], cut=None)
    service = GeminiSimulator([broken, Turn("text", [Say(SAID), Done()])])
    async with scene(tmp_path, service) as on:
        async with asyncio.TaskGroup() as group:
            asking = group.create_task(on.ask(ASKED))
            await on.falling_silent()
        assert said(asking.result()) == heard
        await served_next(on)
