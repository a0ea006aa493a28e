"""Writes the configuration and its secrets: all of it, or nothing.

A secret has a file of its own (0600). What root writes belongs to whom the folder belongs to; in
one that is root's and a service's group's that group may read it (0640), or the service could not.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assistant.config.errors import ConfigError

SECRET_MODE = 0o600
PLAIN_MODE = 0o644


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file as it is to be."""

    path: Path
    data: bytes = field(repr=False)
    mode: int = SECRET_MODE


Before = Mapping[Path, tuple[bytes, int] | None]  # bytes and mode of each; None: no such file


def write_all(files: Sequence[NewFile]) -> Before:
    """Put these in place, the last one last; gives what was there, for `put_back`.

    Raises ConfigError; then every file is as before. Blocking.
    """
    before: dict[Path, tuple[bytes, int] | None] = {}
    try:
        for one in files:
            one.path.parent.mkdir(parents=True, exist_ok=True)
            _write(_aside(one.path), one.data, one.mode)
        for one in files:
            before[one.path] = _read(one.path)
            _aside(one.path).replace(one.path)
    except OSError as error:
        for one in files:
            _aside(one.path).unlink(missing_ok=True)
        put_back(before)
        where = error.filename or files[-1].path
        raise ConfigError(
            f"{where} cannot be written ({error.strerror}); nothing was changed: make that folder "
            "yours to write, or name another file with --config"
        ) from error
    return before


def put_back(before: Before) -> None:
    """The files as they were. Blocking; raises OSError."""
    for path, was in before.items():
        if was is None:
            path.unlink(missing_ok=True)
        else:
            _write(_aside(path), *was)
            _aside(path).replace(path)


def _write(path: Path, data: bytes, mode: int) -> None:
    path.unlink(missing_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, SECRET_MODE)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    folder = path.parent.stat()
    if os.geteuid() == 0 and (folder.st_uid, folder.st_gid) != (0, 0):
        os.chown(path, folder.st_uid, folder.st_gid)
        if folder.st_uid == 0:
            mode |= 0o040
    path.chmod(mode)


def _read(path: Path) -> tuple[bytes, int] | None:
    try:
        return path.read_bytes(), path.stat().st_mode & 0o777
    except FileNotFoundError:
        return None


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.new")
