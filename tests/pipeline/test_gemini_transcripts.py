"""Tests of reported behaviours of the transcript of the person's words, and of an answer that comes
after its turn was given up. Simulated service.

The source of each is its comment.
"""

import asyncio
from pathlib import Path

import pytest

from tests.pipeline.gemini_rig import ASKED, LIVE, OFFICE, SAID, TURN_ON, ended, said, scene
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import Call, Done, Gate, Hear, Say, Stall, Step, Turn, Wait

CALL = Call(TURN_ON, OFFICE)
SERVED: list[Step] = [CALL, Say(SAID), Done()]
STILL = "Yes, they are on now."
LATER: list[Step] = [Hear("are they on?"), CALL, Say(STILL), Done()]
WORDS = "turn on the office lights"
# The steps of a turn, and what it is remembered as having heard.
HEARD: dict[str, tuple[list[Step], str | None]] = {
    # google-gemini/live-api-web-console #142
    "never": (SERVED, None),
    # a public code comment of 2026-05-07: English heard as Hindi, Telugu or Chinese
    "in another script": (
        [Hear("टर्न ऑन ऑफिस लाइट्स", language="hi-IN"), *SERVED],
        "टर्न ऑन ऑफिस लाइट्स",
    ),
    "with an unknown language": ([Hear(WORDS, language="x-unknown"), *SERVED], WORDS),
    # pipecat #4108: 5 to 15 s after the turn
    "after the turn": ([*SERVED, Wait(1.0), Hear(WORDS)], None),
    "in pieces around the call": (
        [Hear("turn on"), CALL, Hear(" the office lights"), Say(SAID), Done()],
        WORDS,
    ),
    # our guesses
    "only spaces": ([Hear("  "), *SERVED], None),
    "twice": ([Hear(WORDS), CALL, Hear(f" {WORDS}"), Say(SAID), Done()], f"{WORDS} {WORDS}"),
}


@pytest.mark.parametrize("name", HEARD)
async def test_a_transcript_does_not_decide_whether_a_command_is_done(
    tmp_path: Path, command: Path, name: str
) -> None:
    steps, heard = HEARD[name]
    service = GeminiSimulator([Turn("audio", steps, cut=None), Turn("audio", LATER)])
    async with scene(tmp_path, service, hears=True, brain={"order": [LIVE]}) as on:
        on.repeats = True  # in different turns
        turn = await on.hear(command)
        assert (said(turn), ended(turn), turn.record.heard) == (SAID, (LIVE, None), heard)
        assert on.house_calls == [(TURN_ON, OFFICE)]
        assert said(await on.hear(command)) == STILL
        assert len(on.house_calls) == 2


# dograh-hq/dograh #687: an answer after 13 to 19 s; the person has been told that it took too long
@pytest.mark.parametrize(
    "late",
    [
        pytest.param([Say("Stale words."), Done()], id="words"),
        pytest.param([Call(TURN_ON, OFFICE, wait=False), Done()], id="a call"),
    ],
)
async def test_what_comes_after_a_turn_was_given_up_is_neither_said_nor_done(
    tmp_path: Path, late: list[Step]
) -> None:
    gate = Gate()
    turns = [Turn("text", [Stall(until=gate), *late], cut=None), Turn("text", [Say(STILL), Done()])]
    service = GeminiSimulator(turns)
    async with scene(tmp_path, service, brain={"order": [LIVE]}) as on:
        async with asyncio.TaskGroup() as group:
            asking = group.create_task(on.ask(ASKED))
            await on.falling_silent()
        assert said(asking.result()) == "That took too long, so I stopped. Please try again."
        gate.open()
        assert said(await on.ask("are they on?")) == STILL
        assert on.house_calls == []
