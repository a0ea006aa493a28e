"""The client uses only Hearth's settings, not the environment, and protects the key."""

import asyncio
import logging
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from aiohttp import web
from google.auth.exceptions import TransportError

from integrations.errors import Misconfigured, Retired, SignInAgain, Unavailable
from integrations.gemini.access import (
    CONNECT_S,
    Access,
    LazyClient,
    make_client,
    read_credentials,
)
from integrations.gemini.events import InputText, LiveEvent
from integrations.gemini.key import doubtful, impossible, try_key
from integrations.gemini.live import LiveClient
from integrations.gemini.models import model_row
from integrations.gemini.setup import LiveSetup
from tests.ports import closed_port
from tests.simulators.google_account import ServiceAccount
from tests.unit.integrations.gemini.loopback import KEY, Peer, Service

SETUP = LiveSetup(model_row("gemini-3.8-live")[0], "", ())
SURPRISES = {
    "GOOGLE_API_KEY": "another",
    "GEMINI_API_KEY": "another",
    "GOOGLE_GENAI_USE_VERTEXAI": "true",
    "GOOGLE_GENAI_USE_ENTERPRISE": "true",
    "GOOGLE_CLOUD_PROJECT": "p",
    "GOOGLE_CLOUD_LOCATION": "l",
    "GOOGLE_GEMINI_BASE_URL": "https://elsewhere.invalid",
    "GOOGLE_GENAI_API_VERSION": "v1",
    "SSL_CERT_FILE": "/nowhere",
}


async def talk(peer: Peer) -> None:
    await peer.accept()
    assert peer.headers["x-goog-api-key"] == KEY
    await peer.gone()


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "http://me:secret@127.0.0.1:port"])
async def test_a_proxy_that_cannot_be_used_is_told(
    proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    with pytest.raises(Misconfigured, match="ALL_PROXY") as raised:
        await LazyClient(Access(KEY)).get()
    assert "secret" not in str(raised.value)


async def test_the_environment_changes_nothing(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in SURPRISES.items():
        monkeypatch.setenv(name, value)
    service.play(talk)
    async with LiveClient(service.access) as client:
        await (await client.connect(SETUP, lambda event: None)).close()


async def test_the_key_is_in_no_log_and_no_text(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    service.play(talk)
    async with LiveClient(service.access) as client:
        session = await client.connect(SETUP, lambda event: None)
        texts = repr(service.access), repr(client), repr(session)
        await session.close()
    assert KEY not in caplog.text
    assert KEY not in "".join(texts)


async def test_a_large_frame_is_taken(service: Service) -> None:
    async def script(peer: Peer) -> None:
        await peer.accept()
        await peer.send({"serverContent": {"inputTranscription": {"text": "x" * 3_000_000}}})
        await peer.gone()

    service.play(script)
    events: asyncio.Queue[LiveEvent] = asyncio.Queue()
    async with LiveClient(service.access) as client:
        await client.connect(SETUP, events.put_nowait)
        async with asyncio.timeout(20):
            assert await events.get() == InputText("x" * 3_000_000)


async def test_by_itself_it_is_googles_address_on_v1beta() -> None:
    lazy = LazyClient(Access(KEY))
    client = await lazy.get()
    options = client._api_client._http_options
    assert options.base_url == "https://generativelanguage.googleapis.com"
    assert options.api_version == "v1beta"
    await lazy.close()


async def test_late_pongs_do_not_end_a_session() -> None:
    lazy = LazyClient(Access(KEY))
    client = await lazy.get()
    arguments = client._api_client._websocket_ssl_ctx
    assert (arguments["ping_interval"], arguments["ping_timeout"]) == (20, 60)
    await lazy.close()


async def test_plain_requests_go_by_httpx2() -> None:
    lazy = LazyClient(Access(KEY))
    client = await lazy.get()
    assert not client._api_client._use_aiohttp()
    assert type(client._api_client._async_httpx_client).__mro__[2].__module__.startswith("httpx2")
    await lazy.close()


@pytest.mark.parametrize("key", ["", "  ", "two words", "schlüssel", "line\nbreak"])
def test_a_key_that_cannot_be_one(key: str) -> None:
    with pytest.raises(SignInAgain, match=r"gemini\.api_key") as raised:
        make_client(Access(key))
    assert not key.strip() or key not in str(raised.value)


@pytest.mark.parametrize("address", ["nonsense", "ftp://host", "https://", "https://host:port"])
def test_an_address_that_cannot_be_one(address: str) -> None:
    with pytest.raises(Misconfigured, match=r"gemini\.base_url"):
        make_client(Access(KEY, address))


def test_a_file_without_certificates(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("nothing")
    with pytest.raises(Misconfigured, match=r"gemini\.ca_file"):
        make_client(Access(KEY, ca_file=str(tmp_path / "ca.pem")))


def test_the_module_does_not_import_the_sdk() -> None:
    """The import takes 0.6 s, and most commands do not need it."""
    program = "import sys, integrations.gemini.live; sys.exit('google.genai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_an_access_token_is_not_waited_for_long(tmp_path: Path) -> None:
    account, file, timeouts = ServiceAccount(), tmp_path / "account.json", []
    account.uri = "https://nowhere.invalid/token"
    account.write_key(file)

    def request(**given: Any) -> None:
        timeouts.append(given["timeout"])
        raise TransportError

    with pytest.raises(TransportError):
        read_credentials(str(file)).refresh(request)
    assert timeouts == [CONNECT_S]


@pytest.mark.parametrize(
    ("location", "host"),
    [
        ("global", "aiplatform.googleapis.com"),
        ("eu", "aiplatform.eu.rep.googleapis.com"),
        ("europe-west4", "europe-west4-aiplatform.googleapis.com"),
    ],
)
def test_the_address_of_vertex_depends_on_the_location(location: str, host: str) -> None:
    access = Access("", project="p", location=location)
    assert (access.way, access.version, access.address) == ("vertex", "v1beta1", f"https://{host}")


# --- A key's form, and a check with our own service.

WELL_FORMED = "AIza" + "k" * 35
MODEL = "gemini-3.8-live"
REFUSED = {
    "error": {
        "code": 400,
        "message": "API key not valid. Please pass a valid API key.",
        "status": "INVALID_ARGUMENT",
    }
}
GONE = {
    "error": {
        "code": 404,
        "message": "models/gemini-3.8-live is not found for API version v1beta",
        "status": "NOT_FOUND",
    }
}


@asynccontextmanager
async def service(asked: list[web.Request], *, gone: bool = False) -> AsyncIterator[str]:
    async def describe(request: web.Request) -> web.Response:
        asked.append(request)
        assert await request.read() == b""
        if request.headers.get("x-goog-api-key") != WELL_FORMED:
            return web.json_response(REFUSED, status=400)
        if gone:
            return web.json_response(GONE, status=404)
        return web.json_response({"name": f"models/{MODEL}", "displayName": "Live"})

    application = web.Application()
    application.router.add_get("/v1beta/models/{name}", describe)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def test_a_key_that_is_taken() -> None:
    asked: list[web.Request] = []
    async with service(asked) as url:
        assert await try_key(Access(WELL_FORMED, url), (MODEL,)) == MODEL
    [request] = asked
    assert request.path == f"/v1beta/models/{MODEL}"
    assert WELL_FORMED not in request.path_qs


async def test_a_key_that_is_refused() -> None:
    async with service([]) as url:
        with pytest.raises(SignInAgain, match=r"rejected gemini\.api_key") as caught:
            await try_key(Access("AIza" + "w" * 35, url), (MODEL,))
    assert "wwww" not in str(caught.value)


async def test_a_model_that_is_not_there() -> None:
    async with service([], gone=True) as url:
        with pytest.raises(Retired, match=r"gemini\.model"):
            await try_key(Access(WELL_FORMED, url), (MODEL,))


async def test_a_service_that_is_away() -> None:
    with closed_port() as port, pytest.raises(Unavailable, match="check the network"):
        await try_key(Access(WELL_FORMED, f"http://127.0.0.1:{port}"), (MODEL,))


@pytest.mark.parametrize("key", ["", "short", "two words of twenty letters", "ключ" * 8, "x" * 300])
def test_what_can_be_no_key(key: str) -> None:
    assert "Copy yours again" in impossible(key)


@pytest.mark.parametrize("key", [WELL_FORMED, "AQ." + "a" * 50])
def test_keys_as_google_makes_them(key: str) -> None:
    assert impossible(key) == doubtful(key) == ""


def test_another_form_is_doubted_and_not_refused() -> None:
    assert impossible("x" * 39) == ""
    assert "AIza" in doubtful("x" * 39)


def test_a_missing_library_is_told_with_what_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "google.genai", None)
    with pytest.raises(Misconfigured) as caught:
        make_client(Access(KEY))
    assert str(caught.value) == (
        "Gemini's library is not installed: run `pip install google-genai` in Hearth's environment."
    )


def test_a_library_that_fails_while_it_is_imported_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> None:
        raise RuntimeError(name)

    broken = ModuleType("google.genai")
    broken.__getattr__ = fail  # type: ignore[method-assign]
    monkeypatch.setitem(sys.modules, "google.genai", broken)
    with pytest.raises(Misconfigured) as caught:
        make_client(Access(KEY))
    assert str(caught.value) == (
        "Gemini's library cannot be loaded (RuntimeError): run `pip install --force-reinstall "
        "google-genai` in Hearth's environment."
    )
