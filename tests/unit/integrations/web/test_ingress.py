"""The console within Home Assistant: who is believed to come from there, and what they may."""

from typing import Any

import httpx
import pytest

from integrations.web.api import api_routes, web_app
from integrations.web.guard import CALLER, COOKIE, SUPERVISOR, Guard, Ingress, IngressUse
from tests.unit.integrations.web.doubles import TOKEN, FakeBox, FakeSessions, FakeTokens

PREFIX = "/api/hassio_ingress/aB3_-x"
# As core and supervisor pass it on.
PASSED_ON = {
    "X-Ingress-Path": PREFIX,
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "home.example:8123",
    "Host": "172.30.33.4:8765",
}
OWN = {**PASSED_ON, "Origin": "https://home.example:8123"}


def browser(use: IngressUse, address: str = SUPERVISOR) -> httpx.AsyncClient:
    tokens = FakeTokens()
    guard = Guard(tokens, sessions=FakeSessions(tokens), ingress=Ingress(use))
    app = web_app(api_routes(FakeBox(), guard), "0.0.0.0")
    transport = httpx.ASGITransport(app, client=(address, 5000))
    return httpx.AsyncClient(transport=transport, base_url="http://172.30.33.4:8765")


async def test_whom_home_assistant_lets_in_is_let_in_where_the_settings_say_so() -> None:
    async with browser("home-assistant") as asking:
        told = await asking.get("/v1/session", headers=PASSED_ON)
        assert told.json()["name"] == "http:ingress"
        assert set(told.json()["scopes"]) == {"read", "ask", "speak"}
        assert (await asking.post("/v1/stop", headers=OWN)).status_code == 200
        assert (await asking.get("/v1/state")).status_code == 401  # not by way of ingress


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/mute", {"muted": False}),
        ("/v1/mode", {"mode": "normal"}),
        ("/v1/confirmations/1", {"approve": True}),
    ],
    ids=["unmute", "mode", "confirm"],
)
async def test_none_of_its_users_is_an_administrator_by_that_alone(
    path: str, body: dict[str, Any]
) -> None:
    told = {**OWN, "X-Remote-User-Id": "an-administrator", "X-Remote-User-Name": "ana"}
    async with browser("home-assistant") as asking:
        refused = await asking.post(path, json=body, headers=told)
        assert (refused.status_code, refused.json()["error"]["kind"]) == (403, "forbidden")
        signed_in = await asking.post("/v1/session", json={"token": TOKEN}, headers=OWN)
        assert signed_in.status_code == 204
        kept = {"Cookie": f"{COOKIE}=session-1"}
        assert (await asking.post(path, json=body, headers={**OWN, **kept})).status_code != 403


@pytest.mark.parametrize(
    ("use", "address", "headers"),
    [
        ("off", SUPERVISOR, PASSED_ON),
        ("token", SUPERVISOR, PASSED_ON),
        ("home-assistant", "172.30.33.9", PASSED_ON),  # another add-on
        ("home-assistant", "127.0.0.1", PASSED_ON),
        ("home-assistant", SUPERVISOR, {"X-Ingress-Path": ""}),
        ("home-assistant", SUPERVISOR, {"X-Ingress-Path": "/a b"}),
    ],
)
async def test_nobody_else_is(use: IngressUse, address: str, headers: dict[str, str]) -> None:
    async with browser(use, address) as asking:
        assert (await asking.get("/v1/state", headers=headers)).status_code == 401


@pytest.mark.parametrize(
    "foreign",
    [
        {"Origin": "https://home.example:9999"},
        {"Origin": "https://evil.example"},
        {"Origin": "http://172.30.33.4:8765"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "same-site"},
        {},
    ],
    ids=str,
)
async def test_another_page_does_nothing_by_it(foreign: dict[str, str]) -> None:
    async with browser("home-assistant") as asking:
        answer = await asking.post("/v1/stop", headers={**PASSED_ON, **foreign})
        assert (answer.status_code, answer.json()["error"]["kind"]) == (403, "foreign_page")


async def test_the_cookie_is_for_its_path_within_home_assistant() -> None:
    async with browser("token") as asking:
        answer = await asking.post("/v1/session", json={"token": TOKEN}, headers=OWN)
        assert answer.status_code == 204
        cookie = answer.headers["set-cookie"]
        assert f"Path={PREFIX}/v1" in cookie
        assert "Secure" in cookie
        kept = {"Cookie": f"{COOKIE}=session-1"}
        assert (await asking.get("/v1/state", headers={**PASSED_ON, **kept})).status_code == 200
        assert (await asking.post("/v1/stop", headers={**OWN, **kept})).status_code == 200
        gone = await asking.delete("/v1/session", headers={**OWN, **kept})
        assert f"Path={PREFIX}/v1" in gone.headers["set-cookie"]


def test_a_stream_goes_on_while_it_is_let_in() -> None:
    assert Guard(FakeTokens(), ingress=Ingress("home-assistant")).holds(CALLER)
    assert not Guard(FakeTokens(), ingress=Ingress("token")).holds(CALLER)
