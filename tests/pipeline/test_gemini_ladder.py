"""Tests of the reasons that keep Gemini from serving: which brain serves, and the notice.

Simulated service.
"""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from tests.pipeline.gemini_rig import (
    ASKED,
    LIVE,
    OFFICE,
    OFFLINE,
    ONCE,
    SAID,
    SERVED,
    TURN_ON,
    ended,
    said,
    scene,
)
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import (
    Blocked,
    Close,
    Done,
    HttpError,
    OnceTurn,
    Opening,
    Say,
    Step,
    Tokens,
    Turn,
)

YES: list[Step] = [Say("Yes."), Done()]
BY_ITSELF = "Turned on the lights in the office."
QUOTA = "You exceeded your current quota, please check your plan and billing details."
GONE = (
    "models/gemini-3.8-live is not found for API version v1beta, or is not supported for "
    "bidiGenerateContent."
)
RETIRED = (
    "The Gemini model in my settings no longer exists, so I'll answer on my own until you choose "
    "another one."
)
REPLACED = (
    "The Gemini voice model in my settings no longer exists, so I'm using another one until you "
    "choose a new one."
)
DOWN = Opening(http_status=503)


# --- the next brain


async def test_rest_serves_where_the_socket_is_refused(tmp_path: Path) -> None:
    service = GeminiSimulator(once=[OnceTurn(SERVED)], openings=[DOWN] * 2)
    async with scene(tmp_path, service) as on:
        turn = await on.ask(ASKED)
        assert ended(turn) == (ONCE, None)
        assert said(turn) == SAID
        assert on.house_calls == [(TURN_ON, OFFICE)]


async def test_it_hears_the_recording(tmp_path: Path, command: Path) -> None:
    # The rising wake score opens a socket too, and tries again while the person speaks.
    service = GeminiSimulator(once=[OnceTurn(SERVED)], opening=DOWN)
    async with scene(tmp_path, service, hears=True) as on:
        turn = await on.hear(command)
        assert ended(turn) == (ONCE, None)
        assert said(turn) == SAID
    assert len(service.once_requests[0].audio) > 2 * 16_000 * 2


async def test_gemini_live_is_back_after_the_pause(tmp_path: Path) -> None:
    service = GeminiSimulator(
        [Turn("text", SERVED)],
        once=[OnceTurn(YES), OnceTurn(YES)],
        openings=[DOWN] * 2,
    )
    async with scene(tmp_path, service) as on:
        assert ended(await on.ask("is anybody there?")) == (ONCE, None)
        assert ended(await on.ask("still there?")) == (ONCE, None)  # the socket is not even tried
        assert service.total_sockets == 0
        on.clock.leap(31)
        assert ended(await on.ask(ASKED)) == (LIVE, None)


async def test_the_whole_cloud_is_away_and_back(tmp_path: Path) -> None:
    service = GeminiSimulator(
        [Turn("text", YES)] * 2,
        once=[OnceTurn([HttpError(503)] * 2)],
        openings=[DOWN] * 2,
    )
    async with scene(tmp_path, service) as on:
        first = await on.ask(ASKED)
        assert ended(first) == (OFFLINE, None)
        assert said(first) == f"I can't reach Gemini, so I'll answer on my own for now. {BY_ITSELF}"
        second = await on.ask("turn on the kitchen light")
        assert ended(second) == (OFFLINE, None)
        assert said(second).startswith("Turned on")  # it is said once
        on.clock.leap(31)
        assert said(await on.ask("are you back?")) == "Gemini is back. Yes."
        assert said(await on.ask("really?")) == "Yes."


async def test_nobody_is_left_to_answer(tmp_path: Path) -> None:
    service = GeminiSimulator(openings=[DOWN] * 2)
    async with scene(tmp_path, service, brain={"order": [LIVE]}) as on:
        turn = await on.ask(ASKED)
        assert ended(turn) == (LIVE, "unreachable")
        assert said(turn) == "I couldn't reach the AI service I use. Please try again in a moment."


# --- each reason has its sentence


@pytest.mark.parametrize(
    "service",
    [
        GeminiSimulator(once=[OnceTurn(SERVED)], retired=["gemini-3.8-live"]),
        GeminiSimulator([Turn("text", [Close(1008, GONE)])], once=[OnceTurn(SERVED)]),
    ],
    ids=["before the turn", "in the turn"],
)
async def test_the_live_model_is_gone(tmp_path: Path, service: GeminiSimulator) -> None:
    async with scene(tmp_path, service) as on:
        turn = await on.ask(ASKED)
        assert ended(turn) == (ONCE, None)
        assert said(turn) == f"{REPLACED} {SAID}"


@pytest.mark.parametrize(
    ("service", "sentence"),
    [
        pytest.param(
            GeminiSimulator(retired=["gemini-3.8-live", "gemini-3.8-flash"]), RETIRED, id="retired"
        ),
        pytest.param(
            GeminiSimulator(
                openings=[Opening(refuse=(1011, QUOTA))], once=[OnceTurn([HttpError(429)])]
            ),
            "I've used up my Gemini quota, so I'll answer on my own for now.",
            id="quota at the beginning",
        ),
        pytest.param(
            GeminiSimulator(
                [Turn("text", [Say("The"), Close(1011, "Resource has been exhausted.")])],
                once=[OnceTurn([HttpError(429)])],
            ),
            "I've used up my Gemini quota, so I'll answer on my own for now.",
            id="quota mid-reply",
        ),
        pytest.param(
            GeminiSimulator(
                [Turn("text", [Done(reason="RESPONSE_REJECTED")])], once=[OnceTurn([Blocked()])]
            ),
            "Gemini declined to answer that, so I'll answer on my own.",
            id="blocked",
        ),
        pytest.param(
            GeminiSimulator(
                [Turn("text", [Done(reason="SAFETY")])], once=[OnceTurn([Done(reason="SAFETY")])]
            ),
            "Gemini declined to answer that, so I'll answer on my own.",
            id="for safety",
        ),
        pytest.param(
            GeminiSimulator(
                opening=Opening(refuse=(1007, "Invalid argument.")),
                once=[OnceTurn([HttpError(400)])],
            ),
            "Gemini doesn't accept my settings, so I'll answer on my own for now.",
            id="1007",
        ),
    ],
)
async def test_the_device_answers_and_says_why(
    tmp_path: Path, service: GeminiSimulator, sentence: str
) -> None:
    async with scene(tmp_path, service) as on:
        turn = await on.ask(ASKED)
        assert ended(turn) == (OFFLINE, None)
        assert said(turn) == f"{sentence} {BY_ITSELF}"
        assert on.house_calls == [(TURN_ON, OFFICE)]


DECLINED = "The Gemini voice model declined to answer that, so I'm using another one. "
USED_UP = "I've used up the quota for the Gemini voice model, so I'm using another one for now. "


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        ([Done(reason="RESPONSE_REJECTED")], DECLINED),
        ([Say("The"), Done(reason="SAFETY")], DECLINED),
        ([Close(1011, QUOTA)], USED_UP),
        ([Done(reason="MALFORMED_FUNCTION_CALL")], ""),
    ],
    ids=["blocked", "blocked mid-reply", "quota", "malformed call"],
)
async def test_the_next_of_gemini_answers(tmp_path: Path, steps: Sequence[Step], why: str) -> None:
    times = 2 if steps == [Done(reason="MALFORMED_FUNCTION_CALL")] else 1
    service = GeminiSimulator([Turn("text", steps)] * times, once=[OnceTurn(SERVED)])
    async with scene(tmp_path, service) as on:
        turn = await on.ask(ASKED)
        assert ended(turn) == (ONCE, None)
        assert said(turn) == f"{why}{SAID}"


async def test_a_key_that_is_refused(tmp_path: Path) -> None:
    service = GeminiSimulator(refusals=["1007 API key", "400 API key"])
    async with scene(tmp_path, service, gemini={"api_key": "another-key"}) as on:
        turn = await on.ask(ASKED)
        assert ended(turn) == (OFFLINE, None)
        assert said(turn).startswith("I don't have a valid Gemini key, so I'll answer on my own")
        assert said(turn).endswith(BY_ITSELF)


async def test_todays_budget_is_spent_and_there_is_a_new_one_tomorrow(tmp_path: Path) -> None:
    dear = [Say("Yes."), Done(usage=Tokens(prompt=1_000_000, response=1_000))]
    service = GeminiSimulator([Turn("text", dear), Turn("text", YES)])
    async with scene(tmp_path, service, limits={"daily_cost_usd": 0.01}) as on:
        now = on.clock.now().astimezone()
        noon = (now + timedelta(days=1)).replace(hour=12, minute=0)
        on.clock.leap((noon - now).total_seconds())  # no midnight comes between the two
        assert (await on.ask("is anybody there?")).record.cost_usd > 0.01
        turn = await on.ask(ASKED)
        assert ended(turn) == (OFFLINE, None)
        assert said(turn) == (
            "I've used up today's budget for Gemini, so I'll answer on my own until midnight. "
            + BY_ITSELF
        )
        assert turn.record.cost_usd == 0
        on.clock.leap(24 * 3600)
        assert said(await on.ask("and today?")) == "Gemini is back. Yes."
