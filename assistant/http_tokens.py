"""Tokens of the HTTP interface: the administrator's, and further ones with a name and scopes.

The file keeps only hashes of the further ones. Such a token is 256 bits of chance, so its plain
SHA-256 tells nothing of it; salt and a slow hash are for what people think up.
"""

import fcntl
import hashlib
import hmac
import json
import logging
import os
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from assistant.config.errors import ConfigError
from integrations.web.callers import Caller, Scope

NAME = "http_tokens.json"
SCOPES: tuple[Scope, ...] = get_args(Scope)
ADMIN = Caller("http:admin", frozenset({"admin"}))
_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")
_log = logging.getLogger(__name__)


class TokenRow(BaseModel):
    """One further token, as the file keeps it."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    name: Annotated[str, Field(pattern=f"^{_PLAIN.pattern}$")]
    scopes: tuple[Scope, ...]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    created: datetime

    @property
    def caller(self) -> Caller:
        """Whose it is, as the journal names it."""
        return Caller(f"http:{self.name}", frozenset(self.scopes))


_ROWS = TypeAdapter(tuple[TokenRow, ...])


class TokenFile:
    """The further tokens of a data folder, shared by the program that stays and `hearth setup`."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME

    def rows(self) -> Sequence[TokenRow]:
        """All of them, oldest first. Raises ConfigError."""
        try:
            return _ROWS.validate_json(self.path.read_bytes())
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise self._unusable(error) from error
        except ValidationError:
            raise ConfigError(
                f"{self.path} is damaged: remove it, and make the tokens anew with "
                "hearth setup --token NAME"
            ) from None

    def make(self, name: str, scopes: Sequence[Scope], now: datetime) -> str:
        """A new token, which nobody can look up later. Raises ConfigError where it cannot be."""
        if not _PLAIN.fullmatch(name) or name == "admin":
            raise ConfigError(
                f"{name!r} cannot be the name of a token: take at most 32 small letters, digits, "
                '"-" and "_"; "admin" is the name of http.token'
            )
        token = secrets.token_urlsafe(32)
        with self._alone():
            rows = self.rows()
            if any(row.name == name for row in rows):
                raise ConfigError(
                    f"There is a token {name} already: revoke it, or take another name"
                )
            row = TokenRow(name=name, scopes=tuple(scopes), sha256=_hash(token), created=now)
            self._write([*rows, row])
        return token

    def revoke(self, name: str) -> None:
        """It lets nobody in from now on. Raises ConfigError, where there is none such too."""
        with self._alone():
            rows = self.rows()
            left = [row for row in rows if row.name != name]
            if len(left) == len(rows):
                raise ConfigError(f"There is no token {name}; hearth setup --tokens lists them")
            self._write(left)

    def stamp(self) -> tuple[int, int, int] | None:
        """Changes whenever the file does. Cheap."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No other process changes it meanwhile: two tokens made at once must not lose one."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle = os.open(
                self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
            )
        except OSError as error:
            raise self._unusable(error) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def _write(self, rows: Sequence[TokenRow]) -> None:
        """Whatever happens to the power, the old or the new file is there afterwards."""
        aside = self.path.with_suffix(".new")
        try:
            aside.unlink(missing_ok=True)
            handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump([row.model_dump(mode="json") for row in rows], file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            aside.replace(self.path)
        except OSError as error:
            raise self._unusable(error) from error

    def _unusable(self, error: OSError) -> ConfigError:
        return ConfigError(
            f"{self.path}, the further tokens of the HTTP interface, cannot be used "
            f"({error.strerror}): let Hearth's user read and write it"
        )


class HttpTokens:
    """Implements `integrations.web.guard.Tokens`. A change of the file holds at once."""

    def __init__(self, admin: str, file: TokenFile) -> None:
        """`admin`: the administrator's token, not empty."""
        if not admin:
            raise ValueError("the token is empty")
        self._admin = (_hash(admin), ADMIN)
        self._file = file
        self._stamp: tuple[int, int, int] | None = None
        self._further: tuple[tuple[str, Caller], ...] = ()

    def caller(self, given: str) -> Caller | None:
        """Whose token that is. Every one is compared, in a time that tells nothing of it."""
        self._look()
        hashed = _hash(given)
        found = None
        for known, caller in (self._admin, *self._further):
            if hmac.compare_digest(hashed, known):
                found = caller
        return found

    def holds(self, caller: Caller) -> bool:
        """Whether that program's token is still taken."""
        self._look()
        return caller in (ADMIN, *(known for _, known in self._further))

    def _look(self) -> None:
        """Read the file again where it has changed; one that cannot be read lets nobody in."""
        stamp = self._file.stamp()
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self._further = tuple((row.sha256, row.caller) for row in self._file.rows())
        except ConfigError as error:
            self._further = ()
            _log.error("%s", error)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
