"""Facts of HTTP that the SDK hides: the status or the network error behind each request.

The SDK reports a refused token, a missing page and a dead host with the same generic error, and one
failed POST ends its whole session. Each request here leaves its fate in a `Trace` that the caller
put into the context, and a network error becomes an ordinary answer, so that other calls live on.
"""

import asyncio
import json
import ssl
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import httpx2

from integrations.errors import IntegrationError, Misconfigured, SignInAgain, Unavailable, causes
from integrations.home_assistant import reasons
from integrations.mcp.servers import ServerSpec

# How much a server may send unasked: enough for any honest one, too little to hurt.
BYTES = (32 * 1024 * 1024, 2 * 1024 * 1024)  # at once, and each second from then on
MESSAGES = (2_000, 100)  # lines of a program; events of a stream have two or three


class Allowance:
    """A bucket that fills with time. Pure: the caller brings the time."""

    def __init__(self, at_once: float, per_s: float) -> None:
        self._size = at_once
        self._per_s = per_s
        self._left = at_once
        self._at_s: float | None = None  # of the last taking

    def take(self, amount: float, now_s: float) -> bool:
        """Take `amount` at `now_s` (any monotonic clock); False: there is not so much."""
        if self._at_s is not None:
            self._left = min(self._size, self._left + (now_s - self._at_s) * self._per_s)
        self._at_s = now_s
        if amount > self._left:
            return False
        self._left -= amount
        return True


@dataclass(slots=True)
class Flow:
    """Of one connection: bytes and messages."""

    _bytes: Allowance = field(default_factory=lambda: Allowance(*BYTES))
    _messages: Allowance = field(default_factory=lambda: Allowance(*MESSAGES))

    def take(self, part: bytes, now_s: float) -> bool:
        """Take this much more; False: it is too much. A line is a message."""
        return self._bytes.take(len(part), now_s) and self._messages.take(part.count(b"\n"), now_s)


KEEP_ALIVE_S = 50.0  # a new connection per turn would cost a handshake; aiohttp keeps 75 s
CONNECT_S = 5.0
FAREWELL_S = 2.0  # for what wants no answer: the SDK sends nothing else until it has its status
# The tools of a house of 5,000 entities are 19 kB; 8 MB of empty objects take 2 s to read.
MAX_ANSWER_BYTES = 4 * 1024 * 1024
_KINDS = ("application/json", "text/event-stream")
STREAMS = (20, 0.5)  # event streams opened, at once and each second: the server says how soon again


@dataclass(slots=True)
class Trace:
    """The fate of the requests made in one context; the last failure stays."""

    status: int | None = None  # of the last answer that was 400 or more
    error: httpx2.TransportError | None = None
    begun: bool = False  # at least one request was given to the network
    connected: bool = False  # at least one request may have reached the server
    unreadable: bool = False  # an answer came that is of no kind that MCP knows
    limit: asyncio.Timeout | None = None  # of the wait under way; see `patience`
    undelivered: bool = False  # that wait was ended, as no answer could come any more

    @property
    def never_sent(self) -> bool:
        """True where no connection came about, so nothing can have run."""
        return self.error is not None and not self.connected

    def sending(self) -> None:
        """Note a request that is given to the network."""
        self.begun = True

    def answered(self, status: int, readable: bool | None) -> None:
        """Note an answer; `readable`: it is of a kind that MCP knows, None where none is due."""
        self.connected = True
        if readable is not None:
            self.unreadable = not readable
        if status >= 400:
            self.status = status

    def pass_over(self) -> None:
        """Forget the status of an endpoint that is absent: the next one is tried."""
        self.status = None

    @asynccontextmanager
    async def patience(self, limit_s: float) -> AsyncIterator[None]:
        """Raise TimeoutError after `limit_s`, and Undelivered as soon as no answer can come."""
        try:
            async with asyncio.timeout(limit_s) as self.limit:
                try:
                    yield
                finally:
                    self.limit = None
        except TimeoutError:
            if self.undelivered:
                raise Undelivered from None
            raise

    def failed(self, error: httpx2.TransportError) -> None:
        """Note a request that the network ended."""
        self.error = error
        if not isinstance(error, (httpx2.ConnectError, httpx2.ConnectTimeout)):
            self.connected = True

    def hopeless(self) -> None:
        """A request did not arrive: end the wait for its answer."""
        if self.limit is not None:
            self.limit.reschedule(asyncio.get_running_loop().time())
            self.limit = None
            self.undelivered = True

    @property
    def clean(self) -> bool:
        """True where HTTP went well: what failed was said by the server in its own protocol."""
        return self.status is None and self.error is None


_TRACE: ContextVar[Trace | None] = ContextVar("mcp_trace", default=None)


@contextmanager
def tracing() -> Iterator[Trace]:
    """Note the fate of the requests that the SDK makes on behalf of this block."""
    trace = Trace()
    token = _TRACE.set(trace)
    try:
        yield trace
    finally:
        _TRACE.reset(token)


class Undelivered(Exception):
    """A request was refused or could not be sent, in a way that the SDK does not tell."""


def was_cancelled() -> bool:
    """True where the running task was told to end, though what it ran raised something else: a task
    group whose tasks fail while it is being cancelled raises their errors and loses that."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class TracingTransport(httpx2.AsyncBaseTransport):
    """Passes requests on and notes how they ended.

    `aside`: answers come in a stream of their own, as in the SSE transport. The SDK (2.3) then
    waits for them even where the request was refused or could not be sent.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport, *, aside: bool = False) -> None:
        self._inner = inner
        self._aside = aside
        self._flow = Flow()  # of all event streams
        self._streams = Allowance(*STREAMS)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send it; a network error comes back as status 503 (RFC 9110 section 15.6.4)."""
        trace = _TRACE.get() or Trace()
        response = await self._traced(request, trace)
        if self._aside and request.method == "POST" and response.status_code >= 400:
            trace.hopeless()
        return response

    async def _traced(self, request: httpx2.Request, trace: Trace) -> httpx2.Response:
        if trace.status == 401:  # the SDK would try on, and servers note each refused credential
            return httpx2.Response(401, request=request)
        if request.method == "GET" and not self._streams.take(1, time.monotonic()):
            return httpx2.Response(503, request=request)
        asks = _asks(request)
        request.extensions["timeout"]["read"] = _patience_s(request, asks)
        trace.sending()
        try:
            response = await self._inner.handle_async_request(request)
        except httpx2.TransportError as error:
            trace.failed(error)
            return httpx2.Response(503, request=request)
        kind = response.headers.get("content-type", "")
        due = asks and not self._aside and response.is_success
        trace.answered(response.status_code, kind.startswith(_KINDS) if due else None)
        # Nothing compressed was asked for, and what a small answer unpacks to has no bound.
        response.headers.pop("content-encoding", None)
        endless = kind.startswith("text/event-stream")
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        flow = self._flow if endless else None
        response.stream = _Watched(response.stream, trace, flow)
        return response

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


class _Watched(httpx2.AsyncByteStream):
    """A body whose end, if it is a bad one, is noted and told in a way that the SDK survives."""

    def __init__(self, inner: httpx2.AsyncByteStream, trace: Trace, flow: Flow | None) -> None:
        """`flow`: what an event stream may still bring; None: a plain answer, which is counted."""
        self._inner = inner
        self._trace = trace
        self._flow = flow

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        try:
            async for part in self._inner:
                size += len(part)
                if self._flow is None and size > MAX_ANSWER_BYTES:
                    raise httpx2.ReadError(f"an answer of more than {MAX_ANSWER_BYTES} bytes")
                if self._flow is not None and not self._flow.take(part, time.monotonic()):
                    raise httpx2.ReadError("events without end")
                yield part
        except httpx2.TransportError as error:
            self._trace.failed(error)
            # Any other error would end the SDK's session and all calls under way in it.
            raise httpx2.StreamError(str(error)) from error

    async def aclose(self) -> None:
        await self._inner.aclose()


def _asks(request: httpx2.Request) -> bool:
    """True of a request that wants an answer."""
    if request.method != "POST":
        return False
    message = json.loads(request.content)
    return isinstance(message, dict) and "id" in message


def _patience_s(request: httpx2.Request, asks: bool) -> float | None:
    """Time that the server may be silent. Calls have their own time-out, event streams none."""
    return None if asks or request.method == "GET" else FAREWELL_S


def http_client(
    headers: dict[str, str] | None,
    tls: ssl.SSLContext | bool,
    timeout_s: float,
    *,
    aside: bool = False,
) -> httpx2.AsyncClient:
    """A client for one server: its headers go to no other, and redirects stay on its host.

    `aside` as in `TracingTransport`.
    """
    limits = httpx2.Limits(
        max_connections=64, max_keepalive_connections=32, keepalive_expiry=KEEP_ALIVE_S
    )
    plain = httpx2.AsyncHTTPTransport(verify=tls, limits=limits)
    return httpx2.AsyncClient(
        headers={"Accept-Encoding": "identity", **(headers or {})},
        timeout=httpx2.Timeout(timeout_s, connect=CONNECT_S, read=None),
        transport=TracingTransport(plain, aside=aside),
    )


# Why a server cannot be used, as one sentence that names the setting and the mend.


def explain(spec: ServerSpec, trace: Trace, error: BaseException) -> IntegrationError:
    """The error for a server that did not open or answer, by what is known of the request."""
    found = list(causes(trace.error or error))
    for cause in found:
        if isinstance(cause, IntegrationError):
            return cause
    if any(isinstance(cause, UnicodeEncodeError) for cause in found):
        if spec.home_assistant:
            return reasons.unsendable_token()
        secret = spec.key("headers")
        return SignInAgain(f"A character beyond plain ASCII cannot be sent: check {secret}.")
    if trace.error is not None:
        return _by_network(spec, trace.error)
    if trace.status is not None:
        return _by_status(spec, trace.status)
    if spec.transport == "stdio" and any(isinstance(cause, OSError) for cause in found):
        return Misconfigured(
            f"{_title(spec)} cannot be started: check command = {spec.command!r} in {spec.setting}."
        )
    if any(isinstance(cause, TimeoutError) for cause in found):
        return Unavailable(f"{_title(spec)} did not answer in time: check that it is running.")
    return Unavailable(
        f"{_title(spec)} does not speak MCP as expected ({_kind(found)}): "
        f"check {spec.key('url' if spec.url else 'command')}."
    )


def leaves_open(trace: Trace) -> bool:
    """True where somebody else should be asked for the reason: the server answered, but not as MCP.

    A refused token is clear, and Home Assistant notes each use of it; of a broken network nobody
    knows more.
    """
    return trace.connected and trace.error is None and trace.status != 401


def _by_network(spec: ServerSpec, error: httpx2.TransportError) -> IntegrationError:
    if spec.home_assistant:
        return reasons.network(spec.url, error)
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes(error)):
        return Misconfigured(
            f"The certificate of {spec.address} is not trusted: set {spec.key('ca_file')} to its "
            f"authority, or {spec.key('verify_tls')} to false."
        )
    return Unavailable(
        f"{_title(spec)} does not answer at {spec.address}: check {spec.key('url')} "
        "and that it is running."
    )


def _by_status(spec: ServerSpec, status: int) -> IntegrationError:
    if spec.home_assistant:
        return _of_home(spec, status)
    title = _title(spec)
    if status == 401:
        return SignInAgain(f"{title} does not accept the credential in {spec.key('headers')}.")
    if status == 403:
        return SignInAgain(f"{title} forbids this credential: check {spec.key('headers')}.")
    if status == 404:
        return Misconfigured(f"Nothing is at {spec.address}: check {spec.key('url')}.")
    if status >= 500:
        return Unavailable(f"{title} answers with status {status}: it may still be starting.")
    return Misconfigured(
        f"{spec.address} answers with status {status}, not as an MCP server: "
        f"check {spec.key('url')}."
    )


def _of_home(spec: ServerSpec, status: int) -> IntegrationError:
    """Reason that the status alone gives of Home Assistant; asked over REST it may tell more."""
    if status == 401:
        return reasons.wrong_token()
    if status == 403:
        return reasons.not_admin()
    if status == 404:
        return reasons.no_mcp_server(spec.url)
    if status >= 500:
        return reasons.behind_proxy(spec.url, status)
    return reasons.something_else(spec.url)


def _title(spec: ServerSpec) -> str:
    return "Home Assistant" if spec.home_assistant else f'The MCP server "{spec.name}"'


def _kind(found: list[BaseException]) -> str:
    """The innermost error's class; groups and cancellations only carry it."""
    plain = [
        cause
        for cause in found
        if not isinstance(cause, (BaseExceptionGroup, asyncio.CancelledError))
    ]
    return type((plain or found)[-1]).__name__
