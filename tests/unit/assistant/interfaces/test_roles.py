"""Tests of what an owner, a family member and a guest can do over HTTP, path by path."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from assistant.domain.clock import VirtualClock
from assistant.interfaces.http import HttpSessions
from assistant.interfaces.http_tokens import HttpTokens, TokenFile
from integrations.web.api import api_routes, web_app
from integrations.web.box import Role
from integrations.web.guard import Guard
from integrations.web.requests import LinkRequest
from tests.unit.integrations.web.doubles import FakeBox
from tests.unit.integrations.web.programs import ROWS, send

OWNER, FAMILY, GUEST = "owner", "family", "guest"
ALL, HOUSEHOLD, ONLY_OWNER = {OWNER, FAMILY, GUEST}, {OWNER, FAMILY}, {OWNER}
# Who can use each path. A path that is missing here fails the test.
ALLOWED = {
    "GET /v1/state": ALL,
    "GET /v1/events": ALL,
    "POST /v1/listen": HOUSEHOLD,
    "POST /v1/reconnect": HOUSEHOLD,
    "POST /v1/stop": HOUSEHOLD,
    "POST /v1/mute": HOUSEHOLD,
    "POST /v1/mode": ONLY_OWNER,
    "GET /v1/settings": ONLY_OWNER,
    "POST /v1/settings": ONLY_OWNER,
    "POST /v1/announce": HOUSEHOLD,
    "POST /v1/question": HOUSEHOLD,
    "POST /v1/converse": HOUSEHOLD,
    "POST /v1/ask": ALL,
    "GET /v1/house": ALL,
    "POST /v1/house/{id}/rating": ONLY_OWNER,
    "POST /v1/house/{id}": ALL,  # what each may do there: see test_house.py
    "GET /v1/timers": ALL,
    "POST /v1/timers": HOUSEHOLD,
    "DELETE /v1/timers/{id}": HOUSEHOLD,
    "POST /v1/timers/{id}/snooze": HOUSEHOLD,
    "GET /v1/confirmations": ALL,
    "POST /v1/confirmations/{id}": HOUSEHOLD,  # only their own: see test_parts.py
    "GET /v1/openers": ONLY_OWNER,
    "POST /v1/openers/{id}": ONLY_OWNER,
    "GET /v1/sentences": ONLY_OWNER,
    "POST /v1/sentences": ONLY_OWNER,
    "DELETE /v1/sentences/{id}": ONLY_OWNER,
    "GET /v1/backup": ONLY_OWNER,
    "GET /v1/log": ONLY_OWNER,
    "GET /v1/memory": ONLY_OWNER,
    "DELETE /v1/memory": ONLY_OWNER,
    "POST /v1/memory/{id}": ONLY_OWNER,
    "DELETE /v1/memory/{id}": ONLY_OWNER,
    "GET /v1/turns": ONLY_OWNER,
    "GET /v1/turns/{id}": ONLY_OWNER,
    "POST /v1/turns/{id}/mark": ALL,  # only who gave the command is told its id
    "GET /v1/turns/{id}/sound": ONLY_OWNER,
    "GET /v1/costs": ONLY_OWNER,
    "GET /v1/shares": ONLY_OWNER,
    "GET /v1/faults": ONLY_OWNER,
    "GET /v1/tools": ONLY_OWNER,
    "GET /v1/level": ONLY_OWNER,
    "GET /v1/doctor": ONLY_OWNER,
    "POST /v1/doctor/cloud": ONLY_OWNER,
    "POST /v1/links": ONLY_OWNER,
    "GET /v1/sessions": ONLY_OWNER,
    "DELETE /v1/sessions/{id}": ONLY_OWNER,
    "GET /v1/session": ALL,
    "DELETE /v1/session": ALL,
    "GET /v1/openapi.json": ALL,
}
NAMED = {f"{row.method} {row.path}": row for row in ROWS if not row.open}
ROLE_NAMES: tuple[Role, ...] = ("owner", "family", "guest")


def test_the_table_is_whole() -> None:
    assert ALLOWED.keys() == NAMED.keys()


@asynccontextmanager
async def signed_in(folder: Path, role: Role) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a browser that was signed in with a link for this role."""
    tokens = HttpTokens("t" * 32, TokenFile(folder))
    sessions = HttpSessions(folder, tokens, VirtualClock(datetime(2026, 11, 23, tzinfo=UTC)))
    code = (await sessions.make_link(LinkRequest(role=role)))["code"]
    app = web_app(api_routes(FakeBox(), Guard(tokens, sessions=sessions)))
    given: dict[str, Any] = {
        "transport": httpx.ASGITransport(app),
        "base_url": "http://127.0.0.1",
        "headers": {"Origin": "http://127.0.0.1"},
    }
    async with httpx.AsyncClient(**given) as client:
        assert (await client.post("/v1/session", json={"code": code})).status_code == 204
        yield client


@pytest.mark.parametrize("role", ROLE_NAMES)
@pytest.mark.parametrize("path", [one for one in ALLOWED if one != "GET /v1/events"])
async def test_each_role_reaches_its_paths_and_no_others(
    tmp_path: Path, path: str, role: Role
) -> None:
    async with signed_in(tmp_path, role) as browser:
        answer = await send(browser, NAMED[path])
        assert (answer.status_code != 403) is (role in ALLOWED[path]), answer.text
        if role not in ALLOWED[path]:
            assert answer.json()["error"]["kind"] == "forbidden"


@pytest.mark.parametrize("role", ["family", "guest"])
async def test_only_the_owner_unmutes(tmp_path: Path, role: Role) -> None:
    async with signed_in(tmp_path, role) as browser:
        assert (await browser.post("/v1/mute", json={"muted": False})).status_code == 403
