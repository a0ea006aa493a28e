"""The console within Home Assistant: its supervisor passes on what a signed-in browser asks.

The browser asks Home Assistant under `/api/hassio_ingress/…/`; core and supervisor take that prefix
off and tell it, and by what name the browser knows them, in headers (`homeassistant/components/
hassio/ingress.py` and `supervisor/api/ingress.py`, 2026.11). Anybody can write such headers, so
they count from the supervisor's own address alone, and only where `http.ingress` says so.
"""

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from integrations.web.callers import Caller

SUPERVISOR = "172.30.32.2"  # on every Home Assistant OS; add-ons must let in nobody else
# token: people sign in here as anywhere; home-assistant: whoever it lets in may what `CALLER` may.
IngressUse = Literal["off", "token", "home-assistant"]
# Never `admin`: Home Assistant opens ingress to each of its users, to a guest's account too, and
# what it passes on does not tell its administrators from them.
CALLER = Caller("http:ingress", frozenset({"read", "ask", "speak"}))
_PREFIX = re.compile(r"(/[A-Za-z0-9_-]{1,100}){1,5}")


@dataclass(frozen=True, slots=True)
class Front:
    """How the browser that asks knows us."""

    scheme: str  # "http" or "https"
    host: str  # with its port, as in the header Host
    prefix: str = ""  # of our paths, such as "/api/hassio_ingress/TOKEN"
    by_ingress: bool = False


class Ingress:
    """What is believed of who says to come from Home Assistant."""

    def __init__(self, use: IngressUse = "off", supervisor: str = SUPERVISOR) -> None:
        self._use = use
        self._supervisor = supervisor

    def front(self, connection: HTTPConnection) -> Front:
        """How the browser knows us; without ingress, as it asks."""
        headers = connection.headers
        host = headers.get("host", "")
        if not self._comes_by_it(connection):
            return Front(str(connection.scope.get("scheme", "http")), host)
        return Front(
            headers.get("x-forwarded-proto", "http").lower(),
            headers.get("x-forwarded-host", host),
            headers["x-ingress-path"],
            by_ingress=True,
        )

    def caller(self, connection: HTTPConnection) -> Caller | None:
        """Whom Home Assistant has let in, where that is enough."""
        trusted = self._use == "home-assistant" and self._comes_by_it(connection)
        return CALLER if trusted else None

    def holds(self, caller: Caller) -> bool:
        """Whether that is somebody whom Home Assistant has let in."""
        return self._use == "home-assistant" and caller == CALLER

    def _comes_by_it(self, connection: HTTPConnection) -> bool:
        if self._use == "off" or connection.client is None:
            return False
        prefix = connection.headers.get("x-ingress-path", "")
        return connection.client.host == self._supervisor and bool(_PREFIX.fullmatch(prefix))


def is_own_page(connection: HTTPConnection, front: Front) -> bool:
    """Whether a page of ours asks, as far as the browser can tell; not of another port either.

    What the browser adds by itself tells: `Origin` (RFC 6454) with all that changes something, and
    `Sec-Fetch-Site` (W3C Fetch Metadata) with everything, by https and on this machine itself. A
    browser that holds a cookie sends it for pages of the same host on other ports too, whatever
    its `SameSite` is.
    """
    site = connection.headers.get("sec-fetch-site")
    if site not in (None, "same-origin"):
        return False
    origin = connection.headers.get("origin")
    if origin is None:
        return site == "same-origin"
    try:
        asking = urlsplit(origin)
    except ValueError:
        return False
    if not front.host or asking.netloc.lower() != front.host.lower():
        return False
    # Where TLS ends in front of us, we are asked by http and the page came by https.
    return asking.scheme == front.scheme or site == "same-origin" or front.by_ingress


def is_foreign(connection: HTTPConnection, front: Front) -> bool:
    """Whether another page is known to ask. An old browser tells nothing of what only reads."""
    told = {"origin", "sec-fetch-site"}.intersection(connection.headers.keys())
    typed = connection.headers.get("sec-fetch-site") == "none"  # by the person, as an address
    return bool(told) and not typed and not is_own_page(connection, front)
