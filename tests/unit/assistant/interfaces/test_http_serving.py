"""Tests of the HTTP interface by the settings: its address, its certificate, and its warnings."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.domain.clock import SystemClock
from assistant.interfaces.http import console_link, open_guard, serving_http, sign_everybody_out
from assistant.interfaces.http_tokens import TokenFile, make_admin_token
from integrations.errors import Misconfigured
from tests.ports import free_port
from tests.simulators.certificate import make_certificate
from tests.unit.integrations.web.doubles import FakeBox

NOW = datetime(2026, 11, 23, 2, 0, tzinfo=UTC)


def settings(folder: Path, **http: str) -> Settings:
    given = {"assistant": {"data": str(folder)}, "http": {"port": free_port(), **http}}
    return Settings.model_validate(given)


@asynccontextmanager
async def served(configured: Settings) -> AsyncIterator[None]:
    guard = await open_guard(configured)
    async with serving_http(configured, FakeBox(), guard, lambda: "ok") as port:
        assert port == configured.http.port
        yield


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def test_tokens_made_and_revoked_meanwhile_hold_at_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    configured = settings(tmp_path)
    base = f"http://127.0.0.1:{configured.http.port}"
    file = TokenFile(tmp_path)
    async with served(configured), httpx.AsyncClient(base_url=base) as client:
        assert (await client.get("/healthz")).text == "ok"
        assert (await client.get("/v1/state")).status_code == 401
        admin = bearer(make_admin_token(configured))
        told = await client.get("/v1/openapi.json", headers=admin)
        assert told.json()["info"]["version"]
        made = bearer(file.make("panel", ("read",), NOW))
        assert (await client.get("/v1/state", headers=made)).status_code == 200
        assert (await client.post("/v1/stop", headers=made)).status_code == 403
        file.revoke("panel")
        assert (await client.get("/v1/state", headers=made)).status_code == 401
    assert "TLS" not in caplog.text


async def test_people_sign_in_by_the_page_and_by_a_link_of_another_process(
    tmp_path: Path,
) -> None:
    configured = settings(tmp_path)
    base = f"http://127.0.0.1:{configured.http.port}"
    own = {"Origin": base}
    async with served(configured), httpx.AsyncClient(base_url=base) as browser:
        page = await browser.get("/")
        assert "script-src 'self'" in page.headers["content-security-policy"]
        assert (await browser.get("/v1/state")).status_code == 401
        link = console_link(configured, SystemClock().now())
        assert link.startswith(f"{base}/#code=")
        code = {"code": link.partition("=")[2]}
        assert (await browser.post("/v1/session", json=code)).status_code == 204
        assert (await browser.get("/v1/session")).json()["name"] == "http:admin"
        assert (await browser.post("/v1/stop", headers=own)).status_code == 200
        foreign = {"Origin": f"http://127.0.0.1:{free_port()}"}
        assert (await browser.post("/v1/stop", headers=foreign)).status_code == 403
        assert (await browser.post("/v1/session", json=code)).status_code == 401
        assert (await browser.get("/v1/state")).status_code == 200
        kept = browser.cookies
    async with served(configured), httpx.AsyncClient(base_url=base, cookies=kept) as browser:
        assert (await browser.get("/v1/state")).status_code == 200
        await asyncio.to_thread(sign_everybody_out, tmp_path)
        assert (await browser.get("/v1/state")).status_code == 401


@pytest.mark.parametrize("key_apart", [True, False])
async def test_with_a_certificate_it_serves_https(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, key_apart: bool
) -> None:
    made = make_certificate(tmp_path)
    files = {"tls_cert": str(made.cert_file), "tls_key": str(made.key_file)}
    if not key_apart:
        both = tmp_path / "both.pem"
        both.write_bytes(made.cert_file.read_bytes() + made.key_file.read_bytes())
        files = {"tls_cert": str(both)}
    configured = settings(tmp_path, host="0.0.0.0", **files)
    base = f"https://127.0.0.1:{configured.http.port}"
    async with (
        served(configured),
        httpx.AsyncClient(base_url=base, verify=made.client_context()) as client,
    ):
        headers = bearer(make_admin_token(configured))
        assert (await client.get("/v1/state", headers=headers)).status_code == 200
        plain = base.replace("https", "http")
        with pytest.raises(httpx.HTTPError):
            await client.get(f"{plain}/healthz")
    assert "without TLS" not in caplog.text


async def test_it_warns_where_a_network_could_read_the_tokens(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    configured = settings(tmp_path, host="0.0.0.0")
    base = f"http://127.0.0.1:{configured.http.port}"
    async with served(configured), httpx.AsyncClient(base_url=base) as client:
        assert (await client.get("/v1/state")).status_code == 401  # there is a token all the same
        named = {**bearer(make_admin_token(configured)), "Host": "hearth.local:8765"}
        assert (await client.get("/v1/state", headers=named)).status_code == 200
    (told,) = (one for one in caplog.records if "without TLS" in one.getMessage())
    assert told.levelno == logging.WARNING
    assert "http.tls_cert" in told.getMessage()


async def test_a_key_without_a_certificate_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"set http\.tls_cert too"):
        async with served(settings(tmp_path, tls_key="key.pem")):
            pass


@pytest.mark.parametrize("what", ["missing", "no key", "no pem", "another's key", "with password"])
async def test_a_certificate_that_cannot_be_used_is_told(tmp_path: Path, what: str) -> None:
    made = make_certificate(tmp_path)
    cert, key = made.cert_file, made.key_file
    if what == "missing":
        cert = tmp_path / "nothing.pem"
    elif what == "no key":
        key = made.cert_file
    elif what == "no pem":
        key = tmp_path / "no.pem"
        key.write_text("no")
    elif what == "another's key":
        key = make_certificate(tmp_path / "more").key_file
    else:
        key = tmp_path / "locked.pem"
        key.write_bytes(
            load_pem_private_key(made.key_file.read_bytes(), None).private_bytes(
                Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"word")
            )
        )
    with pytest.raises(Misconfigured, match=r"http\.tls_cert = .* cannot be used"):
        async with served(settings(tmp_path, tls_cert=str(cert), tls_key=str(key))):
            pass
