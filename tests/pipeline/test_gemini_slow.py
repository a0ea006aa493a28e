"""Tests of a service that takes long to open a session. Simulated service.

Set-ups that take seconds were reported in livekit/agents #2371; one that never completes, in
the threads of Patter (#210).
"""

import asyncio
from pathlib import Path

import pytest

from tests.pipeline.gemini_rig import ASKED, LIVE, SAID, SERVED, ended, said, scene
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import Drop, Opening, Turn

ALONE = {"order": [LIVE]}


@pytest.mark.parametrize("delay_s", [1.0, 3.0, 4.5])
async def test_a_turn_waits_for_its_session(tmp_path: Path, command: Path, delay_s: float) -> None:
    turns = [Turn("audio", SERVED)]
    service = GeminiSimulator(turns, opening=Opening(delay_s=delay_s))
    async with scene(tmp_path, service, hears=True, brain=ALONE) as on:
        turn = await on.hear(command)
        assert (ended(turn), said(turn)) == ((LIVE, None), SAID)
        assert len(service.connections) == 1


async def test_the_next_turn_gets_the_session_that_came_too_late(tmp_path: Path) -> None:
    service = GeminiSimulator([Turn("text", SERVED)], opening=Opening(delay_s=3.5))
    gemini = {"connect_timeout_s": 0.5}
    async with scene(tmp_path, service, brain=ALONE, gemini=gemini) as on:
        assert ended(await on.ask(ASKED)) == (LIVE, "unreachable")
        # The turn's second try gave up the first connection, and made another.
        await on.until(lambda: len(service.connections) == 2)
        await on.until(lambda: service.connections[1].ready_at is not None)
        turn = await on.ask(ASKED)
        assert (ended(turn), said(turn)) == ((LIVE, None), SAID)
        assert len(service.connections) == 2


async def test_a_turn_waits_for_a_session_that_has_taken_seven_seconds(tmp_path: Path) -> None:
    service = GeminiSimulator([Turn("text", SERVED)], opening=Opening(delay_s=7.0))
    async with scene(tmp_path, service, brain=ALONE) as on:
        assert ended(await on.ask(ASKED)) == (LIVE, "unreachable")
        assert ended(await on.ask(ASKED)) == (LIVE, None)
        assert len(service.connections) == 1


async def test_an_early_session_that_breaks_does_not_take_the_turns_time(
    tmp_path: Path, command: Path
) -> None:
    openings = [Opening(delay_s=3.0, then=[Drop()])]
    service = GeminiSimulator(
        [Turn("audio", SERVED)], openings=openings, opening=Opening(delay_s=3.0)
    )
    async with scene(tmp_path, service, hears=True, brain=ALONE) as on:
        assert ended(await on.hear(command)) == (LIVE, None)


async def test_the_next_attempt_gives_up_a_set_up_that_never_completes(tmp_path: Path) -> None:
    openings = [Opening(silent=True), Opening(delay_s=1.0)]
    service = GeminiSimulator([Turn("text", SERVED)], openings=openings)
    gemini = {"connect_timeout_s": 1.5}
    async with scene(tmp_path, service, brain=ALONE, gemini=gemini) as on:
        turn = await on.ask(ASKED)
        assert (ended(turn), said(turn)) == ((LIVE, None), SAID)
        assert [one.open for one in service.connections] == [False, True]


async def test_a_slow_import_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from integrations.gemini.live import LiveClient

    load = LiveClient.load

    async def slowly(client: LiveClient) -> None:
        await asyncio.sleep(1.0)
        await load(client)

    monkeypatch.setattr(LiveClient, "load", slowly)
    service = GeminiSimulator([Turn("text", SERVED)])
    gemini = {"connect_timeout_s": 0.9}
    async with scene(tmp_path, service, brain=ALONE, gemini=gemini) as on:
        assert ended(await on.ask(ASKED)) == (LIVE, None)
