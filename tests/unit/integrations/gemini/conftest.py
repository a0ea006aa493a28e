"""Fixtures for the tests of the Gemini clients."""

from collections.abc import AsyncIterator

import pytest

from integrations.gemini.live import LiveClient
from tests.simulators.certificate import Certificate, make_certificate
from tests.unit.integrations.gemini.loopback import Service, serving


@pytest.fixture(autouse=True)
def no_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove any key, address and proxy from the environment."""
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY", "https_proxy", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """Make an authority and a certificate for loopback."""
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
async def service(certificate: Certificate) -> AsyncIterator[Service]:
    """Run a small Gemini Live; unexpected or unused steps fail the test."""
    async with serving(certificate) as running:
        yield running


@pytest.fixture
async def client(service: Service) -> AsyncIterator[LiveClient]:
    async with LiveClient(service.access) as opened:
        yield opened
