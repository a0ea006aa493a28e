"""Tests of a lock in a real house that shows no effect for some seconds: its end is reported."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from assistant.app.build import App, open_app
from assistant.domain.records import TurnRecord
from assistant.domain.tool_call import Status
from audio.player import NullPlayer
from tests.home_assistant.admin import Admin
from tests.home_assistant.conftest import Address, real_only
from tests.home_assistant.open_box import settings_of

pytestmark = real_only

DOOR, BEHIND, NAME = "lock.cellar_door", "input_boolean.back_door", "Cellar door"
DELAY_S = 4  # more than a call is looked at for
FLOWS = "/api/config/config_entries/flow"


@asynccontextmanager
async def slow_lock(admin: Admin, lock: list[Any]) -> AsyncIterator[None]:
    """Keep a template lock, open and exposed, as the page of helpers makes it."""
    await admin.call("input_boolean.turn_on", entity_id=BEHIND)
    flow = (await admin.post(FLOWS, {"handler": "template"}))["flow_id"]
    await admin.post(f"{FLOWS}/{flow}", {"next_step_id": "lock"})
    given = {
        "name": NAME,
        "state": f"{{{{ is_state('{BEHIND}', 'off') }}}}",
        "lock": lock,
        "unlock": [{"action": "input_boolean.turn_on", "target": {"entity_id": BEHIND}}],
    }
    entry = (await admin.post(f"{FLOWS}/{flow}", given))["result"]["entry_id"]
    try:
        assert await admin.settles(DOOR, "unlocked") == "unlocked"
        await admin.expose([DOOR], True)
        yield
    finally:
        await admin.delete(f"/api/config/config_entries/entry/{entry}")
        await admin.call("input_boolean.turn_off", entity_id=BEHIND)


async def ask(app: App, text: str) -> tuple[TurnRecord, Status]:
    """Run a typed turn with one call."""
    before = app.log.count
    await app.runner.ask(text)
    assert app.log.count == before + 1
    turn = app.log.turns[-1]
    return turn.record, turn.outcomes[0].status


async def announced(told: "asyncio.Queue[TurnRecord]") -> str:
    """Return the next announcement."""
    async with asyncio.timeout(75):
        while (record := await told.get()).source != "announcement":
            continue
    return " ".join(record.clauses)


@pytest.mark.parametrize(
    ("moves", "said"),
    [
        (True, "The cellar door is locked now."),
        (False, "The cellar door didn't lock. It's still unlocked."),
    ],
)
async def test_how_it_ends_is_told(
    house: Address, admin: Admin, tmp_path: Path, moves: bool, said: str
) -> None:
    works = [{"action": "input_boolean.turn_off", "target": {"entity_id": BEHIND}}]
    sequence = [{"delay": DELAY_S}, *(works if moves else [])]
    told: asyncio.Queue[TurnRecord] = asyncio.Queue()
    async with slow_lock(admin, sequence):
        settings = settings_of(house, tmp_path)
        opened = open_app(settings, NullPlayer(paced=False), hears=False, resident=True)
        async with opened as app:
            await app.home.client.wait_for([DOOR], lambda now: DOOR in now.entities, 20.0)
            app.log.on_turn(lambda turn: told.put_nowait(turn.record))
            record, status = await ask(app, "lock the cellar door")
            assert status is Status.NOT_OBSERVED
            assert "locked" not in (record.answer or "").replace("unlocked", "")
            assert await announced(told) == said
    assert (await admin.state(BEHIND)) == "off"
