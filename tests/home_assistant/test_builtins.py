"""Tests of Hearth's own answers from the real house: states, the weather, a look at a camera.

The simulated Gemini asks; its results are compared with Home Assistant's answers over REST.
"""

import base64
import json
from pathlib import Path

import httpx
import pytest
import yaml

from assistant.jobs.thinking import LOOK_AT_CAMERA
from assistant.tools.builtin.date_and_weather import WEATHER_FORECAST
from tests.home_assistant.admin import Admin
from tests.home_assistant.conftest import Address, real_only
from tests.home_assistant.hearth import Hearth
from tests.home_assistant.home import Home
from tests.home_assistant.line import Json
from tests.simulators.records import OnceRequest
from tests.simulators.script import Call, Done, OnceTurn, Say

pytestmark = real_only

DOOR = "lock.front_door"
WHETHER_LOCKED = {"english": "is the front door locked", "spanish": "¿está cerrada la puerta?"}
WEATHER = {"english": "what is the weather tomorrow", "spanish": "¿qué tiempo hará mañana?"}


@pytest.fixture
def home(house: Address, admin: Admin, tmp_path: Path) -> Home:
    if house.kind not in WHETHER_LOCKED:
        pytest.skip("the sentences are about the houses of ours")
    return Home(house, admin, Hearth(tmp_path, house.url, house.token))


@pytest.mark.parametrize("locked", [True, False], ids=["locked", "unlocked"])
@pytest.mark.parametrize("tool", ["GetLiveContext", "find_devices"])
async def test_a_state_is_told_as_it_is(home: Home, tool: str, locked: bool) -> None:
    state = "locked" if locked else "unlocked"
    await home.admin.call("lock.lock" if locked else "lock.unlock", entity_id=DOOR)
    assert await home.admin.settles(DOOR, state) == state
    name = await home.admin.attribute(DOOR, "friendly_name")
    call = Call(tool, {"name": name, "domain": "lock"})
    turn = await home.served(WHETHER_LOCKED[home.house.kind], call, Say("I have looked."))
    assert (turn["answer"], turn["error"]) == ("I have looked.", None)
    (row,) = shown(home.answered[0])
    assert (row.get("name", row.get("names")), row["state"]) == (name, state)


def shown(answer: Json) -> list[Json]:
    """Return the things in a tool's answer."""
    told = json.loads(answer["data"])
    if "devices" in told:
        return list(told["devices"])
    _, _, listed = told["result"].partition("\n")
    return list(yaml.safe_load(listed))


async def test_the_forecast_is_that_of_the_home(home: Home) -> None:
    call = Call(WEATHER_FORECAST, {"when": "tomorrow"}, answer={"status": "done"})
    await home.served(WEATHER[home.house.kind], call, Say("I have looked."))
    told = json.loads(home.answered[0]["data"])
    (day,) = told["days"]
    expected = (await foretold(home.admin, told["weather"]))[day["date"]]
    assert day["condition"] == expected["condition"]
    assert (day["high"], day["low"]) == (expected["temperature"], expected["templow"])
    assert day["rain_percent"] == expected["precipitation_probability"]


async def foretold(admin: Admin, name: str) -> dict[str, Json]:
    """Return the days of that forecast by Home Assistant's own action, by date."""
    states = await admin.states()
    (entity,) = [
        entity
        for entity in states
        if entity.startswith("weather.") and states[entity]["attributes"]["friendly_name"] == name
    ]
    asked = {"entity_id": entity, "type": "daily"}
    answer = await admin.post("/api/services/weather/get_forecasts?return_response", asked)
    rows = answer["service_response"][entity]["forecast"]
    return {row["datetime"][:10]: row for row in rows}


async def test_a_model_looks_through_a_camera(home: Home) -> None:
    camera = "camera.demo_camera"
    name = await home.admin.attribute(camera, "friendly_name")
    looking = {"camera": name, "question": "Who is at the door?"}
    call = Call(LOOK_AT_CAMERA, looking, answer={"status": "done", "data": "Only a parcel."})
    sees = OnceTurn([Say("Only a parcel."), Done()])
    turn = await home.served("who is at the door", call, Say("A parcel."), once=[sees])
    assert (turn["answer"], turn["error"]) == ("A parcel.", None)
    (request,) = home.service.once_requests
    (picture,) = [part["inlineData"] for part in parts(request) if "inlineData" in part]
    assert picture["mimeType"] == "image/jpeg"
    assert base64.urlsafe_b64decode(picture["data"]) in await pictures(home, camera)
    assert "Who is at the door?" in [part.get("text") for part in parts(request)]


def parts(request: OnceRequest) -> list[Json]:
    """Return the parts of the newest content."""
    return list(request.contents[-1]["parts"])


async def pictures(home: Home, camera: str) -> list[bytes]:
    """Return all images of the demo's camera, which repeats four."""
    headers = {"Authorization": f"Bearer {home.house.token}"}
    async with httpx.AsyncClient(base_url=home.house.url, headers=headers, trust_env=False) as http:
        return [(await http.get(f"/api/camera_proxy/{camera}")).content for _ in range(4)]
