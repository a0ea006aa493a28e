"""Snapshots: the requests to Home Assistant; people never see them."""

from datetime import UTC, datetime
from typing import Any

import pytest

from integrations.errors import Refused
from integrations.home_assistant.picture import Picture
from integrations.home_assistant.reasons import CommandRefused
from integrations.home_assistant.registry import Registries
from integrations.home_assistant.services import (
    Found,
    Snapshots,
    is_snapshot,
    snapshot_id,
    without_snapshots,
)

PROMPT = """You are a voice assistant.
Static context:
- names: Kitchen Light
  domain: light
  areas: Kitchen
- names: hearth_undo_7
  domain: scene
- names: Radio
  domain: media_player
- names: 'hearth_undo_12'
  domain: scene

When controlling Home Assistant always call the tools.
"""


class Home:
    """Answer as scripted, and record the commands."""

    def __init__(self, *, states: Any = (), refuse: str = "") -> None:
        self.states, self.refuse = states, refuse
        self.asked: list[tuple[str, dict[str, Any]]] = []

    async def command(self, kind: str, **fields: Any) -> Any:
        self.asked.append((kind, fields))
        if self.refuse:
            raise CommandRefused("No.", self.refuse)
        return self.states if kind == "get_states" else {"context": {}}


def asked(service: str, **fields: Any) -> list[tuple[str, dict[str, Any]]]:
    return [("call_service", {"domain": "scene", "service": service, **fields})]


async def test_create() -> None:
    home = Home()
    await Snapshots(home).create(4, ["light.a", "light.b"])
    data = {"scene_id": "hearth_undo_4", "snapshot_entities": ["light.a", "light.b"]}
    assert home.asked == asked("create", service_data=data)


async def test_restore_and_delete() -> None:
    home = Home()
    await Snapshots(home).restore(4)
    await Snapshots(home).delete(snapshot_id(4))
    target = {"entity_id": ["scene.hearth_undo_4"]}
    assert home.asked == asked("turn_on", target=target) + asked("delete", target=target)


async def test_one_that_has_gone_is_deleted() -> None:
    await Snapshots(Home(refuse="service_validation_error")).delete(snapshot_id(1))


@pytest.mark.parametrize("code", ["not_found", "home_assistant_error", "unauthorized"])
async def test_any_other_refusal_is_told(code: str) -> None:
    with pytest.raises(Refused):
        await Snapshots(Home(refuse=code)).delete(snapshot_id(1))


async def test_found() -> None:
    states: list[Any] = [
        {"entity_id": "scene.hearth_undo_4", "last_updated": "2026-11-22T08:17:33.28+00:00"},
        {"entity_id": "scene.hearth_undo_5", "last_updated": "yesterday"},
        {"entity_id": "scene.evening"},
        {"entity_id": "light.hearth_undo_6"},
        "nonsense",
    ]
    since = datetime(2026, 11, 22, 8, 17, 33, 280000, UTC)
    assert await Snapshots(Home(states=states)).found() == [
        Found("scene.hearth_undo_4", since),
        Found("scene.hearth_undo_5", None),
    ]


def test_the_homes_own_text_is_shown_without_them() -> None:
    told = without_snapshots(PROMPT)
    assert "hearth_undo" not in told
    assert told.count("- names:") == 2
    assert told.startswith("You are a voice assistant.\nStatic context:\n- names: Kitchen Light\n")
    assert told.endswith("\n\nWhen controlling Home Assistant always call the tools.\n")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Nothing listed.",
        "- names: hearth_undo_1\n  domain: light\n",
        "- names: Lamp, hearth_undo_1\n  domain: scene\n",
        "A word on hearth_undo_1.\n- names: Lamp\n  domain: light\n",
    ],
)
def test_what_is_none_of_ours_stays(text: str) -> None:
    assert without_snapshots(text) == text


def test_the_picture_does_not_hold_them() -> None:
    picture = Picture()
    picture.begin_load()
    kept = {"entity_id": "scene.hearth_undo_1", "state": "unknown", "attributes": {}}
    lamp = {"entity_id": "light.lamp", "state": "on", "attributes": {}}
    picture.change({"data": {"entity_id": kept["entity_id"], "new_state": kept}})
    picture.end_load(Registries(), [kept, lamp])
    house = picture.house
    assert picture.change({"data": {"entity_id": kept["entity_id"], "new_state": kept}}) == ""
    assert picture.change({"data": {"entity_id": kept["entity_id"], "new_state": None}}) == ""
    assert picture.house is house
    assert list(house.entities) == ["light.lamp"]
    assert not picture.unsearched


@pytest.mark.parametrize(
    ("entity_id", "ours"),
    [
        ("scene.hearth_undo_1", True),
        ("scene.hearth_undo_", True),
        ("scene.hearth", False),
        ("light.hearth_undo_1", False),
    ],
)
def test_ours(entity_id: str, ours: bool) -> None:
    assert is_snapshot(entity_id) is ours
