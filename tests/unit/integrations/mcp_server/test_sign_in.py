"""Home Assistant's client gets its token: the client secret is the token."""

from collections.abc import AsyncIterator
from urllib.parse import urlencode

import httpx
import pytest

from integrations.mcp_server.sign_in import sign_in_routes
from integrations.serving import serving
from integrations.web.api import web_app
from integrations.web.guard import Guard
from tests.unit.integrations.web.doubles import TOKEN, FakeTokens, patient_guard

MY = "https://my.home-assistant.io/redirect/oauth"
OURS = "http://homeassistant.local:8123/auth/external/callback"


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    async with (
        serving(web_app(sign_in_routes(patient_guard(), [OURS])), "127.0.0.1", 0) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client,
    ):
        yield client


def ask(back: str, **more: str) -> dict[str, str]:
    return {"response_type": "code", "redirect_uri": back, "state": "s t&x", **more}


@pytest.mark.parametrize("path", ["", "/mcp"])
async def test_it_tells_where_to_sign_in(http: httpx.AsyncClient, path: str) -> None:
    answer = await http.get(f"/.well-known/oauth-authorization-server{path}")
    told = answer.json()
    assert told["issuer"] == str(http.base_url).rstrip("/")
    assert told["authorization_endpoint"] == f"{told['issuer']}/mcp/authorize"
    assert told["token_endpoint"] == f"{told['issuer']}/mcp/token"


@pytest.mark.parametrize("back", [MY, OURS])
async def test_the_browser_is_sent_back_to_home_assistant(
    http: httpx.AsyncClient, back: str
) -> None:
    answer = await http.get("/mcp/authorize", params=ask(back))
    assert answer.status_code == 302
    where = httpx.URL(answer.headers["location"])
    assert str(where.copy_with(query=None)) == back
    assert where.params["state"] == "s t&x"
    assert where.params["code"]


@pytest.mark.parametrize(
    "wrong",
    [
        ask("https://my.home-assistant.io/redirect/other"),
        ask("https://evil.example/"),
        ask("javascript:/auth/external/callback"),
        ask("//evil.example/auth/external/callback"),
        ask("http://user@ha:8123/auth/external/callback"),
        ask("http://ha:8123/auth/external/callback?to=evil"),
        ask("http://[/auth/external/callback"),
        ask("http://evil.example/auth/external/callback"),  # the path alone is not enough
        ask(f"{MY}/"),
        ask(f"{MY}?to=https://evil.example"),
        ask(f"{MY}#x"),
        ask(f"{MY}%0d%0aLocation:%20https://evil.example"),
        ask(f"{MY}.evil.example"),
        ask(MY.upper()),
        ask("http://my.home-assistant.io/redirect/oauth"),
        ask("https://my.home-assistant.io:443/redirect/oauth"),
        ask("https://my.home-assistant.io@evil.example/redirect/oauth"),
        ask(f" {MY}"),
        ask(f"{OURS}/../../evil"),
        ask(f"{OURS}?"),
        ask(f"{OURS}#"),
        ask(OURS.replace(":8123", ":8124")),  # no exception for ports of this machine either
        ask("http://127.0.0.1:9/auth/external/callback"),
        ask("http://homeassistant.local:8123@evil.example/auth/external/callback"),
        ask(MY, response_type="token"),
        ask(MY, state="x" * 4001),
        {},
    ],
)
async def test_nowhere_else(http: httpx.AsyncClient, wrong: dict[str, str]) -> None:
    answer = await http.get("/mcp/authorize", params=wrong)
    assert answer.status_code == 400
    assert "location" not in answer.headers


async def test_a_parameter_that_is_there_twice_is_refused(http: httpx.AsyncClient) -> None:
    for name, value in (("redirect_uri", "https://evil.example/"), ("state", "y")):
        for pairs in ([*ask(MY).items(), (name, value)], [(name, value), *ask(MY).items()]):
            answer = await http.get("/mcp/authorize", params=urlencode(pairs))
            assert answer.status_code == 400
            assert "location" not in answer.headers


async def test_what_is_wrong_is_said_without_what_was_sent(http: httpx.AsyncClient) -> None:
    answer = await http.get("/mcp/authorize", params=ask("https://evil.example/", error="x"))
    assert "http.mcp_callbacks" in answer.text
    assert "evil" not in answer.text


@pytest.mark.parametrize("grant", ["authorization_code", "refresh_token"])
async def test_the_secret_is_the_token(http: httpx.AsyncClient, grant: str) -> None:
    form = {"grant_type": grant, "code": "x", "client_id": "ha", "client_secret": f"{TOKEN}-ask"}
    answer = await http.post("/mcp/token", data=form)
    assert answer.status_code == 200
    told = answer.json()
    assert (told["access_token"], told["token_type"]) == (f"{TOKEN}-ask", "Bearer")
    assert told["expires_in"] > 0
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("form", [{}, {"client_secret": "wrong"}, {"client_secret": "ü\n"}])
async def test_another_secret_is_none(
    http: httpx.AsyncClient, form: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    # The right token in the header does not help, because the secret is required.
    answer = await http.post("/mcp/token", data=form, headers={"Authorization": f"Bearer {TOKEN}"})
    assert (answer.status_code, answer.json()) == (401, {"error": "invalid_client"})
    assert "wrong" not in caplog.text


async def test_nobody_guesses() -> None:
    guard = Guard(FakeTokens(), now=lambda: 0.0, wrong_at_once=2)
    async with (
        serving(web_app(sign_in_routes(guard)), "127.0.0.1", 0) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as http,
    ):
        wrong = {"client_secret": "wrong"}
        seen = [(await http.post("/mcp/token", data=wrong)).status_code for _ in range(3)]
    assert seen == [401, 401, 429]


async def test_no_endless_form(http: httpx.AsyncClient) -> None:
    answer = await http.post("/mcp/token", data={"client_secret": "x" * 70_000})
    assert answer.status_code == 413
