"""A whole Hearth before a simulated Gemini that breaks as a script says; the promises are kept."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assistant.turn.log import FinishedTurn
from tests.chaos.promises import Life, assert_promises, told_of
from tests.pipeline.gemini_rig import Scene, scene
from tests.simulators.gemini_live import GeminiSimulator


@dataclass
class Broken:
    """The scene, and what was said in it."""

    on: Scene
    spoken: int = 0
    asked: list[str] = field(default_factory=list)  # ids of the typed turns

    async def hear(self, recording: Path) -> FinishedTurn:
        """Somebody says it, and is answered."""
        self.spoken += 1
        return await self.on.hear(recording)

    async def ask(self, text: str) -> FinishedTurn:
        """Somebody types it, and is answered."""
        turn = await self.on.ask(text)
        self.asked.append(turn.record.turn_id)
        return turn


@asynccontextmanager
async def broken_live(
    folder: Path, service: GeminiSimulator, *, gemini: dict[str, Any] | None = None
) -> AsyncIterator[Broken]:
    """It hears. `gemini`: of the settings' section what is not as it should be."""
    async with scene(folder, service, hears=True, gemini=gemini or {}) as on:
        broken = Broken(on)
        yield broken
        demo = on.app.bridge.demo
        assert demo is not None
        reached = list(demo.calls)
    assert_promises(
        Life(
            spoken=broken.spoken,
            asked=tuple(broken.asked),
            told=tuple(told_of(turn) for turn in on.finished),
            reached=reached,
            database=folder / "data" / "hearth.db",
        )
    )
