"""One-time links to the console: who follows one is signed in as the administrator, once.

The code stands behind the "#" of the address, which no browser sends to a server and no server
writes into its log; the page takes it from there and gives it to `POST /v1/session`.
"""

import hmac
import secrets
import socket
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.config.sections import Http
from assistant.domain.private_file import PrivateFile
from assistant.interfaces.http_tokens import hash_of

NAME = "console_links.json"
MINUTES = 10  # that a link holds, unless told otherwise
MOST_MINUTES = 24 * 60
_MOST = 8  # that wait at once; beyond that the oldest ends
_SOMEWHERE = ("192.0.2.1", 9)  # of TEST-NET-1 (RFC 5737): nothing is sent there


class LinkRow(BaseModel):
    """One link that was not followed yet, as the file keeps it."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]  # of its code
    expires: AwareDatetime


_ROWS = TypeAdapter(tuple[LinkRow, ...])


class Links:
    """The links of a data folder, made by `hearth setup` and taken by the program that stays.

    Blocking. Each raises ConfigError where the file cannot be used.
    """

    def __init__(self, folder: Path) -> None:
        self._file = PrivateFile(folder / NAME, "the one-time links to the console")

    def make(self, now: datetime, minutes: int) -> str:
        """The code of a new one: 192 bits of chance."""
        code = secrets.token_urlsafe(24)
        row = LinkRow(sha256=hash_of(code), expires=now + timedelta(minutes=minutes))
        with self._file.alone():
            self._write([*self._waiting(now), row][-_MOST:])
        return code

    def redeem(self, code: str, now: datetime) -> bool:
        """Whether it is one that waits; on the disk it waits no longer when this returns."""
        hashed = hash_of(code)
        with self._file.alone():
            rows = self._waiting(now)
            left = [row for row in rows if not hmac.compare_digest(row.sha256, hashed)]
            if len(left) == len(rows):
                return False
            self._write(left)
        return True

    def _waiting(self, now: datetime) -> Sequence[LinkRow]:
        kept = self._file.read()
        if kept is None:
            return ()
        try:
            rows = _ROWS.validate_json(kept)
        except ValidationError:
            return ()  # nobody gets in by it, and the next link writes it anew
        # One that would hold for longer than any is made for was made before the clock was set.
        latest = now + timedelta(minutes=MOST_MINUTES)
        return [row for row in rows if now < row.expires <= latest]

    def _write(self, rows: Sequence[LinkRow]) -> None:
        self._file.write(_ROWS.dump_json(tuple(rows), indent=1))


def console_link(settings: Settings, now: datetime, minutes: int = MINUTES) -> str:
    """An address that signs in whoever opens it first within so many minutes.

    Blocking. Raises ConfigError.
    """
    if not 1 <= minutes <= MOST_MINUTES:
        raise ConfigError(f"A link to the console may hold from 1 to {MOST_MINUTES} minutes")
    code = Links(settings.data_folder).make(now, minutes)
    return f"{console_address(settings.http)}#code={code}"


def console_address(http: Http) -> str:
    """Where the console is to be found from the home network, or from this machine alone."""
    scheme = "https" if http.tls_cert else "http"
    host = http.host
    with suppress(ValueError):
        if host == "" or ip_address(host).is_unspecified:
            host = _own_address()
    name = f"[{host}]" if ":" in host else host
    return f"{scheme}://{name}:{http.port}/"


def _own_address() -> str:
    """By which the home network reaches this machine; its name where it has no such address."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        try:
            asked.connect(_SOMEWHERE)  # chooses the way, and sends nothing
        except OSError:
            return socket.gethostname()
        return str(asked.getsockname()[0])
