"""Registration: the requests, and the meaning of each answer from Home Assistant."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from integrations.errors import (
    IntegrationError,
    Misconfigured,
    Refused,
    SignInAgain,
    Stale,
    Unavailable,
)
from integrations.home_assistant import mobile_app
from integrations.home_assistant.mobile_app import (
    Address,
    Appearance,
    Push,
    Sensor,
    confirm,
    read_push,
)
from integrations.serving import serving

LOOKS = Appearance("Voice Kitchen", "1.0")
HOOK = "5ec3e7" * 10


class House:
    """Answer REST requests as scripted, and record them."""

    def __init__(self, status: int, body: str, config_status: int = 200) -> None:
        self.answer = (status, body)
        self.config_status = config_status
        self.came: list[tuple[str, str, str, Any]] = []  # method, path, authorization, body

    async def device(self, request: Request) -> Response:
        body = await request.body()
        self.came.append(
            (
                request.method,
                request.url.path,
                request.headers["authorization"],
                json.loads(body) if body else None,
            )
        )
        status, text = self.answer
        return PlainTextResponse(text, status)

    async def config(self, request: Request) -> Response:
        told = {
            "version": "2026.11.0",
            "state": "RUNNING",
            "location_name": "Home",
            "components": ["mobile_app"],
        }
        return PlainTextResponse(json.dumps(told), self.config_status)


@asynccontextmanager
async def answering(house: House) -> AsyncIterator[Address]:
    routes = [
        Route("/api/config", house.config),
        Route("/api/{path:path}", house.device, methods=["POST", "DELETE"]),
    ]
    async with serving(Starlette(routes=routes), "127.0.0.1", 0) as port:
        yield Address(f"http://127.0.0.1:{port}", "token")


async def test_it_says_who_it_is_and_gets_a_secret() -> None:
    house = House(201, json.dumps({"webhook_id": HOOK}))
    async with answering(house) as address:
        assert await mobile_app.register(address, "ours", LOOKS) == HOOK
    ((method, path, authorization, body),) = house.came
    assert (method, path) == ("POST", "/api/mobile_app/registrations")
    assert authorization == "Bearer token"
    assert body["device_id"] == "ours"
    assert body["device_name"] == "Voice Kitchen"
    assert body["app_data"] == {"push_websocket_channel": True}
    assert body["supports_encryption"] is False


@pytest.mark.parametrize(
    ("status", "body", "config_status", "kind"),
    [
        (404, "404: Not Found", 200, Misconfigured),
        (401, "401: Unauthorized", 401, SignInAgain),
        (500, "oops", 200, Unavailable),
        (400, "no", 200, Refused),
        (201, "no JSON", 200, Unavailable),
        (201, "[]", 200, Unavailable),
    ],
)
async def test_what_a_registration_may_be_answered(
    status: int, body: str, config_status: int, kind: type[IntegrationError]
) -> None:
    async with answering(House(status, body, config_status)) as address:
        with pytest.raises(kind):
            await mobile_app.register(address, "ours", LOOKS)


async def test_a_house_that_is_away() -> None:
    with pytest.raises(Unavailable, match=r"home_assistant\.url"):
        await mobile_app.register(Address("http://127.0.0.1:9", "token"), "ours", LOOKS)


async def test_removing_an_entry() -> None:
    house = House(200, "{}")
    async with answering(house) as address:
        await mobile_app.remove_entry(address, "entry")
        assert house.came[0][:2] == ("DELETE", "/api/config/config_entries/entry/entry")
        house.answer = (404, "gone already")
        await mobile_app.remove_entry(address, "entry")
        house.answer = (401, "401: Unauthorized")
        with pytest.raises(Refused, match="administrator"):
            await mobile_app.remove_entry(address, "entry")
        house.answer = (400, "no")
        with pytest.raises(Refused):
            await mobile_app.remove_entry(address, "entry")


class Answers:
    """Answer one command as scripted."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.came: list[tuple[str, dict[str, Any]]] = []

    async def command(self, kind: str, **fields: Any) -> Any:
        self.came.append((kind, fields))
        return self.answer


def reply(told: Any, status: int = 200) -> dict[str, Any]:
    return {"status": status, "body": told if told is None else json.dumps(told)}


async def test_a_living_registration_tells_its_device() -> None:
    home = Answers(reply({"hass_device_id": "d", "instance_id": "i"}))
    found = await mobile_app.look(home, HOOK)
    assert found == mobile_app.Registered("d", "i")
    ((kind, fields),) = home.came
    assert kind == "webhook/handle"
    assert (fields["webhook_id"], fields["method"]) == (HOOK, "POST")
    assert json.loads(fields["body"])["type"] == "get_config"


@pytest.mark.parametrize("answer", [reply(None), reply("", 410), reply({}, 410)])
async def test_nobody_behind_the_webhook(answer: dict[str, Any]) -> None:
    assert await mobile_app.look(Answers(answer), HOOK) is None


async def test_an_older_release_does_not_tell_its_instance() -> None:
    found = await mobile_app.look(Answers(reply({"hass_device_id": "d"})), HOOK)
    assert found == mobile_app.Registered("d", "")


@pytest.mark.parametrize(
    "answer", [None, {}, reply({}), reply([1]), {"status": 200, "body": "{"}, reply({}, 400)]
)
async def test_an_odd_answer_is_no_verdict(answer: Any) -> None:
    """In particular, it does not mean that the registration is gone."""
    with pytest.raises((Unavailable, Refused)) as caught:
        await mobile_app.look(Answers(answer), HOOK)
    assert HOOK not in str(caught.value)


@pytest.mark.parametrize("rows", [None, [{}], [{"identifiers": 5}], "no"])
async def test_an_odd_registry_is_no_verdict(rows: Any) -> None:
    with pytest.raises(Unavailable):
        await mobile_app.find_device(Answers(rows), "ours")


async def test_our_device_among_others() -> None:
    rows = [
        {"id": "a", "identifiers": [["mobile_app", "another"], ["hue", 1, 2]]},
        {
            "id": "b",
            "identifiers": [["mobile_app", "ours"]],
            "name": "Voice",
            "name_by_user": "My voice",
            "area_id": "kitchen",
            "disabled_by": None,
            "config_entries": ["e"],
        },
    ]
    found = await mobile_app.find_device(Answers(rows), "ours")
    assert found == mobile_app.Device("b", "My voice", "kitchen", False, ("e",))
    assert await mobile_app.find_device(Answers(rows), "nobody") is None


async def test_entries_of_others_that_joined_our_device_are_not_ours() -> None:
    """An administrator's token that removes our device must not delete a helper."""
    row = {
        "id": "b",
        "identifiers": [["mobile_app", "ours"]],
        "config_entries": ["helper", "e"],
        "primary_config_entry": "e",
    }
    found = await mobile_app.find_device(Answers([row]), "ours")
    assert found is not None
    assert found.entry_ids == ("e",)


def test_the_token_is_not_shown() -> None:
    assert "secret" not in repr(Address("http://ha", "secret"))


MUTED = Sensor("binary_sensor", "muted", "Microphone muted", True, icon="mdi:microphone-off")
STATUS = Sensor("sensor", "status", "Microphone", "listening", category="diagnostic")
COST = Sensor(
    "sensor",
    "cost",
    "Cost today",
    0.5,
    icon="mdi:cash",
    device_class="monetary",
    unit="USD",
    state_class="total",
    attributes={"last_reset": "2026-11-23"},
)


async def test_a_sensor_is_registered() -> None:
    home = Answers(reply({"success": True}, 201))
    await mobile_app.register_sensor(home, HOOK, STATUS)
    ((_, fields),) = home.came
    assert json.loads(fields["body"]) == {
        "type": "register_sensor",
        "data": {
            "type": "sensor",
            "unique_id": "status",
            "name": "Microphone",
            "state": "listening",
            "icon": "mdi:microphone",
            "attributes": {},
            "entity_category": "diagnostic",
            "device_class": None,
            "unit_of_measurement": None,
            "state_class": None,
        },
    }


async def test_what_a_sensor_measures_is_told_and_a_binary_one_measures_nothing() -> None:
    home = Answers(reply({"success": True}, 201))
    for sensor in (COST, MUTED):
        await mobile_app.register_sensor(home, HOOK, sensor)
    cost, muted = (json.loads(fields["body"])["data"] for _, fields in home.came)
    assert (cost["device_class"], cost["unit_of_measurement"]) == ("monetary", "USD")
    assert (cost["state_class"], cost["attributes"]) == ("total", {"last_reset": "2026-11-23"})
    # Home Assistant refuses a binary sensor with these
    assert not {"unit_of_measurement", "state_class"} & muted.keys()


async def test_an_event_of_whatever_type() -> None:
    home = Answers(reply({}))
    await mobile_app.fire_event(home, HOOK, "hearth_wake", {"word": "okay_nabu"})
    ((kind, fields),) = home.came
    assert (kind, fields["webhook_id"]) == ("webhook/handle", HOOK)
    assert json.loads(fields["body"]) == {
        "type": "fire_event",
        "data": {"event_type": "hearth_wake", "event_data": {"word": "okay_nabu"}},
    }


async def test_states_are_told_and_those_without_an_entity_named() -> None:
    told = {
        "muted": {"success": True, "is_disabled": True},
        "status": {"success": False, "error": {"code": "not_registered"}},
    }
    home = Answers(reply(told))
    assert await mobile_app.update_sensors(home, HOOK, [MUTED, STATUS]) == ("status",)
    ((_, fields),) = home.came
    asked = json.loads(fields["body"])
    assert asked["type"] == "update_sensor_states"
    assert asked["data"][0] == {
        "type": "binary_sensor",
        "unique_id": "muted",
        "state": True,
        "icon": "mdi:microphone-off",
        "attributes": {},
    }
    assert await mobile_app.update_sensors(Answers(reply({})), HOOK, [MUTED]) == ("muted",)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [(reply(None), Stale), (reply("", 410), Stale), (reply({}, 400), Refused), (None, Unavailable)],
)
async def test_sensors_of_a_registration_that_is_gone(
    answer: Any, kind: type[IntegrationError]
) -> None:
    with pytest.raises(kind) as caught:
        await mobile_app.register_sensor(Answers(answer), HOOK, MUTED)
    assert HOOK not in str(caught.value)
    with pytest.raises(kind):
        await mobile_app.update_sensors(Answers(answer), HOOK, [MUTED])
    with pytest.raises(kind):
        await mobile_app.fire_event(Answers(answer), HOOK, "hearth_wake", {})


# Messages to our device, as they arrive.


def test_a_whole_message() -> None:
    event = {
        "message": "The washing is done.",
        "title": "Washing",
        "data": {"group": "timers"},
        "hass_confirm_id": "abc",
    }
    expected = Push("abc", "The washing is done.", "Washing", {"group": "timers"})
    assert read_push(event) == expected


@pytest.mark.parametrize(
    "event",
    [{}, {"message": None, "title": 5, "data": [], "hass_confirm_id": {}}, {"message": ["x"]}],
)
def test_what_is_of_the_wrong_type_is_left_out(event: dict[str, Any]) -> None:
    assert read_push(event) == Push("", "")


async def test_confirming() -> None:
    came = []

    class Home:
        async def command(self, kind: str, **fields: Any) -> None:
            came.append((kind, fields))

    await confirm(Home(), "hook", "abc")
    sent = {"webhook_id": "hook", "confirm_id": "abc"}
    assert came == [("mobile_app/push_notification_confirm", sent)]
