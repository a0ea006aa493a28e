"""Automations, scripts and blueprints in a house, created as its own pages do."""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.home_assistant.admin import Admin
from tests.unit.integrations.file_server import file_server

LIMIT_S, STEP_S = 20.0, 0.02
BLINDS = "cover.kitchen_window"


def when(event: str, *actions: Mapping[str, Any]) -> dict[str, Any]:
    """Return an automation on an event of that type."""
    return {"triggers": [{"trigger": "event", "event_type": event}], "actions": list(actions)}


@asynccontextmanager
async def automation(admin: Admin, config: Mapping[str, Any]) -> AsyncIterator[str]:
    """Keep an automation while the block runs, saved as its editor does, and yield its entity id.

    Raises httpx.HTTPStatusError for what Home Assistant does not accept, and AssertionError for
    what it accepts but cannot run.
    """
    key = f"test_{secrets.token_hex(4)}"
    path = f"/api/config/automation/config/{key}"
    await admin.post(path, {"alias": key, **config})
    try:
        yield await _running(admin, key)
    finally:
        await admin.delete(path)


@asynccontextmanager
async def scripts(admin: Admin, configs: Mapping[str, Mapping[str, Any]]) -> AsyncIterator[None]:
    """Keep exposed scripts while the block runs, by their ids without the domain."""
    made: list[str] = []
    try:
        for key, config in configs.items():
            await admin.post(f"/api/config/script/config/{key}", config)
            made.append(key)
        entity_ids = [f"script.{key}" for key in made]
        await until(lambda: _all_there(admin, entity_ids))
        await admin.expose(entity_ids, True)
        yield
    finally:
        for key in made:
            await admin.delete(f"/api/config/script/config/{key}")


@asynccontextmanager
async def scene(admin: Admin, key: str, name: str, states: Mapping[str, Any]) -> AsyncIterator[str]:
    """Keep an exposed scene with these states while the block runs, and yield its id."""
    path = f"/api/config/scene/config/{key}"
    await admin.post(path, {"name": name, "entities": dict(states)})
    entity_id = f"scene.{name.casefold().replace(' ', '_')}"
    try:
        await until(lambda: _all_there(admin, [entity_id]))
        await admin.expose([entity_id], True)
        yield entity_id
    finally:
        await admin.delete(path)


async def _all_there(admin: Admin, entity_ids: Collection[str]) -> bool:
    return set(entity_ids) <= (await admin.states()).keys()


async def _running(admin: Admin, key: str) -> str:
    """Return the id of the automation saved under `key`, once it is ready."""
    state = ""
    for _ in range(round(LIMIT_S / STEP_S)):
        for entity_id, row in (await admin.states()).items():
            if entity_id.startswith("automation.") and row["attributes"].get("id") == key:
                state = row["state"]
                if state == "on":
                    return entity_id
        await asyncio.sleep(STEP_S)
    raise AssertionError(f"the automation cannot run: its state is {state or 'nowhere'}")


@asynccontextmanager
async def blueprint(admin: Admin, file: Path) -> AsyncIterator[str]:
    """Import a blueprint from an address and save it, as its page does; yield its path there."""
    content = await asyncio.to_thread(file.read_bytes)
    with file_server({f"/{file.name}": content}) as server:
        url = server.url(f"/{file.name}")
        found = await admin.ask("blueprint/import", url=url)
    assert found["validation_errors"] is None
    path = f"hearth/{file.name}"
    await admin.ask(
        "blueprint/save",
        domain=found["blueprint"]["metadata"]["domain"],
        path=path,
        yaml=found["raw_data"],
        source_url=url,
        allow_override=True,
    )
    try:
        yield path
    finally:
        await admin.ask("blueprint/delete", domain="automation", path=path)


async def until(holds: Callable[[], Any], limit_s: float = LIMIT_S) -> None:
    """Wait until the result of `holds`, awaited if needed, is true."""
    deadline = time.monotonic() + limit_s
    while True:
        told = holds()
        if asyncio.iscoroutine(told):
            told = await told
        if told:
            return
        assert time.monotonic() < deadline, "it did not come to that"
        await asyncio.sleep(STEP_S)
