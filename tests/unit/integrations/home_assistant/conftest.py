"""A house with two lamps, and a server with one answer."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from aiohttp import web

from tests.unit.integrations.home_assistant.fake_home import FakeHome

Answer = Callable[[], web.StreamResponse]
ServeGet = Callable[[Answer, Callable[[web.Request], None]], Awaitable[str]]


@pytest.fixture
def fake() -> FakeHome:
    made = FakeHome()
    made.area("k", "Kitchen")
    made.entity("light.lamp", "Lamp", entry={"area_id": "k", "aliases": [None]})
    made.entity("light.old", "Old lamp")
    return made


@pytest.fixture
async def serve_get() -> AsyncIterator[ServeGet]:
    """Give this answer to every GET that passes the check; returns the address."""
    runners: list[web.AppRunner] = []

    async def start(answer: Answer, check: Callable[[web.Request], None]) -> str:
        async def handle(request: web.Request) -> web.StreamResponse:
            check(request)
            return answer()

        app = web.Application()
        app.router.add_get("/{path:.*}", handle)
        runners.append(web.AppRunner(app))
        await runners[-1].setup()
        site = web.TCPSite(runners[-1], "127.0.0.1", 0)
        await site.start()
        host, port = runners[-1].addresses[0][:2]
        return f"http://{host}:{port}"

    yield start
    for runner in runners:
        await runner.cleanup()
