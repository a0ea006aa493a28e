"""Fetch single web pages, but only from the public internet.

The URL can be malicious, because a model can choose it under the influence of a page. The host name
is therefore resolved once, all its addresses are checked, and the connection goes to one of the
checked addresses, so that DNS rebinding has no effect. Each redirect is handled in the same way. In
addition, TLS verifies the host name, and a device at home has no certificate for the name of a
public site.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from email.message import Message
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import httpx

from integrations.errors import IntegrationError, Refused, Unavailable
from integrations.tls import tls_context

# The addresses of the public internet. The tables are IANA's special-purpose registries (RFC 6890
# and its additions) as of 2026-11, because the results of `ipaddress.is_global` differ between
# Python releases.


# Private, shared (CGNAT), loopback, link-local, documentation, benchmarks, relays, multicast and
# reserved.
_NOT_OUT_4 = tuple(
    ip_network(text)
    for text in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
        *("172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24"),
        *("192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15"),
        *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
    )
)
# No other IPv6 addresses are routed on the internet: not loopback, mapped (::ffff:), NAT64
# (64:ff9b::), unique local, link-local, site-local or multicast.
_OUT_6 = ip_network("2000::/3")
# Protocol assignments with Teredo and ORCHID, documentation, 6to4, and again documentation.
_NOT_OUT_6 = tuple(
    ip_network(text) for text in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)


def is_out(text: str) -> bool:
    """Return True for an IP address on the public internet, and False for any other text."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_OUT_4)
    return _is_out_6(address)


def _is_out_6(address: IPv6Address) -> bool:
    return (
        address.scope_id is None
        and address in _OUT_6
        and not any(address in network for network in _NOT_OUT_6)
    )


CONNECT_S = 5.0
TOTAL_S = 15.0  # for DNS, connections, redirects and the body together
MAX_BYTES = 2_000_000  # bytes of the body; the rest is not read
MAX_REDIRECTS = 3
MAX_URL = 2_000  # characters
TYPES = ("text/html", "text/plain")
_PORT = 443
_TRIES = 3  # addresses to try per name
_REDIRECTS = frozenset({301, 302, 303, 307, 308})

Resolve = Callable[[str], Awaitable[Sequence[str]]]  # host -> IP addresses; raises OSError


class NotAllowed(Refused):
    """The URL leads to an address that must not be contacted."""


class NotReadable(Refused):
    """The URL does not lead to a text page."""


@dataclass(frozen=True, slots=True)
class Fetched:
    url: str  # after redirects, without its fragment
    kind: str  # one of TYPES
    charset: str  # from the server; "" if it sends none
    body: bytes  # at most MAX_BYTES
    whole: bool  # False if the body was cut off


class Fetcher:
    """Fetches pages. No cookies or connections are kept between requests."""

    def __init__(
        self,
        resolve: Resolve | None = None,
        transport: Callable[[ssl.SSLContext], httpx.AsyncBaseTransport] | None = None,
        total_s: float = TOTAL_S,
    ) -> None:
        self._resolve = resolve or _resolve
        self._transport = transport or _transport
        self._total_s = total_s
        self._tls: ssl.SSLContext | None = None

    async def fetch(self, url: str) -> Fetched:
        """Fetch the page at this URL. Raises NotAllowed, NotReadable, Refused if the server
        declines, and Unavailable."""
        try:
            async with asyncio.timeout(self._total_s):
                return await self._follow(url)
        except TimeoutError:
            raise Unavailable("The page did not load in time.") from None

    async def _follow(self, url: str) -> Fetched:
        target = checked(url)
        for _ in range(MAX_REDIRECTS + 1):
            answer = await self._ask(target)
            if isinstance(answer, Fetched):
                return answer
            target = answer
        raise Refused("The page redirects too often.")

    async def _ask(self, url: httpx.URL) -> Fetched | httpx.URL:
        failure: IntegrationError = Unavailable("The page's server cannot be reached.")
        for address in (await self._addresses(url.host))[:_TRIES]:
            try:
                return await self._ask_at(address, url)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                if _is_of_tls(error):
                    failure = Refused("The page's server has no valid certificate.")
            except (httpx.HTTPError, httpx.InvalidURL):
                raise Unavailable("The page's server closed the connection.") from None
        raise failure

    async def _addresses(self, host: str) -> Sequence[str]:
        try:
            found = await self._resolve(host)
        except (OSError, UnicodeError):
            raise Unavailable("No server has that name.") from None
        if not found:
            raise Unavailable("No server has that name.")
        if not all(map(is_out, found)):
            raise NotAllowed("The address is not on the public internet.")
        return found

    async def _ask_at(self, address: str, url: httpx.URL) -> Fetched | httpx.URL:
        if self._tls is None:
            self._tls = tls_context()
        # An httpx client would keep cookies, follow redirects and log the URL, so use the transport
        # directly.
        async with self._transport(self._tls) as transport:
            answer = await transport.handle_async_request(self._request(address, url))
            try:
                return await _read(answer, url)
            finally:
                await answer.aclose()

    def _request(self, address: str, url: httpx.URL) -> httpx.Request:
        patience = httpx.Timeout(self._total_s, connect=CONNECT_S)
        return httpx.Request(
            "GET",
            url.copy_with(host=address),
            headers={
                "Host": url.netloc.decode("ascii"),
                "User-Agent": "Hearth",
                "Accept": ", ".join(TYPES),
                "Accept-Encoding": "identity",  # a small response must not expand
            },
            extensions={
                "timeout": patience.as_dict(),
                # TLS verifies the name, not the address.
                "sni_hostname": url.raw_host.decode("ascii"),
            },
        )


def checked(url: str) -> httpx.URL:
    """Return the URL without its fragment. Raises NotAllowed if the URL must not be requested."""
    if len(url) > MAX_URL or not url.isprintable() or " " in url.strip():
        raise NotAllowed("That is not a web address.")
    try:
        parsed = httpx.URL(url.strip())
        port = parsed.port
        parsed.raw_host.decode("ascii")
    except (httpx.InvalidURL, UnicodeError, ValueError, TypeError):
        raise NotAllowed("That is not a web address.") from None
    if parsed.scheme != "https" or not parsed.host:
        raise NotAllowed("Only https addresses can be read.")
    if parsed.userinfo or port not in (None, _PORT):
        raise NotAllowed("Addresses with a user name or a port cannot be read.")
    return parsed.copy_with(fragment=None)


async def _read(answer: httpx.Response, url: httpx.URL) -> Fetched | httpx.URL:
    if answer.status_code in _REDIRECTS and "location" in answer.headers:
        try:
            return checked(str(url.join(answer.headers["location"])))
        except httpx.InvalidURL:
            raise NotAllowed("The page redirects to something that is not a web address.") from None
    if answer.status_code != 200:
        raise Refused(f"The page's server answered with status {answer.status_code}.")
    if answer.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise NotReadable("The page was sent compressed, although that was not requested.")
    kind, charset = _content_type(answer.headers)
    if kind not in TYPES:
        raise NotReadable("That is not a text page.")
    body, whole = await _body(answer)
    return Fetched(str(url), kind, charset, body, whole)


async def _body(answer: httpx.Response) -> tuple[bytes, bool]:
    body = bytearray()
    async for piece in answer.aiter_raw():
        body += piece
        if len(body) > MAX_BYTES:
            return bytes(body[:MAX_BYTES]), False
    return bytes(body), True


def _content_type(headers: Mapping[str, str]) -> tuple[str, str]:
    message = Message()
    message["content-type"] = headers.get("content-type", "")
    return message.get_content_type() if headers.get("content-type") else "", str(
        message.get_param("charset", "")
    )


def _is_of_tls(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _transport(tls: ssl.SSLContext) -> httpx.AsyncBaseTransport:
    return httpx.AsyncHTTPTransport(verify=tls, trust_env=False, retries=0)


async def _resolve(host: str) -> Sequence[str]:
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, _PORT, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))
