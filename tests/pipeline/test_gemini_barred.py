"""Tests of a Gemini brain that is skipped for a while, which is a trouble. Simulated service."""

import asyncio
from pathlib import Path

from assistant.app.interfaces import open_interfaces
from tests.pipeline.gemini_rig import ASKED, LIVE, ONCE, SAID, SERVED, ended, said, scene
from tests.ports import free_port
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import OnceTurn, Opening, Turn

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
