"""Tests that the resident process reports a movement that ends differently than announced."""

import asyncio
from pathlib import Path

from assistant.app.build import open_app
from assistant.domain.records import TurnRecord
from audio.player import NullPlayer
from integrations.demo_home import DemoHome
from tests.pipeline.rig import offline_settings

SHADE = "cover.bedroom_shade"


async def test_a_shade_that_stops_half_way_is_announced(tmp_path: Path) -> None:
    told: asyncio.Queue[TurnRecord] = asyncio.Queue()
    settings = offline_settings(tmp_path)
    async with open_app(settings, NullPlayer(paced=False), hears=False, resident=True) as app:
        app.log.on_turn(lambda turn: told.put_nowait(turn.record))
        demo = app.home.demo
        assert isinstance(demo, DemoHome)
        demo.house.write(SHADE, "open", current_position=100)
        await app.home.client.wait_for(
            [SHADE], lambda house: house.entities[SHADE].state == "open", 20.0
        )
        await app.runner.ask("close the bedroom shade")
        assert demo.states[SHADE] == "closing"
        demo.house.write(SHADE, "open", current_position=50)
        async with asyncio.timeout(60):
            while (record := await told.get()).source != "announcement":
                continue
    spoken = " ".join(record.clauses)
    assert spoken.startswith("The bedroom shade ended up")
