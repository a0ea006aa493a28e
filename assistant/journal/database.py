"""One SQLite file behind one thread: opening, healing, and running work on it in order."""

import asyncio
import fcntl
import logging
import os
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from assistant.config.errors import ConfigError
from assistant.journal.migrations import TooNewError, migrate
from assistant.journal.records import StoreError

_log = logging.getLogger(__name__)
_BUSY_S = 5.0  # another process may be writing
_MOST_WAITING = 256  # pieces of work; beyond that callers wait, nothing is dropped
_BROKEN = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]


class Database:
    """Runs work on the connection in a thread of its own, each piece in one transaction."""

    def __init__(self, path: Path, now: Callable[[], datetime]) -> None:
        self._path = path
        self._now = now
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store")
        self._room = asyncio.Semaphore(_MOST_WAITING)
        self._connection: sqlite3.Connection | None = None

    async def open(self) -> None:
        """Make or open the file. Raises ConfigError where it cannot be used."""
        try:
            await self._in_thread(self._open)
        except BaseException:
            self._thread.shutdown(wait=False)
            raise

    async def close(self) -> None:
        """Finish what is waiting, then close the file."""
        await self._in_thread(self._close)
        self._thread.shutdown(wait=False)

    async def run(self, work: Work[T], *, durable: bool = False) -> T:
        """Do `work` in a transaction. Once begun it is finished, even if the caller is cancelled.

        `durable`: on the disk before this returns, whatever happens to the power. Otherwise a
        power cut may take the last moments with it; the end of the process never does.
        Raises StoreError.
        """
        connection = self._opened()
        return await self._in_thread(lambda: self._transact(connection, work, durable))

    def stamp(self) -> tuple[int, int]:
        """Time (ns) and size of the write-ahead log, which every write of any process touches."""
        try:
            found = self._path.with_name(f"{self._path.name}-wal").stat()
        except OSError:
            return 0, 0
        return found.st_mtime_ns, found.st_size

    async def empty_log(self) -> None:
        """Bring the write-ahead log into the file and truncate it, if nobody else reads it now."""
        connection = self._opened()
        await self._in_thread(lambda: self._checkpoint(connection))

    async def _in_thread(self, job: Callable[[], T]) -> T:
        await self._room.acquire()
        future = asyncio.get_running_loop().run_in_executor(self._thread, job)
        future.add_done_callback(lambda _: self._room.release())
        return await asyncio.shield(future)

    def _open(self) -> None:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _alone(self._path):
                self._connection = self._open_or_replace()
        except TooNewError:
            raise ConfigError(
                f"{self._path} was written by a later version of Hearth; update Hearth "
                "or set journal.path to another file"
            ) from None
        except (OSError, sqlite3.Error) as error:
            raise ConfigError(
                f"{self._path} cannot be used as the journal ({_reason(error)}); "
                "correct journal.path or assistant.data"
            ) from error

    def _open_or_replace(self) -> sqlite3.Connection:
        try:
            return _connect(self._path)
        except sqlite3.DatabaseError as error:
            if not _is_broken(error):
                raise
        aside = self._path.with_name(f"{self._path.name}.corrupt-{self._now():%Y%m%dT%H%M%S}")
        for suffix in ("", "-wal", "-shm"):
            part = self._path.with_name(self._path.name + suffix)
            if part.exists():
                part.rename(aside.with_name(aside.name + suffix))
        _log.error("the journal %s was damaged; it is kept as %s", self._path, aside)
        return _connect(self._path)

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StoreError("The journal is closed.")
        return self._connection

    def _checkpoint(self, connection: sqlite3.Connection) -> None:
        try:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error as error:
            raise StoreError(f"The journal {self._path} failed: {error}.") from error

    def _transact(self, connection: sqlite3.Connection, work: Work[T], durable: bool) -> T:
        try:
            connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            connection.execute("BEGIN IMMEDIATE")
            try:
                result = work(connection)
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            if connection.in_transaction:  # COMMIT itself failed, e.g. on a full disk
                connection.execute("ROLLBACK")
            raise StoreError(f"The journal {self._path} failed: {error}.") from error
        return result


def _connect(path: Path) -> sqlite3.Connection:
    """A checked connection with all tables. The file is its owner's alone."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    path.chmod(0o600)  # SQLite gives its -wal and -shm files the same mode
    connection = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None)
    try:
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA secure_delete = ON")  # what is erased is overwritten
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise _damaged(verdict)
        migrate(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _damaged(verdict: str) -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError(verdict)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


def _is_broken(error: sqlite3.DatabaseError) -> bool:
    """Whether the content is at fault. The low byte is the primary code (sqlite.org/rescode)."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _BROKEN


def _reason(error: OSError | sqlite3.Error) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)


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
