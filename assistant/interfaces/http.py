"""The HTTP interface: its server, browser sessions, and one-time links to the console. The data
folder stores only hashes of session ids and link codes."""

import asyncio
import hashlib
import hmac
import logging
import secrets
import socket
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from starlette.routing import BaseRoute

from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.config.sections import Http
from assistant.domain.clock import Clock, SystemClock
from assistant.domain.version import own_version
from assistant.interfaces.http_tokens import HttpTokens, TokenFile, admin_of, hash_of
from assistant.interfaces.private_file import PrivateFile
from integrations.web.box import ROLES, Box, Caller, Health, NotKept, Role, Unknown
from integrations.web.guard import LASTS_S, Guard, Ingress, Sessions, SignedIn
from integrations.web.pages import HEALTH, console_routes, health_route, is_loopback
from integrations.web.requests import LinkRequest

SESSIONS_FILE = "http_sessions.json"
LINKS_FILE = "console_links.json"
MOST_SESSIONS = 64  # beyond this, the oldest session ends
MINUTES = 10  # a link's default validity
MOST_MINUTES = 24 * 60
MOST_HOURS = LASTS_S // 3600  # length of a session
GUEST_HOURS = 24
_MOST_LINKS = 8  # beyond this, the oldest link ends
_SOMEWHERE = ("192.0.2.1", 9)  # in TEST-NET-1 (RFC 5737); nothing is sent there
_Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_log = logging.getLogger(__name__)


class SessionRow(BaseModel):
    """A session as stored in the file. The token is stored as a keyed hash, because a person may
    have chosen one that can be guessed."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    sha256: _Hash  # SHA-256 of the session's id
    token: _Hash  # HMAC of the token's hash, keyed with the session's id
    expires: AwareDatetime
    role: Role | None = None  # None: the rights of the token
    name: str = ""  # whom the link was for
    begun: AwareDatetime | None = None

    @property
    def id(self) -> str:
        """The public name of the session."""
        return self.sha256[:16]


class LinkRow(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    sha256: _Hash  # SHA-256 of the link's code
    expires: AwareDatetime
    role: Role = "owner"
    name: str = ""
    hours: int = MOST_HOURS  # length of the session


_SESSIONS = TypeAdapter(tuple[SessionRow, ...])
_LINKS = TypeAdapter(tuple[LinkRow, ...])


class HttpSessions(Sessions):
    """Browser sessions, stored in the data folder. If a session can't be stored, it lasts until the
    process ends, because somebody must be able to sign in and see that the disk is full."""

    def __init__(self, folder: Path, tokens: HttpTokens, clock: Clock) -> None:
        self._file = session_file(folder)
        self._links = Links(folder)
        self._tokens = tokens
        self._clock = clock
        self._stamp: tuple[int, int, int] | None = None
        self._rows: dict[str, SessionRow] = {}  # by the id's hash, oldest first
        self._one_by_one = asyncio.Lock()

    async def begin(self, token: str, instead_of: str = "") -> SignedIn | None:
        if self._tokens.caller(token) is None:
            return None
        return await self._begin(hash_of(token), instead_of, None)

    async def redeem(self, code: str, instead_of: str = "") -> SignedIn | None:
        try:
            link = await asyncio.to_thread(self._links.redeem, code, self._clock.now())
        except ConfigError as error:
            raise NotKept(f"The link cannot be used: {error}") from error
        if link is None:
            return None
        (admin, _), *_ = self._tokens.known()
        return await self._begin(admin, instead_of, link)

    def caller(self, session: str) -> Caller | None:
        self._look()
        name = hash_of(session)
        row = self._rows.get(name)
        if row is None or row.expires <= self._clock.now():
            return None
        found = None
        for token, caller in self._tokens.known():
            if hmac.compare_digest(row.token, _belonging(session, token)):
                found = replace(_of_role(row) or caller, session=name)
        return found

    def holds(self, caller: Caller) -> bool:
        self._look()
        row = self._rows.get(caller.session)
        if row is None or row.expires <= self._clock.now():
            return False
        return row.role is not None or self._tokens.holds(replace(caller, session=""))

    async def end(self, session: str) -> None:
        await self._end(hash_of(session))

    async def make_link(self, wanted: LinkRequest) -> Mapping[str, Any]:
        now, hours = self._clock.now(), wanted.hours if wanted.role == "guest" else MOST_HOURS
        given = (now, MINUTES, wanted.role, wanted.name, hours)
        try:
            code = await asyncio.to_thread(self._links.make, *given)
        except ConfigError as error:
            raise NotKept(f"The link cannot be saved: {error}") from error
        return {"code": code, "expires": (now + timedelta(minutes=MINUTES)).isoformat()}

    def rows(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        self._look()
        now = self._clock.now()
        return [
            {
                "id": row.id,
                "role": row.role or "token",
                "name": row.name,
                "begun": None if row.begun is None else row.begun.isoformat(),
                "expires": row.expires.isoformat(),
                "own": row.sha256 == caller.session,
            }
            for row in self._rows.values()
            if row.expires > now
        ]

    async def end_one(self, name: str) -> None:
        self._look()
        found = next((one for one, row in self._rows.items() if row.id == name), None)
        if found is None:
            raise Unknown("There is no such session (any more); see GET /v1/sessions.")
        await self._end(found)

    async def _end(self, hashed: str) -> None:
        self._look()
        if self._rows.pop(hashed, None) is None:
            return
        try:
            await self._keep()
        except ConfigError as error:
            raise NotKept(f"Signed out, but only until Hearth restarts: {error}") from error

    async def _begin(self, token: str, instead_of: str, link: LinkRow | None) -> SignedIn | None:
        self._look()
        self._rows.pop(hash_of(instead_of), None)
        session = secrets.token_urlsafe(32)
        now = self._clock.now()
        row = SessionRow(
            sha256=hash_of(session),
            token=_belonging(session, token),
            expires=now + timedelta(hours=link.hours if link is not None else MOST_HOURS),
            role=None if link is None else link.role,
            name="" if link is None else link.name,
            begun=now,
        )
        lasting = [one for one in self._rows.values() if one.expires > now]
        self._rows = {one.sha256: one for one in (*lasting, row)[-MOST_SESSIONS:]}
        try:
            await self._keep()
        except ConfigError as error:
            _log.error("Signed-in browsers must sign in again after a restart: %s", error)
        caller = self.caller(session)
        return None if caller is None else SignedIn(session, caller)

    async def _keep(self) -> None:
        async with self._one_by_one:
            data = _SESSIONS.dump_json(tuple(self._rows.values()), indent=1)
            self._stamp = await asyncio.to_thread(_write, self._file, data)

    def _look(self) -> None:
        """Reread the file if another process has changed it (`hearth link --sign-out`)."""
        if self._one_by_one.locked():
            return  # the file is being written, so `_rows` is current
        stamp = self._file.stamp()
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self._rows = {row.sha256: row for row in _read(self._file)}
        except ConfigError as error:
            self._rows = {}
            _log.error("%s", error)


def _of_role(row: SessionRow) -> Caller | None:
    """Return the caller of a family member's or guest's session, or None for any other session."""
    if row.role is None or row.role == "owner":
        return None
    return Caller(f"http:{row.role}", ROLES[row.role], token=row.id)


def session_file(folder: Path) -> PrivateFile:
    return PrivateFile(folder / SESSIONS_FILE, "the list of browsers signed in to the console")


def sign_everybody_out(folder: Path) -> int:
    """End all sessions and return how many were ended. Blocking. Raises ConfigError."""
    file = session_file(folder)
    with file.alone():
        try:
            ended = len(_read(file))
        except ConfigError:
            ended = 0  # a damaged file contains no valid session
        file.write(b"[]")
    return ended


def _read(file: PrivateFile) -> Sequence[SessionRow]:
    kept = file.read()
    if kept is None:
        return ()
    try:
        return _SESSIONS.validate_json(kept)
    except ValidationError:
        raise ConfigError(f"{file.path} is damaged: everybody must sign in again") from None


def _write(file: PrivateFile, data: bytes) -> tuple[int, int, int] | None:
    with file.alone():
        file.write(data)
        return file.stamp()


def _belonging(session: str, token: str) -> str:
    return hmac.new(
        session.encode("utf-8", "surrogatepass"), token.encode(), hashlib.sha256
    ).hexdigest()


class Links:
    """One-time console links, created by `hearth link` and redeemed by the daemon. Blocking. All
    methods raise ConfigError if the file can't be used.

    The code comes after the "#" of the link. Browsers don't send that part to the server, so it
    doesn't appear in server logs.
    """

    def __init__(self, folder: Path) -> None:
        self._file = PrivateFile(folder / LINKS_FILE, "the one-time links to the console")

    def make(
        self,
        now: datetime,
        minutes: int,
        role: Role = "owner",
        name: str = "",
        hours: int = MOST_HOURS,
    ) -> str:
        """Create a link that is valid for `minutes` and starts a session of `hours`, and return its
        code."""
        code = secrets.token_urlsafe(24)
        expires = now + timedelta(minutes=minutes)
        row = LinkRow(sha256=hash_of(code), expires=expires, role=role, name=name, hours=hours)
        with self._file.alone():
            self._write([*self._waiting(now), row][-_MOST_LINKS:])
        return code

    def redeem(self, code: str, now: datetime) -> LinkRow | None:
        """Use up a link and return it, or None if the code is unknown or expired. The change is on
        the disk before this returns, so a link works only once."""
        hashed = hash_of(code)
        with self._file.alone():
            rows = self._waiting(now)
            used = [row for row in rows if hmac.compare_digest(row.sha256, hashed)]
            if not used:
                return None
            self._write([row for row in rows if row not in used])
        return used[0]

    def _waiting(self, now: datetime) -> Sequence[LinkRow]:
        kept = self._file.read()
        if kept is None:
            return ()
        try:
            rows = _LINKS.validate_json(kept)
        except ValidationError:
            return ()  # a damaged file contains no valid link; the next `make` rewrites it
        # A link that expires later than that was made before the clock was set back.
        latest = now + timedelta(minutes=MOST_MINUTES)
        return [row for row in rows if now < row.expires <= latest]

    def _write(self, rows: Sequence[LinkRow]) -> None:
        self._file.write(_LINKS.dump_json(tuple(rows), indent=1))


def console_link(
    settings: Settings,
    now: datetime,
    minutes: int = MINUTES,
    role: Role = "owner",
    name: str = "",
    hours: int = MOST_HOURS,
) -> str:
    """Create a one-time console link that is valid for `minutes`, and return its URL. The session
    that it starts lasts for `hours`. Blocking. Raises ConfigError."""
    if not 1 <= minutes <= MOST_MINUTES:
        raise ConfigError(f"A link to the console can be valid for 1 to {MOST_MINUTES} minutes")
    if not 1 <= hours <= MOST_HOURS:
        raise ConfigError(f"A link can sign a browser in for 1 to {MOST_HOURS} hours")
    code = Links(settings.data_folder).make(now, minutes, role, name, hours)
    return f"{console_address(settings.http)}#code={code}"


def console_address(http: Http) -> str:
    """Return the console's URL, with this machine's network address if the server listens on all
    addresses."""
    scheme = "https" if http.tls_cert else "http"
    host = http.host
    with suppress(ValueError):
        if host == "" or ip_address(host).is_unspecified:
            host = _own_address()
    name = f"[{host}]" if ":" in host else host
    return f"{scheme}://{name}:{http.port}/"


def _own_address() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        try:
            asked.connect(_SOMEWHERE)  # selects the route without sending anything
        except OSError:
            return socket.gethostname()
        return str(asked.getsockname()[0])


async def open_guard(settings: Settings) -> Guard:
    """Return the guard that checks tokens and sessions for the HTTP interface. Raises
    ConfigError."""
    file = TokenFile(settings.data_folder)
    tokens = await asyncio.to_thread(HttpTokens, admin_of(settings), file)
    sessions = HttpSessions(settings.data_folder, tokens, SystemClock())
    return Guard(tokens, sessions=sessions, ingress=Ingress(settings.http.ingress))


@asynccontextmanager
async def serving_http(
    settings: Settings,
    box: Box,
    guard: Guard,
    health: Callable[[], Health],
    more: Sequence[BaseRoute] = (),
) -> AsyncIterator[int]:
    """Serve the HTTP interface and yield its port. `more` contains additional routes, which check
    their own permissions. Raises ConfigError or Misconfigured if the address or the certificate
    can't be used."""
    # Import these only when serving, because setup and doctor don't need them.
    from integrations.serving import serving
    from integrations.tls import server_context
    from integrations.web.api import api_routes, web_app

    http = settings.http
    if http.tls_key and not http.tls_cert:
        raise ConfigError("http.tls_key is set without a certificate: set http.tls_cert too")
    tls = server_context(http.tls_cert, http.tls_key) if http.tls_cert else None
    if tls is None and not is_loopback(http.host):
        _log.warning(
            "The HTTP interface listens on %s without TLS: anyone on that network can read the "
            "tokens. Set http.tls_cert and http.tls_key, or set http.host to 127.0.0.1.",
            http.host or "every address",
        )
    routes = [
        health_route(health),
        *console_routes(guard.ingress, language=settings.assistant.languages[0]),
        *api_routes(box, guard, own_version()),
        *more,
    ]
    app = web_app(routes, http.host)
    async with serving(app, http.host, http.port, tls, always={HEALTH}) as port:
        try:
            yield port
        finally:
            box.events.close()  # otherwise the server would wait for open event streams
