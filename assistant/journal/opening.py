"""Open the journal's file, repair it if it is damaged, or fall back to read-only access."""

import errno
import fcntl
import json
import logging
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from assistant.journal.migrations import MIGRATIONS, migrate
from assistant.journal.rows import instant
from assistant.journal.tables import begin_fault, end_fault

# Small tables with data that people would miss, and their JSON columns. Rows with invalid JSON are
# not worth saving.
_LASTING: dict[str, tuple[str, ...]] = {
    "kept": ("value",),
    "memories": (),
    "openings": (),
    "timers": ("rule", "payload"),
    "announcements": ("options",),
}
_MOST_ROWS = 100_000  # limit per table, because a damaged file could loop


def salvage(fresh: sqlite3.Connection, damaged: Path, how: str = "mode=ro") -> list[str]:
    """Copy the readable rows of the tables in `_LASTING` from a damaged file into a new one.

    Return counts such as "3 timers". The damaged file isn't changed; `how` contains the URI
    parameters for opening it. Raises sqlite3.Error if the new file can't be written.
    """
    try:
        old = sqlite3.connect(f"{damaged.absolute().as_uri()}?{how}", uri=True)
    except sqlite3.Error:
        return []
    saved = []
    with closing(old):
        for table, as_json in _LASTING.items():
            rows = [row for row in _rows(old, table) if _sound(row, as_json)]
            count = _put(fresh, table, rows)
            saved += [f"{count} {table}"] if count else []
    return saved


def _rows(old: sqlite3.Connection, table: str) -> list[dict[str, Any]]:
    found: dict[Any, dict[str, Any]] = {}
    # After a read error, continue from the end of the table.
    for order in ("", "ORDER BY rowid DESC"):
        try:
            cursor = old.execute(f"SELECT rowid AS _row, * FROM {table} {order} LIMIT {_MOST_ROWS}")
            names = [column[0] for column in cursor.description]
            for values in cursor:
                row = dict(zip(names, values, strict=True))
                found[row.pop("_row")] = row
            break
        except sqlite3.Error:
            continue
    return [found[key] for key in sorted(found, key=str)]


def _sound(row: dict[str, Any], as_json: tuple[str, ...]) -> bool:
    try:
        for column in as_json:
            if row.get(column) is not None:
                json.loads(row[column])
    except (TypeError, ValueError):
        return False
    return True


def _put(fresh: sqlite3.Connection, table: str, rows: list[dict[str, Any]]) -> int:
    known = {name for _, name, *_ in fresh.execute(f"PRAGMA table_info({table})")}
    taken = 0
    for row in rows:
        columns = [column for column in row if column in known]
        marks = ", ".join("?" * len(columns))
        query = f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({marks})"
        try:
            taken += fresh.execute(query, [row[column] for column in columns]).rowcount
        # Table constraints reject damaged rows.
        except sqlite3.IntegrityError:
            continue
    return taken


# Errors that keep the journal from being written.
_FULL = {errno.ENOSPC, errno.EDQUOT}
_READ_ONLY = {errno.EROFS}
_DEVICE = {errno.EIO}
_HELD = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_PASSING = {
    *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN),
}
_NO_ROOM = 64 << 10  # free bytes; the files beside the database need more


def is_passing(error: OSError | sqlite3.Error) -> bool:
    """Return True for disk errors that may be temporary."""
    if isinstance(error, OSError):
        return error.errno in _FULL | _READ_ONLY | _DEVICE
    return _primary(error) in _PASSING


def problem_of(path: Path, error: OSError | sqlite3.Error) -> str:
    """Return a sentence that describes the problem and, if possible, suggests a fix."""
    folder = path.parent
    if is_passing(error):
        kind = _kind(folder, error)
        if kind == "full":
            return f"The disk of {folder} is full, so nothing is saved: free some space there."
        if kind == "read-only":
            return (
                f"The disk of {folder} is read-only, so nothing is saved: mount it writable, "
                "and check the disk if that fails."
            )
        return (
            f"The disk of {folder} reports errors ({_named(error)}), so nothing is saved: "
            "check whether it is worn out."
        )
    if isinstance(error, sqlite3.Error) and _primary(error) in _HELD:
        return f"The journal {path} is in use by another program; try again when that has finished."
    return f"The journal {path} failed: {error}."


def _kind(folder: Path, error: OSError | sqlite3.Error) -> str:
    # The disk's own state comes first, because SQLite reports the same error for different causes.
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
    # After errors, the kernel can stop writing to a disk without showing that in the mount flags
    # (ext4 since Linux 6.14).
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
    """Return the primary result code, which is the low byte (sqlite.org/rescode)."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


_log = logging.getLogger(__name__)
_BUSY_S = 5.0  # seconds to wait while another process is writing
_LOG_BYTES = 4 << 20  # maximum size of the write-ahead log after a checkpoint
_CHECKED_AT_ONCE = 8 << 20  # bytes; larger files are checked after startup
_PARTS = ("", "-wal", "-shm")
# On a read-only disk, SQLite opens a file without a log only if it is declared immutable.
_READING = ("mode=ro", "mode=ro&immutable=1")
_BROKEN = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
# Writes data that is still in memory into a new file.
Refill = Callable[[sqlite3.Connection], None]


def open_file(path: Path, now: Callable[[], datetime], refill: Refill) -> sqlite3.Connection:
    """Open the file for writing and return the connection.

    A damaged file is kept under another name. The new file receives its lasting data (see
    `salvage`) and what `refill` adds. Raises OSError or sqlite3.Error if the file can't be written,
    and TooNewError if a later version of Hearth wrote it.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _alone(path):
        try:
            return _connect(path)
        except sqlite3.DatabaseError as error:
            if not is_broken(error):
                raise
        return _replaced(path, now(), refill)


def reopen_broken(
    path: Path, inode: int, now: Callable[[], datetime], refill: Refill
) -> sqlite3.Connection:
    """Replace a file that turned out to be damaged while it was open, and return the new
    connection.

    `inode` identifies the damaged file, which another process may already have replaced.
    """
    with _alone(path):
        if inode_of(path) != inode:
            with suppress(sqlite3.DatabaseError):
                return _connect(path)
        return _replaced(path, now(), refill)


def open_reading(path: Path) -> sqlite3.Connection:
    """Return a read-only connection to the file or, if it can't be used as it is, to a copy of its
    lasting data in memory."""
    quoted = path.absolute().as_uri()
    for how in _READING:
        with suppress(sqlite3.Error):
            connection = sqlite3.connect(f"{quoted}?{how}", uri=True, isolation_level=None)
            with _or_closed(connection):
                (version,) = connection.execute("PRAGMA user_version").fetchone()
                (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
                if version == len(MIGRATIONS) and verdict == "ok":
                    return _readonly(connection)
            connection.close()
    connection = sqlite3.connect(":memory:", isolation_level=None)
    with _or_closed(connection):
        migrate(connection)
        for how in _READING:
            salvage(connection, path, how)
        return _readonly(connection)


def check(path: Path) -> str:
    """Check the whole file. Return a description of the damage, or "" if there is none. Raises
    sqlite3.Error or OSError if the file can't be read."""
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    try:
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        if not is_broken(error):
            raise
        return str(error)
    finally:
        connection.close()
    return "" if verdict == "ok" else str(verdict)


def erase_set_aside(path: Path, before: datetime) -> None:
    """Delete backups of damaged files that are older than the given time. Raises OSError."""
    # Individual transcripts can't be erased from a damaged file, so whole files are deleted.
    oldest_kept = _aside_name(path, before)
    for part in path.parent.glob(f"{path.name}.corrupt-*"):
        if part.name < oldest_kept:
            part.unlink(missing_ok=True)


def is_broken(error: sqlite3.Error) -> bool:
    """Return True if the error means that the file is damaged."""
    code = getattr(error, "sqlite_errorcode", None)
    # Python's own error for invalid UTF-8, which undamaged tables never contain.
    if code is None:
        return str(error).startswith("Could not decode to UTF-8")
    # A damaged full-text index doesn't count, because it can be rebuilt from its table.
    return code != sqlite3.SQLITE_CORRUPT_VTAB and _primary(error) in _BROKEN


def inode_of(path: Path) -> int:
    """Return the file's inode, or 0 if there is no file."""
    try:
        return path.stat().st_ino
    except OSError:
        return 0


def _connect(path: Path) -> sqlite3.Connection:
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    if path.stat().st_mode & 0o777 != 0o600:
        path.chmod(0o600)  # SQLite gives its -wal and -shm files the same mode
    connection = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None)
    with _or_closed(connection):
        connection.row_factory = sqlite3.Row
        if not connection.execute("PRAGMA page_count").fetchone()[0]:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES}")
        connection.execute("PRAGMA secure_delete = ON")  # overwrite deleted data
        if path.stat().st_size <= _CHECKED_AT_ONCE:
            (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                raise _damaged(verdict)
        migrate(connection)
    return connection


def _aside_name(path: Path, at: datetime) -> str:
    return f"{path.name}.corrupt-{at:%Y%m%dT%H%M%S}"


def _replaced(path: Path, now: datetime, refill: Refill) -> sqlite3.Connection:
    aside = path.with_name(_aside_name(path, now))
    fresh = path.with_name(f"{path.name}.new")
    _remove(fresh)
    try:
        with closing(_connect(fresh)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            saved = salvage(connection, path)
            refill(connection)
            at = instant(now)
            problem = (
                f"The journal was damaged, so a new one was started; the old one is {aside.name}."
            )
            begin_fault(connection, "journal_damage", problem, at)
            end_fault(connection, "journal_damage", at)
            connection.execute("COMMIT")
            # Move everything into the main file.
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        # Renamed only now, so that a failure so far (such as a full disk) loses nothing.
        for part, aside_part in zip(_parts(path), _parts(aside), strict=True):
            with suppress(FileNotFoundError):
                part.rename(aside_part)
        fresh.rename(path)
    finally:
        with suppress(OSError):
            _remove(fresh)
    told = f"; saved from it: {', '.join(saved)}" if saved else ""
    _log.error("the journal %s was damaged; it is kept as %s%s", path, aside, told)
    return _connect(path)


def _parts(path: Path) -> list[Path]:
    return [path.with_name(path.name + suffix) for suffix in _PARTS]


def _remove(path: Path) -> None:
    for part in _parts(path):
        part.unlink(missing_ok=True)


def _readonly(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA query_only = ON")
    return connection


def _damaged(verdict: str) -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError(verdict)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


@contextmanager
def _or_closed(connection: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Keep other processes from creating, replacing or migrating the file while the context is
    open."""
    lock = os.open(
        path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
    )
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
