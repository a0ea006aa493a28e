"""An administrator and a person who is none."""

import httpx
import pytest

from integrations.demo_home import DemoHome
from integrations.demo_home.surroundings import Person, whose


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
