"""The server in our event loop: it answers, rests while idle, and ends when told to."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from integrations import serving as served
from integrations.errors import Misconfigured
from integrations.places import LOOPBACK, ConnectionRoom
from integrations.serving import serving
from tests.simulators.certificate import make_certificate

ROOM_FOR_3 = ConnectionRoom(3, of_one=3, few=3, kept_for_few=0, kept_for_loopback=0)


async def hello(request: Request) -> PlainTextResponse:
    return PlainTextResponse("hello", headers={"X-Own": "kept"})


APP = Starlette(routes=[Route("/", hello)])


@pytest.mark.parametrize(("path", "status"), [("/", 200), ("/nothing", 404)])
async def test_an_answer_has_one_date_and_its_own_headers(path: str, status: int) -> None:
    async with serving(APP, "127.0.0.1", 0) as port, httpx.AsyncClient() as client:
        answer = await client.get(f"http://127.0.0.1:{port}{path}")
    assert answer.status_code == status
    (date,) = answer.headers.get_list("date")
    assert abs(parsedate_to_datetime(date) - datetime.now(UTC)) < timedelta(minutes=1)
    assert answer.headers.get("x-own") == ("kept" if status == 200 else None)
    assert "server" not in answer.headers


async def test_it_does_not_look_around_while_nobody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = list[int]()

    async def look(server: uvicorn.Server, counter: int) -> bool:
        looks.append(counter)
        return False

    monkeypatch.setattr(uvicorn.Server, "on_tick", look)
    async with serving(APP, "127.0.0.1", 0) as port, httpx.AsyncClient() as client:
        assert (await client.get(f"http://127.0.0.1:{port}/")).text == "hello"
    assert not looks


@pytest.mark.parametrize("started", [False, True])
async def test_it_ends_with_its_context_started_or_not(started: bool) -> None:
    async with asyncio.timeout(20), serving(APP, "127.0.0.1", 0) as port:
        if started:
            async with httpx.AsyncClient() as client:
                await client.get(f"http://127.0.0.1:{port}/")
    with pytest.raises(OSError, match="Connect call failed"):
        await asyncio.open_connection("127.0.0.1", port)


async def test_cancelled_it_ends_as_well_and_the_next_one_answers() -> None:
    """The event loop must not keep watching the closed socket, whose number the next one gets."""
    for _ in range(3):
        up: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def serve(up: asyncio.Future[int]) -> None:
            async with serving(APP, "127.0.0.1", 0) as port:
                up.set_result(port)
                await asyncio.get_running_loop().create_future()

        task = asyncio.ensure_future(serve(up))
        async with asyncio.timeout(20), httpx.AsyncClient() as client:
            assert (await client.get(f"http://127.0.0.1:{await up}/")).text == "hello"
            task.cancel()
            await asyncio.wait([task])
        assert task.cancelled()
        with pytest.raises(OSError, match="Connect call failed"):
            await asyncio.open_connection("127.0.0.1", await up)


async def test_a_port_in_use_is_told_with_its_number() -> None:
    async with serving(APP, "127.0.0.1", 0) as port:
        with pytest.raises(Misconfigured, match=f"Port {port} on 127.0.0.1 is in use"):
            async with serving(APP, "127.0.0.1", port):
                pass


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: local",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{",
    ],
)
async def test_who_does_not_end_a_request_is_sent_away(
    said: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served, "REQUEST_WITHIN_S", 0.1)
    async with asyncio.timeout(20), serving(APP, "127.0.0.1", 0) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(said)
        with contextlib.suppress(ConnectionResetError):
            await reader.read()
        writer.close()


async def test_who_has_asked_is_answered_however_long_it_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def think(request: Request) -> PlainTextResponse:
        await asyncio.sleep(0.8)
        return PlainTextResponse((await request.body()).decode())

    monkeypatch.setattr(served, "REQUEST_WITHIN_S", 0.5)  # within which it must have been made
    app = Starlette(routes=[Route("/", think, methods=["POST"])])
    async with serving(app, "127.0.0.1", 0) as port, httpx.AsyncClient() as client:
        for _ in range(2):  # on the same connection
            assert (await client.post(f"http://127.0.0.1:{port}/", content="so")).text == "so"


@pytest.mark.parametrize("endless", [False, True])
async def test_who_reads_no_answer_is_sent_away(
    monkeypatch: pytest.MonkeyPatch, endless: bool
) -> None:
    """A long answer to each of many requests, or one that never ends."""

    async def pour() -> AsyncIterator[bytes]:
        while True:
            yield bytes(100_000)
            await asyncio.sleep(0)

    async def answer(request: Request) -> Response:
        return StreamingResponse(pour()) if endless else Response(bytes(200_000))

    monkeypatch.setattr(served, "TAKEN_WITHIN_S", 0.1)
    app = Starlette(routes=[Route("/", answer)])
    async with asyncio.timeout(20), serving(app, "127.0.0.1", 0) as port:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        with pytest.raises(ConnectionError):
            await _ask_without_end(writer)
        writer.transport.abort()


async def _ask_without_end(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n" * 100)
        await writer.drain()
        await asyncio.sleep(0.01)


async def test_who_reads_slowly_is_answered_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(request: Request) -> Response:
        return Response(bytes(8_000_000))

    monkeypatch.setattr(served, "TAKEN_WITHIN_S", 1.5)
    app = Starlette(routes=[Route("/", answer)])
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(60), serving(app, "127.0.0.1", 0) as port:
        with await _asking_slowly(port) as one:
            began, read = loop.time(), 0
            while piece := await loop.sock_recv(one, 100_000):
                read += len(piece)
                await asyncio.sleep(len(piece) / 2_500_000)
            assert loop.time() - began > 2 * served.TAKEN_WITHIN_S
    assert read > 8_000_000


async def test_who_reads_next_to_nothing_is_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(request: Request) -> Response:
        return Response(bytes(8_000_000))

    monkeypatch.setattr(served, "TAKEN_WITHIN_S", 0.2)
    app = Starlette(routes=[Route("/", answer)])
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(60), serving(app, "127.0.0.1", 0) as port:
        with await _asking_slowly(port) as one:
            read = 0
            for _ in range(40):
                read += len(await loop.sock_recv(one, 1_000))
                await asyncio.sleep(0.05)
            with contextlib.suppress(ConnectionError):  # after what had come before
                while piece := await loop.sock_recv(one, 100_000):
                    read += len(piece)
    assert read < 1_000_000


async def _asking_slowly(port: int) -> socket.socket:
    """Send a request from a client with a small receive buffer."""
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32_768)
    one.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(one, ("127.0.0.1", port))
    await loop.sock_sendall(one, b"GET / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n")
    return one


async def test_a_websocket_may_be_silent_for_as_long_as_it_likes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def echo(websocket: WebSocket) -> None:
        await websocket.accept()
        await websocket.send_text(await websocket.receive_text())

    monkeypatch.setattr(served, "REQUEST_WITHIN_S", 0.5)  # within which it must have been opened
    app = Starlette(routes=[WebSocketRoute("/", echo)])
    async with serving(app, "127.0.0.1", 0) as port, connect(f"ws://127.0.0.1:{port}/") as socket:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.8):
                await socket.recv()
        await socket.send("still here")
        assert await socket.recv() == "still here"


async def test_too_many_connections_leave_room_for_who_comes_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(served, "ROOM", ROOM_FOR_3)
    monkeypatch.setattr(served, "ASIDE_WITHIN_S", 0.1)
    async with asyncio.timeout(20), serving(APP, "127.0.0.1", 0) as port:
        opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        with contextlib.suppress(ConnectionResetError):
            assert await reader.read() == b""
        writer.close()
        for _, one in opened:
            one.close()
            await one.wait_closed()
        async with httpx.AsyncClient() as client:
            assert (await client.get(f"http://127.0.0.1:{port}/")).text == "hello"


def _from_each_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each address of this machine count as a place, and 127.0.0.1 as this machine."""
    monkeypatch.setattr(served, "place_of", lambda host: LOOPBACK if host == "127.0.0.1" else host)


async def _opened(port: int, host: str, count: int, stack: contextlib.ExitStack) -> None:
    """Open silent connections from that address."""
    for _ in range(count):
        one = socket.socket()
        stack.callback(one.close)
        one.bind((host, 0))
        one.setblocking(False)
        await asyncio.get_running_loop().sock_connect(one, ("127.0.0.1", port))


async def _asked(port: int, host: str, path: str = "/") -> int:
    transport = httpx.AsyncHTTPTransport(local_address=host)
    async with httpx.AsyncClient(transport=transport) as client:
        return (await client.get(f"http://127.0.0.1:{port}{path}")).status_code


async def test_one_address_leaves_room_for_others_and_many_for_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _from_each_address(monkeypatch)
    monkeypatch.setattr(
        served, "ROOM", ConnectionRoom(10, of_one=5, few=2, kept_for_few=3, kept_for_loopback=2)
    )
    with contextlib.ExitStack() as stack:
        async with asyncio.timeout(30), serving(APP, "127.0.0.1", 0) as port:
            await _opened(port, "127.0.0.2", 5, stack)
            assert await _asked(port, "127.0.0.2") == 503  # it has reached the limit of one place
            assert await _asked(port, "127.0.0.3") == 200
            await _opened(port, "127.0.0.3", 2, stack)
            assert await _asked(port, "127.0.0.3") == 503  # two are more than few
            await _opened(port, "127.0.0.4", 1, stack)
            assert await _asked(port, "127.0.0.5") == 503
            assert await _asked(port, "127.0.0.1") == 200  # this machine's owner


@pytest.mark.parametrize("tls", [False, True])
async def test_what_is_always_answered_is_so_while_there_is_no_room(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tls: bool
) -> None:
    monkeypatch.setattr(served, "ROOM", ROOM_FOR_3)
    certificate = make_certificate(tmp_path)
    context = certificate.server_context() if tls else None
    app = Starlette(routes=[Route("/", hello), Route("/well", hello)])
    with contextlib.ExitStack() as stack:
        async with (
            asyncio.timeout(30),
            serving(app, "127.0.0.1", 0, context, always={"/well"}) as port,
            httpx.AsyncClient(verify=certificate.client_context()) as client,
        ):
            url = f"{'https' if tls else 'http'}://127.0.0.1:{port}"
            # The pool, and silent connections beyond it, of which the oldest are closed.
            await _opened(port, "127.0.0.1", 3 + 2 * served.MOST_ASIDE, stack)
            for _ in range(3):
                answer = await client.get(f"{url}/well")
                assert answer.text == "hello"
                assert answer.headers["connection"] == "close"
                full = await client.get(f"{url}/")
                assert full.status_code == 503
                assert "Too many connections are open" in full.text


async def test_beyond_the_room_there_is_no_websocket(monkeypatch: pytest.MonkeyPatch) -> None:
    async def echo(websocket: WebSocket) -> None:
        await websocket.accept()

    monkeypatch.setattr(served, "ROOM", ConnectionRoom(1, 1, 1, 0, 0))
    app = Starlette(routes=[WebSocketRoute("/well", echo)])
    with contextlib.ExitStack() as stack:
        async with (
            asyncio.timeout(20),
            serving(app, "127.0.0.1", 0, always={"/well"}) as port,
        ):
            await _opened(port, "127.0.0.1", 1, stack)
            with pytest.raises(InvalidStatus):
                await connect(f"ws://127.0.0.1:{port}/well")


async def test_a_websocket_counts_where_it_comes_from(monkeypatch: pytest.MonkeyPatch) -> None:
    async def hold(websocket: WebSocket) -> None:
        await websocket.accept()
        await websocket.receive_text()

    monkeypatch.setattr(
        served, "ROOM", ConnectionRoom(9, of_one=1, few=1, kept_for_few=0, kept_for_loopback=0)
    )
    app = Starlette(routes=[WebSocketRoute("/", hold), Route("/hello", hello)])
    async with asyncio.timeout(20), serving(app, "127.0.0.1", 0) as port:
        async with connect(f"ws://127.0.0.1:{port}/") as opened:
            assert await _asked(port, "127.0.0.1", "/hello") == 503
            await opened.send("over")
        while await _asked(port, "127.0.0.1", "/hello") != 200:
            pass


async def _closed(one: socket.socket) -> None:
    """Wait until the other end has closed it."""
    with contextlib.suppress(ConnectionResetError):
        assert await asyncio.get_running_loop().sock_recv(one, 1) == b""


def _silent(port: int) -> socket.socket:
    """Open a connection that sends nothing, not even for TLS."""
    one = socket.create_connection(("127.0.0.1", port))
    one.setblocking(False)
    return one


async def test_who_does_not_end_a_handshake_is_sent_away(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(served, "HANDSHAKE_WITHIN_S", 0.1)
    tls = make_certificate(tmp_path).server_context()
    async with asyncio.timeout(20), serving(APP, "127.0.0.1", 0, tls) as port:
        with _silent(port) as one:
            await _closed(one)


async def test_silent_connections_by_tls_count_before_they_have_said_anything(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(served, "ROOM", ROOM_FOR_3)
    monkeypatch.setattr(served, "ASIDE_WITHIN_S", 0.1)
    certificate = make_certificate(tmp_path)
    async with (
        asyncio.timeout(20),
        serving(APP, "127.0.0.1", 0, certificate.server_context()) as port,
    ):
        with contextlib.ExitStack() as opened:
            for _ in range(3):
                opened.enter_context(_silent(port))
            with _silent(port) as fourth:  # long before the handshake times out
                await _closed(fourth)
        async with httpx.AsyncClient(verify=certificate.client_context()) as client:
            while True:  # until the server has noticed that they have gone
                with contextlib.suppress(httpx.TransportError):
                    answer = await client.get(f"https://127.0.0.1:{port}/")
                    if answer.status_code == 200:
                        break
    assert answer.text == "hello"


async def test_what_is_no_tls_at_all_costs_nobody_else_anything(tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path)
    async with (
        asyncio.timeout(20),
        serving(APP, "127.0.0.1", 0, certificate.server_context()) as port,
    ):
        with _silent(port) as one:
            await asyncio.get_running_loop().sock_sendall(one, b"GET / HTTP/1.1\r\n\r\n")
            with contextlib.suppress(ConnectionResetError):
                while await asyncio.get_running_loop().sock_recv(one, 100):
                    pass
        async with httpx.AsyncClient(verify=certificate.client_context()) as client:
            assert (await client.get(f"https://127.0.0.1:{port}/")).text == "hello"


async def test_it_ends_while_somebody_is_in_a_handshake(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(served, "HANDSHAKE_WITHIN_S", 60.0)
    tls = make_certificate(tmp_path).server_context()
    async with asyncio.timeout(20):  # before the handshake times out
        async with serving(APP, "127.0.0.1", 0, tls) as port:
            one = _silent(port)
            await asyncio.to_thread(_let_in_is_tried, port)
        with one:
            await _closed(one)


def _let_in_is_tried(port: int) -> None:
    """Connections are accepted in order: when the next one is answered, so is the first one."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as next_one:
        next_one.sendall(b"no TLS\r\n\r\n")
        with contextlib.suppress(ConnectionResetError):
            while next_one.recv(100):
                pass


async def test_without_descriptors_it_waits_and_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    loop = asyncio.get_running_loop()
    accept, failures = (
        loop.sock_accept,
        [OSError(24, "Too many open files"), ConnectionAbortedError()],
    )

    async def failing(listener: socket.socket) -> tuple[socket.socket, object]:
        if failures:
            raise failures.pop(0)
        return await accept(listener)

    monkeypatch.setattr(loop, "sock_accept", failing)
    monkeypatch.setattr(served, "_ACCEPT_AGAIN_S", 0.01)
    async with serving(APP, "127.0.0.1", 0) as port, httpx.AsyncClient() as client:
        assert (await client.get(f"http://127.0.0.1:{port}/")).text == "hello"
    assert not failures
    assert "Connections cannot be accepted: Too many open files" in caplog.text
