"""Serve an ASGI application in Hearth's own event loop while a context is open."""

import asyncio
import contextlib
import errno
import logging
import socket
import ssl
from collections.abc import AsyncIterator, Container, Iterator
from email.utils import formatdate

import h11
import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from integrations.errors import Misconfigured
from integrations.places import ConnectionRoom, place_of

_STOP_WITHIN_S = 2  # time for open requests to finish when the server stops
_BACKLOG = 64  # connections waiting to be accepted
# Anybody can connect, even without a token. Idle connections must not use up all the files that the
# process may open, or Hearth could neither speak nor save anything.
MOST_CONNECTIONS = 128  # connections at once; a house has a few panels, programs and browsers
ROOM = ConnectionRoom(MOST_CONNECTIONS, of_one=64, few=8, kept_for_few=32, kept_for_loopback=16)
# Beyond that limit, a connection may request only the paths that are always served. A new one
# replaces the oldest of these, so that idle connections do not block others.
MOST_ASIDE = 16
ASIDE_WITHIN_S = 2.0  # time limit for such a request
HANDSHAKE_WITHIN_S = 5.0  # time limit for the TLS handshake
REQUEST_WITHIN_S = 20.0  # time limit for receiving a whole request
# Time limit for sending this many bytes or everything that is waiting. Otherwise a client that
# reads nothing would keep its connection forever.
TAKEN_WITHIN_S, TAKEN_BYTES = 10.0, 128 * 1024
MOST_MESSAGE = 64 * 1024  # bytes of a WebSocket message; a longer one closes the connection
# Bytes that the kernel buffers per connection and direction (it doubles the number). By default,
# that can be several megabytes of unread data, and all connections together would use up the memory
# of a small device.
_BUFFER = 128 * 1024
_ACCEPT_AGAIN_S = 1.0  # pause if no more files can be opened, as in asyncio

_log = logging.getLogger(__name__)
_FULL = PlainTextResponse(
    "Too many connections are open; close some, or try again.\n", 503, {"Retry-After": "20"}
)


class _Connection(H11Protocol):
    """An HTTP connection with the request and write timeouts that uvicorn lacks."""

    _patience: asyncio.TimerHandle | None = None  # runs while a request is expected
    _reads: asyncio.TimerHandle | None = None  # runs while too much is waiting to be sent
    _gives_way = False
    is_aside = False  # True: beyond the connection limit

    def put_aside(self, app: ASGIApp) -> None:
        """Restrict a new connection to this application and to short timeouts."""
        self.app = app
        self.ws_protocol_class = None  # otherwise it would handle all websocket requests
        self.is_aside = True

    def give_way(self) -> None:
        """Close the connection now, or as soon as it is established."""
        self._gives_way = True
        if self.transport is not None:
            self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self._gives_way:
            transport.abort()
        self._wait_so_long()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._wait_so_long()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._reads is None:
            self._wait_for_reading()

    def resume_writing(self) -> None:
        self._is_read()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_no_more()
        self._is_read()
        super().connection_lost(exc)

    def _wait_so_long(self) -> None:
        """Limit the time for receiving a whole request. Receiving single bytes does not extend this
        time."""
        handed_over = self.transport.get_protocol() is not self  # to the websocket protocol
        if handed_over or self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._wait_no_more()
        elif self._patience is None:
            self._patience = self.loop.call_later(
                ASIDE_WITHIN_S if self.is_aside else REQUEST_WITHIN_S, self.transport.abort
            )

    def _wait_for_reading(self) -> None:
        """Require the client to accept TAKEN_BYTES within each TAKEN_WITHIN_S, so that long
        responses can still finish on slow networks."""
        waits = self.transport.get_write_buffer_size()
        self._reads = self.loop.call_later(TAKEN_WITHIN_S, self._look_at_reading, waits)

    def _look_at_reading(self, waited: int) -> None:
        if waited - self.transport.get_write_buffer_size() < TAKEN_BYTES:
            self.transport.abort()
        else:
            self._wait_for_reading()

    def _is_read(self) -> None:
        if self._reads is not None:
            self._reads.cancel()
            self._reads = None

    def _wait_no_more(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None


class _Server(uvicorn.Server):
    """A uvicorn server without signal handlers and without polling. It accepts the connections
    itself, because those that are still in the TLS handshake must count towards the limit."""

    def __init__(
        self, config: uvicorn.Config, listener: socket.socket, always: Container[str]
    ) -> None:
        super().__init__(config)
        self._listener = listener
        self._always = always
        self._ended = asyncio.Event()
        self._greeted: dict[_Connection, str] = {}  # connections being accepted, with their origins
        self._aside: dict[_Connection, None] = {}  # connections beyond the limit, oldest first

    def end(self) -> None:
        self.should_exit = True
        self._ended.set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start without opening a socket, because the listener already exists."""
        await self.lifespan.startup()
        self.servers = []
        self.started = True

    async def main_loop(self) -> None:
        async with asyncio.TaskGroup() as group:
            accepting = group.create_task(self._accept(), name="http-accept")
            await self._ended.wait()
            accepting.cancel()

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as group:
            while True:
                try:
                    one, address = await loop.sock_accept(self._listener)
                except ConnectionError:  # already closed
                    continue
                except OSError as error:
                    _log.warning("Connections cannot be accepted: %s", error.strerror)
                    await asyncio.sleep(_ACCEPT_AGAIN_S)
                    continue
                place = place_of(str(address[0]))
                connection = _Connection(self.config, self.server_state, self.lifespan.state)
                if not ROOM.is_left(place, self._places()):
                    self._put_aside(connection)
                self._greeted[connection] = place
                group.create_task(self._greet(one, connection), name="http-greet")
                await asyncio.sleep(0)  # let other tasks run between connections

    async def _greet(self, one: socket.socket, connection: _Connection) -> None:
        tls = self.config.ssl
        within_s = ASIDE_WITHIN_S if connection.is_aside else HANDSHAKE_WITHIN_S
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: connection,
                one,
                ssl=tls,
                ssl_handshake_timeout=within_s if tls else None,
                ssl_shutdown_timeout=within_s if tls else None,
            )
        except OSError as error:  # or the TLS handshake failed
            _log.debug("A connection failed: %s", error)
        except Exception:  # any error affects only this connection
            _log.exception("A connection could not be accepted")
        finally:
            del self._greeted[connection]

    def _places(self) -> Iterator[str]:
        for one, place in self._greeted.items():
            if not one.is_aside:
                yield place
        for other in self.server_state.connections - self._greeted.keys() - self._aside.keys():
            peer = other.transport.get_extra_info("peername")
            yield place_of(str(peer[0])) if peer else ""

    def _put_aside(self, connection: _Connection) -> None:
        for one in list(self._aside):
            if one not in self._greeted and one not in self.server_state.connections:
                del self._aside[one]  # closed
        if len(self._aside) >= MOST_ASIDE:
            oldest = next(iter(self._aside))
            del self._aside[oldest]
            oldest.give_way()
        connection.put_aside(_only(self.config.loaded_app, self._always))
        self._aside[connection] = None

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def serving(
    app: ASGIApp,
    host: str,
    port: int,
    tls: ssl.SSLContext | None = None,
    always: Container[str] = (),
) -> AsyncIterator[int]:
    """Serve `app` and yield the port, which the system chooses if `port` is 0. `tls` enables HTTPS.
    Paths in `always` are served no matter how many connections are open. Raises Misconfigured if
    the server cannot listen on this address."""
    listener = _listen(host, port)
    config = uvicorn.Config(
        _dated(app),
        http=_Connection,
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="websockets-sansio",
        ws_max_size=MOST_MESSAGE,
        ws_per_message_deflate=False,  # sound can't be compressed, and each connection needs 100 kB
        backlog=_BACKLOG,
        timeout_graceful_shutdown=_STOP_WITHIN_S,
        server_header=False,
        date_header=False,  # uvicorn updates it in its own loop, which does not run here
        proxy_headers=False,  # identify callers by the connection, not by headers
        ssl_context_factory=None if tls is None else lambda config, usual: tls,
    )
    server = _Server(config, listener, always)
    # uvicorn closes the listener, unless it is stopped before it has started.
    with listener:
        async with asyncio.TaskGroup() as group:
            served = group.create_task(server.serve([listener]), name=f"http-{port}")
            try:
                yield listener.getsockname()[1]
            finally:
                server.end()
                # If this task is cancelled, the group would cancel the server too early: the event
                # loop would keep watching a closed socket, and old connections would still be
                # served.
                await asyncio.wait([served])


def _only(app: ASGIApp, paths: Container[str]) -> ASGIApp:
    """Restrict the application to these paths and to one request per connection."""

    async def narrowed(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_and_close(message: Message) -> None:
            if message["type"] == "http.response.start":
                close = (b"connection", b"close")
                message = {**message, "headers": [close, *message.get("headers", ())]}
            await send(message)

        answer: ASGIApp = app if scope.get("path") in paths else _FULL
        await answer(scope, receive, send_and_close)

    return narrowed


def _dated(app: ASGIApp) -> ASGIApp:
    async def dated(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_dated(message: Message) -> None:
            if message["type"] == "http.response.start":
                date = (b"date", formatdate(usegmt=True).encode())
                message = {**message, "headers": [date, *message.get("headers", ())]}
            await send(message)

        await app(scope, receive, send_dated)

    return dated


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise Misconfigured(
                f"Port {port} on {host} is in use: choose another http.port, or stop the "
                "program that is using it"
            ) from error
        raise Misconfigured(f"Cannot listen on {host} port {port}: {error.strerror}") from error
    # Accepted connections inherit this option. asyncio sets it only on sockets that name their
    # protocol, and Nagle's algorithm would delay each response by 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for way in (socket.SO_SNDBUF, socket.SO_RCVBUF):
        listener.setsockopt(socket.SOL_SOCKET, way, _BUFFER)
    listener.setblocking(False)
    return listener
