"""Serves an ASGI application from inside our own event loop, for as long as a context is open."""

import asyncio
import contextlib
import errno
import socket
from collections.abc import AsyncIterator, Iterator

import uvicorn
from starlette.types import ASGIApp

from integrations.errors import Misconfigured

_STOP_WITHIN_S = 2  # open requests get this long when the server stops


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers: the program decides when to stop."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def serving(app: ASGIApp, host: str, port: int) -> AsyncIterator[int]:
    """Serve `app` and give the port, which the system chooses when `port` is 0.

    Raises Misconfigured when the address cannot be had.
    """
    listener = _listen(host, port)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="websockets-sansio",
        timeout_graceful_shutdown=_STOP_WITHIN_S,
        server_header=False,
    )
    server = _Server(config)
    # uvicorn closes the listener, but not where it is stopped before it has started.
    with listener:
        async with asyncio.TaskGroup() as group:
            group.create_task(server.serve([listener]), name=f"http-{port}")
            try:
                yield listener.getsockname()[1]
            finally:
                server.should_exit = True


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
