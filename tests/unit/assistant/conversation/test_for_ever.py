"""Tests of the conversation over everything that can happen to a microphone."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from assistant.conversation.loop import ConversationLoop
from assistant.conversation.rules.machine import State
from assistant.domain.brain import BrainEvent, ReplyText, TurnDone
from assistant.domain.health import health_of
from assistant.journal.store import Store
from assistant.timers.book import TimerBook
from audio.device_status import MicrophoneStatus
from audio.frames import SAMPLE_RATE
from integrations.web.pages import health_route
from tests.unit.assistant.conversation.doubles import ScriptedBrain, ScriptedEar, ScriptedTurn
from tests.unit.assistant.conversation.stage import COMMAND, runner_with
from tests.unit.assistant.timers.conftest import a_keeper, an_almanac
from tests.unit.audio.steady_stage import BLOCK_S, Stage

HOUR = 3600


async def hear(stage: Stage, ear: ScriptedEar, seconds: float) -> None:
    """Let time pass until the ear, on its own thread, has heard everything but the newest block.

    After a gap positions advance by whole blocks.
    """
    for _ in range(round(seconds / BLOCK_S)):
        await stage.room(BLOCK_S)
        heard = round((stage.clock.monotonic() - 1.75 * BLOCK_S) * SAMPLE_RATE)
        while stage.device.open and ear.ring.end < heard:
            await asyncio.to_thread(int)


async def comes_to(runner: ConversationLoop, state: State) -> None:
    """Wait in real time until the ear's thread has brought the loop to that state."""
    async with asyncio.timeout(10):
        while runner.state is not state:
            await asyncio.to_thread(int)


async def unplug(stage: Stage) -> None:
    """Remove the microphone, and wait until the ear's thread has noticed it."""
    stage.device.unplug()
    async with asyncio.timeout(10):
        while stage.microphone.status is not MicrophoneStatus.MISSING:
            await asyncio.to_thread(int)


async def begin(runner: ConversationLoop, stage: Stage) -> asyncio.Task[None]:
    """Start to listen, and give the ear's thread the real time that it takes to start."""
    listening = asyncio.create_task(runner.listen_for_ever(stage.microphone))
    while not stage.device.attempts:
        await asyncio.to_thread(int)
    return listening


async def test_an_answer_under_way_is_given_though_the_microphone_goes_and_comes_back() -> None:
    answered = asyncio.Event()

    async def slow(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        assert turn.request.audio is not None
        await turn.request.audio.complete()
        await answered.wait()
        yield ReplyText("Done.")
        yield TurnDone()

    stage = Stage()
    ear = ScriptedEar(COMMAND)
    async with runner_with(ScriptedBrain(slow), ear, clock=stage.clock) as (runner, closed):
        listening = await begin(runner, stage)
        await hear(stage, ear, 4)
        await unplug(stage)
        await stage.room(8)
        assert (runner.state, closed) == (State.THINKING, [])
        stage.device.there = True
        stage.watch.tell()
        await hear(stage, ear, 1)
        answered.set()
        await runner.rest()
        assert runner.state.name == "IDLE"
        assert ear.ring.end == pytest.approx(13 * 16_000, abs=4_000), "time went on"
        await unplug(stage)
        await stage.room(1.04)
        await comes_to(runner, State.FAULT)
        listening.cancel()
        await asyncio.wait([listening])
    timeline = closed[0][0].timeline.as_dict()
    assert timeline["answer_done"] >= timeline["end_of_turn"] == 3_000


async def test_who_is_speaking_when_it_goes_is_told() -> None:
    async def never(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        await asyncio.Event().wait()
        yield TurnDone()

    stage = Stage()
    ear = ScriptedEar(COMMAND)
    async with runner_with(ScriptedBrain(never), ear, clock=stage.clock) as (runner, closed):
        listening = await begin(runner, stage)
        await hear(stage, ear, 2)
        assert runner.state.name == "LISTENING"
        await unplug(stage)
        await stage.room(1.04)
        await runner.rest()
        assert closed[0][1].error == "microphone_lost"
        await comes_to(runner, State.FAULT)
        listening.cancel()
        await asyncio.wait([listening])


async def test_ten_hours_without_a_microphone(tmp_path: Path) -> None:
    """Nothing restarts, timers ring, announcements are spoken, and the box says that it is deaf."""
    stage = Stage()
    stage.device.there = False
    clock, microphone = stage.clock, stage.microphone
    rung: list[float] = []

    async def ring(name: str) -> None:
        rung.append(clock.monotonic())

    async with (
        runner_with(ScriptedBrain(), ScriptedEar({}), clock=clock) as (runner, closed),
        Store(tmp_path / "hearth.db", clock) as store,
        a_keeper(store, runner, ring, clock) as ringer,
        httpx.AsyncClient(
            transport=httpx.ASGITransport(
                Starlette(routes=[health_route(lambda: health_of(microphone))])
            ),
            base_url="http://box",
        ) as client,
    ):
        book = TimerBook(store, clock, an_almanac(store))
        due = [HOUR, 4 * HOUR, 9 * HOUR + 1800]
        for seconds in due:
            await book.start(seconds, f"timer of {seconds} s", "en")
        listening = await begin(runner, stage)
        words: set[str] = set()
        for second in range(10 * HOUR):
            clock.advance(1)
            for _ in range(6):
                await asyncio.sleep(0)
            rings = any(0 <= second - at < 3 for at in due)
            for _ in range(5 if rings else second % 30 == 0):
                await store.timers()  # what the ringer asked before has been answered, too
            if second == 5 * HOUR:
                runner.announce("The washing machine is done.", "en")
                await runner.rest()
            if second % 600 == 10:
                answer = await client.get("/healthz")
                words.add(f"{answer.status_code} {answer.text}")
            if ringer.ringing:
                await runner.rest()
                ringer.heard()
        assert not listening.done()
        assert words == {"200 degraded"}
        assert microphone.status is MicrophoneStatus.MISSING
        assert microphone.reopened == microphone.abandoned == 0
        assert len(stage.device.attempts) == pytest.approx(5 * HOUR, rel=0.01)
        assert [round(at) for at in rung] == pytest.approx(due, abs=3)
        said = " ".join(turn.answer for turn, _ in closed)
        assert "The washing machine is done." in said
        assert all(f"timer of {seconds} s" in said for seconds in due)

        stage.device.there = True
        stage.watch.tell()
        await stage.room(1.04)
        assert (await client.get("/healthz")).text == "ok"
        listening.cancel()
        await asyncio.wait([listening])
