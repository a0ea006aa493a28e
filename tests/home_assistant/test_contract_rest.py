"""Tests of REST of both houses, for a user without administrator's rights."""

import httpx
import pytest

from tests.home_assistant.admin import Admin
from tests.home_assistant.conftest import Address
from tests.home_assistant.talk import Talk
from tests.home_assistant.things import dimming_script, look, put_back


async def test_the_house_answers_and_runs(person: Talk) -> None:
    assert (await person.http.get("/api/")).json() == {"message": "API running."}
    config = (await person.http.get("/api/config")).json()
    assert config["state"] == "RUNNING"
    assert config["unit_system"]["temperature"] in ("°C", "°F")
    assert {"location_name", "time_zone", "language", "version"} <= set(config)


async def test_the_configuration_tells_what_is_set_up(person: Talk) -> None:
    components = set((await person.http.get("/api/config")).json()["components"])
    assert {"mcp_server", "mobile_app", "search", "webhook", "light", "camera"} <= components
    assert (await person.told("get_config"))["version"]


async def test_what_is_not_set_up_does_not_answer(person: Talk) -> None:
    components = (await person.http.get("/api/config")).json()["components"]
    answer = await person.http.post("/api/conversation/process", json={"text": "hello"})
    assert answer.status_code == (200 if "conversation" in components else 404)
    pipelines = await person.ask("assist_pipeline/pipeline/list")
    assert pipelines["success"] is ("assist_pipeline" in components)
    if not pipelines["success"]:
        assert pipelines["error"]["code"] == "unknown_command"


@pytest.mark.since(2026, 11)
@pytest.mark.parametrize("value", ["", "Bearer wrong", "bearer {token}", "{token}"])
async def test_a_token_is_needed(house: Address, value: str) -> None:
    async with httpx.AsyncClient(base_url=house.url, trust_env=False) as stranger:
        for path in ("/api/states", "/api/config", "/api/camera_proxy/camera.any"):
            headers = {"Authorization": value.format(token=house.token)}
            answer = await stranger.get(path, headers=headers)
            assert answer.status_code == 401
            assert answer.text == "401: Unauthorized"


async def test_a_state(person: Talk, admin: Admin) -> None:
    light = (await look(person, admin)).light()
    state = (await person.http.get(f"/api/states/{light.entity_id}")).json()
    assert state["attributes"]["friendly_name"] == light.name
    assert set(state) == {
        *("entity_id", "state", "attributes", "context"),
        *("last_changed", "last_reported", "last_updated"),
    }
    gone = await person.http.get("/api/states/light.no_such_light")
    assert (gone.status_code, gone.json()) == (404, {"message": "Entity not found."})


async def test_everybody_sees_hidden_states_too(person: Talk, admin: Admin) -> None:
    hidden = (await look(person, admin)).hidden_light()
    states = (await person.http.get("/api/states")).json()
    assert hidden.entity_id in {state["entity_id"] for state in states}


async def test_an_action_tells_what_it_changed(person: Talk, admin: Admin) -> None:
    light = (await look(person, admin)).light()
    async with put_back(admin, light):
        off, on = "/api/services/light/turn_off", "/api/services/light/turn_on"
        await person.http.post(off, json={"entity_id": light.entity_id})
        answer = await person.http.post(on, json={"entity_id": light.entity_id})
        told = [state for state in answer.json() if state["entity_id"] == light.entity_id]
        assert [state["state"] for state in told] == ["on"]
        again = await person.http.post(on, json={"entity_id": light.entity_id})
        assert (again.status_code, again.json()) == (200, [])


async def test_an_action_reaches_what_is_hidden(person: Talk, admin: Admin) -> None:
    hidden = (await look(person, admin)).hidden_light()
    async with put_back(admin, hidden):
        service = "turn_off" if hidden.state == "on" else "turn_on"
        await person.http.post(
            f"/api/services/light/{service}", json={"entity_id": hidden.entity_id}
        )
        assert await admin.state(hidden.entity_id) != hidden.state


@pytest.mark.since(2026, 11)
@pytest.mark.parametrize(
    ("action", "body", "status", "message"),
    [
        ("light/explode", {}, 400, ""),
        ("light/turn_on", {}, 400, ""),
        ("light/turn_on", {"entity_id": "light.no_such_light"}, 200, ""),
        ("light/turn_on", {"entity_id": "light.no_such_light", "nonsense": 1}, 400, ""),
        ("light/turn_on?return_response", {"entity_id": "light.no_such_light"}, 400, "not support"),
        ("climate/set_temperature", {"entity_id": "climate.no_such"}, 400, ""),
        (
            "weather/get_forecasts",
            {"entity_id": "weather.no_such", "type": "daily"},
            400,
            "require",
        ),
        (
            "weather/get_forecasts?return_response",
            {"entity_id": "weather.no_such", "type": "daily"},
            500,
            "did not match any entities",
        ),
    ],
)
async def test_actions_that_are_refused(
    person: Talk, action: str, body: dict[str, object], status: int, message: str
) -> None:
    answer = await person.http.post(f"/api/services/{action}", json=body)
    assert answer.status_code == status
    if message:
        assert message in answer.json()["message"]


async def test_what_is_no_json_is_refused(person: Talk) -> None:
    answer = await person.http.post("/api/services/light/turn_on", content="{")
    assert (answer.status_code, answer.json()) == (400, {"message": "Data should be valid JSON."})


@pytest.mark.since(2026, 11)
async def test_a_temperature_out_of_range_says_which_range(person: Talk, admin: Admin) -> None:
    thermostat = (await look(person, admin)).find("climate")
    answer = await person.http.post(
        "/api/services/climate/set_temperature",
        json={"entity_id": thermostat.entity_id, "temperature": 200},
    )
    assert answer.status_code == 400
    assert "is not valid. Accepted range is " in answer.json()["message"]


async def test_a_forecast(person: Talk, admin: Admin) -> None:
    weather = (await look(person, admin)).find(
        "weather", lambda thing: thing.attributes["supported_features"] & 1 == 1
    )
    answer = await person.http.post(
        "/api/services/weather/get_forecasts?return_response",
        json={"entity_id": weather.entity_id, "type": "daily"},
    )
    assert answer.status_code == 200
    rows = answer.json()["service_response"][weather.entity_id]["forecast"]
    assert len(rows) >= 3
    for row in rows:
        assert {"datetime", "condition", "temperature", "templow"} <= set(row)
    assert {"temperature", "temperature_unit"} <= set(weather.attributes)


async def test_a_script_answers_where_it_is_asked_to(person: Talk, admin: Admin) -> None:
    script = await dimming_script(person, await look(person, admin))
    async with put_back(admin, script.light):
        path = f"/api/services/script/{script.action}"
        data = {script.percent: 20}
        told = (await person.http.post(f"{path}?return_response", json=data)).json()
        assert told["service_response"]["value"].endswith(" 20")
        own = [s["state"] for s in told["changed_states"] if s["entity_id"] == script.entity_id]
        assert own == ["on", "off"]
        assert isinstance((await person.http.post(path, json=data)).json(), list)


async def test_a_camera_gives_a_picture(person: Talk, admin: Admin) -> None:
    camera = next(t for t in (await look(person, admin)).all if t.domain == "camera")
    answer = await person.http.get(f"/api/camera_proxy/{camera.entity_id}")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("image/")
    assert answer.content.startswith((b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n"))
    for other in ("camera.no_such_camera", "light.no_camera"):
        assert (await person.http.get(f"/api/camera_proxy/{other}")).status_code == 404


async def test_only_administrators_fire_events(person: Talk, admin: Admin) -> None:
    path = "/api/events/hearth_contract"
    refused = await person.http.post(path, json={})
    assert (refused.status_code, refused.text) == (401, "401: Unauthorized")
    assert await admin.post(path, {}) == {"message": "Event hearth_contract fired."}


async def test_the_list_of_actions_is_the_websockets(person: Talk) -> None:
    rows = (await person.http.get("/api/services")).json()
    told = await person.told("get_services")
    assert {row["domain"] for row in rows} == set(told)
    assert {row["domain"]: set(row["services"]) for row in rows}["light"] == set(told["light"])
