"""Who may use the HTTP interface, for what, and how often."""

import ipaddress
import time
from collections.abc import Callable
from typing import Protocol

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as Asgi

from integrations.web.callers import Caller, Scope
from integrations.web.problems import Refused, too_many
from integrations.web.rates import Rate
from integrations.web.reading import check_length

# Of one program. A panel that shows everything asks some ten things at once, and nothing that is
# said takes less than a second: more is a loop that has run away.
CALLS_AT_ONCE, CALLS_EVERY_S = 60, 0.1
# Wrong tokens of one address. A person who mistypes does not get there; whoever guesses gets 14,400
# a day, which a token that was chosen by hand withstands.
WRONG_AT_ONCE, WRONG_EVERY_S = 10, 6.0

_NEEDS_TOKEN = (
    "Send a token as `Authorization: Bearer TOKEN`; `hearth setup --token NAME` makes one."
)
_MOST_PROVEN = 256


class Tokens(Protocol):
    """Who knows the tokens (`assistant.http_tokens.HttpTokens`)."""

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
    ) -> None:
        self._tokens = tokens
        self._calls = Rate(calls_at_once, CALLS_EVERY_S, now)
        self._wrong = Rate(wrong_at_once, WRONG_EVERY_S, now)
        # Who was let in from where: a program with a wrong token must not shut out its neighbours
        # on the same machine.
        self._proven: dict[tuple[str, str], None] = {}

    def admit(self, connection: HTTPConnection, scope: Scope | None) -> Caller:
        """Who sends it, if they may what needs this scope; None: any token will do.

        Raises Refused: 401 without a token or with a wrong one, 403 without the scope, 429 too
        often.
        """
        caller = self._known(connection)
        wait = self._calls.take(caller.name)
        if wait:
            raise too_many(wait, "That was too often; slow down.")
        if scope is not None:
            require(caller, scope)
        return caller

    def holds(self, caller: Caller) -> bool:
        """Whether that program would still be let in."""
        return self._tokens.holds(caller)

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
        caller = self._tokens.caller(given)
        where = _place(connection.client.host if connection.client else "")
        if caller is None or (where, caller.name) not in self._proven:
            # While there were too many wrong ones a right one is not told from them either.
            wait = self._wrong.wait_s(where)
            if wait:
                raise too_many(wait, "Too many wrong tokens came from this address; wait.")
        if caller is None:
            self._wrong.take(where)
            bearer = {"WWW-Authenticate": 'Bearer error="invalid_token"'}
            raise Refused(401, "unauthorized", "The token is not one of Hearth's.", bearer)
        self._prove(where, caller.name)
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


def _place(host: str) -> str:
    """Where an address is: one machine has as many IPv6 addresses as it likes, of one network."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address) or address.ipv4_mapped or address.is_loopback:
        return str(address)
    return str(ipaddress.ip_network((address, 64), strict=False))
