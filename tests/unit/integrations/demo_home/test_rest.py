"""REST as a client of Home Assistant sees it."""

from typing import Any

import httpx
import pytest

from integrations.demo_home import DemoHome
from integrations.demo_home.surroundings import Person, whose


async def test_the_house_is_running(client: httpx.AsyncClient) -> None:
    assert (await client.get("/api/")).json() == {"message": "API running."}
    config = (await client.get("/api/config")).json()
    assert (config["state"], config["version"]) == ("RUNNING", "2026.11.0")


async def test_states(unserved: DemoHome, client: httpx.AsyncClient) -> None:
    states = (await client.get("/api/states")).json()
    assert {state["entity_id"]: state["state"] for state in states} == unserved.states
    light = (await client.get("/api/states/light.dining_room")).json()
    assert light["state"] == "on"
    assert light["attributes"]["friendly_name"] == "Dining room light"
    assert {"last_changed", "last_reported", "last_updated", "context"} <= set(light)


@pytest.mark.parametrize(
    ("path", "data", "changed"),
    [
        ("light/turn_on", {"entity_id": "light.kitchen", "brightness_pct": 30}, ["light.kitchen"]),
        ("light/turn_on", {"area_id": "office"}, ["light.office", "light.desk_lamp"]),
        ("light/turn_off", {"target": {"entity_id": ["light.dining_room"]}}, ["light.dining_room"]),
        ("homeassistant/turn_on", {"entity_id": "fan.zephyra"}, ["fan.zephyra"]),
        # Every state written, first on the way and then on arrival.
        ("lock/unlock", {"entity_id": "lock.front_door"}, ["lock.front_door"] * 2),
        # Actions can switch entities that an assistant may not see.
        ("light/turn_on", {"entity_id": "light.workbench"}, ["light.workbench"]),
        ("light/turn_on", {"entity_id": "light.nowhere"}, []),
        ("scene/turn_on", {"entity_id": "scene.good_night"}, None),
    ],
)  # fmt: skip
async def test_services_tell_what_changed(
    client: httpx.AsyncClient, path: str, data: dict[str, Any], changed: list[str] | None
) -> None:
    answer = await client.post(f"/api/services/{path}", json=data)
    assert answer.status_code == 200
    ids = [state["entity_id"] for state in answer.json()]
    assert ids == changed if changed is not None else "light.dining_room" in ids


@pytest.mark.parametrize(
    ("method", "path", "content", "status"),
    [
        ("GET", "/api/states/light.nowhere", None, 404),
        ("GET", "/api/nowhere", None, 404),
        ("POST", "/api/conversation/process", "{}", 404),
        ("POST", "/api/states", "{}", 405),
        ("POST", "/api/services/light/explode", "{}", 400),
        ("POST", "/api/services/light/turn_on", "{", 400),
        ("POST", "/api/services/climate/set_temperature", '{"entity_id":"climate.bedroom"}', 400),
    ],
)
async def test_refusals(
    client: httpx.AsyncClient, method: str, path: str, content: str | None, status: int
) -> None:
    assert (await client.request(method, path, content=content)).status_code == status


async def test_a_token_is_needed(unserved: DemoHome, client: httpx.AsyncClient) -> None:
    for value in ("", "Bearer wrong", unserved.token, f"bearer {unserved.token}"):
        answer = await client.get("/api/states", headers={"Authorization": value})
        assert (answer.status_code, answer.text) == (401, "401: Unauthorized")


# An administrator and a person who is not one.


def test_whose_token() -> None:
    people = (Person("one", True, "first"), Person("two", False, "second"))
    assert whose(people, "second") == people[1]
    for wrong in ("", "third", None, 5, "firs"):
        assert whose(people, wrong) is None
    assert "first" not in repr(people)
    assert people[0].user_id != people[1].user_id


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/api/mcp", 403),
        ("POST", "/api/mcp/nope", 403),
        ("POST", "/api/events/hearth_test", 401),
        ("DELETE", "/api/config/config_entries/entry/any", 401),
        ("GET", "/api/states", 200),
        ("GET", "/api/camera_proxy/camera.front_door", 200),
    ],
)
async def test_what_a_person_may(
    unserved: DemoHome, client: httpx.AsyncClient, method: str, path: str, status: int
) -> None:
    as_person = {"Authorization": f"Bearer {unserved.person_token}"}
    assert (await client.request(method, path, headers=as_person)).status_code == status
