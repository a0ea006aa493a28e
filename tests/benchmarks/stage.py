"""A whole Hearth with the simulated Gemini, and the moments of its turns in real time."""

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from assistant.app.build import App, open_app
from assistant.conversation.turn_services import Moment, Timeline
from audio.player import Player
from tests.benchmarks.service import Address
from tests.pipeline.rig import offline_settings
from tests.simulators.script import Call

OFFICE_LIGHTS = ("light.office", "light.desk_lamp")
LIGHTS_ON = Call("intent__HassTurnOn", {"area": "office", "domain": ["light"]})


@asynccontextmanager
async def hearth(
    folder: Path,
    address: Address,
    player: Player,
    *,
    resident: bool = False,
    late_text_ms: int = 300,
    **voice: Any,
) -> AsyncIterator[App]:
    """Yield a Hearth with the embedded house, whose only brain is Gemini Live. `voice`: that
    section.

    `resident`: as `hearth run` has it, which ends a turn by its words; for sound in real time.
    `late_text_ms`: the wait for the end of an answer's text, as in `gemini`.
    """
    settings = offline_settings(
        folder,
        brain={"order": ["gemini-live"]},
        privacy={"accept_cloud": True},
        gemini={
            "api_key": address.key,
            "base_url": address.url,
            "ca_file": address.ca_file,
            "late_text_ms": late_text_ms,
        },
        voice={"engine": "espeak", **voice},
        sounds={"thinking": False},  # the first sound that is timed is the answer's
        limits={"daily_cost_usd": 1_000.0},  # what the simulated service counts is not billed
    )
    async with open_app(settings, player, hears=True, resident=resident) as app:
        yield app


def darken(app: App) -> None:
    """Turn the office lights off, so that turning them on has an effect."""
    assert app.home.demo is not None
    for light in OFFICE_LIGHTS:
        app.home.demo.house.write(light, "off")


@contextmanager
def stamps() -> Iterator[dict[Moment, float]]:
    """Yield the moments of a turn as they are marked, in seconds of the monotonic clock.

    "end_of_turn" is when the machine has decided it. Clear the mapping before each turn.
    """
    moments: dict[Moment, float] = {}
    mark = Timeline.mark

    def noting(self: Timeline, moment: Moment, at_ms: float | None = None) -> None:
        moments.setdefault(moment, time.monotonic())
        mark(self, moment, at_ms)

    with patch.object(Timeline, "mark", noting):
        yield moments
