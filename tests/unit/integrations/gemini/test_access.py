"""The client is what Hearth's settings say, whatever is in the environment, and keeps the key."""

import asyncio
import logging
import subprocess
import sys
from pathlib import Path

import pytest

from integrations.errors import Misconfigured, SignInAgain
from integrations.gemini.access import Access, LazyClient, make_client
from integrations.gemini.events import InputText, LiveEvent
from integrations.gemini.live import LiveClient
from integrations.gemini.models import model_row
from integrations.gemini.setup import LiveSetup
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
    """It takes 0.6 s, and most commands never need it."""
    program = "import sys, integrations.gemini.live; sys.exit('google.genai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
