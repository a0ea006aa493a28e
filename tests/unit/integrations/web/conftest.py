"""The HTTP interface over a box that records its calls."""

from collections.abc import AsyncIterator

import httpx
import pytest

from integrations.serving import serving
from integrations.web.api import api_routes, web_app
from tests.unit.integrations.web.doubles import WITH_TOKEN, FakeBox, patient_guard
from tests.unit.integrations.web.programs import program


@pytest.fixture
def box() -> FakeBox:
    return FakeBox()


@pytest.fixture
async def client(box: FakeBox) -> AsyncIterator[httpx.AsyncClient]:
    """Make a client of the application itself."""
    transport = httpx.ASGITransport(web_app(api_routes(box, patient_guard())))
    async with httpx.AsyncClient(
        transport=transport, base_url="http://localhost", headers=WITH_TOKEN
    ) as client:
        yield client


@pytest.fixture
async def served(box: FakeBox) -> AsyncIterator[httpx.AsyncClient]:
    """Make a client of a server."""
    app = web_app(api_routes(box, patient_guard()))
    async with (
        serving(app, "127.0.0.1", 0) as port,
        program(port, headers=WITH_TOKEN) as client,
    ):
        yield client
        box.events.close()
