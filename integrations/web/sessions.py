"""Sessions of people who have signed in with a browser, and the cookie that they are kept by."""

from dataclasses import dataclass, field
from typing import Literal, Protocol, TypedDict

from starlette.requests import HTTPConnection
from starlette.responses import Response

# Who uses the interfaces for programs, and what they may do.


Scope = Literal[
    "speak",  # make it speak or listen: announcements, questions, conversations, timers, buttons
    "ask",  # typed turns
    "read",  # how it stands, what was said and done
    "admin",  # all of it, and what nobody else may: answer a confirmation
]


Loosening = Literal["mode", "mute", "profile"]  # more trust, an open microphone, more tools


@dataclass(frozen=True, slots=True)
class Caller:
    """A program, as the journal names it."""

    name: str  # such as "http:admin", "mqtt", "home-assistant"; never a secret
    scopes: frozenset[Scope]
    # The session it was let in by, as a hash of its id; "": by a token. Not written down.
    session: str = field(default="", repr=False)
    loosens: frozenset[Loosening] = frozenset()  # what the owner lets it do beside `admin`
    # Tells this token from an earlier one of the same name: a part of its hash, never the secret.
    token: str = field(default="", repr=False, compare=False)

    def may(self, scope: Scope) -> bool:
        """Whether it may do what needs this scope."""
        return scope in self.scopes or "admin" in self.scopes

    def may_loosen(self, what: Loosening) -> bool:
        """Whether it may take back what a person has made stricter."""
        return what in self.loosens or "admin" in self.scopes


NOBODY = Caller("", frozenset())  # who has not said yet who they are


COOKIE = "hearth_session"
LASTS_S = 30 * 24 * 3600  # from signing in; then the token or a link is needed again


class _Where(TypedDict):
    path: str
    secure: bool
    httponly: bool
    samesite: Literal["strict"]


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A session that has just begun."""

    id: str = field(repr=False)  # the secret that the cookie holds
    caller: Caller


class Sessions(Protocol):
    """Who keeps them (`assistant.interfaces.http_sessions.Sessions`)."""

    async def begin(self, token: str, instead_of: str = "") -> SignedIn | None:
        """A session for whoever has that token, with a new id; None: it is no token of ours.

        `instead_of`: the id of one that ends with it.
        """
        ...

    async def redeem(self, code: str, instead_of: str = "") -> SignedIn | None:
        """A session for a one-time code, which holds no more then; None: it is none. Raises NotKept
        where it cannot be seen to that it holds only once."""
        ...

    def caller(self, session: str) -> Caller | None:
        """Whose session has that id; None once it, or the token it belongs to, has ended."""
        ...

    def holds(self, caller: Caller) -> bool:
        """Whether the session by which that caller was let in still holds."""
        ...

    async def end(self, session: str) -> None:
        """Sign out. Raises NotKept where the disk did not take it."""
        ...


class NoSessions:
    """For tokens alone: nobody can sign in."""

    async def begin(self, token: str, instead_of: str = "") -> SignedIn | None:
        """Never."""
        return None

    async def redeem(self, code: str, instead_of: str = "") -> SignedIn | None:
        """Never."""
        return None

    def caller(self, session: str) -> Caller | None:
        """Nobody."""
        return None

    def holds(self, caller: Caller) -> bool:
        """Never."""
        return False

    async def end(self, session: str) -> None:
        """There is none."""


def set_cookie(answer: Response, session: str, prefix: str, secure: bool) -> None:
    """Have the browser keep it. Sent to our own paths alone, and not with what another site's page
    asks for; no script can read it. `prefix`: of our paths, as the browser sees them."""
    answer.set_cookie(COOKIE, session, max_age=LASTS_S, **_where(prefix, secure))


def clear_cookie(answer: Response, prefix: str, secure: bool) -> None:
    """Have the browser forget it."""
    answer.delete_cookie(COOKIE, **_where(prefix, secure))


def _where(prefix: str, secure: bool) -> _Where:
    return {
        "path": f"{prefix}/v1",
        "secure": secure,
        "httponly": True,
        "samesite": "strict",
    }


def sent_session(connection: HTTPConnection) -> str:
    """The id that the browser sends; "" without."""
    return connection.cookies.get(COOKIE, "")
