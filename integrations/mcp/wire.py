"""HTTP details that the SDK hides: the status or network error of each request.

The SDK reports different failures with the same generic error, and a single failed POST ends its
whole session. Here, each request records its outcome in the current context's `Trace`, and a
network error becomes an ordinary response, so that other calls continue.
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

# Limits for unsolicited data: enough for any honest server, too little to do harm.
BYTES = (32 * 1024 * 1024, 2 * 1024 * 1024)  # bytes at once, and per second after that
MESSAGES = (2_000, 100)  # lines at once, and per second; a streamed event has two or three


class Allowance:
    """A token bucket that refills over time. The caller supplies the time."""

    def __init__(self, at_once: float, per_s: float) -> None:
        self._size = at_once
        self._per_s = per_s
        self._left = at_once
        self._at_s: float | None = None  # time of the last `take`

    def take(self, amount: float, now_s: float) -> bool:
        """Take `amount` at the time `now_s` (any monotonic clock). Returns False if too little is
        left."""
        if self._at_s is not None:
            self._left = min(self._size, self._left + (now_s - self._at_s) * self._per_s)
        self._at_s = now_s
        if amount > self._left:
            return False
        self._left -= amount
        return True


@dataclass(slots=True)
class Flow:
    """Limits on the bytes and messages of a connection."""

    _bytes: Allowance = field(default_factory=lambda: Allowance(*BYTES))
    _messages: Allowance = field(default_factory=lambda: Allowance(*MESSAGES))

    def take(self, part: bytes, now_s: float) -> bool:
        """Count the data and return False if it exceeds a limit."""
        return self._bytes.take(len(part), now_s) and self._messages.take(part.count(b"\n"), now_s)


KEEP_ALIVE_S = 50.0  # saves a handshake per turn; aiohttp closes idle connections after 75 s
CONNECT_S = 5.0
# Timeout for messages without an answer: the SDK sends nothing else until it has their status.
FAREWELL_S = 2.0
# The tools of a house with 5,000 entities are 19 kB; 8 MB of empty objects take 2 s to read.
MAX_ANSWER_BYTES = 4 * 1024 * 1024
_KINDS = ("application/json", "text/event-stream")
# event streams to open at once, and per second; the server sets the retry interval
STREAMS = (20, 0.5)


@dataclass(slots=True)
class Trace:
    """The outcomes of the requests in one context. Only the last failure is kept."""

    status: int | None = None  # of the last response with status 400 or higher
    error: httpx2.TransportError | None = None
    begun: bool = False  # at least one request was sent
    connected: bool = False  # at least one request may have reached the server
    unreadable: bool = False  # the last response had a content type that MCP does not use
    limit: asyncio.Timeout | None = None  # for the current `patience`
    undelivered: bool = False  # `hopeless` ended the wait

    @property
    def never_sent(self) -> bool:
        # No connection was made, so no call can have run.
        return self.error is not None and not self.connected

    def sending(self) -> None:
        self.begun = True

    def answered(self, status: int, readable: bool | None) -> None:
        """Record a response. `readable` is False if MCP does not use the response's content type,
        and None if that does not matter."""
        self.connected = True
        if readable is not None:
            self.unreadable = not readable
        if status >= 400:
            self.status = status

    def pass_over(self) -> None:
        """Forget a missing endpoint's status before trying the next endpoint."""
        self.status = None

    @asynccontextmanager
    async def patience(self, limit_s: float) -> AsyncIterator[None]:
        """Raise TimeoutError after `limit_s`, or Undelivered once no answer can arrive."""
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
        self.error = error
        if not isinstance(error, (httpx2.ConnectError, httpx2.ConnectTimeout)):
            self.connected = True

    def hopeless(self) -> None:
        """Stop waiting for the answer to a request that was not delivered."""
        if self.limit is not None:
            self.limit.reschedule(asyncio.get_running_loop().time())
            self.limit = None
            self.undelivered = True

    @property
    def clean(self) -> bool:
        # HTTP succeeded, so any failure is an error in the MCP protocol.
        return self.status is None and self.error is None


_TRACE: ContextVar[Trace | None] = ContextVar("mcp_trace", default=None)


@contextmanager
def tracing() -> Iterator[Trace]:
    """Record the outcomes of the SDK's requests inside this block."""
    trace = Trace()
    token = _TRACE.set(trace)
    try:
        yield trace
    finally:
        _TRACE.reset(token)


class Undelivered(Exception):
    """A request was refused or could not be sent, which the SDK does not report."""


def was_cancelled() -> bool:
    """Return True if the current task was cancelled, even if another error was raised."""
    # If the tasks of a task group fail while it is being cancelled, the group raises their errors
    # and the cancellation is lost.
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class TracingTransport(httpx2.AsyncBaseTransport):
    """Forwards requests and records their outcomes.

    With `aside`, answers arrive in a separate stream, as in the SSE transport, where the SDK (2.3)
    waits for an answer even if the request was refused.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport, *, aside: bool = False) -> None:
        self._inner = inner
        self._aside = aside
        self._flow = Flow()  # of all event streams together
        self._streams = Allowance(*STREAMS)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request. A network error becomes a response with status 503 (RFC 9110, 15.6.4)."""
        trace = _TRACE.get() or Trace()
        response = await self._traced(request, trace)
        if self._aside and request.method == "POST" and response.status_code >= 400:
            trace.hopeless()
        return response

    async def _traced(self, request: httpx2.Request, trace: Trace) -> httpx2.Response:
        if trace.status == 401:  # the SDK would retry, and servers log each rejected token
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
        # Hearth requests no compression: a small compressed response could expand without limit.
        response.headers.pop("content-encoding", None)
        endless = kind.startswith("text/event-stream")
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        flow = self._flow if endless else None
        response.stream = _Watched(response.stream, trace, flow)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Watched(httpx2.AsyncByteStream):
    """A response body that replaces errors with errors that do not stop the SDK.

    `flow` limits an event stream. It is None for a plain response, which has its own size limit.
    """

    def __init__(self, inner: httpx2.AsyncByteStream, trace: Trace, flow: Flow | None) -> None:
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
                    raise httpx2.ReadError("an endless stream of events")
                yield part
        except httpx2.TransportError as error:
            self._trace.failed(error)
            # Any other error would end the SDK's session and all its current calls.
            raise httpx2.StreamError(str(error)) from error

    async def aclose(self) -> None:
        await self._inner.aclose()


def _asks(request: httpx2.Request) -> bool:
    if request.method != "POST":
        return False
    message = json.loads(request.content)
    return isinstance(message, dict) and "id" in message


def _patience_s(request: httpx2.Request, asks: bool) -> float | None:
    """Return the read timeout, in seconds, for a message that expects no answer; otherwise None."""
    # Calls have their own timeouts, and event streams have none.
    return None if asks or request.method == "GET" else FAREWELL_S


def http_client(
    headers: dict[str, str] | None,
    tls: ssl.SSLContext | bool,
    timeout_s: float,
    *,
    aside: bool = False,
) -> httpx2.AsyncClient:
    """Create an HTTP client for one server. It never sends headers to another host.

    For `aside`, see `TracingTransport`.
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


# Error messages for a server that cannot be used, with the setting to correct.


def explain(spec: ServerSpec, trace: Trace, error: BaseException) -> IntegrationError:
    """Return the error for a server that did not open or answer, based on the trace."""
    found = list(causes(trace.error or error))
    for cause in found:
        if isinstance(cause, IntegrationError):
            return cause
    if any(isinstance(cause, UnicodeEncodeError) for cause in found):
        if spec.home_assistant:
            return reasons.unsendable_token()
        secret = spec.key("headers")
        return SignInAgain(f"Only plain ASCII characters can be sent: check {secret}.")
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
        f"{_title(spec)} does not behave like an MCP server ({_kind(found)}): check "
        f"{spec.key('url' if spec.url else 'command')}."
    )


def leaves_open(trace: Trace) -> bool:
    """Return True if it is unclear why the session did not open: the server responded, but not with
    MCP."""
    # If the token was rejected, Home Assistant would log every further use of the token. After a
    # network error, further requests would reveal nothing more.
    return trace.connected and trace.error is None and trace.status != 401


def _by_network(spec: ServerSpec, error: httpx2.TransportError) -> IntegrationError:
    if spec.home_assistant:
        return reasons.network(spec.url, error)
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes(error)):
        return Misconfigured(
            f"The certificate of {spec.address} is not trusted: set {spec.key('ca_file')} to "
            f"the file of its certificate authority, or {spec.key('verify_tls')} to false."
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
        return SignInAgain(f"{title} rejected the credentials in {spec.key('headers')}.")
    if status == 403:
        return SignInAgain(
            f"{title} does not give these credentials access: check {spec.key('headers')}."
        )
    if status == 404:
        return Misconfigured(f"There is nothing at {spec.address}: check {spec.key('url')}.")
    if status >= 500:
        return Unavailable(f"{title} answered with status {status}: it may still be starting.")
    return Misconfigured(
        f"{spec.address} answered with status {status}, unlike an MCP server: check "
        f"{spec.key('url')}."
    )


def _of_home(spec: ServerSpec, status: int) -> IntegrationError:
    # `rest.diagnose` can find a more precise error.
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
    plain = [
        cause
        for cause in found
        if not isinstance(cause, (BaseExceptionGroup, asyncio.CancelledError))
    ]
    return type((plain or found)[-1]).__name__
