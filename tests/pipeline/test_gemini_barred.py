"""Tests of a Gemini brain that is skipped for a while, which is a trouble. Simulated service."""

import asyncio
from pathlib import Path

import pytest

from assistant.app.interfaces import open_interfaces
from tests.pipeline.gemini_rig import (
    ASKED,
    LIVE,
    OFFICE_ON,
    ONCE,
    SAID,
    SERVED,
    ended,
    said,
    scene,
)
from tests.ports import free_port
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import Close, OnceTurn, Opening, Say, Turn

ANOTHER = "The Gemini voice model isn't working right now, so I'm using another one. "
INVALID = (1007, "Request contains an invalid argument.")


async def test_a_barred_brain_is_a_trouble_until_it_answers(tmp_path: Path) -> None:
    service = GeminiSimulator(
        [Turn("text", SERVED)],
        openings=[Opening(http_status=503)] * 2,
        once=[OnceTurn(SERVED)] * 3,
    )
    http = {"port": free_port(), "token": "token-of-an-administrator"}
    async with (
        scene(tmp_path, service, resident=True, http=http) as on,
        open_interfaces(on.app, clock=on.clock) as opened,
    ):
        on.repeats = True
        assert ended(await on.ask(ASKED)) == (ONCE, None)
        for line in (ANOTHER, ""):
            turn = await on.ask(ASKED)
            assert (ended(turn), said(turn)) == ((ONCE, None), line + SAID), "it is told once"

        changed = asyncio.Event()
        opened.troubles.follow(changed.set)
        on.clock.leap(5.0)  # a short trouble is not reported
        await changed.wait()
        assert list(opened.box.state()["troubles"]) == [LIVE]
        assert opened.box.health == "degraded"
        changed.clear()
        on.clock.leap(30.0)
        assert ended(await on.ask(ASKED)) == (LIVE, None)
        await changed.wait()
        assert opened.box.state()["troubles"] == {}


@pytest.mark.parametrize(
    ("opening", "kind", "words"),
    [
        (Opening(refuse=(1007, "API key expired. Please renew the API key.")), "sign_in", "key"),
        (
            Opening(refuse=(1008, "Your project has been denied access. Please contact support.")),
            "denied",
            "Google has denied my project access",
        ),
        (
            Opening(http_status=403, http_message="Requests to this API are blocked."),
            "key_limits",
            "My Gemini key has restrictions",
        ),
        (Opening(refuse=(1011, "You exceeded your current quota.")), "quota", "quota"),
    ],
    ids=["expired", "denied", "restricted", "quota"],
)
async def test_what_only_a_person_can_mend_is_explained_in_every_turn(
    tmp_path: Path, opening: Opening, kind: str, words: str
) -> None:
    async with scene(tmp_path, GeminiSimulator(opening=opening), brain={"order": [LIVE]}) as on:
        for _ in range(2):
            turn = await on.ask(ASKED)
            assert turn.record.error is not None
            assert turn.record.error.kind == kind
            assert words in said(turn)


async def test_a_quota_that_ends_after_the_action_is_told_with_it(tmp_path: Path) -> None:
    steps = [SERVED[0], Say("The"), Close(1011, "Resource has been exhausted.")]
    async with scene(
        tmp_path, GeminiSimulator([Turn("text", steps)]), brain={"order": [LIVE]}
    ) as on:
        assert said(await on.ask(ASKED)).startswith(OFFICE_ON)
        assert "quota" in said(await on.ask(ASKED))


async def test_refused_set_ups_do_not_bar_live_for_long(tmp_path: Path) -> None:
    service = GeminiSimulator(
        [Turn("text", SERVED)],
        # The first turn searches for a part that can be left out.
        openings=[Opening(refuse=INVALID)] * 8,
        once=[OnceTurn(SERVED)] * 2,
    )
    async with scene(tmp_path, service) as on:
        on.repeats = True
        for _ in range(2):
            assert ended(await on.ask(ASKED)) == (ONCE, None)
        assert LIVE in on.app.brains.chain.troubles
        on.clock.leap(31.0)
        assert ended(await on.ask(ASKED)) == (LIVE, None)
