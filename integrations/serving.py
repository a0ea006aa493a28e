"""Serves an ASGI application from inside our own event loop, for as long as a context is open."""

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

_STOP_WITHIN_S = 2  # open requests get this long when the server stops
_BACKLOG = 64  # connections that wait; asyncio takes in, and complains of, as many at a time
# Anybody may connect, without a token too: who does and says nothing must not take every file that
# the process may have open, or it could neither speak nor write any more.
MOST_CONNECTIONS = 128  # at once; a house has a few panels, programs and browsers
ROOM = ConnectionRoom(MOST_CONNECTIONS, of_one=64, few=8, kept_for_few=32, kept_for_loopback=16)
# Beyond that a connection is taken for a request that is always answered, and for nothing else. The
# oldest of these gives way: who asks at once is answered, and who only waits holds up nobody.
MOST_ASIDE = 16
ASIDE_WITHIN_S = 2.0  # the whole of such a request
HANDSHAKE_WITHIN_S = 5.0  # of TLS, until which nobody has said anything
REQUEST_WITHIN_S = 20.0  # the whole of a request, once it is waited for
# What waits to be sent, or so much of it; whoever reads nothing would keep a place for ever.
TAKEN_WITHIN_S, TAKEN_BYTES = 10.0, 128 * 1024
# Bytes that the kernel keeps for one connection each way (it doubles them). By itself it keeps some
# megabytes of what somebody does not read, and all connections together the memory of a small box.
_BUFFER = 128 * 1024
_ACCEPT_AGAIN_S = 1.0  # where the system has none left; asyncio waits as long

_log = logging.getLogger(__name__)
_FULL = PlainTextResponse(
    "Too many connections are open; close some, or try again.\n", 503, {"Retry-After": "20"}
)


class _Connection(H11Protocol):
    """One that has so long to say what it wants, and to take what it is answered; uvicorn alone
    waits for ever."""

    _patience: asyncio.TimerHandle | None = None  # while a request is waited for
    _reads: asyncio.TimerHandle | None = None  # while more waits to be sent than should
    _gives_way = False
    is_aside = False  # beyond the room that there is

    def put_aside(self, app: ASGIApp) -> None:
        """Before it is made: it is for this application alone, and soon."""
        self.app = app
        self.ws_protocol_class = None  # which would be given all of them
        self.is_aside = True

    def give_way(self) -> None:
        """End at once, or as soon as it is there."""
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
        """Until all of it is there: a byte now and then is no reason to wait longer."""
        handed_over = self.transport.get_protocol() is not self  # to a websocket
        if handed_over or self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._wait_no_more()
        elif self._patience is None:
            self._patience = self.loop.call_later(
                ASIDE_WITHIN_S if self.is_aside else REQUEST_WITHIN_S, self.transport.abort
            )

    def _wait_for_reading(self) -> None:
        """As long as enough is taken each time: a long answer over a slow network is no fault."""
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
    """uvicorn without its signal handlers, and without its ten looks a second whether it is to
    stop: the program decides that, and says so. It lets connections in by itself, since those in
    the midst of a TLS handshake count too and uvicorn knows nothing of them."""

    def __init__(
        self, config: uvicorn.Config, listener: socket.socket, always: Container[str]
    ) -> None:
        super().__init__(config)
        self._listener = listener
        self._always = always
        self._ended = asyncio.Event()
        self._greeted: dict[_Connection, str] = {}  # who is let in just now, and from where
        self._aside: dict[_Connection, None] = {}  # who is beyond the room that there is

    def end(self) -> None:
        """Stop, now or as soon as it has started."""
        self.should_exit = True
        self._ended.set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """There is nothing to open: the listener is there."""
        await self.lifespan.startup()
        self.servers = []
        self.started = True

    async def main_loop(self) -> None:
        """Serve until `end`."""
        async with asyncio.TaskGroup() as group:
            accepting = group.create_task(self._accept(), name="http-accept")
            await self._ended.wait()
            accepting.cancel()

    async def _accept(self) -> None:
        """Let in who connects; whoever would be too many may ask only what is always answered."""
        loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as group:
            while True:
                try:
                    one, address = await loop.sock_accept(self._listener)
                except ConnectionError:  # it has gone again
                    continue
                except OSError as error:
                    _log.warning("No connection can be taken: %s", error.strerror)
                    await asyncio.sleep(_ACCEPT_AGAIN_S)
                    continue
                place = place_of(str(address[0]))
                connection = _Connection(self.config, self.server_state, self.lifespan.state)
                if not ROOM.is_left(place, self._places()):
                    self._put_aside(connection)
                self._greeted[connection] = place
                group.create_task(self._greet(one, connection), name="http-greet")
                await asyncio.sleep(0)  # a crowd at the door must not hold up the rest

    async def _greet(self, one: socket.socket, connection: _Connection) -> None:
        """Up to the end of the TLS handshake; from then on it is among uvicorn's connections."""
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
        except OSError as error:  # a failed handshake is one too; who it was is nobody's concern
            _log.debug("A connection came to nothing: %s", error)
        except Exception:  # whatever a stranger sends costs that one connection
            _log.exception("A connection could not be let in")
        finally:
            del self._greeted[connection]

    def _places(self) -> Iterator[str]:
        """Where each connection comes from that takes of the room."""
        for one, place in self._greeted.items():
            if not one.is_aside:
                yield place
        for other in self.server_state.connections - self._greeted.keys() - self._aside.keys():
            peer = other.transport.get_extra_info("peername")
            yield place_of(str(peer[0])) if peer else ""

    def _put_aside(self, connection: _Connection) -> None:
        """Answer only what is always answered, once; the oldest of those that wait gives way."""
        for one in list(self._aside):
            if one not in self._greeted and one not in self.server_state.connections:
                del self._aside[one]  # it has gone
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
    """Serve `app` and give the port, which the system chooses when `port` is 0. `tls`: by https.
    `always`: the paths that are answered however many connections there are.

    Raises Misconfigured when the address cannot be had.
    """
    listener = _listen(host, port)
    config = uvicorn.Config(
        _dated(app),
        http=_Connection,
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="websockets-sansio",
        backlog=_BACKLOG,
        timeout_graceful_shutdown=_STOP_WITHIN_S,
        server_header=False,
        date_header=False,  # uvicorn renews it with its looks
        proxy_headers=False,  # who asks is who connected, whatever the request says
        ssl_context_factory=None if tls is None else lambda config, usual: tls,
    )
    server = _Server(config, listener, always)
    # uvicorn closes the listener, but not where it is stopped before it has started.
    with listener:
        async with asyncio.TaskGroup() as group:
            served = group.create_task(server.serve([listener]), name=f"http-{port}")
            try:
                yield listener.getsockname()[1]
            finally:
                server.end()
                # Where we are cancelled the group would cut it short: the loop would go on to look
                # at a closed socket, and old connections would be served for as long as it runs.
                await asyncio.wait([served])


def _only(app: ASGIApp, paths: Container[str]) -> ASGIApp:
    """The application as it is beyond the room that there is: for these paths, and one request."""

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
        listener = socket.create_server((host, port), family=family, backlog=_BACKLOG)
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
    for way in (socket.SO_SNDBUF, socket.SO_RCVBUF):
        listener.setsockopt(socket.SOL_SOCKET, way, _BUFFER)
    listener.setblocking(False)
    return listener
