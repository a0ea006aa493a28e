"""Guard of the HTTP interface: tokens, sessions of browsers, ingress, and limits to guessing."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as Asgi

from integrations.places import LOOPBACK, place_of
from integrations.web.box import Caller, Scope
from integrations.web.problems import Rate, Refused, check_length, too_many

COOKIE = "hearth_session"
LASTS_S = 30 * 24 * 3600  # from signing in; then the token or a link is needed again
SUPERVISOR = "172.30.32.2"  # on every Home Assistant OS; add-ons must let in nobody else
# token: people sign in here as anywhere; home-assistant: whoever it lets in may what `CALLER` may.
IngressUse = Literal["off", "token", "home-assistant"]
# Never `admin`: Home Assistant opens ingress to each of its users, to a guest's account too, and
# what it passes on does not tell its administrators from them.
CALLER = Caller("http:ingress", frozenset({"read", "ask", "speak"}))
_PREFIX = re.compile(r"(/[A-Za-z0-9_-]{1,100}){1,5}")
# Of one program. A panel that shows everything asks some ten things at once, and nothing that is
# said takes less than a second: more is a loop that has run away.
CALLS_AT_ONCE, CALLS_EVERY_S = 60, 0.1
# Wrong tokens of one place (`place_of`). A person who mistypes does not get there; whoever guesses
# gets 14,400 a day, which a token that was chosen by hand withstands.
WRONG_AT_ONCE, WRONG_EVERY_S = 10, 6.0
# Of all places but this machine together: many addresses are no more guesses a day than three.
ALL_WRONG_AT_ONCE, ALL_WRONG_EVERY_S = 60, 2.0
# Characters of a token that nobody finds by guessing, however often they may. Its owner is let in
# whatever others have guessed; those that are made have 43.
UNGUESSABLE = 32

_NEEDS_TOKEN = (
    "Send a token as `Authorization: Bearer TOKEN`; `hearth token create NAME` makes one."
)
FOREIGN = "Another page than Hearth's own asks for that with your sign-in; it is not done."
_MOST_PROVEN = 256
_ALL = ""  # the one name in the bucket of all places


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A session that has just begun."""

    id: str = field(repr=False)  # the secret that the cookie holds
    caller: Caller


class Sessions:
    """Sessions of people who sign in with a browser. This base lets nobody sign in."""

    async def begin(self, token: str, instead_of: str = "") -> SignedIn | None:
        """Begin a session, with a new id, for the owner of a token; None: it is no token of ours.

        `instead_of`: the id of one that ends with it.
        """
        return None

    async def redeem(self, code: str, instead_of: str = "") -> SignedIn | None:
        """Begin a session for a one-time code, which holds no more then; None: it is none.

        Raises NotKept where it cannot be seen to that it holds only once.
        """
        return None

    def caller(self, session: str) -> Caller | None:
        """Return the owner of a session; None once it, or the token it belongs to, has ended."""
        return None

    def holds(self, caller: Caller) -> bool:
        """Tell whether the session by which that caller was let in still holds."""
        return False

    async def end(self, session: str) -> None:
        """Sign out. Raises NotKept where the disk did not take it."""


def set_cookie(answer: Response, session: str, prefix: str, secure: bool) -> None:
    """Have the browser keep a session; "" has it forget it.

    It is sent to our own paths alone, and not with what another site's page asks for; no script can
    read it. `prefix`: of our paths, as the browser sees them.
    """
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
    """Return the id that the browser sends; "" without."""
    return connection.cookies.get(COOKIE, "")


@dataclass(frozen=True, slots=True)
class Front:
    """Names by which the browser that asks knows us."""

    scheme: str  # "http" or "https"
    host: str  # with its port, as in the header Host
    prefix: str = ""  # of our paths, such as "/api/hassio_ingress/TOKEN"
    by_ingress: bool = False


class Ingress:
    """The console within Home Assistant: its supervisor passes on what a signed-in browser asks.

    The browser asks Home Assistant under `/api/hassio_ingress/…/`; core and supervisor take that
    prefix off and tell it, and by what name the browser knows them, in headers
    (`homeassistant/components/hassio/ingress.py` and `supervisor/api/ingress.py`, 2026.11). Anybody
    can write such headers, so they count from the supervisor's own address alone, and only where
    `http.ingress` says so.
    """

    def __init__(self, use: IngressUse = "off", supervisor: str = SUPERVISOR) -> None:
        self._use = use
        self._supervisor = supervisor

    def front(self, connection: HTTPConnection) -> Front:
        """Return how the browser knows us; without ingress, as it asks."""
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
        """Return the caller whom Home Assistant has let in, where that is enough."""
        trusted = self._use == "home-assistant" and self._comes_by_it(connection)
        return CALLER if trusted else None

    def holds(self, caller: Caller) -> bool:
        """Tell whether that is somebody whom Home Assistant has let in."""
        return self._use == "home-assistant" and caller == CALLER

    def _comes_by_it(self, connection: HTTPConnection) -> bool:
        if self._use == "off" or connection.client is None:
            return False
        prefix = connection.headers.get("x-ingress-path", "")
        return connection.client.host == self._supervisor and bool(_PREFIX.fullmatch(prefix))


def is_own_page(connection: HTTPConnection, front: Front) -> bool:
    """Tell whether a page of ours asks, as far as the browser shows; not of another port either.

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
    """Tell whether another page is known to ask. An old browser tells nothing of reading."""
    told = {"origin", "sec-fetch-site"}.intersection(connection.headers.keys())
    typed = connection.headers.get("sec-fetch-site") == "none"  # by the person, as an address
    return bool(told) and not typed and not is_own_page(connection, front)


class Tokens(Protocol):
    """Knower of the tokens (`assistant.interfaces.http_tokens.HttpTokens`)."""

    def caller(self, given: str) -> Caller | None:
        """Return the owner of a token. How long it takes tells nothing of the tokens."""

    def holds(self, caller: Caller) -> bool:
        """Tell whether that program's token is still taken."""


class Guard:
    """Tells who sends a request, and refuses those who may not."""

    def __init__(
        self,
        tokens: Tokens,
        now: Callable[[], float] = time.monotonic,
        calls_at_once: int = CALLS_AT_ONCE,
        wrong_at_once: int = WRONG_AT_ONCE,
        sessions: Sessions | None = None,
        ingress: Ingress | None = None,
    ) -> None:
        """`sessions`: of people with browsers; None: nobody can sign in."""
        self.sessions = sessions or Sessions()
        self.ingress = ingress or Ingress()
        self._tokens = tokens
        self._calls = Rate(calls_at_once, CALLS_EVERY_S, now)
        self._wrong = Rate(wrong_at_once, WRONG_EVERY_S, now)
        self._all_wrong = Rate(ALL_WRONG_AT_ONCE, ALL_WRONG_EVERY_S, now)
        # Who was let in from where: a program with a wrong token must not shut out its neighbours
        # on the same machine.
        self._proven: dict[tuple[str, str], None] = {}

    def admit(
        self, connection: HTTPConnection, scope: Scope | None, *, browsers: bool = False
    ) -> Caller:
        """Return who sends it, if they may what needs this scope; None: any token will do.

        `browsers`: people who have signed in are let in too, by a page of ours alone. Raises
        Refused: 401 without a token or with a wrong one, 403 without the scope or from another
        page, 429 too often.
        """
        if browsers and "authorization" not in connection.headers:
            caller = self._browsing(connection)
        else:
            caller = self._known(connection)
        wait = self._calls.take(f"{caller.name} {caller.session}")
        if wait:
            raise too_many(wait, "That was too often; slow down.")
        if scope is not None:
            require(caller, scope)
        return caller

    def holds(self, caller: Caller) -> bool:
        """Tell whether that program or person would still be let in."""
        if caller.session:
            return self.sessions.holds(caller)
        return self._tokens.holds(caller) or self.ingress.holds(caller)

    def around(self, app: ASGIApp, scope: Scope | None = None) -> ASGIApp:
        """Another application behind this guard. It finds who asks as `request.state.caller`."""

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
        """Return the owner of a token. Raises Refused: 401, or 429 after guesses."""
        caller = self._tokens.caller(given)
        where = _place(connection)
        if caller is None or (where, caller.name) not in self._proven:
            # While there were too many wrong ones a right one is not told from them either, but for
            # one that nobody guesses where it was others who guessed.
            certain = caller is not None and len(given) >= UNGUESSABLE
            self.check_guesses(connection, certain=certain)
        if caller is None:
            self.guessed_wrong(connection)
            bearer = {"WWW-Authenticate": 'Bearer error="invalid_token"'}
            raise Refused(401, "unauthorized", "The token is not one of Hearth's.", bearer)
        self._prove(where, caller.name)
        return caller

    def check_guesses(self, connection: HTTPConnection, *, certain: bool = False) -> None:
        """Raises Refused where too many wrong secrets came from there, or from everywhere; of the
        latter not where what is given now is `certain` to be no guess."""
        place = _place(connection)
        wait = self._wrong.wait_s(place)
        if wait:
            raise too_many(wait, "Too many wrong tokens came from this address; wait.")
        wait = 0.0 if certain or place == LOOPBACK else self._all_wrong.wait_s(_ALL)
        if wait:
            raise too_many(wait, "Too many wrong tokens came from many addresses; wait.")

    def guessed_wrong(self, connection: HTTPConnection) -> None:
        """One more wrong secret came from there."""
        place = _place(connection)
        self._wrong.take(place)
        if place != LOOPBACK:
            self._all_wrong.take(_ALL)

    def _browsing(self, connection: HTTPConnection) -> Caller:
        """Return whose browser it is. A wrong cookie is no guess: nobody guesses 256 bits, and a
        browser sends one that has ended with everything it asks."""
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
    """Raises Refused where the program may not do what needs this scope."""
    if not caller.may(scope):
        bearer = {"WWW-Authenticate": f'Bearer error="insufficient_scope", scope="{scope}"'}
        raise Refused(403, "forbidden", f"That needs a token with the scope {scope}.", bearer)


def _place(connection: HTTPConnection) -> str:
    return place_of(connection.client.host) if connection.client else ""
