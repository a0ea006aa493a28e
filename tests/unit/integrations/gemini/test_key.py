"""A key by its form, and by what a service says of it; the service is ours."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from integrations.errors import Retired, SignInAgain, Unavailable
from integrations.gemini.access import Access
from integrations.gemini.key import doubtful, impossible, try_key
from tests.ports import closed_port

KEY = "AIza" + "k" * 35
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
        if request.headers.get("x-goog-api-key") != KEY:
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
        await try_key(Access(KEY, url), MODEL)
    [request] = asked
    assert request.path == f"/v1beta/models/{MODEL}"
    assert KEY not in request.path_qs


async def test_a_key_that_is_refused() -> None:
    async with service([]) as url:
        with pytest.raises(SignInAgain, match=r"does not accept gemini\.api_key") as caught:
            await try_key(Access("AIza" + "w" * 35, url), MODEL)
    assert "wwww" not in str(caught.value)


async def test_a_model_that_is_not_there() -> None:
    async with service([], gone=True) as url:
        with pytest.raises(Retired, match=r"gemini\.model"):
            await try_key(Access(KEY, url), MODEL)


async def test_a_service_that_is_away() -> None:
    with closed_port() as port, pytest.raises(Unavailable, match="check the network"):
        await try_key(Access(KEY, f"http://127.0.0.1:{port}"), MODEL)


@pytest.mark.parametrize("key", ["", "short", "two words of twenty letters", "ключ" * 8, "x" * 300])
def test_what_can_be_no_key(key: str) -> None:
    assert "Copy it again" in impossible(key)


@pytest.mark.parametrize("key", [KEY, "AQ." + "a" * 50])
def test_keys_as_google_makes_them(key: str) -> None:
    assert impossible(key) == doubtful(key) == ""


def test_another_form_is_doubted_and_not_refused() -> None:
    assert impossible("x" * 39) == ""
    assert "AIza" in doubtful("x" * 39)
