"""Tests of harmful clients of the HTTP interface: slow, greedy, many, deaf, or guessing."""

import asyncio
import contextlib
import socket
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from assistant.domain.clock import SystemClock
from assistant.interfaces.http_tokens import TokenFile
from integrations.serving import MOST_CONNECTIONS, REQUEST_WITHIN_S
from integrations.web.problems import MAX_BODY
from integrations.web.stream import LISTENERS
from tests.chaos.daemon import TOKEN, Daemon, daemon, listener, until
from tests.chaos.faults import fault
from tests.chaos.odd import so_many
from tests.chaos.served import served
from tests.chaos.unharmed import SLACK_MB, SPOKEN_MB, open_files, unharmed

pytestmark = [pytest.mark.faults, pytest.mark.timeout(240)]

CROWD = so_many(300, 1_000)  # more than may connect at once
BACK_S = REQUEST_WITHIN_S + 10.0  # a busy machine may take a while
LEAST_S = 10.0  # that it may take, however much time has passed
Connected = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def crowd(port: int, count: int = CROWD) -> AsyncIterator[list[Connected]]:
    """Yield up to `count` connections, each with little room for unread data."""
    opened = list[Connected]()
    try:
        for _ in range(count):
            one = socket.socket()
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            one.setblocking(False)
            try:
                await asyncio.get_running_loop().sock_connect(one, ("127.0.0.1", port))
                opened.append(await asyncio.open_connection(sock=one))
            except OSError:
                one.close()
        yield opened
    finally:
        for _, writer in opened:
            writer.transport.abort()


def request(box: Daemon, line: str, *headers: str) -> bytes:
    """Return the head of a request with these further headers, as bytes."""
    rows = (f"{line} HTTP/1.1", f"Host: 127.0.0.1:{box.port}", *headers, "", "")
    return "\r\n".join(rows).encode()


def authorized(token: str) -> str:
    """Return the header that identifies the caller."""
    return f"Authorization: Bearer {token}"


async def let_in_again(box: Daemon, since_s: float) -> None:
    """Wait until a new client is accepted: BACK_S after that moment, or else LEAST_S from now."""
    left_s = max(LEAST_S, since_s + BACK_S - time.monotonic())
    async with asyncio.timeout(left_s), httpx.AsyncClient(timeout=2.0) as client:
        while True:
            with contextlib.suppress(httpx.HTTPError):
                answer = await client.get(f"http://127.0.0.1:{box.port}/v1/session")
                if answer.status_code != 503:
                    assert answer.status_code == 401
                    print(f"let in again after {time.monotonic() - since_s:.1f} s")
                    return
            await asyncio.sleep(0.2)


@fault(
    "hundreds of connections that send nothing, or a byte now and then (slow loris)",
    hears="nothing unusual; the wake word and commands work",
    retried="programs can connect again within 20 s",
    kept="at most 64 connections per address are open at once; `/healthz` keeps responding",
)
async def test_slow_requests(tmp_path: Path, office: Path) -> None:
    async with (
        listener(tmp_path) as box,
        unharmed(box, SPOKEN_MB) as before,
        crowd(box.port) as opened,
        asyncio.TaskGroup() as group,
    ):
        began_s = time.monotonic()
        head = request(box, "POST /v1/ask").removesuffix(b"\r\n")
        for _, writer in opened[::2]:
            writer.write(head)
        dripping = group.create_task(_drip(opened[::2]))
        await until(lambda: open_files(box.pid) > before.files + MOST_CONNECTIONS // 2)
        assert await _health(box) == "ok"  # in the midst of it
        assert open_files(box.pid) < before.files + MOST_CONNECTIONS + 12
        await served(box, office)
        assert open_files(box.pid) < before.files + MOST_CONNECTIONS + 12
        await let_in_again(box, began_s)
        dripping.cancel()


async def _health(box: Daemon) -> str:
    async with httpx.AsyncClient(timeout=10.0) as client:
        return (await client.get(f"http://127.0.0.1:{box.port}/healthz")).text


async def _drip(connections: list[Connected]) -> None:
    """Send a byte of a header that never ends, each half second."""
    while True:
        for _, writer in connections:
            if not writer.is_closing():
                writer.write(b"X")
        await asyncio.sleep(0.5)


@fault(
    "connections that send many requests and don't read the responses",
    hears="nothing",
    retried="programs can connect again within 20 s",
    kept="memory doesn't grow beyond the responses in transit",
)
async def test_deaf_clients(tmp_path: Path) -> None:
    async with daemon(tmp_path / "box") as box, unharmed(box, 2 * SLACK_MB) as before:
        asks = request(box, "GET /console/words.js")
        async with crowd(box.port, MOST_CONNECTIONS + 20) as opened:
            began_s = time.monotonic()
            await asyncio.gather(*(_ask_without_end(writer, asks) for _, writer in opened))
            before.assert_small(2 * SLACK_MB)
            await let_in_again(box, began_s)


async def _ask_without_end(writer: asyncio.StreamWriter, asks: bytes) -> None:
    """Send requests until no more are accepted."""
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    with contextlib.suppress(TimeoutError, ConnectionError):
        async with asyncio.timeout(5.0):
            for _ in range(500):
                writer.write(asks * 20)
                await writer.drain()


@fault(
    "request bodies that are endless, or have a missing or wrong length",
    hears="nothing",
    retried="nothing; Hearth responds with 411 or 413, or closes the connection",
    kept="everything; Hearth stores none of the requests",
)
async def test_huge_bodies(tmp_path: Path) -> None:
    rows = (
        f"Content-Length: {MAX_BODY + 1}",
        "Content-Length: 99999999999999999999",
        "Content-Length: -1",
        "Transfer-Encoding: chunked",
        "Content-Length: 10",
        "Content-Length: 5\r\nContent-Length: 6",
    )
    told: Counter[str] = Counter()
    async with daemon(tmp_path / "box") as box, unharmed(box):
        for path in ("/v1/ask", "/mcp", "/v1/session", "/console/words.js", "/nowhere"):
            for row in rows:
                for token in (TOKEN, "wrong"):
                    json = "Content-Type: application/json"
                    head = request(box, f"POST {path}", authorized(token), json, row)
                    told[await _pour(box.port, head)] += 1
    print(dict(told))
    assert not [status for status in told if status.startswith("5")]
    assert told["413"]
    assert told["411"]
    assert told[""] < told.total() / 2, "most are told what was wrong"


async def _pour(port: int, head: bytes) -> str:
    """Return the status that comes while a body of up to 4 MB is sent; "" if there is none."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(head)
    pouring = asyncio.ensure_future(_body(writer))
    try:
        async with asyncio.timeout(1.0):
            return (await reader.readline()).decode("latin-1")[9:12]
    except (ConnectionError, TimeoutError):
        return ""
    finally:
        pouring.cancel()
        await asyncio.wait([pouring])
        writer.transport.abort()


async def _body(writer: asyncio.StreamWriter) -> None:
    """Send piece by piece, so that an answer is read before the connection is gone."""
    with contextlib.suppress(ConnectionError):
        for _ in range(64):
            writer.write(b"ffff\r\n" + b"x" * 65_535 + b"\r\n")
            await writer.drain()
            await asyncio.sleep(0.005)


@fault(
    "somebody guesses tokens as fast as possible",
    hears="nothing",
    retried="Hearth accepts ten wrong tokens at once, then one every six seconds",
    kept="programs that have signed in from that address keep working",
)
async def test_guessed_tokens(tmp_path: Path) -> None:
    told: Counter[int] = Counter()
    async with daemon(tmp_path / "box") as box:
        box.data.mkdir(parents=True)
        panel = TokenFile(box.data).make("panel", ("read", "ask"), SystemClock().now())
        async with (
            unharmed(box),
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{box.port}") as client,
        ):
            known = {"Authorization": f"Bearer {panel}"}
            assert (await client.get("/v1/state", headers=known)).status_code == 200
            for number in range(so_many(300, 10_000)):
                guess = {"Authorization": f"Bearer {TOKEN[:-4]}{number:04}"}
                told[(await client.get("/v1/state", headers=guess)).status_code] += 1
                if number % 10 == 0:
                    code = await client.post("/v1/session", json={"code": f"{number}"})
                    told[code.status_code] += 1
            assert (await client.get("/v1/state", headers=known)).status_code == 200
            done = await client.post("/v1/ask", json={"text": "what time is it"}, headers=known)
            assert done.status_code == 200
    print(dict(told))
    assert set(told) == {401, 429}
    assert told[401] <= 12, "of each address so many are tried"


@fault(
    "event listeners that don't read, and more listeners than allowed",
    hears="nothing",
    retried="Hearth asks each surplus listener to try again in a minute",
    kept="other listeners get every event; slow readers don't increase memory use",
)
async def test_listeners_that_do_not_read(tmp_path: Path) -> None:
    async with daemon(tmp_path / "box") as box, unharmed(box) as before:
        asks = request(box, "GET /v1/events", authorized(TOKEN))
        async with crowd(box.port, LISTENERS - 1) as opened, box.client() as client:
            for _, writer in opened:
                writer.transport.pause_reading()  # type: ignore[attr-defined]
                writer.write(asks)
            async with client.stream("GET", "/v1/events") as honest:
                lines = honest.aiter_lines()
                async with asyncio.timeout(10.0):
                    while (await client.get("/v1/events")).status_code != 503:  # noqa: ASYNC110
                        await asyncio.sleep(0.1)
                turns = so_many(60, 2_000)
                for _ in range(turns):
                    await box.ask("what time is it")
                async with asyncio.timeout(10.0):
                    answers = 0
                    while answers < turns:
                        answers += (await anext(lines)) == "event: answer"
                before.assert_small(SLACK_MB)
