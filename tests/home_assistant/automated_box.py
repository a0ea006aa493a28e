"""Checks of a box that a house's automations use, by any connection between the two."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assistant.demo.scenes import SpokenCommand, make_clip
from audio.sound_files import read_wav
from tests.home_assistant.admin import Admin
from tests.home_assistant.automations import BLINDS, automation
from tests.home_assistant.names import LAST_HEARD, NEXT_TIMER, STATE, TIMERS
from tests.home_assistant.open_box import OpenBox

HEARD = "turn on the office lights"


async def shuts_the_blinds(box: OpenBox, admin: Admin, asking: Mapping[str, Any]) -> None:
    """Check that a spoken yes to this automation's question at dusk closes the blinds."""
    await admin.call("cover.open_cover", entity_id=BLINDS)
    await admin.settles(BLINDS, "open", limit_s=15.0)
    async with automation(admin, asking):
        box.room.will_answer("yes please")
        await admin.fire("test_dusk")
        shut = ("closing", "closed")
        assert await admin.settles(BLINDS, *shut, limit_s=30.0) in shut


async def hears_of_the_office(
    box: OpenBox, admin: Admin, config: Mapping[str, Any], folder: Path
) -> None:
    """Check that a sentence triggers this automation, and that the sensors show the turn."""
    clip = await asyncio.to_thread(make_clip, SpokenCommand("spoken", HEARD, "rms"), folder)
    async with automation(admin, config):
        box.room.say(read_wav(clip))
        await box.says("I heard of the office.")
    assert await admin.settles(LAST_HEARD, HEARD) == HEARD
    assert await admin.settles(STATE, "idle") == "idle"


async def shows_timers(box: OpenBox, admin: Admin) -> None:
    """Check that the sensors of timers follow one that is set and cancelled."""
    assert await admin.settles(TIMERS, "0", limit_s=10.0) == "0"
    await box.app.runner.ask("set a timer for ten minutes")
    assert await admin.settles(TIMERS, "1") == "1"
    assert await admin.state(NEXT_TIMER) not in ("unknown", "unavailable")
    await box.app.runner.ask("cancel the timer")
    assert await admin.settles(TIMERS, "0") == "0"
    assert await admin.settles(NEXT_TIMER, "unknown") == "unknown"
