"""Serves an ASGI application from inside our own event loop, for as long as a context is open."""

import asyncio
import contextlib
import errno
import socket
import ssl
from collections.abc import AsyncIterator, Iterator
from email.utils import formatdate

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from integrations.errors import Misconfigured

_STOP_WITHIN_S = 2  # open requests get this long when the server stops


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers, and without its ten looks a second whether it is to
    stop: the program decides that, and says so."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._ended = asyncio.Event()

    def end(self) -> None:
        """Stop, now or as soon as it has started."""
        self.should_exit = True
        self._ended.set()

    async def main_loop(self) -> None:
        """Serve until `end`."""
        await self._ended.wait()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def serving(
    app: ASGIApp, host: str, port: int, tls: ssl.SSLContext | None = None
) -> AsyncIterator[int]:
    """Serve `app` and give the port, which the system chooses when `port` is 0. `tls`: by https.

    Raises Misconfigured when the address cannot be had.
    """
    listener = _listen(host, port)
    config = uvicorn.Config(
        _dated(app),
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="websockets-sansio",
        timeout_graceful_shutdown=_STOP_WITHIN_S,
        server_header=False,
        date_header=False,  # uvicorn renews it with its looks
        proxy_headers=False,  # who asks is who connected, whatever the request says
        ssl_context_factory=None if tls is None else lambda config, usual: tls,
    )
    server = _Server(config)
    # uvicorn closes the listener, but not where it is stopped before it has started.
    with listener:
        async with asyncio.TaskGroup() as group:
            group.create_task(server.serve([listener]), name=f"http-{port}")
            try:
                yield listener.getsockname()[1]
            finally:
                server.end()


def _dated(app: ASGIApp) -> ASGIApp:
    """Every HTTP answer says when it was given."""

    async def dated(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_dated(message: Message) -> None:
            if message["type"] == "http.response.start":
                date = (b"date", formatdate(usegmt=True).encode())
                message = {**message, "headers": [date, *message.get("headers", ())]}
            await send(message)

        await app(scope, receive, send_dated)

    return dated


def _listen(host: str, port: int) -> socket.socket:
    """A bound socket; connections wait in its backlog until the server has started."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=64)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise Misconfigured(
                f"Port {port} on {host} is in use: choose another http.port, "
                "or end the program that has it"
            ) from error
        raise Misconfigured(
            f"{host} port {port} cannot be listened on: {error.strerror}"
        ) from error
    # Accepted connections inherit it. asyncio sets it only on sockets that name their protocol, and
    # with Nagle's algorithm on each answer comes 40 ms late.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener
