"""What the SDK hides of HTTP: the status or the network error behind each request.

The SDK reports a refused token, a missing page and a dead host with the same generic error, and one
failed POST ends its whole session. Each request here leaves its fate in a `Trace` that the caller
put into the context, and a network error becomes an ordinary answer, so that other calls live on.
"""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import httpx2

KEEP_ALIVE_S = 50.0  # a new connection per turn would cost a handshake; aiohttp keeps 75 s
CONNECT_S = 5.0


@dataclass(slots=True)
class Trace:
    """The fate of the requests made in one context; the last failure stays."""

    status: int | None = None  # of the last answer that was 400 or more
    error: httpx2.TransportError | None = None

    @property
    def never_sent(self) -> bool:
        """True where no connection came about, so nothing can have run."""
        return isinstance(self.error, (httpx2.ConnectError, httpx2.ConnectTimeout))

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


class TracingTransport(httpx2.AsyncBaseTransport):
    """Passes requests on and notes how they ended."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send it; a network error comes back as status 503 (RFC 9110 section 15.6.4)."""
        trace = _TRACE.get() or Trace()
        try:
            response = await self._inner.handle_async_request(request)
        except httpx2.TransportError as error:
            trace.error = error
            return httpx2.Response(503, request=request)
        if response.status_code >= 400:
            trace.status = response.status_code
        return response

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


def http_client(
    headers: dict[str, str] | None, tls: ssl.SSLContext | bool, timeout_s: float
) -> httpx2.AsyncClient:
    """A client for one server: its headers go to no other, and redirects stay on its host."""
    limits = httpx2.Limits(
        max_connections=64, max_keepalive_connections=32, keepalive_expiry=KEEP_ALIVE_S
    )
    return httpx2.AsyncClient(
        headers=headers,
        # Calls have their own time-out; a server's event stream may be silent for long.
        timeout=httpx2.Timeout(timeout_s, connect=CONNECT_S, read=None),
        transport=TracingTransport(httpx2.AsyncHTTPTransport(verify=tls, limits=limits)),
    )
