"""Tests with message scripts of publicly reported behaviours of Gemini Live, spoken and typed.

Whatever the service does, nothing is lost or done twice, the person hears a sentence that can be
understood, and the next turn is served. The scripts are not part of this repository
(`docs/testing.md`).
"""

import asyncio
import os
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tests.pipeline.gemini_rig import (
    LIVE,
    OFFICE_ON,
    TURN_ON,
    Scene,
    ended,
    said,
    scene,
)
from tests.shared_data import LIVE_CASES, shared, shared_folder
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.live_cases import CasePlayer, read_case

TOOLS = {
    "HassTurnOn": TURN_ON,
    "HassLightSet": "light__HassLightSet",
    "HassListAddItem": "todo__HassListAddItem",
    "get_items": "todo__get_items",
}
FILES = sorted(path.name for path in shared_folder().joinpath(*LIVE_CASES).glob("*.json"))
ON, STILL_ON = "The office lights are on.", "Yes, the lights are on now."
LOST = f"{OFFICE_ON} Then I lost the connection."
STOPPED = f"{OFFICE_ON} Then something went wrong and I had to stop."
TOO_LONG = "That took too long, so I stopped. Please try again."
QUOTA = "I've used up my Gemini quota. Please try again later."
AWAY = "I couldn't reach the AI service I use. Please try again in a moment."
NO_REGION = "Google doesn't offer Gemini in this country."
RETIRED = "The Gemini model in my settings no longer exists. Please choose another one there."
API_OFF = "The Gemini API is switched off for my key. Please enable it in the Google Cloud console."
NO_KEY = (
    "I don't have a valid Gemini key. Please create one in Google AI Studio and add it to my "
    "settings, under Gemini."
)
REPAIRED = (
    "By the way, Google rejected one of my settings for Gemini, so I'm leaving it out for now. "
)
# What is said in each turn; scripts that are not listed are answered with ON and STILL_ON.
SAID = {
    "02": (REPAIRED + ON, STILL_ON),
    "04": (REPAIRED + ON, STILL_ON),
    "08": (AWAY, ON),
    "10": (QUOTA, QUOTA),
    "12": (NO_REGION, NO_REGION),
    "14": (API_OFF, API_OFF),
    "16": (RETIRED, RETIRED),
    "20": (STILL_ON, STILL_ON),
    "22": (LOST, STILL_ON),
    "24": (LOST, STILL_ON),
    "28": (STILL_ON, STILL_ON),
    "36": (STOPPED, STILL_ON),
    "40": (f"Let me see. {ON}", STILL_ON),
    "42": (LOST, STILL_ON),
    "44": (TOO_LONG, STILL_ON),
    "50": (STILL_ON, STILL_ON),
    "54": ("Both are on.", STILL_ON),
    "58": ("It is sunny in Lugo.", STILL_ON),
    "60": ("About three hundred and eighty thousand kilometres.", STILL_ON),
    "64": ("Sorry, I did not catch that.", STILL_ON),
    "66": ("Las luces de la oficina están encendidas.", STILL_ON),
    "68": (f"I will turn on the lights. {ON}", STILL_ON),
    "72": ("Gemini declined to answer that.", STILL_ON),
    "82": (
        "Which device do you mean? Please say its name and the room. The office light is on at "
        "fifty percent; the desk lamp is on. I can only turn the desk lamp on or off.",
        STILL_ON,
    ),
    "84": (ON, LOST, STILL_ON),
    "86": (NO_KEY, NO_KEY),
    "88": (TOO_LONG, STILL_ON),
    "90": (
        f"{ON} Is there anything else that you would like me to do for you this evening?",
        STILL_ON,
    ),
    "94": ("Milk is on the list.", "Milk."),
    "96": ("Milk is on the list.", "Milk."),
}
# Scripts in which the service does not let Hearth do anything.
NOT_DONE = {"10", "12", "14", "16", "86"}
# Times that the service takes to set up each session. LONG=1 tries all of them.
DELAYS_S = [0.0, 1.0, *[3.0] * 20, 4.5] if os.environ.get("LONG", "0") not in ("", "0") else [0.0]
STRANGE = re.compile(r"[<>{}\[\]_]|call:|tool")


@pytest.mark.parametrize("delay_s", DELAYS_S)
@pytest.mark.parametrize("mode", ["spoken", "typed"])
@pytest.mark.parametrize("file", FILES or ["none"])
async def test_a_reported_behaviour(
    tmp_path: Path, command: Path, file: str, mode: str, delay_s: float
) -> None:
    case = read_case(shared(*LIVE_CASES) / file, TOOLS)
    number, spoken = file[:2], mode == "spoken"
    *openings, opening = (replace(one, delay_s=one.delay_s + delay_s) for one in case.openings)
    service = GeminiSimulator(
        respond=CasePlayer(case), openings=openings, opening=opening, crossing_s=1.0
    )
    # No other brain steps in.
    async with scene(tmp_path, service, hears=spoken, brain={"order": [LIVE]}) as on:
        on.repeats, on.lost_calls = True, case.lost_calls
        for expected in SAID.get(number, (ON, STILL_ON)):
            done = len(on.house_calls)
            turn = await (on.hear(command) if spoken else on.ask("turn on the office lights"))
            assert said(turn) == expected, case.source
            assert not STRANGE.search(f"{said(turn)} {turn.record.heard}"), case.source
            assert_done_once(on, done, expected)
            await asyncio.sleep(case.rest_s)
        assert len(on.turns) == case.spoken
        if number not in NOT_DONE:
            assert ended(turn) == (LIVE, None), case.source


def assert_done_once(on: Scene, before: int, answer: str) -> None:
    """Check that nothing was done twice, and that a turn with the office's lights did it."""
    made = Counter((name, str(arguments)) for name, arguments in on.house_calls[before:])
    assert max(made.values(), default=1) == 1, made
    if answer.removeprefix(REPAIRED) in (ON, STILL_ON, LOST, STOPPED):
        assert [name for name, _ in made] == [TURN_ON]
