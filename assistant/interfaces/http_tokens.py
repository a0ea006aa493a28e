"""Tokens for the HTTP interface: the administrator's token, and named tokens with scopes. The data
folder stores only their hashes."""

import hashlib
import hmac
import json
import logging
import re
import secrets
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from assistant.config.errors import ConfigError
from assistant.config.kinds import SHORTEST_TOKEN
from assistant.config.schema import Settings
from assistant.interfaces.private_file import PrivateFile
from integrations.web.box import Caller, Scope

NAME = "http_tokens.json"
ADMIN_FILE = "http_token"
# A program is never a person.
SCOPES: tuple[Scope, ...] = tuple(one for one in get_args(Scope) if one != "person")
ADMIN = Caller("http:admin", frozenset({"admin"}))
HASHED = "sha256:"  # prefix of a hashed token
_HASHED = re.compile(rf"{HASHED}([0-9a-f]{{64}})")
_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")
_log = logging.getLogger(__name__)


class TokenRow(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    name: Annotated[str, Field(pattern=f"^{_PLAIN.pattern}$")]
    scopes: tuple[Scope, ...]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    created: datetime

    @property
    def caller(self) -> Caller:
        mark = self.sha256[:16]
        return Caller(f"http:{self.name}", frozenset(self.scopes), token=mark)


_ROWS = TypeAdapter(tuple[TokenRow, ...])


class TokenFile:
    """File with the named tokens, shared by the daemon and `hearth token`. Blocking."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self._file = PrivateFile(self.path, "the HTTP interface's tokens for programs")

    def rows(self) -> Sequence[TokenRow]:
        """Return all tokens, oldest first. Raises ConfigError if the file can't be used."""
        kept = self._file.read()
        if kept is None:
            return ()
        try:
            return _ROWS.validate_json(kept)
        except ValidationError:
            raise ConfigError(
                f"{self.path} is damaged: delete it, then create the tokens again with "
                "hearth token create NAME"
            ) from None

    def make(self, name: str, scopes: Sequence[Scope], now: datetime) -> str:
        """Create a token and return it. It can't be shown again. Raises ConfigError if the name is
        invalid or taken, or if the file can't be used."""
        if not _PLAIN.fullmatch(name) or name == "admin":
            raise ConfigError(
                f"{name!r} is not a valid token name: use at most 32 lowercase letters, digits, "
                '"-" and "_"; "admin" is reserved for the administrator'
            )
        token = secrets.token_urlsafe(32)
        with self._file.alone():
            rows = self.rows()
            if any(row.name == name for row in rows):
                raise ConfigError(
                    f"There is already a token {name}: revoke it, or choose another name"
                )
            row = TokenRow(name=name, scopes=tuple(scopes), sha256=hash_of(token), created=now)
            self._write([*rows, row])
        return token

    def revoke(self, name: str) -> None:
        """Revoke a token. Raises ConfigError if there is no such token, or if the file can't be
        used."""
        with self._file.alone():
            rows = self.rows()
            left = [row for row in rows if row.name != name]
            if len(left) == len(rows):
                raise ConfigError(f"There is no token {name}; run hearth token list for all tokens")
            self._write(left)

    def stamp(self) -> tuple[int, int, int] | None:
        return self._file.stamp()

    def _write(self, rows: Sequence[TokenRow]) -> None:
        listed = [row.model_dump(mode="json") for row in rows]
        self._file.write(json.dumps(listed, indent=1).encode())


class AdminToken:
    """File with the hash of the administrator's token. Blocking."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / ADMIN_FILE
        self._file = PrivateFile(self.path, "the HTTP interface's token")

    def stamp(self) -> tuple[int, int, int] | None:
        return self._file.stamp()

    def ensure(self) -> str:
        """Return the token's hash as `sha256:HEX`. A plain-text token from an older version is
        replaced by its hash. If there is no token, a random one is stored without being shown.
        Raises ConfigError."""
        if (kept := self._read()).startswith(HASHED):
            return kept
        with self._file.alone():
            if (kept := self._read()).startswith(HASHED):
                return kept
            if kept and len(kept) < SHORTEST_TOKEN:
                raise ConfigError(
                    f"{self.path}, the HTTP interface's token, has fewer than {SHORTEST_TOKEN} "
                    "characters: delete the file, then create a token with hearth token create "
                    "admin"
                )
            if kept:
                _log.warning(
                    "%s now contains a hash instead of the token. Programs that read the token "
                    "from that file need their own: hearth token create NAME.",
                    self.path,
                )
            return self._keep(kept or secrets.token_urlsafe(32))

    def replace(self) -> str:
        """Create a new token and return it in plain text. The old one becomes invalid. Raises
        ConfigError."""
        token = secrets.token_urlsafe(32)
        with self._file.alone():
            self._keep(token)
        return token

    def _read(self) -> str:
        return (self._file.read() or b"").decode("ascii", "replace").strip()

    def _keep(self, token: str) -> str:
        hashed = f"{HASHED}{hash_of(token)}"
        self._file.write(f"{hashed}\n".encode())
        return hashed


class HttpTokens:
    """The administrator's token and the named tokens. Changes to their files take effect
    immediately."""

    def __init__(self, admin: str | AdminToken, file: TokenFile) -> None:
        """`admin` is the administrator's token (plain text or `sha256:HEX`) or the file that stores
        it. Blocking. Raises ConfigError."""
        if not admin:
            raise ValueError("the token is empty")
        self._kept = admin if isinstance(admin, AdminToken) else None
        self._admin = (kept_hash(admin if isinstance(admin, str) else admin.ensure()), ADMIN)
        self._admin_stamp = self._kept.stamp() if self._kept is not None else None
        self._file = file
        self._stamp: tuple[int, int, int] | None = None
        self._further: tuple[tuple[str, Caller], ...] = ()

    def caller(self, given: str) -> Caller | None:
        hashed = hash_of(given)
        found = None
        for known, caller in self.known():
            if hmac.compare_digest(hashed, known):
                found = caller
        return found

    def holds(self, caller: Caller) -> bool:
        return caller in [known for _, known in self.known()]

    def known(self) -> Sequence[tuple[str, Caller]]:
        """Return the (hash, owner) pairs of all valid tokens, starting with the administrator's
        token."""
        self._look()
        return (self._admin, *self._further)

    def _look(self) -> None:
        """Reread files that have changed. If a file can't be read, its tokens become invalid."""
        self._look_for_admin()
        stamp = self._file.stamp()
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self._further = tuple((row.sha256, row.caller) for row in self._file.rows())
        except ConfigError as error:
            self._further = ()
            _log.error("%s", error)

    def _look_for_admin(self) -> None:
        if self._kept is None or (stamp := self._kept.stamp()) == self._admin_stamp:
            return
        self._admin_stamp = stamp
        try:
            self._admin = (kept_hash(self._kept.ensure()), ADMIN)
            self._admin_stamp = self._kept.stamp()
        except ConfigError as error:
            self._admin = (hash_of(secrets.token_urlsafe(32)), ADMIN)
            _log.error("%s", error)


def admin_of(settings: Settings) -> str | AdminToken:
    """Return the administrator's token from the configuration, or its file in the data folder if no
    token is configured."""
    return settings.http.token.get_secret_value() or AdminToken(settings.data_folder)


def make_admin_token(settings: Settings) -> str:
    """Replace the administrator's token and return the new one in plain text. Blocking. Raises
    ConfigError, for example if `http.token` sets the token."""
    if settings.http.token.get_secret_value():
        raise ConfigError(
            "The administrator's token is set by http.token: remove that setting, then run this "
            "again"
        )
    return AdminToken(settings.data_folder).replace()


def kept_hash(given: str) -> str:
    """Return the SHA-256 of a token that is given in plain text or as `sha256:HEX`. Raises
    ConfigError if the hash is invalid."""
    if not given.startswith(HASHED):
        return hash_of(given)
    found = _HASHED.fullmatch(given)
    if found is None:
        raise ConfigError(
            f"http.token begins with {HASHED} but is not a valid hash: 64 hexadecimal digits must "
            "follow, as printed by `printf %s TOKEN | sha256sum`"
        )
    return found[1]


def hash_of(secret: str) -> str:
    """Return the hexadecimal SHA-256 of a secret. Store it only if the secret is random."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
