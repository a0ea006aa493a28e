"""Tests that possible openers are asked about, whatever their name and their kind."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.home_assistant.admin import Admin
from tests.home_assistant.conftest import Address, real_only
from tests.home_assistant.hearth import Hearth

pytestmark = [real_only, pytest.mark.since(2026, 2)]  # templates made by their page

DOOR = "lock.back_door"
FLOW = "/api/config/config_entries/flow"
NOTHING: dict[str, Mapping[str, Any]] = {
    "switch": {"turn_on": [], "turn_off": []},
    "cover": {"open_cover": [], "close_cover": []},
    "button": {"press": []},
    "fan": {"state": "{{ false }}", "turn_on": [], "turn_off": []},
}


@asynccontextmanager
async def template(admin: Admin, kind: str, name: str, **fields: Any) -> AsyncIterator[str]:
    """Keep an exposed template entity while the block runs, and yield its id."""
    flow = await admin.post(FLOW, {"handler": "template"})
    step = f"{FLOW}/{flow['flow_id']}"
    await admin.post(step, {"next_step_id": kind})
    made = await admin.post(step, {"name": name, **NOTHING[kind], **fields})
    entry_id = made["result"]["entry_id"]
    try:
        rows = await admin.ask("config/entity_registry/list")
        entity_id = next(row["entity_id"] for row in rows if row["config_entry_id"] == entry_id)
        await admin.expose([entity_id], True)
        yield entity_id
    finally:
        await admin.delete(f"/api/config/config_entries/entry/{entry_id}")


@pytest.fixture
def hearth(house: Address, tmp_path: Path) -> Hearth:
    if house.kind != "english":
        pytest.skip("the sentences are English")
    return Hearth(tmp_path, house.url, house.token, BRAIN__ORDER='["home-assistant"]')


Thing = tuple[str, str, dict[str, str]]  # kind, name, further fields of the template
THINGS: list[tuple[Thing, str, str]] = [
    (("cover", "Hoftor", {}), "open Hoftor", "Open the hoftor?"),
    (("cover", "Portão", {}), "open Portão", "Open the portão?"),
    (("cover", "Left one", {}), "open left one", "Open the left one?"),
    (
        ("cover", "Roof window", {"device_class": "window"}),
        "open the roof window",
        "Open the roof window?",
    ),
    (("switch", "Front gate", {}), "turn on the front gate", "could open"),
    (("switch", "Garage door relay", {}), "turn on garage door relay", "could open"),
    (("switch", "Türöffner", {}), "turn on Türöffner", "could open"),
    (("switch", "Burglar alarm", {}), "turn off the burglar alarm", "could silence an alarm"),
    (("switch", "Front door lock relay", {}), "turn off the front door lock relay", "could open"),
    (("switch", "Study shelf", {}), "turn on the study shelf", "could open"),
    (("fan", "Attic air", {}), "turn on the attic air", "could open"),
]
FREE: list[tuple[Thing, str]] = [
    (("cover", "Studio blinds", {}), "open the studio blinds"),
    (("cover", "Rollladen Büro", {}), "open rollladen büro"),
    (("switch", "Hall door lamp", {}), "turn on the hall door lamp"),
    (("switch", "Garagenlicht", {}), "turn on Garagenlicht"),
]


async def test_what_is_called_a_door_is_asked_about(hearth: Hearth, admin: Admin) -> None:
    async with AsyncExitStack() as stack:
        for kind, name, fields in (*(row[0] for row in THINGS), *(row[0] for row in FREE)):
            await stack.enter_async_context(template(admin, kind, name, **fields))
        for _, sentence, question in THINGS:
            told = await hearth.json("ask", sentence)
            assert [call["decision"] for call in told["tool_calls"]] == ["needs_confirmation"], (
                sentence
            )
            assert question in told["answer"]
        for _, sentence in FREE:
            told = await hearth.json("ask", sentence)
            assert [call["decision"] for call in told["tool_calls"]] == ["allowed"], sentence


async def test_a_switch_that_unlocks_is_asked_about_before_and_after(
    hearth: Hearth, admin: Admin
) -> None:
    """The next process knows what one process has seen, and the owner may overrule it."""
    await admin.call("lock.lock", entity_id=DOOR)
    assert await admin.settles(DOOR, "locked") == "locked"
    there = "{{ is_state('lock.back_door', 'unlocked') }}"
    ways = {
        f"turn_{way}": [{"action": f"lock.{does}", "target": {"entity_id": DOOR}}]
        for way, does in (("on", "unlock"), ("off", "lock"))
    }
    async with template(admin, "switch", "Reading corner", value_template=there, **ways) as switch:
        first = await hearth.json("ask", "turn on the reading corner")
        assert [call["decision"] for call in first["tool_calls"]] == ["needs_confirmation"]
        assert await admin.state(DOOR) == "locked"
        listed = {row["entity_id"] for row in await hearth.json("tools", "rate")}
        assert switch in listed
        # Its owner believes that it is a lamp: the first time shows that it is none.
        await hearth.json("tools", "rate", "Reading corner", "comfort")
        freed = await hearth.json("ask", "turn on the reading corner")
        assert [call["decision"] for call in freed["tool_calls"]] == ["allowed"]
        assert await admin.settles(DOOR, "unlocked") == "unlocked"
        for way in ("off", "on"):
            asked = await hearth.json("ask", f"turn {way} the reading corner")
            assert "the reading corner" in asked["answer"]
            assert [call["decision"] for call in asked["tool_calls"]] == ["needs_confirmation"]
        assert await admin.state(DOOR) == "unlocked"
        rows = {row["entity_id"]: row for row in await hearth.json("tools", "rate")}
        assert rows[switch]["seen_opening"] == [DOOR]
        await hearth.json("tools", "rate", "Reading corner", "comfort")
        freed = await hearth.json("ask", "turn off the reading corner")
        assert [call["decision"] for call in freed["tool_calls"]] == ["allowed"]
        assert await admin.settles(DOOR, "locked") == "locked"
