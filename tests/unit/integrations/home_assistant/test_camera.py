"""Pictures of the home's cameras, from a server on loopback."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from aiohttp import web

from integrations.errors import IntegrationError, Refused, SignInAgain, Unavailable
from integrations.home_assistant import media
from integrations.home_assistant.media import Cameras
from tests.unit.integrations.home_assistant.conftest import ServeGet

TOKEN = "the-token"
Answer = Callable[[], web.Response]
Serve = Callable[[Answer], Awaitable[str]]


@pytest.fixture
def serve(serve_get: ServeGet) -> Serve:
    def check(request: web.Request) -> None:
        assert request.path == "/api/camera_proxy/camera.door"
        assert request.headers["Authorization"] == f"Bearer {TOKEN}"

    async def start(answer: Answer) -> str:
        return f"{await serve_get(answer, check)}/"

    return start


async def test_the_picture_and_its_kind(serve: Serve) -> None:
    url = await serve(lambda: web.Response(body=b"jpeg", content_type="image/jpeg"))
    shot = await Cameras(url, TOKEN).snapshot("camera.door")
    assert (shot.data, shot.mime_type) == (b"jpeg", "image/jpeg")
    assert "jpeg'" not in repr(shot).replace("image/jpeg'", "")


async def test_a_kind_that_only_cameras_know_has_its_true_name(serve: Serve) -> None:
    url = await serve(lambda: web.Response(body=b"jpeg", content_type="image/jpg"))
    assert (await Cameras(url, TOKEN).snapshot("camera.door")).mime_type == "image/jpeg"


@pytest.mark.parametrize(
    ("status", "kind", "error"),
    [
        (401, "text/plain", SignInAgain),
        (404, "text/plain", Refused),
        (500, "image/jpeg", Refused),
        (200, "text/html", Refused),
    ],
)
async def test_what_is_no_picture(
    serve: Serve, status: int, kind: str, error: type[IntegrationError]
) -> None:
    url = await serve(lambda: web.Response(status=status, body=b"x", content_type=kind))
    with pytest.raises(error):
        await Cameras(url, TOKEN).snapshot("camera.door")


async def test_a_picture_that_is_too_large(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media, "MAX_PICTURE_BYTES", 1000)
    url = await serve(lambda: web.Response(body=b"x" * 1001, content_type="image/png"))
    with pytest.raises(Refused, match="larger than"):
        await Cameras(url, TOKEN).snapshot("camera.door")


async def test_nobody_there() -> None:
    with pytest.raises(Unavailable):
        await Cameras("http://127.0.0.1:9", TOKEN).snapshot("camera.door")


async def test_a_token_that_cannot_be_sent_is_not_shown() -> None:
    with pytest.raises(SignInAgain) as caught:
        await Cameras("http://127.0.0.1:9", "tökén").snapshot("camera.door")
    assert "tök" not in str(caught.value)


async def test_a_camera_that_goes_on_for_ever(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(media, "PICTURE_S", 0.2)

    async def drip(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Type": "image/jpeg"})
        await answer.prepare(request)
        while True:
            await answer.write(b"x")
            await asyncio.sleep(0.02)

    app = web.Application()
    app.router.add_get("/{path:.*}", drip)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        with pytest.raises(Unavailable, match=r"camera\.door did not answer in time"):
            await Cameras(f"http://{host}:{port}", TOKEN).snapshot("camera.door")
    finally:
        await runner.cleanup()
