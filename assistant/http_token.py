"""The token of the HTTP interface: the configured one, else one that is made once and kept."""

import os
import secrets
from pathlib import Path

from assistant.config.errors import ConfigError
from assistant.config.kinds import SHORTEST_TOKEN
from assistant.config.schema import Settings

NAME = "http_token"


def http_token(settings: Settings) -> str:
    """The administrator's token, never empty. Blocking. Raises ConfigError."""
    given = settings.http.token.get_secret_value()
    if given:
        return given
    file = settings.data_folder / NAME
    try:
        return _kept(file) or _made(file)
    except OSError as error:
        raise ConfigError(
            f"{file}, the token of the HTTP interface, cannot be used ({error.strerror}): "
            "let Hearth's user read and write it, or set http.token"
        ) from error


def _kept(file: Path) -> str:
    try:
        kept = file.read_text(encoding="ascii", errors="replace").strip()
    except FileNotFoundError:
        return ""
    if kept and len(kept) < SHORTEST_TOKEN:
        raise ConfigError(
            f"{file}, the token of the HTTP interface, has fewer than {SHORTEST_TOKEN} characters: "
            "remove the file, and Hearth makes a long one at its next start"
        )
    return kept


def _made(file: Path) -> str:
    """A new one, which whole or not at all stands in the file whatever happens to the power."""
    token = secrets.token_urlsafe(32)
    aside = file.with_suffix(".new")
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    aside.unlink(missing_ok=True)
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as written:
        written.write(f"{token}\n")
        written.flush()
        os.fsync(written.fileno())
    aside.replace(file)
    return token
