"""Sound files from Home Assistant only, without its token, and limited in size."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from integrations.errors import IntegrationError, Misconfigured, Refused, Unavailable
from integrations.home_assistant import media
from integrations.home_assistant.media import HomeSounds
from tests.unit.integrations.home_assistant.conftest import ServeGet

SIGNED = "/media/local/bell.wav?authSig=secret"
Serve = Callable[..., Awaitable[str]]


class Asked:
    """Answer each websocket command as scripted."""

    def __init__(self, **answers: Any) -> None:
        self._answers = answers
        self.resolved: list[str] = []

    async def command(self, kind: str, **fields: Any) -> Any:
        if kind == "media_source/resolve_media":
            self.resolved.append(fields.pop("media_content_id"))
        assert not fields
        answer = self._answers[kind.rpartition("/")[2]]
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def serve(serve_get: ServeGet) -> Serve:
    def start(path: str, answer: Callable[[], web.StreamResponse]) -> Awaitable[str]:
        def check(request: web.Request) -> None:
            assert request.path_qs == path, "something else is asked for"
            assert "Authorization" not in request.headers

        return serve_get(answer, check)

    return start


def bell() -> web.Response:
    return web.Response(body=b"bell")


@pytest.mark.parametrize("path", ["/local/my%20bell.wav", "/api/tts_proxy/abc.mp3?x=1"])
async def test_what_needs_no_sign_in_is_fetched_as_it_is(serve: Serve, path: str) -> None:
    url = await serve(path, bell)
    file = await HomeSounds(Asked(), url).fetch(path)
    assert file.data == b"bell"
    assert file.name in ("my bell.wav", "abc.mp3")
    assert "bell'" not in repr(file).replace("my bell.wav'", "")


@pytest.mark.parametrize(
    ("media", "resolved"),
    [
        (
            "media-source://media_source/local/bell.wav",
            "media-source://media_source/local/bell.wav",
        ),
        ("/media/local/a%20b.wav", "media-source://media_source/local/a b.wav"),
        ("/media/local/bell.wav?authSig=theirs", "media-source://media_source/local/bell.wav"),
    ],
)
async def test_what_needs_a_sign_in_is_resolved(serve: Serve, media: str, resolved: str) -> None:
    url = await serve(SIGNED, bell)
    home = Asked(resolve_media={"url": SIGNED, "mime_type": "audio/wav"})
    file = await HomeSounds(home, url).fetch(media)
    assert (file.name, home.resolved) == ("bell.wav", [resolved])


async def test_its_own_address_is_known_in_each_form_and_never_followed(serve: Serve) -> None:
    url = await serve("/local/bell.wav", bell)
    config = {"internal_url": "http://house.invalid:8123", "external_url": None}
    fetch = HomeSounds(Asked(get_config=config), url).fetch
    assert (await fetch(f"{url}/local/bell.wav")).data == b"bell"
    assert (await fetch("http://house.invalid:8123/local/bell.wav#x")).data == b"bell"
    for other in ("http://house.invalid/local/bell.wav", "http://127.0.0.1:9/local/bell.wav"):
        with pytest.raises(
            Refused,
            match=r"^That address is not on Home Assistant, "
            r"the only server that sounds are fetched from\.$",
        ):
            await fetch(other)


@pytest.mark.parametrize(
    "media",
    [
        "/api/config",
        "/local/../api/config",
        "/local/%2e%2e/api/config",
        "//elsewhere.invalid/local/bell.wav",
        "http:///local/bell.wav",
        "http://[bad/local/bell.wav",
        "http://host:port/local/bell.wav",
        "/localhost",
    ],
)
async def test_nothing_else_is_asked_for(media: str) -> None:
    config = {"internal_url": None, "external_url": None}
    with pytest.raises(Refused):
        await HomeSounds(Asked(get_config=config), "http://127.0.0.1:9").fetch(media)


async def test_what_home_assistant_has_from_elsewhere_is_not_fetched() -> None:
    home = Asked(resolve_media={"url": "https://radio.invalid/x.mp3"}, get_config={})
    with pytest.raises(
        Refused,
        match=r"^Home Assistant redirected the sound to another server, "
        r"and sounds are fetched only from Home Assistant\.$",
    ):
        await HomeSounds(home, "http://127.0.0.1:9").fetch("media-source://radio/x")


@pytest.mark.parametrize("answer", [None, {}, {"url": ""}, {"url": "bell.wav"}])
async def test_an_answer_that_is_none(answer: Any) -> None:
    with pytest.raises(Misconfigured):
        await HomeSounds(Asked(resolve_media=answer), "http://127.0.0.1:9").fetch(
            "media-source://x"
        )


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (lambda: web.Response(status=404), Refused, "status 404"),
        (
            lambda: web.Response(status=302, headers={"Location": "http://127.0.0.1:9/x"}),
            Refused,
            "status 302",
        ),
        (
            lambda: web.Response(body=b"x", headers={"Content-Encoding": "zstd"}),
            Refused,
            r"^Home Assistant sent the sound compressed, although that was not requested\.$",
        ),
    ],
)
async def test_what_is_no_file(
    serve: Serve, answer: Callable[[], web.Response], error: type[IntegrationError], words: str
) -> None:
    url = await serve(SIGNED, answer)
    home = Asked(resolve_media={"url": SIGNED})
    with pytest.raises(error, match=words) as raised:
        await HomeSounds(home, url).fetch("media-source://media_source/local/bell.wav")
    assert "secret" not in str(raised.value)


async def test_one_that_is_too_large_is_not_read_to_its_end(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = await serve("/local/bell.wav", lambda: web.Response(body=bytes(1001)))
    monkeypatch.setattr(media, "MAX_SOUND_BYTES", 1000)
    with pytest.raises(Refused, match="larger"):
        await HomeSounds(Asked(), url).fetch("/local/bell.wav")


async def test_a_home_assistant_that_is_away() -> None:
    with pytest.raises(Unavailable) as raised:
        await HomeSounds(Asked(resolve_media={"url": SIGNED}), "http://127.0.0.1:9").fetch(
            "media-source://media_source/local/bell.wav"
        )
    assert "secret" not in str(raised.value)
    gone = Asked(resolve_media=Unavailable("Away."))
    with pytest.raises(Unavailable, match="Away"):
        await HomeSounds(gone, "http://127.0.0.1:9").fetch("media-source://x")


async def test_one_that_never_comes(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media, "TOTAL_S", 0.1)
    never = asyncio.Event()

    class Waiting(Asked):
        async def command(self, kind: str, **fields: Any) -> Any:
            await never.wait()

    with pytest.raises(Unavailable, match="in time"):
        await HomeSounds(Waiting(), "http://127.0.0.1:9").fetch("media-source://x")
