"""Tests of the WebSocket for speech: who may connect and from where, limits, and how it ends."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from integrations.serving import serving
from integrations.web.api import api_routes, web_app
from integrations.web.box import ROLES, Caller
from integrations.web.speech import (
    MAX_SOUND,
    MOST_OF_ONE,
    MOST_SOCKETS,
    SpeechLine,
    speech_route,
)
from tests.unit.integrations.web.doubles import WITH_TOKEN, FakeBox, patient_guard, with_scope


class Served:
    """A server, and ways to connect to it."""

    def __init__(self, port: int, box: FakeBox) -> None:
        self.port = port
        self.box = box
        self.origin = f"http://127.0.0.1:{port}"

    def connect(self, headers: dict[str, str] | None = None) -> connect:
        url = f"ws://127.0.0.1:{self.port}/v1/speech"
        return connect(url, additional_headers=headers or WITH_TOKEN, compression=None)

    async def refused(self, headers: dict[str, str]) -> tuple[int, str]:
        """Return the status and the kind of the error with which the server refuses."""
        with pytest.raises(InvalidStatus) as refused:
            async with self.connect(headers):
                pass
        answer = refused.value.response
        return answer.status_code, json.loads(answer.body or b"")["error"]["kind"]

    async def left(self) -> None:
        """Wait until no browser is speaking any more."""
        async with asyncio.timeout(5):
            while self.box.lines:  # noqa: ASYNC110 (another task of the server)
                await asyncio.sleep(0.01)


@asynccontextmanager
async def served() -> AsyncIterator[tuple[Served, dict[str, Caller]]]:
    """Yield a server, and its sessions by their ids."""
    box, guard = FakeBox(), patient_guard()
    sessions: dict[str, Caller] = guard.sessions.open  # type: ignore[attr-defined]
    app = web_app([*api_routes(box, guard), speech_route(box, guard)])
    async with serving(app, "127.0.0.1", 0) as port:
        yield Served(port, box), sessions


async def closed(socket: ClientConnection) -> int:
    """Return the code with which the server closes the connection."""
    async with asyncio.timeout(5):
        with suppress(ConnectionClosed):
            while True:
                await socket.recv()
    assert socket.close_code is not None
    return socket.close_code


async def told(socket: ClientConnection) -> object:
    message = await socket.recv()
    return message if isinstance(message, bytes) else json.loads(message)


async def test_what_a_browser_sends_and_gets() -> None:
    async with served() as (server, _), server.connect() as socket:
        assert await told(socket) == {"type": "ready"}
        await socket.send('{"type": "press", "answer": "box"}')
        assert await told(socket) == {"type": "got", "command": "press", "answer": "box"}
        await socket.send(b"\1\0" * 320)
        assert await told(socket) == {"type": "sound", "rate": 16_000}
        assert await told(socket) == b"\1\0" * 320
        await socket.send(b"\2\0")
        assert await told(socket) == b"\2\0"  # the rate is told only when it changes


async def test_who_may_speak() -> None:
    async with served() as (server, sessions):
        assert await server.refused({"Authorization": "Bearer none"}) == (401, "unauthorized")
        assert await server.refused(with_scope("read")) == (403, "forbidden")
        assert await server.refused(with_scope("speak")) == (403, "forbidden")
        async with server.connect(with_scope("ask")) as socket:
            assert await told(socket) == {"type": "ready"}
        for role, scopes in ROLES.items():
            sessions[role] = Caller(f"http:{role}", scopes, session=role)
            page = {"Cookie": f"hearth_session={role}", "Origin": server.origin}
            async with server.connect(page) as socket:
                assert await told(socket) == {"type": "ready"}
        ended = {"Cookie": "hearth_session=ended", "Origin": server.origin}
        assert await server.refused(ended) == (401, "signed_out")


@pytest.mark.parametrize(
    "foreign",
    [
        {},  # no browser connects without an origin
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "https://127.0.0.1:{port}"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:{port}", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "http://127.0.0.1:{port}", "Sec-Fetch-Site": "same-site"},
    ],
)
async def test_a_foreign_page_cannot_use_the_cookie(foreign: dict[str, str]) -> None:
    async with served() as (server, sessions):
        sessions["s"] = Caller("http:family", ROLES["family"], session="s")
        page = {name: value.replace("{port}", str(server.port)) for name, value in foreign.items()}
        refused = await server.refused({"Cookie": "hearth_session=s", **page})
        assert refused == (403, "foreign_page")


async def test_a_foreign_host_is_refused() -> None:
    async with served() as (server, _):
        with pytest.raises(InvalidStatus) as refused:
            async with connect(
                f"ws://evil.example:{server.port}/v1/speech",
                additional_headers=WITH_TOKEN,
                host="127.0.0.1",
                port=server.port,
            ):
                pass
        assert refused.value.response.status_code == 421


async def test_how_many_pages_may_be_open() -> None:
    async with served() as (server, sessions), AsyncExitStack() as stack:
        pages: list[dict[str, str]] = []
        for number in range(MOST_SOCKETS):
            name = f"s{number // MOST_OF_ONE}"
            sessions[name] = Caller("http:family", ROLES["family"], session=name)
            page = {"Cookie": f"hearth_session={name}", "Origin": server.origin}
            if number % MOST_OF_ONE == 0 and number:
                assert (await server.refused(pages[-1]))[1] == "too_many_listeners"
            pages.append(page)
            await told(await stack.enter_async_context(server.connect(page)))
        assert await server.refused(WITH_TOKEN) == (503, "too_many_listeners")
        await stack.aclose()
        await server.left()
        async with server.connect() as socket:
            assert await told(socket) == {"type": "ready"}


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (bytes(MAX_SOUND + 2), 1008),
        (b"\0", 1008),  # half a sample
        (bytes(70_000), 1009),  # not even read
        ("{", 1008),
        ("[]", 1008),
        ('{"type": "sing"}', 1008),
        ('{"type": "press", "answer": "everywhere"}', 1008),
        ('{"type": "press", "more": 1}', 1008),
        ('{"type": "press"}' + " " * 1_000, 1008),
        ("", 1008),
    ],
)
async def test_what_no_page_sends_closes_the_connection(message: str | bytes, code: int) -> None:
    async with served() as (server, _), server.connect() as socket:
        await socket.send(message)
        assert await closed(socket) == code
        await server.left()


async def test_sound_that_nobody_listens_to_closes_the_connection() -> None:
    class Deaf(FakeBox):
        async def speech(self, line: SpeechLine) -> None:
            await line.gone.wait()

    box, guard = Deaf(), patient_guard()
    async with serving(web_app([speech_route(box, guard)]), "127.0.0.1", 0) as port:
        url = f"ws://127.0.0.1:{port}/v1/speech"
        async with connect(url, additional_headers=WITH_TOKEN) as socket:
            with suppress(ConnectionClosed):
                for _ in range(10_000):
                    await socket.send(bytes(640))
            assert socket.close_code == 1008


async def test_a_page_that_leaves_ends_the_conversation() -> None:
    async with served() as (server, _):
        async with server.connect() as socket:
            await told(socket)
            assert len(server.box.lines) == 1
        await server.left()
        async with server.connect() as socket:
            await told(socket)
            socket.transport.abort()  # without a goodbye
            await server.left()


async def test_a_session_that_ends_closes_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("integrations.web.speech._LOOK_S", 0.05)
    async with served() as (server, sessions):
        sessions["s"] = Caller("http:guest", ROLES["guest"], session="s")
        page = {"Cookie": "hearth_session=s", "Origin": server.origin}
        async with server.connect(page) as socket:
            await told(socket)
            del sessions["s"]
            assert await closed(socket) == 4401


async def test_an_internal_error_closes_the_connection(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(FakeBox):
        async def speech(self, line: SpeechLine) -> None:
            raise RuntimeError("secret words")

    async with serving(web_app([speech_route(Broken(), patient_guard())]), "127.0.0.1", 0) as port:
        url = f"ws://127.0.0.1:{port}/v1/speech"
        async with connect(url, additional_headers=WITH_TOKEN) as socket:
            assert await closed(socket) == 1011
    assert "RuntimeError" in caplog.text
    assert "secret words" not in caplog.text


async def test_a_plain_request_is_told_that_there_is_no_such_path() -> None:
    async with served() as (server, _), httpx.AsyncClient(headers=WITH_TOKEN) as client:
        assert (await client.get(f"{server.origin}/v1/speech")).status_code == 404
