"""An authenticated websocket to Home Assistant: commands, their results, and event subscriptions.

The protocol is described in Home Assistant's developer documentation under "WebSocket API".
"""

import asyncio
import itertools
import json
import logging
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI

from integrations.address import host_of
from integrations.errors import IntegrationError, Refused, Unavailable, causes
from integrations.home_assistant import reasons
from integrations.home_assistant.house import mapping
from integrations.home_assistant.reasons import CommandRefused, Unanswered

log = logging.getLogger(__name__)

OPEN_TIMEOUT_S = 10.0
LOOKUP_S = 4.0  # for the DNS lookup, which can take 10 s to time out by itself
# A connection that dies silently (power cut, no Wi-Fi) is detected within 10 s.
PING_EVERY_S = 4.0
PONG_WITHIN_S = 5.0
CLOSE_WITHIN_S = 1.0
COMMAND_TIMEOUT_S = 15.0
FORGET_S = 1.0  # for the last message to a server that may be gone
SEND_TIMEOUT_S = 5.0  # for bytes that the server is slow to accept
MAX_MESSAGE_BYTES = 64 * 1024 * 1024  # get_states of 5,000 entities is several megabytes

MAX_WAITING_EVENTS = 64  # per stream; a pipeline run has about ten

UNKNOWN_FORM = "Home Assistant sent an answer that Hearth does not understand."

EventHandler = Callable[[Mapping[str, Any]], None]


class Commands(Protocol):
    """Anything that sends websocket commands: a `Connection`, or `client.HomeAssistant`."""

    async def command(self, kind: str, **fields: Any) -> Any:
        """Send a command and return its result. Raises IntegrationError."""
        ...


class LiveLink(Commands, Protocol):
    """Sends commands over a connection that may be down for a while."""

    @property
    def connected(self) -> bool: ...


class Connection:
    """Commands and events over one open socket. Any task may send, and one task must run `read`."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._ids = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Mapping[str, Any]]] = {}
        self._handlers: dict[int, EventHandler] = {}
        self._streams: set[Stream] = set()
        self._gone: IntegrationError | None = None  # set when reading has ended; the reason

    async def command(self, kind: str, **fields: Any) -> Any:
        """Send a command and return its result. Raises CommandRefused or Unavailable."""
        return await self._send(next(self._ids), kind, fields)

    @asynccontextmanager
    async def stream(self, kind: str, **fields: Any) -> AsyncIterator["Stream"]:
        """Send a command, such as `assist_pipeline/run`, and yield a stream of its events, to which
        bytes can be sent. Leaving the block also ends the command in Home Assistant. Raises
        CommandRefused or Unavailable."""
        number = next(self._ids)
        stream = Stream(self._socket)
        self._handlers[number] = stream.deliver
        self._streams.add(stream)
        try:
            await self._send(number, kind, fields)
            yield stream
        finally:
            self._handlers.pop(number, None)
            self._streams.discard(stream)
            await self._forget(number)

    async def _forget(self, number: int) -> None:
        ending = {"type": "unsubscribe_events", "subscription": number}
        try:
            async with asyncio.timeout(FORGET_S):
                await self._socket.send(json.dumps({"id": next(self._ids), **ending}))
        except (TimeoutError, ConnectionClosed):
            log.debug("A stream could not be closed because the connection is gone.")

    async def subscribe(self, handler: EventHandler, kind: str, **fields: Any) -> Any:
        """Send a subscribing command and return its result. `handler` gets each event, in order.
        Raises CommandRefused or Unavailable."""
        number = next(self._ids)
        self._handlers[number] = handler
        return await self._send(number, kind, fields)

    async def unsubscribe(self, handler: EventHandler) -> None:
        """End all subscriptions of this handler without waiting for the results."""
        for number in [number for number, known in self._handlers.items() if known == handler]:
            del self._handlers[number]
            await self._forget(number)

    async def _send(self, number: int, kind: str, fields: Mapping[str, Any]) -> Any:
        if self._gone is not None:
            raise self._gone
        answer: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        try:
            async with asyncio.timeout(COMMAND_TIMEOUT_S):
                await self._socket.send(json.dumps({"id": number, "type": kind, **fields}))
                message = await answer
        except (TimeoutError, ConnectionClosed) as gone:
            timed_out = isinstance(gone, TimeoutError)
            sentence = f"Home Assistant did not answer {kind}."
            raise Unanswered(sentence, timed_out=timed_out) from None
        finally:
            self._answers.pop(number, None)
        if not message.get("success"):
            error = mapping(message.get("error"))
            reason = error.get("message", "no reason given")
            sentence = f"Home Assistant rejected {kind}: {reason}."
            raise CommandRefused(sentence, str(error.get("code", "")))
        return message.get("result")

    async def answers(self, within_s: float) -> bool:
        """Send a ping and return True if Home Assistant answers it within `within_s` seconds."""
        try:
            async with asyncio.timeout(within_s):
                await (await self._socket.ping())
        except (TimeoutError, ConnectionClosed):
            return False
        return True

    async def read(self) -> None:
        """Deliver incoming messages until the socket closes, then raise Unavailable."""
        gone: IntegrationError = Unavailable("The connection to Home Assistant closed.")
        try:
            async for text in self._socket:
                content = json.loads(text)
                # One frame may contain several messages.
                for message in content if isinstance(content, list) else [content]:
                    self._deliver(message)
        except (ConnectionClosed, ValueError) as error:
            log.debug("The websocket closed: %s", error)
        except (AttributeError, KeyError, RecursionError, TypeError) as error:
            log.debug("The websocket was closed after an invalid message.", exc_info=error)
            gone = Unavailable(UNKNOWN_FORM)
        finally:
            self._gone = gone
            for answer in self._answers.values():
                if not answer.done():
                    answer.set_exception(Unanswered(str(gone), timed_out=False))
                    # marks the exception as retrieved: the caller may still be sending
                    answer.exception()
            for stream in self._streams:
                stream.end(gone)
        raise gone

    def _deliver(self, message: Mapping[str, Any]) -> None:
        number = message.get("id", 0)
        if message.get("type") == "event":
            handler = self._handlers.get(number)
            if handler is not None:
                handler(message.get("event") or {})
            return
        answer = self._answers.get(number)
        if answer is not None and not answer.done():
            answer.set_result(message)


class Stream:
    """Sends bytes to a running command and yields its events to one task.

    Each binary message starts with a number from the first event (`run-start`). A message that
    contains only this number ends the input.
    """

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        # None marks the end; `_error` then has the reason.
        self._events: asyncio.Queue[Mapping[str, Any] | None] = asyncio.Queue(MAX_WAITING_EVENTS)
        self._error: IntegrationError = Unavailable("The connection to Home Assistant closed.")
        self._handler: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def send(self, data: bytes) -> None:
        """Send bytes, or b"" to end the input. Raises Unavailable."""
        try:
            async with asyncio.timeout(SEND_TIMEOUT_S):
                number = await asyncio.shield(self._handler)
                await self._socket.send(bytes([number]) + data)
        except (TimeoutError, ConnectionClosed):
            raise Unavailable("Home Assistant does not accept audio.") from None

    def __aiter__(self) -> "Stream":
        return self

    async def __anext__(self) -> Mapping[str, Any]:
        if (event := await self._events.get()) is None:
            raise self._error
        return event

    def deliver(self, event: Mapping[str, Any]) -> None:
        runner = mapping(mapping(event.get("data")).get("runner_data"))
        number = runner.get("stt_binary_handler_id")
        if isinstance(number, int) and number in range(256) and not self._handler.done():
            self._handler.set_result(number)
        if self._events.qsize() < MAX_WAITING_EVENTS - 1:  # one slot is kept for the end marker
            self._events.put_nowait(event)
        else:
            self.end(Unavailable("Home Assistant is sending a stream faster than it can be read."))

    def end(self, error: IntegrationError) -> None:
        """End the stream: once the queued events are read, `__anext__` raises `error`."""
        self._error = error
        if not self._events.full():
            self._events.put_nowait(None)
        if not self._handler.done():
            self._handler.set_exception(error)
            self._handler.exception()  # marks the exception as retrieved: nobody may be waiting


class _Connect(connect):
    """A connection that does not follow redirects, because it would send the token to the
    redirect's target."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


@asynccontextmanager
async def open_connection(
    url: str, token: str, tls: ssl.SSLContext | None
) -> AsyncIterator[Connection]:
    """Connect and sign in. `url` is Home Assistant's base URL ("http://host:8123"). Raises
    Misconfigured, SignInAgain or Unavailable."""
    if host_of(url) is None:
        raise reasons.no_address(url)
    scheme, _, rest = url.rstrip("/").partition("://")
    try:
        await _look_up(url)
        socket = await _Connect(
            f"{'wss' if scheme.lower() == 'https' else 'ws'}://{rest}/api/websocket",
            ssl=tls,
            open_timeout=OPEN_TIMEOUT_S,
            ping_interval=PING_EVERY_S,
            ping_timeout=PONG_WITHIN_S,
            close_timeout=CLOSE_WITHIN_S,
            max_size=MAX_MESSAGE_BYTES,
            # An internet proxy cannot reach Home Assistant on the local network.
            proxy=None,
        )
    # UnicodeError: an invalid host name ("a..b").
    except (InvalidURI, InvalidHandshake, OSError, TimeoutError, UnicodeError) as error:
        raise _explained(error, url) from error
    async with socket:
        await _sign_in(socket, url, token)
        yield Connection(socket)


async def _look_up(url: str) -> None:
    """Resolve the host name first, to distinguish a DNS failure from an unreachable host."""
    try:
        async with asyncio.timeout(LOOKUP_S):
            await asyncio.get_running_loop().getaddrinfo(host_of(url), None)
    except TimeoutError:
        raise reasons.no_name_server(url) from None


def _explained(error: Exception, url: str) -> IntegrationError:
    if isinstance(error, InvalidURI | UnicodeError):
        return reasons.no_address(url)
    if isinstance(error, InvalidStatus):
        answer = error.response
        text = (answer.body or b"").decode(errors="replace")
        return reasons.by_status(
            url, answer.status_code, text, answer.headers.get("Location") or ""
        )
    if isinstance(error, InvalidHandshake):
        ended = any(isinstance(cause, EOFError) for cause in causes(error))
        return reasons.hung_up(url) if ended else reasons.something_else(url)
    return reasons.network(url, error)


async def _sign_in(socket: ClientConnection, url: str, token: str) -> None:
    try:
        async with asyncio.timeout(OPEN_TIMEOUT_S):
            await socket.recv()  # auth_required
            await socket.send(json.dumps({"type": "auth", "access_token": token}))
            said = json.loads(await socket.recv())["type"]
    except TimeoutError:
        raise reasons.silent(url) from None
    except (ConnectionClosed, ValueError):
        raise Unavailable("Home Assistant closed the connection while signing in.") from None
    except (KeyError, RecursionError, TypeError):
        raise Unavailable(UNKNOWN_FORM) from None
    if said == "auth_invalid":
        raise reasons.wrong_token()
    if said != "auth_ok":  # not a rejected token, so try again soon
        raise Unavailable(UNKNOWN_FORM)


@dataclass(eq=False, slots=True)
class Followed:
    """A subscription that is renewed on every new connection."""

    handler: EventHandler
    kind: str
    fields: Mapping[str, Any] = field(repr=False)  # may contain a secret, such as a webhook id
    over: bool = False
    _begun: Connection | None = None  # the connection of the last subscription

    async def begin(self, connection: Connection) -> None:
        """Subscribe on this connection, at most once. Errors are logged."""
        if self._begun is connection or self.over:
            return
        self._begun = connection
        try:
            await connection.subscribe(self._hear, self.kind, **self.fields)
        except Refused as error:
            log.warning("%s", error)
        except Unavailable as error:
            log.info("%s", error)
        if self.over:  # stopped during the request
            await connection.unsubscribe(self._hear)

    def stop(self) -> None:
        """Stop delivering events, and don't subscribe on later connections."""
        self.over = True

    async def unsubscribe(self, connection: Connection) -> None:
        await connection.unsubscribe(self._hear)

    def _hear(self, event: Mapping[str, Any]) -> None:
        """Deliver an event. An exception in the handler must not close the connection."""
        if self.over:
            return
        try:
            self.handler(event)
        except Exception:
            log.exception("An event of %s could not be processed", self.kind)
