"""The home's sentences within the ladder: what one side has begun, nobody else begins."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from assistant.brains.fallback import FallbackBrain
from assistant.brains.home_assistant import DryRun
from assistant.brains.prefer_local import PreferLocalBrain
from assistant.domain.brain import BrainEvent, Heard, Reached, Spent, TurnRequest, Usage
from assistant.speech.catalogue import Catalogue
from integrations.home_assistant.assist import Recognized
from integrations.owner import OwnedTasks
from tests.unit.assistant.brains.ladder_stage import (
    DONE,
    LIVE,
    OFFLINE,
    REQUEST,
    Stage,
    fault,
    said,
    served,
)
from tests.unit.assistant.brains.scripted import Step, play

SENTENCE = "activate party mode"
SPOKEN = replace(REQUEST, source="voice", text=None)
TYPED = replace(REQUEST, text=SENTENCE)
BROKEN: list[Step] = [
    Reached("upload_done"),
    Heard(SENTENCE, "en"),
    Spent(Usage(9, 1), 0.25),
    fault(retryable=True),
]


class Engine:
    """Knows the one sentence."""

    async def recognize(self, texts: Sequence[str], language: str) -> Recognized | None:
        return Recognized(SENTENCE, "trigger") if SENTENCE in texts else None


@asynccontextmanager
async def ladder(stage: Stage, *, allowed: bool = True) -> AsyncIterator[FallbackBrain]:
    """Gemini with the home in front of it, then the device's own brain."""
    async with OwnedTasks() as tasks:
        brain = PreferLocalBrain(
            stage.live,
            DryRun(Engine().recognize),
            lambda match, heard: allowed,
            "sentences",
            Catalogue(),
            stage.clock,
            tasks,
        )
        yield stage.of(brain, stage.offline)  # type: ignore[arg-type]


async def run(stage: Stage, rungs: FallbackBrain, request: TurnRequest) -> list[BrainEvent]:
    turn = asyncio.ensure_future(play(rungs.begin(request), stage.house))
    await stage.clock.run(10.0)
    return await turn


async def test_a_model_that_fails_is_nothing_to_a_sentence_that_has_begun() -> None:
    stage = Stage()
    stage.live.add(BROKEN)
    async with ladder(stage) as rungs:
        events = await run(stage, rungs, SPOKEN)
    assert served(events) == [LIVE, "home-assistant"]
    assert [deed.call.name for deed in stage.house.deeds] == ["conversation.process"]
    assert said(events)
    assert stage.budget.known_usd == 0.25
    stage.assert_consumed()


async def test_before_it_has_begun_the_next_brain_is_asked() -> None:
    stage = Stage()
    stage.live.add(BROKEN, BROKEN)
    stage.offline.add(DONE)
    async with ladder(stage, allowed=False) as rungs:
        events = await run(stage, rungs, SPOKEN)
    assert served(events) == [LIVE, LIVE, OFFLINE]
    assert not stage.house.deeds
    stage.assert_consumed()


async def test_a_typed_sentence_asks_no_model_at_all() -> None:
    stage = Stage()
    stage.live.add(DONE)
    async with ladder(stage) as rungs:
        events = await run(stage, rungs, TYPED)
    assert served(events) == [LIVE, "home-assistant"]
    assert len(stage.house.deeds) == 1
    assert "Fine." not in said(events)
