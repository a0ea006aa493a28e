"""Access and rate limits: runaway programs, and guesses."""

from typing import Any

import httpx
import pytest
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from integrations.web.api import api_routes, web_app
from integrations.web.box import Caller
from integrations.web.guard import (
    ALL_WRONG_AT_ONCE,
    ALL_WRONG_EVERY_S,
    CALLER,
    CALLS_AT_ONCE,
    CALLS_EVERY_S,
    COOKIE,
    SUPERVISOR,
    UNGUESSABLE,
    WRONG_AT_ONCE,
    WRONG_EVERY_S,
    Guard,
    Ingress,
    IngressUse,
)
from integrations.web.problems import MAX_BODY, Rate, Refused
from tests.unit.integrations.web.doubles import TOKEN, FakeBox, FakeSessions, FakeTokens

HOME, ELSEWHERE = "127.0.0.1", "192.168.1.66"
LONG = "t" * UNGUESSABLE


class Watch:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def guard(watch: Watch) -> Guard:
    tokens = FakeTokens()
    tokens.known[LONG] = Caller("http:long", frozenset({"ask"}))
    return Guard(tokens, watch)


def request(token: str | None = TOKEN, host: str | None = HOME) -> HTTPConnection:
    headers = [] if token is None else [(b"authorization", f"Bearer {token}".encode())]
    client = None if host is None else (host, 5000)
    return HTTPConnection({"type": "http", "headers": headers, "client": client})


def refused(guard: Guard, token: str | None, host: str | None = HOME) -> Refused:
    with pytest.raises(Refused) as caught:
        guard.admit(request(token, host), None)
    return caught.value


def test_a_program_that_runs_away_is_slowed(guard: Guard, watch: Watch) -> None:
    for _ in range(CALLS_AT_ONCE):
        guard.admit(request(), None)
    stopped = refused(guard, TOKEN)
    assert (stopped.status, stopped.kind) == (429, "too_many")
    assert int(stopped.headers["Retry-After"]) == 1
    # the others are not limited
    assert guard.admit(request(f"{TOKEN}-ask"), "ask").name == "http:ask"
    watch.now += CALLS_EVERY_S
    guard.admit(request(), None)
    assert refused(guard, TOKEN).status == 429


def test_guesses_are_slowed_and_a_right_one_is_not_told_from_them(
    guard: Guard, watch: Watch
) -> None:
    for _ in range(WRONG_AT_ONCE):
        assert refused(guard, "guess", ELSEWHERE).status == 401
    for token in ("guess", TOKEN):
        stopped = refused(guard, token, ELSEWHERE)
        assert (stopped.status, stopped.headers) == (429, {"Retry-After": "6"})
    watch.now += WRONG_EVERY_S
    assert refused(guard, "guess", ELSEWHERE).status == 401
    assert refused(guard, "guess", ELSEWHERE).status == 429
    assert guard.admit(request(host=HOME), None).name == "http:admin"  # other places may continue


def test_who_was_let_in_from_there_is_not_shut_out_by_a_neighbour(guard: Guard) -> None:
    guard.admit(request(host=ELSEWHERE), None)
    for _ in range(WRONG_AT_ONCE + 1):
        refused(guard, "an old token", ELSEWHERE)
    assert guard.admit(request(host=ELSEWHERE), None).name == "http:admin"
    assert refused(guard, f"{TOKEN}-read", ELSEWHERE).status == 429


def test_no_token_is_no_guess(guard: Guard) -> None:
    for _ in range(WRONG_AT_ONCE + 1):
        assert refused(guard, None, ELSEWHERE).status == 401
    guard.admit(request(host=ELSEWHERE), None)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("2001:db8::1", "2001:db8::2:3", True),  # one machine has a whole network of them
        ("fe80::1%eth0", "fe80::2%eth1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:10.0.0.1", "::ffff:10.0.0.2", False),
        ("10.0.0.1", "10.0.0.2", False),
        ("127.0.0.1", "127.9.8.7", True),  # one machine has sixteen million of them
        ("127.0.0.1", "::1", True),
        ("127.0.0.1", "::ffff:127.0.0.2", True),
        ("10.0.0.1", "::ffff:10.0.0.1", True),
        ("", "", True),
    ],
)
def test_what_counts_as_one_address(guard: Guard, first: str, second: str, same: bool) -> None:
    for _ in range(WRONG_AT_ONCE):
        refused(guard, "guess", first)
    assert refused(guard, "guess", second).status == (429 if same else 401)


def guesses_from_everywhere(guard: Guard) -> None:
    """Send as many wrong tokens as all places together may, without exhausting any single place."""
    for number in range(ALL_WRONG_AT_ONCE):
        assert refused(guard, "guess", f"2001:db8:0:{number:x}::1").status == 401


def test_many_addresses_have_no_fresh_allowance_each(guard: Guard, watch: Watch) -> None:
    guesses_from_everywhere(guard)
    for host in ("2001:db8:1::1", "10.9.8.7", "192.168.1.99"):
        stopped = refused(guard, "guess", host)
        assert (stopped.status, stopped.headers) == (429, {"Retry-After": "2"})
    watch.now += ALL_WRONG_EVERY_S
    assert refused(guard, "guess", "10.9.8.7").status == 401
    assert refused(guard, "guess", "10.9.8.8").status == 429


def test_guesses_of_others_shut_out_nobody_who_guesses_nothing(guard: Guard) -> None:
    guard.admit(request(host=ELSEWHERE), None)
    guesses_from_everywhere(guard)
    assert guard.admit(request(host=ELSEWHERE), None).name == "http:admin"  # admitted before
    assert guard.admit(request(host=HOME), None).name == "http:admin"  # this machine
    assert refused(guard, TOKEN, "10.0.0.9").status == 429  # too short: it might be a guess
    assert guard.admit(request(LONG, "10.0.0.9"), None).name == "http:long"
    assert refused(guard, "x" * UNGUESSABLE, "10.0.0.9").status == 429


def test_this_machine_uses_up_its_own_allowance_alone(guard: Guard) -> None:
    for number in range(3 * ALL_WRONG_AT_ONCE):
        refused(guard, "guess", f"127.0.0.{number}")
    assert refused(guard, "guess", ELSEWHERE).status == 401


def test_a_request_of_nobody_is_counted_too(guard: Guard) -> None:
    for _ in range(WRONG_AT_ONCE):
        refused(guard, "guess", None)
    assert refused(guard, "guess", None).status == 429


def test_a_scope_is_needed_and_the_administrator_has_all(guard: Guard) -> None:
    with pytest.raises(Refused, match="scope read") as caught:
        guard.admit(request(f"{TOKEN}-speak"), "read")
    assert caught.value.status == 403
    assert guard.admit(request(f"{TOKEN}-speak"), "speak").name == "http:speak"
    assert guard.admit(request(), "read").name == "http:admin"


def test_a_rate_forgets_who_came_first_when_there_are_too_many(watch: Watch) -> None:
    rate = Rate(1, 10.0, watch)
    assert rate.take("first") == 0
    assert rate.take("first") == 10
    for number in range(1024):
        assert rate.take(str(number)) == 0
    assert rate.wait_s("1023") == 10
    assert rate.wait_s("first") == 0


def test_another_application_is_told_who_asks(guard: Guard) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        caller = Request(scope).state.caller
        await JSONResponse({"name": caller.name, "kept": scope["state"]["kept"]})(
            scope, receive, send
        )

    async def outer(scope: Scope, receive: Receive, send: Send) -> None:
        await guard.around(app, "ask")({**scope, "state": {"kept": 1}}, receive, send)

    client = TestClient(outer)
    headers = {"Authorization": f"Bearer {TOKEN}-ask"}
    assert client.post("/", headers=headers).json() == {"name": "http:ask", "kept": 1}
    assert client.post("/").status_code == 401
    read = {"Authorization": f"Bearer {TOKEN}-read"}
    assert client.post("/", headers=read).json()["error"]["kind"] == "forbidden"
    assert client.post("/", headers=headers, content=b"x" * (MAX_BODY + 1)).status_code == 413


# The console within Home Assistant: which requests are trusted, and their rights.


PREFIX = "/api/hassio_ingress/aB3_-x"
# As forwarded by core and supervisor.
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
        assert set(told.json()["scopes"]) == {"read", "see", "ask", "speak"}
        assert (await asking.post("/v1/stop", headers=OWN)).status_code == 200
        assert (await asking.get("/v1/state")).status_code == 401  # not through ingress


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
