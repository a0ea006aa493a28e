"""Opening the file of the store: checked, healed where it is damaged, else to be read alone."""

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

# Small tables whose loss a person would feel. Each is taken whole or row by row, as far as it can
# be read; with the columns of JSON in it, which are worth nothing when they are none.
_LASTING: dict[str, tuple[str, ...]] = {
    "kept": ("value",),
    "memories": (),
    "openings": (),
    "timers": ("rule", "payload"),
    "announcements": ("options",),
}
_MOST_ROWS = 100_000  # rows of one table: what is damaged may go round in circles


def salvage(fresh: sqlite3.Connection, damaged: Path, how: str = "mode=ro") -> list[str]:
    """Copy what is readable into the fresh file, which has the same tables or later ones, in the
    transaction that is open. `how` the other is opened; it stays as it was found. Says how many
    rows of what: "3 timers". Raises sqlite3.Error where the fresh file cannot be written.
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
    """As many as can be read: from the front, and where that breaks off from the back."""
    found: dict[Any, dict[str, Any]] = {}
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
    """Return how many of them the fresh table took; its own rules refuse what is no row of it."""
    known = {name for _, name, *_ in fresh.execute(f"PRAGMA table_info({table})")}
    taken = 0
    for row in rows:
        columns = [column for column in row if column in known]
        marks = ", ".join("?" * len(columns))
        query = f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({marks})"
        try:
            taken += fresh.execute(query, [row[column] for column in columns]).rowcount
        except sqlite3.IntegrityError:
            continue
    return taken


# What keeps the journal from being written, as a sentence that names the mend.
_FULL = {errno.ENOSPC, errno.EDQUOT}
_READ_ONLY = {errno.EROFS}
_DEVICE = {errno.EIO}
_HELD = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_PASSING = {
    *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN),
}
_NO_ROOM = 64 << 10  # bytes: less than the files beside the database need


def is_passing(error: OSError | sqlite3.Error) -> bool:
    """Return whether it is the disk's fault and may be over later: Hearth goes on without
    writing."""
    if isinstance(error, OSError):
        return error.errno in _FULL | _READ_ONLY | _DEVICE
    return _primary(error) in _PASSING


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
    """Return why the disk lets nobody make a file. A disk with errors the kernel writes to no
    longer, and that does not always show in its flags (ext4 since Linux 6.14)."""
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


# Tells living processes from dead ones, so that what a dead one left unfinished is found.
_BOOT = Path("/proc/sys/kernel/random/boot_id")


def own_mark() -> str:
    """This process as text: boot, process id, moment of its start. Never given to another one."""
    pid = os.getpid()
    return f"{_boot()}/{pid}/{_start(pid)}"


def is_alive(mark: str) -> bool:
    """Return whether the process with this mark still runs."""
    boot, pid, start = mark.split("/")
    return boot == _boot() and start == _start(int(pid))


def _boot() -> str:
    return _BOOT.read_text(encoding="ascii").strip()


def _start(pid: int) -> str:
    """Start of a process in ticks since boot, field 22 of proc(5)'s stat; "" if it has ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    fields = stat.rpartition(b")")[2].split()  # the name before may hold anything
    state, start = fields[0], fields[19]
    return "" if state in (b"Z", b"X") else start.decode("ascii")


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
    """The same for a file, told by `inode`, that proved to be damaged while it was open.

    Another process may have replaced it in the meantime: then its file is taken.
    """
    with _alone(path):
        if inode_of(path) != inode:
            with suppress(sqlite3.DatabaseError):
                return _connect(path)
        return _replaced(path, now(), refill)


def open_reading(path: Path) -> sqlite3.Connection:
    """A connection that only reads: of a damaged or older file only what can be salvaged."""
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
    """Read all of the file and return what is wrong with it. Raises sqlite3.Error, OSError."""
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
    """Return whether the content is at fault.

    An index of words that is broken (`SQLITE_CORRUPT_VTAB`) can be built anew from its table.
    """
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:  # the module's own complaint about text, which the tables only hold as UTF-8
        return str(error).startswith("Could not decode to UTF-8")
    return code != sqlite3.SQLITE_CORRUPT_VTAB and _primary(error) in _BROKEN


def inode_of(path: Path) -> int:
    """Return which file stands there now; 0 for none."""
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
            at = instant(now)
            problem = f"The journal was damaged and begun anew; the old one is {aside.name}."
            begin_fault(connection, "journal_damage", problem, at)
            end_fault(connection, "journal_damage", at)
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
    """Return what fails inside closes the connection."""
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
