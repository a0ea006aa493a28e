"""Opening the file of the store: checked, healed where it is damaged, else to be read alone."""

import fcntl
import logging
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path

from assistant.journal import fault_rows, rows
from assistant.journal.migrations import MIGRATIONS, migrate
from assistant.journal.salvage import salvage

_log = logging.getLogger(__name__)
_BUSY_S = 5.0  # another process may be writing
_LOG_BYTES = 4 << 20  # of the write-ahead log, once its content is in the file
_CHECKED_AT_ONCE = 8 << 20  # bytes; a larger file is checked later, so that nobody waits for it
_PARTS = ("", "-wal", "-shm")
# Without a log beside it that can be opened, SQLite reads a file of a read-only disk only when it
# is told that nobody will change it.
_READING = ("mode=ro", "mode=ro&immutable=1")
_BROKEN = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}

Refill = Callable[[sqlite3.Connection], None]  # puts into a fresh file what is known without it


def open_file(path: Path, now: Callable[[], datetime], refill: Refill) -> sqlite3.Connection:
    """A connection that may write. A damaged file is set aside, what can be read of its lasting
    rows goes into a fresh one, and then `refill` does its part.

    Raises OSError and sqlite3.Error where nothing can be written, and TooNewError.
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
    """The same for a file that proved to be damaged while it was open, which `inode` says.

    Another process may have seen to it in the meantime: then its file is taken.
    """
    with _alone(path):
        if inode_of(path) != inode:
            with suppress(sqlite3.DatabaseError):
                return _connect(path)
        return _replaced(path, now(), refill)


def open_reading(path: Path) -> sqlite3.Connection:
    """A connection that only reads the file; of one that is damaged, or of an earlier version that
    cannot be changed now, only what can be read of its lasting rows."""
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
    """What is wrong with the file, "" if nothing. For a thread of its own: it reads all of it.

    Raises sqlite3.Error where it cannot be looked at, and OSError.
    """
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
    """Delete damaged files that were set aside before then: nobody can take the words alone out of
    them. Raises OSError."""
    oldest_kept = _aside_name(path, before)
    for part in path.parent.glob(f"{path.name}.corrupt-*"):
        if part.name < oldest_kept:
            part.unlink(missing_ok=True)


def is_broken(error: sqlite3.Error) -> bool:
    """Whether the content is at fault. The low byte is the primary code (sqlite.org/rescode).

    An index of words that is broken (`SQLITE_CORRUPT_VTAB`) can be built anew from its table.
    """
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:  # the module's own complaint about text, which the tables only hold as UTF-8
        return str(error).startswith("Could not decode to UTF-8")
    return code != sqlite3.SQLITE_CORRUPT_VTAB and code & 0xFF in _BROKEN


def inode_of(path: Path) -> int:
    """Which file stands there now; 0 for none."""
    try:
        return path.stat().st_ino
    except OSError:
        return 0


def _connect(path: Path) -> sqlite3.Connection:
    """A checked connection with all tables. The file is its owner's alone."""
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
        connection.execute("PRAGMA secure_delete = ON")  # what is erased is overwritten
        if path.stat().st_size <= _CHECKED_AT_ONCE:
            (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                raise _damaged(verdict)
        migrate(connection)
    return connection


def _aside_name(path: Path, at: datetime) -> str:
    """Sorts by time."""
    return f"{path.name}.corrupt-{at:%Y%m%dT%H%M%S}"


def _replaced(path: Path, now: datetime, refill: Refill) -> sqlite3.Connection:
    """A fresh file in the place of a damaged one, which stays there until the fresh one is whole:
    what fails on the way, such as a full disk, is tried again with nothing lost."""
    aside = path.with_name(_aside_name(path, now))
    fresh = path.with_name(f"{path.name}.new")
    _remove(fresh)
    try:
        with closing(_connect(fresh)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            saved = salvage(connection, path)
            refill(connection)
            instant = rows.instant(now)
            problem = f"The journal was damaged and begun anew; the old one is {aside.name}."
            fault_rows.begin(connection, "journal_damage", problem, instant)
            fault_rows.end(connection, "journal_damage", instant)
            connection.execute("COMMIT")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # all of it in the one file
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
    """What fails inside closes the connection."""
    try:
        yield
    except BaseException:
        connection.close()
        raise


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """No other process makes, heals or migrates the file meanwhile."""
    lock = os.open(
        path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
    )
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
