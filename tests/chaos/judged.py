"""A whole Hearth with a simulated Gemini, whose promises are checked whatever breaks."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.chaos.promises import Life, assert_promises, told_of
from tests.pipeline.gemini_rig import Scene, scene
from tests.simulators.gemini_live import GeminiSimulator


@asynccontextmanager
async def judged(folder: Path, service: GeminiSimulator, **given: Any) -> AsyncIterator[Scene]:
    """Yield a scene (`given`: see there) that is judged when the block ends."""
    async with scene(folder, service, **given) as on:
        yield on
        demo = on.app.home.demo
        assert demo is not None
        reached = list(demo.calls)
    assert_promises(
        Life(
            spoken=on.spoken,
            asked=(),  # `ask` gives the turns that are told of
            told=tuple(told_of(turn) for turn in on.finished),
            reached=reached,
            database=folder / "data" / "hearth.db",
        )
    )
