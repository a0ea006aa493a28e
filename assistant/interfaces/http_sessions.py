"""Who has signed in to the console: a session belongs to a token, and ends with it.

The file keeps no secret. A session's id is 256 bits of chance, so its plain SHA-256 tells nothing
of it. Which token it belongs to is told by an HMAC under that id: the administrator's token may be
one that a person thought up, and whoever reads the file could guess at a plain hash of it.
"""

import asyncio
import hashlib
import hmac
import logging
import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from assistant.config.errors import ConfigError
from assistant.domain.clock import Clock
from assistant.domain.private_file import PrivateFile
from assistant.interfaces.console_link import Links
from assistant.interfaces.http_tokens import HttpTokens, hash_of
from integrations.web.box import NotKept
from integrations.web.sessions import LASTS_S, Caller, SignedIn

NAME = "http_sessions.json"
MOST = 64  # at once; beyond that the oldest ends
_Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_log = logging.getLogger(__name__)


class SessionRow(BaseModel):
    """One session, as the file keeps it."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    sha256: _Hash  # of its id
    token: _Hash  # HMAC under the id of the token's hash
    expires: AwareDatetime


_ROWS = TypeAdapter(tuple[SessionRow, ...])


class Sessions:
    """Implements `integrations.web.sessions.Sessions` on a data folder.

    What the disk does not take holds until the process ends: a person must get in to see that the
    disk is full.
    """

    def __init__(self, folder: Path, tokens: HttpTokens, clock: Clock) -> None:
        self._file = session_file(folder)
        self._links = Links(folder)
        self._tokens = tokens
        self._clock = clock
        self._stamp: tuple[int, int, int] | None = None
        self._rows: dict[str, SessionRow] = {}  # by the id's hash, oldest first
        self._one_by_one = asyncio.Lock()

    async def begin(self, token: str, instead_of: str = "") -> SignedIn | None:
        """A session for whoever has that token; None: it is not one of ours.

        `instead_of`: the id of one that ends with it.
        """
        if self._tokens.caller(token) is None:
            return None
        return await self._begin(hash_of(token), instead_of)

    async def redeem(self, code: str, instead_of: str = "") -> SignedIn | None:
        """A session of the administrator's for a one-time code; None: it is not known, or not any
        more. Raises NotKept where it cannot be seen to that it holds only once."""
        try:
            known = await asyncio.to_thread(self._links.redeem, code, self._clock.now())
        except ConfigError as error:
            raise NotKept(f"The link cannot be used: {error}") from error
        if not known:
            return None
        (admin, _), *_ = self._tokens.known()
        return await self._begin(admin, instead_of)

    def caller(self, session: str) -> Caller | None:
        """Whose session that is, if it has not ended."""
        self._look()
        name = hash_of(session)
        row = self._rows.get(name)
        if row is None or row.expires <= self._clock.now():
            return None
        found = None
        for token, caller in self._tokens.known():
            if hmac.compare_digest(row.token, _belonging(session, token)):
                found = replace(caller, session=name)
        return found

    def holds(self, caller: Caller) -> bool:
        """Whether its session, and the token that it belongs to, still hold."""
        self._look()
        row = self._rows.get(caller.session)
        if row is None or row.expires <= self._clock.now():
            return False
        return self._tokens.holds(replace(caller, session=""))

    async def end(self, session: str) -> None:
        """Sign out; nothing where it has ended. Raises NotKept."""
        self._look()
        if self._rows.pop(hash_of(session), None) is None:
            return
        try:
            await self._keep()
        except ConfigError as error:
            raise NotKept(f"You are signed out now, but not over a restart: {error}") from error

    async def _begin(self, token: str, instead_of: str) -> SignedIn | None:
        """`token`: its hash."""
        self._look()
        self._rows.pop(hash_of(instead_of), None)
        session = secrets.token_urlsafe(32)
        now = self._clock.now()
        row = SessionRow(
            sha256=hash_of(session),
            token=_belonging(session, token),
            expires=now + timedelta(seconds=LASTS_S),
        )
        lasting = [one for one in self._rows.values() if one.expires > now]
        self._rows = {one.sha256: one for one in (*lasting, row)[-MOST:]}
        try:
            await self._keep()
        except ConfigError as error:
            _log.error("Whoever has signed in must do so again after a restart: %s", error)
        caller = self.caller(session)
        return None if caller is None else SignedIn(session, caller)

    async def _keep(self) -> None:
        """As it stands when its turn has come. Raises ConfigError."""
        async with self._one_by_one:
            data = _ROWS.dump_json(tuple(self._rows.values()), indent=1)
            self._stamp = await asyncio.to_thread(_write, self._file, data)

    def _look(self) -> None:
        """Read the file again where another process has changed it: `hearth setup --sign-out`."""
        if self._one_by_one.locked():
            return  # it is being written; what is in memory counts
        stamp = self._file.stamp()
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self._rows = {row.sha256: row for row in _read(self._file)}
        except ConfigError as error:
            self._rows = {}
            _log.error("%s", error)


def session_file(folder: Path) -> PrivateFile:
    """The file of that data folder."""
    return PrivateFile(folder / NAME, "who has signed in to the console")


def sign_everybody_out(folder: Path) -> int:
    """End all sessions; how many there were. Blocking. Raises ConfigError."""
    file = session_file(folder)
    with file.alone():
        try:
            ended = len(_read(file))
        except ConfigError:
            ended = 0  # damaged: it let nobody in
        file.write(b"[]")
    return ended


def _read(file: PrivateFile) -> Sequence[SessionRow]:
    kept = file.read()
    if kept is None:
        return ()
    try:
        return _ROWS.validate_json(kept)
    except ValidationError:
        raise ConfigError(f"{file.path} is damaged: everybody has to sign in again") from None


def _write(file: PrivateFile, data: bytes) -> tuple[int, int, int] | None:
    with file.alone():
        file.write(data)
        return file.stamp()


def _belonging(session: str, token: str) -> str:
    """`token`: its hash."""
    return hmac.new(
        session.encode("utf-8", "surrogatepass"), token.encode(), hashlib.sha256
    ).hexdigest()
