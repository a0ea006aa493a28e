"""Access control for the HTTP interface: tokens, sessions, ingress, and limits on guessing."""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as Asgi

from integrations.places import LOOPBACK, place_of
from integrations.web.box import Caller, Scope, Unknown
from integrations.web.problems import Rate, Refused, check_length, too_many
from integrations.web.requests import LinkRequest

COOKIE = "hearth_session"
LASTS_S = 30 * 24 * 3600  # lifetime of a session, after which a token or link is needed again
# The supervisor's address on every Home Assistant OS. Add-ons must accept no other client.
SUPERVISOR = "172.30.32.2"
# "token": people sign in as usual; "home-assistant": everyone whom Home Assistant admits has the
# rights of `CALLER`.
IngressUse = Literal["off", "token", "home-assistant"]
# Never `admin`: Home Assistant opens ingress to each of its users, even to a guest, and the
# forwarded request does not show who is an administrator.
CALLER = Caller("http:ingress", frozenset({"read", "ask", "speak"}))
# A page's scheme, if the request is for a WebSocket.
_PAGES_SCHEME = {"ws": "http", "wss": "https"}
_PREFIX = re.compile(r"(/[A-Za-z0-9_-]{1,100}){1,5}")
# Limit per program. A panel that shows everything sends about ten requests at once, and speaking
# takes at least a second, so a program that exceeds the limit is in a loop.
CALLS_AT_ONCE, CALLS_EVERY_S = 60, 0.1
# Limit for wrong tokens from one origin (`place_of`). A person who mistypes stays below it. An
# attacker gets 14,400 guesses a day, which even a handmade token withstands.
WRONG_AT_ONCE, WRONG_EVERY_S = 10, 6.0
# Limit for all origins together except this machine, so that many addresses get no more guesses a
# day than three.
ALL_WRONG_AT_ONCE, ALL_WRONG_EVERY_S = 60, 2.0
# Length from which a token cannot be guessed. Its owner is admitted even if others have guessed too
# often. Generated tokens have 43 characters.
UNGUESSABLE = 32

_NEEDS_TOKEN = (
    "Send a token as `Authorization: Bearer TOKEN`; create one with `hearth token create NAME`."
)
FOREIGN = "The request came from a page that is not Hearth's, using your sign-in; it was rejected."
_MOST_PROVEN = 256
_ALL = ""  # the only key of `_all_wrong`


@dataclass(frozen=True, slots=True)
class SignedIn:
    id: str = field(repr=False)  # the secret in the cookie
    caller: Caller


class Sessions:
    """Sessions of signed-in browsers. In this base class, nobody can sign in."""

    async def begin(self, token: str, instead_of: str = "") -> SignedIn | None:
        """Start a session for the token's owner, which replaces the session with the id
        `instead_of`. Returns None if the token is not valid."""
        return None

    async def redeem(self, code: str, instead_of: str = "") -> SignedIn | None:
        """Start a session for a one-time code, which is then used up, and replace the session with
        the id `instead_of`. Returns None if the code is not valid. Raises NotKept if Hearth could
        not save that the code is used up."""
        return None

    def caller(self, session: str) -> Caller | None:
        """Return the session's owner, or None if the session or its token is no longer valid."""
        return None

    def holds(self, caller: Caller) -> bool:
        """Return True if the caller's session is still valid."""
        return False

    async def end(self, session: str) -> None:
        """End the session. Raises NotKept if that could not be saved."""

    async def make_link(self, wanted: LinkRequest) -> Mapping[str, Any]:
        """Create a one-time link. Raises NotKept if it could not be saved."""
        raise Unknown("This server has no links.")

    def rows(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        """Return all sessions, oldest first."""
        return []

    async def end_one(self, name: str) -> None:
        """End the session with that name in `rows`. Raises Unknown, or NotKept if that could not be
        saved."""
        raise Unknown("There is no such session.")


def set_cookie(answer: Response, session: str, prefix: str, secure: bool) -> None:
    """Set the session cookie, or delete it if `session` is "". `prefix` is the prefix of Hearth's
    paths as the browser sees them."""
    answer.set_cookie(
        COOKIE,
        session,
        max_age=LASTS_S if session else 0,
        expires=None if session else 0,
        path=f"{prefix}/v1",
        secure=secure,
        httponly=True,
        samesite="strict",
    )


def sent_session(connection: HTTPConnection) -> str:
    """Return the session id in the browser's cookie, or "" if there is none."""
    return connection.cookies.get(COOKIE, "")


@dataclass(frozen=True, slots=True)
class Front:
    """This server's address as the browser sees it."""

    scheme: str  # "http" or "https"
    host: str  # host and port, as in the Host header
    prefix: str = ""  # of our paths, such as "/api/hassio_ingress/TOKEN"
    by_ingress: bool = False


class Ingress:
    """The console inside Home Assistant, whose supervisor forwards requests of signed-in browsers.

    Home Assistant and the supervisor remove the prefix of the path and add it as a header, together
    with the host name that the browser used (`homeassistant/components/hassio/ingress.py` and
    `supervisor/api/ingress.py`, 2026.11). Anyone can send such headers, so they are accepted only
    from the supervisor's own address.
    """

    def __init__(self, use: IngressUse = "off", supervisor: str = SUPERVISOR) -> None:
        self._use = use
        self._supervisor = supervisor

    def front(self, connection: HTTPConnection) -> Front:
        """Return this server's address as the browser sees it."""
        headers = connection.headers
        host = headers.get("host", "")
        if not self._comes_by_it(connection):
            scheme = str(connection.scope.get("scheme", "http"))
            return Front(_PAGES_SCHEME.get(scheme, scheme), host)
        return Front(
            headers.get("x-forwarded-proto", "http").lower(),
            headers.get("x-forwarded-host", host),
            headers["x-ingress-path"],
            by_ingress=True,
        )

    def caller(self, connection: HTTPConnection) -> Caller | None:
        """Return the caller if being signed in to Home Assistant is sufficient, and otherwise
        None."""
        trusted = self._use == "home-assistant" and self._comes_by_it(connection)
        return CALLER if trusted else None

    def holds(self, caller: Caller) -> bool:
        """Return True if Home Assistant admitted the caller and ingress is still allowed."""
        return self._use == "home-assistant" and caller == CALLER

    def _comes_by_it(self, connection: HTTPConnection) -> bool:
        if self._use == "off" or connection.client is None:
            return False
        prefix = connection.headers.get("x-ingress-path", "")
        return connection.client.host == self._supervisor and bool(_PREFIX.fullmatch(prefix))


def is_own_page(connection: HTTPConnection, front: Front) -> bool:
    """Return True if the request comes from Hearth's own page, not from another origin or port.

    Browsers add the necessary headers: `Origin` (RFC 6454) and `Sec-Fetch-Site` (W3C Fetch
    Metadata). The cookie alone proves nothing, because a browser also sends it from pages on other
    ports of the same host.
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
    # If a proxy in front of Hearth terminates TLS, the request uses http, but the page https.
    return asking.scheme == front.scheme or site == "same-origin" or front.by_ingress


def is_foreign(connection: HTTPConnection, front: Front) -> bool:
    """Return True if the request certainly comes from another page. For a read request, an old
    browser sends neither header, and the result is False."""
    told = {"origin", "sec-fetch-site"}.intersection(connection.headers.keys())
    typed = connection.headers.get("sec-fetch-site") == "none"  # entered by the user as an address
    return bool(told) and not typed and not is_own_page(connection, front)


class Tokens(Protocol):
    """A store of tokens (`assistant.interfaces.http_tokens.HttpTokens`)."""

    def caller(self, given: str) -> Caller | None:
        """Return the token's owner, or None if the token is not valid. The time that this takes
        does not depend on the token."""

    def holds(self, caller: Caller) -> bool:
        """Return True if the caller's token is still valid."""


class Guard:
    def __init__(
        self,
        tokens: Tokens,
        now: Callable[[], float] = time.monotonic,
        calls_at_once: int = CALLS_AT_ONCE,
        wrong_at_once: int = WRONG_AT_ONCE,
        sessions: Sessions | None = None,
        ingress: Ingress | None = None,
    ) -> None:
        self.sessions = sessions or Sessions()
        self.ingress = ingress or Ingress()
        self._tokens = tokens
        self._calls = Rate(calls_at_once, CALLS_EVERY_S, now)
        self._wrong = Rate(wrong_at_once, WRONG_EVERY_S, now)
        self._all_wrong = Rate(ALL_WRONG_AT_ONCE, ALL_WRONG_EVERY_S, now)
        # Callers that were admitted, and from where, so that a program with a wrong token does not
        # lock out others on the same machine.
        self._proven: dict[tuple[str, str], None] = {}

    def admit(
        self, connection: HTTPConnection, scope: Scope | None, *, browsers: bool = False
    ) -> Caller:
        """Return the caller if it has this scope. If `scope` is None, any valid token is enough.

        With `browsers`, people who are signed in are admitted too, but not from pages other than
        Hearth's own. Raises Refused with status 401 without a valid token or session, 403 without
        the scope or from another page, and 429 after too many requests or guesses.
        """
        if browsers and "authorization" not in connection.headers:
            caller = self._browsing(connection)
        else:
            caller = self._known(connection)
        wait = self._calls.take(f"{caller.name} {caller.session}")
        if wait:
            raise too_many(wait, "Too many requests; slow down.")
        if scope is not None:
            require(caller, scope)
        return caller

    def holds(self, caller: Caller) -> bool:
        """Return True if the caller would still be admitted."""
        if caller.session:
            return self.sessions.holds(caller)
        return self._tokens.holds(caller) or self.ingress.holds(caller)

    def around(self, app: ASGIApp, scope: Scope | None = None) -> ASGIApp:
        """Protect another application with this guard, which sets `request.state.caller`."""

        async def guarded(asgi: Asgi, receive: Receive, send: Send) -> None:
            try:
                connection = HTTPConnection(asgi)
                caller = self.admit(connection, scope)
                check_length(connection)
            except Refused as refused:
                await refused.answer()(asgi, receive, send)
                return
            state = {**asgi.get("state", {}), "caller": caller}
            await app({**asgi, "state": state}, receive, send)

        return guarded

    def _known(self, connection: HTTPConnection) -> Caller:
        scheme, _, given = connection.headers.get("authorization", "").partition(" ")
        given = given.strip()
        if scheme.casefold() != "bearer" or not given:
            raise Refused(401, "unauthorized", _NEEDS_TOKEN, {"WWW-Authenticate": "Bearer"})
        return self.prove(connection, given)

    def prove(self, connection: HTTPConnection, given: str) -> Caller:
        """Return the token's owner. Raises Refused with status 401, or 429 after too
        many guesses."""
        caller = self._tokens.caller(given)
        where = _place(connection)
        if caller is None or (where, caller.name) not in self._proven:
            # After too many wrong tokens, even a valid token is refused, unless it cannot be
            # guessed and the guesses came from other origins.
            certain = caller is not None and len(given) >= UNGUESSABLE
            self.check_guesses(connection, certain=certain)
        if caller is None:
            self.guessed_wrong(connection)
            bearer = {"WWW-Authenticate": 'Bearer error="invalid_token"'}
            raise Refused(401, "unauthorized", "The token is not one of Hearth's.", bearer)
        self._prove(where, caller.name)
        return caller

    def check_guesses(self, connection: HTTPConnection, *, certain: bool = False) -> None:
        """Raise Refused after too many wrong tokens or codes from this address or from all
        addresses. The total of all addresses does not count for this machine, or for a secret that
        is `certain` not to be a guess."""
        place = _place(connection)
        wait = self._wrong.wait_s(place)
        if wait:
            raise too_many(wait, "Too many wrong tokens from this address; try again later.")
        wait = 0.0 if certain or place == LOOPBACK else self._all_wrong.wait_s(_ALL)
        if wait:
            raise too_many(wait, "Too many wrong tokens from many addresses; try again later.")

    def guessed_wrong(self, connection: HTTPConnection) -> None:
        place = _place(connection)
        self._wrong.take(place)
        if place != LOOPBACK:
            self._all_wrong.take(_ALL)

    def _browsing(self, connection: HTTPConnection) -> Caller:
        """Return the caller of a browser's session.

        A wrong cookie does not count as a guess: nobody can guess 256 bits, and a browser sends an
        expired cookie with every request.
        """
        given = sent_session(connection)
        caller = self.sessions.caller(given) if given else None
        caller = caller or self.ingress.caller(connection)
        if caller is None and given:
            message = "The session has ended; sign in again."
            raise Refused(401, "signed_out", message, {"WWW-Authenticate": "Bearer"})
        if caller is None:
            raise Refused(401, "unauthorized", _NEEDS_TOKEN, {"WWW-Authenticate": "Bearer"})
        front = self.ingress.front(connection)
        reads = connection.scope.get("method") == "GET"
        if is_foreign(connection, front) or not (reads or is_own_page(connection, front)):
            raise Refused(403, "foreign_page", FOREIGN)
        return caller

    def _prove(self, where: str, name: str) -> None:
        self._proven.pop((where, name), None)
        if len(self._proven) >= _MOST_PROVEN:
            del self._proven[next(iter(self._proven))]
        self._proven[where, name] = None


def require(caller: Caller, scope: Scope) -> None:
    if not caller.may(scope):
        bearer = {"WWW-Authenticate": f'Bearer error="insufficient_scope", scope="{scope}"'}
        raise Refused(403, "forbidden", f"This needs a token with the scope {scope}.", bearer)


def _place(connection: HTTPConnection) -> str:
    return place_of(connection.client.host) if connection.client else ""
