"""Who may use the HTTP interface, for what, and how often."""

import time
from collections.abc import Callable
from typing import Protocol

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as Asgi

from integrations.places import LOOPBACK, place_of
from integrations.web.callers import Caller, Scope
from integrations.web.ingress import Ingress, is_foreign, is_own_page
from integrations.web.problems import Refused, too_many
from integrations.web.rates import Rate
from integrations.web.reading import check_length
from integrations.web.sessions import NoSessions, Sessions, sent_session

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
    "Send a token as `Authorization: Bearer TOKEN`; `hearth setup --token NAME` makes one."
)
FOREIGN = "Another page than Hearth's own asks for that with your sign-in; it is not done."
_MOST_PROVEN = 256
_ALL = ""  # the one name in the bucket of all places


class Tokens(Protocol):
    """Who knows the tokens (`assistant.interfaces.http_tokens.HttpTokens`)."""

    def caller(self, given: str) -> Caller | None:
        """Whose token that is. How long it takes tells nothing of the tokens."""
        ...

    def holds(self, caller: Caller) -> bool:
        """Whether that program's token is still taken."""
        ...


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
        self.sessions: Sessions = sessions or NoSessions()
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
        """Who sends it, if they may what needs this scope; None: any token will do.

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
        """Whether that program or person would still be let in."""
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
        """Whose token that is, however it was sent. Raises Refused: 401, or 429 after guesses."""
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
        """Whose browser it is. A wrong cookie is no guess: nobody guesses 256 bits, and a browser
        sends one that has ended with everything it asks."""
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
