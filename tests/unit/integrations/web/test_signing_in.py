"""Signing in with a browser: the cookie, its rights, and misuse by others."""

from collections.abc import AsyncIterator
from typing import get_args

import httpx
import pytest

from integrations.web.api import api_routes, web_app
from integrations.web.box import Scope
from integrations.web.guard import COOKIE, WRONG_AT_ONCE, Guard
from tests.unit.integrations.web.doubles import (
    CODE,
    TOKEN,
    FakeBox,
    FakeSessions,
    FakeTokens,
    with_scope,
)

OWN = {"Origin": "http://localhost:8765"}
OUTSIDE = [
    # another program of this machine: the browser sends the cookie
    {"Origin": "http://localhost:9999"},
    {"Origin": "http://localhost"},
    {"Origin": "https://localhost:8765"},
    {"Origin": "http://127.0.0.1:8765"},
    {"Origin": "https://evil.example"},
    {"Origin": "http://localhost:8765.evil.example"},
    {"Origin": "http://localhost:8765@evil.example"},
    {"Origin": "null"},
    {"Origin": ""},
    {"Origin": "http://[evil"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {**OWN, "Sec-Fetch-Site": "same-site"},
    {"Origin": "http://localhost:9999", "Sec-Fetch-Site": "same-origin"},
]


class Watch:
    """A clock that the test sets."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def tokens() -> FakeTokens:
    return FakeTokens()


@pytest.fixture
def sessions(tokens: FakeTokens) -> FakeSessions:
    return FakeSessions(tokens)


@pytest.fixture
async def browser(
    box: FakeBox, tokens: FakeTokens, sessions: FakeSessions, watch: Watch
) -> AsyncIterator[httpx.AsyncClient]:
    guard = Guard(tokens, watch, sessions=sessions)
    transport = httpx.ASGITransport(web_app(api_routes(box, guard)))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8765") as browser:
        yield browser


async def sign_in(browser: httpx.AsyncClient, **proof: str) -> httpx.Response:
    answer = await browser.post("/v1/session", json=proof or {"token": TOKEN}, headers=OWN)
    assert answer.status_code == 204, answer.text
    return answer


@pytest.mark.parametrize("proof", [{"token": TOKEN}, {"code": CODE}])
async def test_a_token_or_a_link_signs_in(
    box: FakeBox, browser: httpx.AsyncClient, proof: dict[str, str]
) -> None:
    assert (await browser.get("/v1/session")).status_code == 401
    await sign_in(browser, **proof)
    told = (await browser.get("/v1/session")).json()
    assert told == {"name": "http:admin", "scopes": [*get_args(Scope)]}
    assert (await browser.get("/v1/state")).status_code == 200
    assert (await browser.post("/v1/stop", headers=OWN)).status_code == 200
    assert (await browser.post("/v1/listen", headers=OWN)).status_code == 200
    assert box.asked == ["stop", ("listen", "http:admin")]


@pytest.mark.parametrize(("scheme", "secure"), [("http", False), ("https", True)])
async def test_the_cookie_is_for_no_script_and_no_other_site(
    browser: httpx.AsyncClient, scheme: str, secure: bool
) -> None:
    browser.base_url = httpx.URL(f"{scheme}://localhost:8765")
    answer = await browser.post("/v1/session", json={"token": TOKEN})
    (cookie,) = answer.headers.get_list("set-cookie")
    named, *rest = cookie.split("; ")
    assert named == f"{COOKIE}=session-1"
    flags = {"HttpOnly", "SameSite=strict", "Path=/v1", f"Max-Age={30 * 24 * 3600}"}
    assert set(rest) == flags | ({"Secure"} if secure else set())
    assert answer.headers["cache-control"] == "no-store"
    assert TOKEN not in f"{answer.headers}{answer.text}"


async def test_a_session_may_what_its_token_may(box: FakeBox, browser: httpx.AsyncClient) -> None:
    await sign_in(browser, token=f"{TOKEN}-read")
    assert (await browser.get("/v1/session")).json() == {
        "name": "http:read",
        "scopes": ["read", "see"],
    }
    assert (await browser.get("/v1/state")).status_code == 200
    answer = await browser.post("/v1/stop", headers=OWN)
    assert (answer.status_code, answer.json()["error"]["kind"]) == (403, "forbidden")
    assert box.asked == []


@pytest.mark.parametrize("headers", OUTSIDE, ids=str)
async def test_another_page_does_nothing_with_a_sign_in(
    box: FakeBox, browser: httpx.AsyncClient, headers: dict[str, str]
) -> None:
    await sign_in(browser)
    for method, path in (
        *(("POST", "/v1/stop"), ("DELETE", "/v1/memory"), ("DELETE", "/v1/session")),
        *(("GET", "/v1/state"), ("GET", "/v1/events"), ("POST", "/v1/session")),
    ):
        body = {"json": {"token": TOKEN}} if path == "/v1/session" and method == "POST" else {}
        answer = await browser.request(method, path, headers=headers, **body)  # type: ignore[arg-type]
        assert (answer.status_code, answer.json()["error"]["kind"]) == (403, "foreign_page")
        assert "set-cookie" not in answer.headers
    assert box.asked == []
    assert (await browser.get("/v1/state", headers=OWN)).status_code == 200


async def test_what_changes_something_must_say_that_our_page_asks(
    box: FakeBox, browser: httpx.AsyncClient
) -> None:
    await sign_in(browser)
    assert (await browser.post("/v1/stop")).status_code == 403
    assert (await browser.delete("/v1/session")).status_code == 403
    for headers in (
        OWN,
        {"Sec-Fetch-Site": "same-origin"},
        {**OWN, "Sec-Fetch-Site": "same-origin"},
    ):
        assert (await browser.post("/v1/stop", headers=headers)).status_code == 200
    # A typed address and an old browser, which sends no evidence, may only read.
    assert (await browser.get("/v1/state", headers={"Sec-Fetch-Site": "none"})).status_code == 200
    assert (await browser.post("/v1/stop", headers={"Sec-Fetch-Site": "none"})).status_code == 403
    assert (await browser.get("/v1/state")).status_code == 200
    assert box.asked == ["stop"] * 3


async def test_behind_a_proxy_that_ends_tls_the_browser_vouches(
    browser: httpx.AsyncClient,
) -> None:
    await sign_in(browser)
    of_the_proxy = {"Origin": "https://localhost:8765"}
    assert (await browser.post("/v1/stop", headers=of_the_proxy)).status_code == 403
    vouched = {**of_the_proxy, "Sec-Fetch-Site": "same-origin"}
    assert (await browser.post("/v1/stop", headers=vouched)).status_code == 200


async def test_a_program_with_a_token_is_no_page(browser: httpx.AsyncClient) -> None:
    for headers in (with_scope("speak"), {**with_scope("speak"), **OUTSIDE[0]}):
        assert (await browser.post("/v1/stop", headers=headers)).status_code == 200


async def test_a_wrong_token_is_not_mended_by_a_cookie(browser: httpx.AsyncClient) -> None:
    await sign_in(browser)
    for given in ("Bearer wrong", "Bearer", ""):
        answer = await browser.get("/v1/state", headers={"Authorization": given})
        assert answer.status_code == 401


async def test_signing_out_ends_it_at_the_box(
    browser: httpx.AsyncClient, sessions: FakeSessions
) -> None:
    await sign_in(browser)
    stolen = browser.cookies[COOKIE]
    answer = await browser.delete("/v1/session", headers=OWN)
    assert answer.status_code == 204
    assert "Max-Age=0" in answer.headers["set-cookie"]
    assert COOKIE not in browser.cookies
    assert sessions.open == {}
    again = await browser.get("/v1/state", headers={"Cookie": f"{COOKIE}={stolen}"})
    assert (again.status_code, again.json()["error"]["kind"]) == (401, "signed_out")


async def test_a_session_id_is_never_taken_from_the_browser(
    browser: httpx.AsyncClient, sessions: FakeSessions
) -> None:
    browser.cookies.set(COOKIE, "chosen-by-somebody", domain="localhost.local", path="/v1")
    await sign_in(browser)
    assert set(sessions.open) == {"session-1"}
    fixed = {"Cookie": f"{COOKIE}=chosen-by-somebody"}
    browser.cookies.clear()
    assert (await browser.get("/v1/state", headers=fixed)).status_code == 401
    # A new sign-in ends the existing session.
    first = {"Cookie": f"{COOKIE}=session-1", **OWN}
    answer = await browser.post("/v1/session", json={"token": TOKEN}, headers=first)
    assert answer.status_code == 204
    assert set(sessions.open) == {"session-2"}


async def test_a_link_is_followed_once(browser: httpx.AsyncClient) -> None:
    await sign_in(browser, code=CODE)
    for code in (CODE, "another"):
        answer = await browser.post("/v1/session", json={"code": code}, headers=OWN)
        assert (answer.status_code, answer.json()["error"]["kind"]) == (401, "unauthorized")
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("way", ["token", "code"])
async def test_guessing_is_slowed_and_a_right_one_is_not_told(
    browser: httpx.AsyncClient, sessions: FakeSessions, watch: Watch, way: str
) -> None:
    for _ in range(WRONG_AT_ONCE):
        assert (await browser.post("/v1/session", json={way: "guess"})).status_code == 401
    for proof in ({way: "guess"}, {"token": TOKEN}, {"code": CODE}):
        answer = await browser.post("/v1/session", json=proof)
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "6")
    assert sessions.codes == {CODE}  # it was not used up
    bearer = {"Authorization": "Bearer guess"}
    assert (await browser.get("/v1/state", headers=bearer)).status_code == 429  # one count for all
    watch.now += 6
    await sign_in(browser, code=CODE)


async def test_a_cookie_that_has_ended_is_no_guess(
    browser: httpx.AsyncClient, sessions: FakeSessions
) -> None:
    await sign_in(browser)
    sessions.open.clear()
    for _ in range(3 * WRONG_AT_ONCE):  # the page keeps sending requests
        assert (await browser.get("/v1/state")).status_code == 401
    await sign_in(browser)
    assert (await browser.get("/v1/state")).status_code == 200


async def test_a_person_and_a_program_of_one_token_do_not_slow_each_other(
    browser: httpx.AsyncClient,
) -> None:
    await sign_in(browser)
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    for _ in range(60):
        assert (await browser.get("/v1/state", headers=bearer)).status_code == 200
    assert (await browser.get("/v1/state", headers=bearer)).status_code == 429
    for _ in range(60):
        assert (await browser.get("/v1/state")).status_code == 200
    assert (await browser.get("/v1/state")).status_code == 429


@pytest.mark.parametrize(
    "body",
    [{}, {"token": TOKEN, "code": CODE}, {"token": ""}, {"token": 1}, {"code": "x" * 501}],
)
async def test_one_of_both_is_needed(browser: httpx.AsyncClient, body: dict[str, object]) -> None:
    answer = await browser.post("/v1/session", json=body, headers=OWN)
    assert (answer.status_code, answer.json()["error"]["kind"]) == (422, "bad_request")
    assert TOKEN not in answer.text


async def test_a_form_of_another_page_is_no_sign_in(browser: httpx.AsyncClient) -> None:
    # the type that a form can send without a preflight request
    text = {"Content-Type": "text/plain"}
    answer = await browser.post("/v1/session", content=f'{{"token":"{TOKEN}"}}', headers=text)
    assert answer.status_code == 415


async def test_without_sessions_nobody_signs_in(box: FakeBox) -> None:
    transport = httpx.ASGITransport(web_app(api_routes(box, Guard(FakeTokens()))))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as browser:
        for proof in ({"token": TOKEN}, {"code": CODE}):
            assert (await browser.post("/v1/session", json=proof)).status_code == 401
        cookie = {"Cookie": f"{COOKIE}=session-1"}
        assert (await browser.get("/v1/state", headers=cookie)).status_code == 401
