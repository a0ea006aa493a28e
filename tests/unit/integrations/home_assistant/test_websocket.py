"""The connection: recipients of the token, refused handshakes, and cleanup."""

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response

from integrations.errors import IntegrationError, Misconfigured, SignInAgain, Unavailable
from integrations.home_assistant.reasons import Unanswered
from integrations.home_assistant.websocket import Connection, open_connection

Answer = Callable[[ServerConnection, Request], Response | None]


@asynccontextmanager
async def home(
    answer: Answer | None = None, got: list[Any] | None = None, says: Any = None
) -> AsyncIterator[str]:
    """Run a server that admits everybody, or answers the token with `says`; `got` is what it
    got."""

    async def converse(socket: ServerConnection) -> None:
        await socket.send(json.dumps({"type": "auth_required"}))
        async for message in socket:
            if got is not None:
                got.append(json.loads(message))
            await socket.send(json.dumps({"type": "auth_ok"} if says is None else says))

    async with serve(converse, "127.0.0.1", 0, process_request=answer) as server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"


def _response(status: int, body: str = "", location: str = "") -> Answer:
    def answer(socket: ServerConnection, request: Request) -> Response:
        response = socket.respond(status, body)
        if location:
            response.headers["Location"] = location
        return response

    return answer


async def test_a_name_server_that_is_silent_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    async def silent(*about: object) -> None:
        await asyncio.get_running_loop().create_future()

    monkeypatch.setattr("integrations.home_assistant.websocket.LOOKUP_S", 0.01)
    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", silent)
    with pytest.raises(Unavailable, match=r"The name 'house\.test' could not be looked up"):
        async with open_connection("http://house.test:8123", "secret", None):
            pytest.fail("it is connected")


async def test_a_token_that_is_not_known_is_told_of() -> None:
    async with home(says={"type": "auth_invalid", "message": "Invalid"}) as there:
        with pytest.raises(SignInAgain, match=r"rejected home_assistant\.token"):
            async with open_connection(f"http://{there}", "secret", None):
                pytest.fail("it is signed in")


@pytest.mark.parametrize("odd", [{"type": "auth_required"}, {"type": None}, {}, [], "auth_ok", 1])
async def test_only_a_refusal_says_that_the_token_is_wrong(odd: object) -> None:
    # Otherwise the person would make a new token in vain, and the house would be away for a minute.
    async with home(says=odd) as there:
        with pytest.raises(Unavailable, match="an answer that Hearth does not understand"):
            async with open_connection(f"http://{there}", "secret", None):
                pytest.fail("it is signed in")


@pytest.mark.parametrize("scheme", ["ws", "http"])
async def test_the_token_follows_no_redirect(scheme: str) -> None:
    got: list[Any] = []
    async with home(got=got) as elsewhere:
        there = f"{scheme}://localhost:{elsewhere.rpartition(':')[2]}/api/websocket"
        async with home(_response(302, location=there)) as here:
            with pytest.raises(Misconfigured, match=r"home_assistant\.url"):
                async with open_connection(f"http://{here}", "secret", None):
                    pytest.fail("it is connected to somebody else")
    assert got == []


@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (400, "The plain HTTP request was sent to HTTPS port", Misconfigured, "https://"),
        (400, "", Misconfigured, "trusted_proxies"),
        (401, "", SignInAgain, r"home_assistant\.token"),
        (403, "", Misconfigured, r"ip_bans\.yaml"),
        (404, "", Misconfigured, "does not seem to be Home Assistant"),
        (502, "", Unavailable, "status 502"),
    ],
)
async def test_a_refused_handshake_reads_as_over_rest(
    status: int, body: str, kind: type[IntegrationError], words: str
) -> None:
    async with home(_response(status, body)) as here:
        with pytest.raises(kind, match=words):
            async with open_connection(f"http://{here}", "t", None):
                pytest.fail("it is connected")


async def test_a_server_that_hangs_up_may_be_restarting() -> None:
    async def close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(close, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(Unavailable, match="may be restarting"):
            async with open_connection(f"http://127.0.0.1:{port}", "t", None):
                pytest.fail("it is connected")


class Stuck:
    """A socket that accepts nothing, and ends when told to."""

    def __init__(self) -> None:
        self.over = asyncio.Event()

    async def send(self, text: str) -> None:
        await asyncio.Event().wait()

    async def __aiter__(self) -> AsyncIterator[str]:
        await self.over.wait()
        if False:
            yield ""


async def test_a_command_that_was_still_being_sent_leaves_no_error_behind() -> None:
    told: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: told.append(context))
    await _cut_off()
    gc.collect()
    assert told == []


async def _cut_off() -> None:
    socket = Stuck()
    connection = Connection(socket)  # type: ignore[arg-type]
    command = asyncio.create_task(connection.command("get_states"))
    await asyncio.sleep(0)
    socket.over.set()
    with pytest.raises(Unavailable):
        await connection.read()
    command.cancel()
    await asyncio.wait([command])


async def test_once_nothing_is_read_nothing_is_asked() -> None:
    socket = Stuck()
    connection = Connection(socket)  # type: ignore[arg-type]
    socket.over.set()
    with pytest.raises(Unavailable):
        await connection.read()
    async with asyncio.timeout(20):
        with pytest.raises(Unavailable) as caught:
            await connection.command("get_states")
    assert not isinstance(caught.value, Unanswered)  # so it cannot have been carried out


async def test_a_ping_is_answered_in_time_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    async with home() as there, open_connection(f"http://{there}", "secret", None) as connection:
        assert await connection.answers(2)

        async def unanswered() -> asyncio.Future[float]:
            return asyncio.get_running_loop().create_future()

        with monkeypatch.context() as patch:
            patch.setattr(connection._socket, "ping", unanswered)
            assert not await connection.answers(0.01)
        await connection._socket.close()
        assert not await connection.answers(2)
