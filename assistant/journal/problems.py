"""What keeps the journal from being written, as a sentence that names the mend."""

import errno
import os
import sqlite3
from contextlib import suppress
from pathlib import Path

_FULL = {errno.ENOSPC, errno.EDQUOT}
_READ_ONLY = {errno.EROFS}
_DEVICE = {errno.EIO}
_HELD = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_NO_ROOM = 64 << 10  # bytes: less than the files beside the database need


def is_passing(error: OSError | sqlite3.Error) -> bool:
    """Whether it is the disk's fault and may be over later: Hearth goes on without writing."""
    if isinstance(error, OSError):
        return error.errno in _FULL | _READ_ONLY | _DEVICE
    return _primary(error) in {
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CANTOPEN,
    }


def problem_of(path: Path, error: OSError | sqlite3.Error) -> str:
    """One sentence."""
    folder = path.parent
    if is_passing(error):
        kind = _kind(folder, error)
        if kind == "full":
            return f"The disk of {folder} is full: nothing is written down; free some space there."
        if kind == "read-only":
            return (
                f"The disk of {folder} is read-only: nothing is written down; "
                "mount it to be written, and check it if that is refused."
            )
        return (
            f"The disk of {folder} fails ({_named(error)}): nothing is written down; "
            "check whether it is worn out."
        )
    if isinstance(error, sqlite3.Error) and _primary(error) in _HELD:
        return f"The journal {path} is held by another program; try again when that has ended."
    return f"The journal {path} failed: {error}."


def _kind(folder: Path, error: OSError | sqlite3.Error) -> str:
    """By the disk itself first: SQLite has one error for many reasons."""
    with suppress(OSError):
        disk = os.statvfs(folder)
        if disk.f_flag & os.ST_RDONLY:
            return "read-only"
        if disk.f_bavail * disk.f_frsize < _NO_ROOM:
            return "full"
    code = error.errno if isinstance(error, OSError) else _refusal(folder)
    primary = 0 if isinstance(error, OSError) else _primary(error)
    if code in _FULL or primary == sqlite3.SQLITE_FULL:
        return "full"
    if code in _READ_ONLY or primary == sqlite3.SQLITE_READONLY:
        return "read-only"
    return "failing"


def _refusal(folder: Path) -> int | None:
    """Why the disk lets nobody make a file. A disk with errors the kernel writes to no longer, and
    that does not always show in its flags (ext4 since Linux 6.14)."""
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    except OSError as error:
        return error.errno
    return None


def _named(error: OSError | sqlite3.Error) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return str(getattr(error, "sqlite_errorname", "")) or str(error)


def _primary(error: sqlite3.Error) -> int:
    """The low byte is the primary code (sqlite.org/rescode)."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
