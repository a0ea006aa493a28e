"""Each way in which Home Assistant can be unusable gives one sentence that says what to do."""

import asyncio
import json
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response

from integrations.errors import IntegrationError, Misconfigured, SignInAgain, Unavailable
from integrations.home_assistant import reasons
from integrations.home_assistant import rest as module
from integrations.home_assistant.rest import check, diagnose, reach
from tests.simulators.certificate import make_certificate
from tests.unit.integrations.mcp.loopback import CONFIG, LoopbackServer

TOKEN = "good"  # of the loopback server


@pytest.fixture
async def server() -> AsyncIterator[LoopbackServer]:
    loopback = LoopbackServer()
    async with loopback.running():
        yield loopback


def config(**changes: object) -> dict[str, object]:
    return {**CONFIG, **changes}


def told(problem: IntegrationError | None, kind: type[IntegrationError], words: str) -> None:
    assert type(problem) is kind
    text = str(problem)
    assert words in text, text
    assert text.endswith(".")
    assert text.count(". ") == 0
    assert TOKEN not in text.split()


WITHOUT = config(components=["api"])


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        ({"token": "other"}, SignInAgain, "your profile page, under Security"),
        ({"status": 403}, SignInAgain, "administrator"),
        ({"paths": set(), "config": WITHOUT}, Misconfigured, "under Settings > Devices & services"),
        ({"paths": set()}, Misconfigured, "removed or disabled"),
        (
            {"paths": set(), "config": config(state="NOT_RUNNING", components=["api"])},
            Unavailable,
            "still starting",
        ),
        ({"config": config(state="STOPPING")}, Unavailable, "shutting down"),
        ({"config": config(recovery_mode=True, components=[])}, Misconfigured, "recovery mode"),
        (
            {"paths": set(), "config": config(version="2024.12.5", components=["api"])},
            Misconfigured,
            "update it to 2025.2 or later",
        ),
        (
            {"paths": set(), "config": config(version="odd", components=["api"])},
            Misconfigured,
            "under Settings > Devices & services",
        ),
    ],
)
async def test_what_home_assistant_says(
    server: LoopbackServer, change: dict[str, Any], kind: type[IntegrationError], words: str
) -> None:
    for name, value in change.items():
        setattr(server, name, value)
    told(await diagnose(server.url, TOKEN), kind, words)
    assert server.calls == []


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (PlainTextResponse("403: Forbidden", 403), Misconfigured, "ip_bans.yaml"),
        (PlainTextResponse("400: Bad Request", 400), Misconfigured, "trusted_proxies"),
        (
            HTMLResponse("The plain HTTP request was sent to HTTPS port", 400),
            Misconfigured,
            "start home_assistant.url with https://",
        ),
        (PlainTextResponse("Bad gateway", 502), Unavailable, "status 502"),
        (HTMLResponse("<h1>It works!</h1>"), Misconfigured, "does not seem to be Home Assistant"),
        (
            PlainTextResponse("404 page not found", 404),
            Misconfigured,
            "does not seem to be Home Assistant",
        ),
        (JSONResponse(["version"]), Misconfigured, "does not seem to be Home Assistant"),
        (JSONResponse({"version": "1"}), Misconfigured, "does not seem to be Home Assistant"),
        (HTMLResponse("[" * 100_000), Misconfigured, "does not seem to be Home Assistant"),
    ],
)
async def test_what_answers_in_place_of_it(
    server: LoopbackServer, answer: Response, kind: type[IntegrationError], words: str
) -> None:
    server.config_answer = answer
    told(await diagnose(server.url, TOKEN), kind, words)


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (PlainTextResponse("403: Forbidden", 403), Misconfigured, "ip_bans.yaml"),
        (PlainTextResponse("Bad gateway", 502), Unavailable, "status 502"),
        (HTMLResponse("<h1>It works!</h1>"), Misconfigured, "does not seem to be Home Assistant"),
        (
            PlainTextResponse("404 page not found", 404),
            Misconfigured,
            "does not seem to be Home Assistant",
        ),
        (JSONResponse(["version"]), Misconfigured, "does not seem to be Home Assistant"),
        (JSONResponse({"version": "1"}), Misconfigured, "does not seem to be Home Assistant"),
        (
            JSONResponse({"message": "...", "code": "onboarding_required"}, 400),
            Misconfigured,
            "has no user yet: open it in a browser and create your account first",
        ),
    ],
)
async def test_an_address_is_checked_without_a_token(
    server: LoopbackServer, answer: Response, kind: type[IntegrationError], words: str
) -> None:
    await reach(server.url)
    server.providers = JSONResponse([{"type": "homeassistant"}])  # as in older releases
    await reach(server.url)
    server.providers = answer
    with pytest.raises(IntegrationError) as caught:
        await reach(server.url)
    told(caught.value, kind, words)
    assert set(server.tried) == {"/auth/providers"}  # nothing that counts as a failed sign-in


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (
            "https://user:secret@home.example:8443",
            "redirects to https://home.example:8443: set home_",
        ),
        ("/login", "does not seem to be Home Assistant"),
    ],
)
async def test_a_redirect_is_not_followed(server: LoopbackServer, target: str, words: str) -> None:
    server.moved = target
    problem = await diagnose(server.url, TOKEN)
    told(problem, Misconfigured, words)
    assert "secret" not in str(problem)
    assert server.tried == ["/api/config"]


async def test_where_all_is_well_there_is_no_reason(server: LoopbackServer) -> None:
    assert await diagnose(server.url, TOKEN) is None
    server.paths = {"/api/mcp"}
    assert await diagnose(server.url, TOKEN) is None
    server.status = 500  # a status without a known meaning
    assert await diagnose(server.url, TOKEN) is None


@pytest.mark.parametrize(
    ("url", "kind", "words"),
    [
        ("http://127.0.0.1:9", Unavailable, "does not answer at http://127.0.0.1:9"),
        ("http://user:pw@127.0.0.1:9", Unavailable, "at http://127.0.0.1:9: check"),
        ("nonsense", Misconfigured, "is not a valid address"),
        ("http://[", Misconfigured, "is not a valid address"),
        ("http://a:b", Misconfigured, "is not a valid address"),
    ],
)
async def test_addresses(url: str, kind: type[IntegrationError], words: str) -> None:
    told(await diagnose(url, TOKEN), kind, words)


async def test_a_name_that_no_host_has(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nobody(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", nobody)
    problem = await diagnose("http://homeassistant.local:8123", TOKEN)
    told(problem, Unavailable, "No host named 'homeassistant.local'")


async def test_a_token_that_cannot_be_sent(server: LoopbackServer) -> None:
    problem = await diagnose(server.url, "tökén")
    told(problem, SignInAgain, "home_assistant.token is not a valid token")
    assert problem is not None
    assert problem.__cause__ is None  # it would show the token


async def test_one_that_never_answers_is_given_up(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LIMIT_S", 0.05)

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.over.wait()
        writer.close()

    async with listening(silent) as port, asyncio.timeout(20):
        assert await diagnose(f"http://127.0.0.1:{port}", TOKEN) is None
        server.over.set()


async def test_one_that_hangs_up() -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.close()

    async with listening(hang_up) as port:
        problem = await diagnose(f"http://127.0.0.1:{port}", TOKEN)
    told(problem, Unavailable, "start home_assistant.url with https://")


async def test_tls_that_does_not_fit(server: LoopbackServer, tmp_path: Path) -> None:
    problem = await diagnose(server.url.replace("http:", "https:"), TOKEN)
    told(problem, Misconfigured, "start home_assistant.url with http://")
    missing = await diagnose("https://127.0.0.1:9", TOKEN, ca_file=str(tmp_path / "none"))
    told(missing, Misconfigured, "home_assistant.ca_file")


async def test_a_certificate_that_is_not_trusted(tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path)
    body = json.dumps(config(state="STARTING")).encode()

    async def starting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()
        writer.close()

    async with listening(starting, certificate.server_context()) as port:
        url = f"https://127.0.0.1:{port}"
        told(await diagnose(url, TOKEN), Misconfigured, "set home_assistant.ca_file")
        trusted = await diagnose(url, TOKEN, ca_file=str(certificate.ca_file))
        told(trusted, Unavailable, "still starting")
        told(await diagnose(url, TOKEN, verify_tls=False), Unavailable, "still starting")


async def test_check_tells_who_answers(server: LoopbackServer) -> None:
    instance = await check(server.url, TOKEN)
    assert (instance.version, instance.state, instance.name) == ("2026.11.0", "RUNNING", "Home")
    assert "mcp_server" in instance.components


@asynccontextmanager
async def listening(serve: Any, context: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Run a hand-written server and yield its port."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    async with server:
        yield server.sockets[0].getsockname()[1]


# Sentences for errors of the network.


@pytest.mark.parametrize(
    ("code", "mend"),
    [
        (10, "has expired: renew it"),
        (18, "home_assistant.ca_file"),  # self-signed
        (62, "for another name"),  # of the host
        (64, "for another name"),  # of its address
    ],
)
def test_why_a_certificate_is_refused(code: int, mend: str) -> None:
    error = ssl.SSLCertVerificationError("certificate verify failed")
    error.verify_code = code
    reason = reasons.network("https://house.example:8123", error)
    assert isinstance(reason, Misconfigured)
    assert mend in str(reason)
    assert "https://house.example:8123" in str(reason)
