"""No token or PIN appears in an answer, a header or the log, even after errors."""

import json
import logging
from collections.abc import AsyncIterator
from typing import Protocol

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from integrations.serving import serving
from integrations.web.api import api_routes, web_app
from integrations.web.guard import COOKIE, Guard
from tests.unit.integrations.web.doubles import (
    CODE,
    PIN,
    TOKEN,
    FakeBox,
    FakeSessions,
    FakeTokens,
)

WRONG = "wr0ng-token-that-is-one-elsewhere"
SECRETS = (TOKEN, WRONG, PIN, CODE, f"{COOKIE}=")


@pytest.fixture
def box() -> FakeBox:
    return FakeBox()


@pytest.fixture
async def client(box: FakeBox) -> AsyncIterator[httpx.AsyncClient]:
    tokens = FakeTokens()
    sessions = FakeSessions(tokens)
    guard = Guard(tokens, calls_at_once=40, wrong_at_once=3, now=lambda: 0.0, sessions=sessions)

    async def broken(request: Request) -> Response:
        raise RuntimeError(f"{TOKEN} {PIN}")

    routes = [Route("/broken", broken), *api_routes(box, guard)]
    async with (
        serving(web_app(routes), "127.0.0.1", 0) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client,
    ):
        yield client
        box.events.close()


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


class Ask(Protocol):
    """Send a request, check its status, and check that the answer holds no secret."""

    async def __call__(self, method: str, path: str, status: int, **more: object) -> None: ...


async def _ask_of_signing_in(ask: Ask, as_json: dict[str, str]) -> None:
    """Make two wrong guesses and all other errors of signing in."""
    session = "/v1/session"
    await ask("POST", session, 401, json={"token": WRONG})
    await ask("POST", session, 401, json={"code": WRONG})
    await ask("POST", session, 422, json={"token": TOKEN, "code": CODE})
    await ask("POST", session, 422, json={TOKEN: CODE})
    await ask("POST", session, 422, json={"token": [TOKEN]})
    await ask("POST", session, 422, headers=as_json, content=f'{{"token": "{TOKEN}')
    await ask("POST", session, 415, data={"token": TOKEN})
    await ask("POST", f"{session}?code={CODE}", 422, json={})
    await ask("GET", f"{session}?code={CODE}", 401)
    foreign = {"Origin": f"http://{WRONG}.example"}
    await ask("POST", session, 403, json={"code": CODE}, headers=foreign)
    ended = {"Cookie": f"{COOKIE}={WRONG}"}
    await ask("GET", session, 401, headers=ended)
    await ask("DELETE", session, 401, headers=ended)


async def test_no_error_tells_a_secret(
    box: FakeBox, client: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    # httpx and httpcore are the client, and log what it sends.
    for name in ("httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    right, statuses = bearer(TOKEN), []

    async def ask(method: str, path: str, status: int, **more: object) -> None:
        answer = await client.request(method, path, **more)  # type: ignore[arg-type]
        assert answer.status_code == status, answer.text
        whole = f"{answer.headers} {answer.text}"
        assert not [secret for secret in SECRETS if secret in whole]
        statuses.append(status)

    confirm = "/v1/confirmations/c1"
    await ask("GET", "/v1/state", 401)
    await ask("GET", f"/v1/state?token={TOKEN}", 401)
    await ask("GET", "/v1/state", 401, headers={"Authorization": f"Basic {TOKEN}"})
    await ask("GET", "/v1/state", 421, headers={**right, "Host": TOKEN})
    await ask("GET", "/v1/memory", 403, headers=bearer(f"{TOKEN}-speak"))
    await ask("GET", f"/v1/{TOKEN}", 404, headers=right)
    await ask("GET", f"/v1/turns/{TOKEN}", 404, headers=right)
    await ask("PUT", f"/v1/turns/{TOKEN}", 405, headers=right)
    await ask("GET", f"/v1/turns?limit={TOKEN}", 422, headers=right)
    await ask("POST", confirm, 415, headers=right, data={"pin": PIN})
    await ask("POST", confirm, 422, headers=right, json={"yes": PIN, "pin": PIN})
    await ask("POST", confirm, 422, headers=right, json={"yes": True, "pin": int(PIN)})
    await ask("POST", confirm, 422, headers=right, json={"yes": True, PIN: PIN})
    as_json = {**right, "Content-Type": "application/json"}
    await ask("POST", confirm, 422, headers=as_json, content=f'{{"yes": true, "pin": "{PIN}')
    await ask(
        "POST", confirm, 413, headers=as_json, content=json.dumps({"pin": PIN}) + " " * 70_000
    )
    box.fails = RuntimeError(f"{TOKEN} {PIN}")
    await ask("POST", confirm, 500, headers=right, json={"yes": True, "pin": PIN})
    box.fails = ValueError(f"{TOKEN} {PIN}")
    await ask("GET", "/v1/events", 500, headers=right)
    await ask("GET", "/broken", 500)  # a route from elsewhere
    await _ask_of_signing_in(ask, as_json)
    await ask("GET", "/v1/state", 401, headers=bearer(WRONG))
    await ask("GET", "/v1/state", 429, headers=bearer(WRONG))
    await ask("POST", "/v1/session", 429, json={"token": WRONG})
    for _ in range(60):
        if (await client.get("/v1/state", headers=right)).status_code == 429:
            break
    await ask("GET", "/v1/state", 429, headers=right)
    assert set(statuses) == {401, 403, 404, 405, 413, 415, 421, 422, 429, 500}
    assert "POST /v1/confirmations/{id} failed with RuntimeError" in caplog.text
    assert "doubles.py" in caplog.text  # the place of the error
    # pytest listens to uvicorn's log of requests, which has no other listener: see `serving`.
    assert not logging.getLogger("uvicorn.access").propagate
    kept = [record for record in caplog.records if record.name != "uvicorn.access"]
    told = "".join(f"{vars(record)} {record.getMessage()}" for record in kept)
    assert not [secret for secret in SECRETS if secret in told]
