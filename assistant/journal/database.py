"""Access to one SQLite file through a single thread, which also handles disk failures."""

import asyncio
import logging
import os
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from assistant.config.errors import ConfigError
from assistant.domain.records import StoreError
from assistant.journal.migrations import TooNewError
from assistant.journal.opening import (
    Refill,
    check,
    erase_set_aside,
    inode_of,
    is_broken,
    is_passing,
    open_file,
    open_reading,
    problem_of,
    reopen_broken,
)

_log = logging.getLogger(__name__)
_MOST_WAITING = 256  # queued jobs; beyond this, callers wait
_AGAIN_S = 5.0  # seconds between attempts to reopen a file that can't be written
T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]


class Database:
    """Runs functions on the connection in order, each in its own transaction, on a background
    thread.

    If the disk is full or read-only, reading still works, and writing raises StoreError until the
    disk recovers.
    """

    def __init__(
        self, path: Path, now: Callable[[], datetime], refill: Refill = lambda db: None
    ) -> None:
        """`refill` adds data from memory to the new file that replaces a damaged one."""
        self._path = path
        self._now = now
        self._refill = refill
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store")
        self._room = asyncio.Semaphore(_MOST_WAITING)
        self.waiting = 0  # jobs that are queued or running
        self._connection: sqlite3.Connection | None = None
        self._writes = True  # False if the connection is read-only
        self._inode = 0
        self._tried_s = 0.0  # monotonic time of the last attempt to open the file for writing
        self.problem = ""  # sentence that says why nothing can be written, or ""

    async def open(self) -> None:
        """Open the file, creating it if necessary. Raises ConfigError if it can't be used as a
        journal.

        If the disk can't be written, only `problem` is set.
        """
        try:
            await self._in_thread(self._open)
        except BaseException:
            self._thread.shutdown(wait=False)
            raise

    async def close(self) -> None:
        """Finish all queued work, then close the file."""
        await self._in_thread(self._close)
        self._thread.shutdown(wait=False)

    async def run(self, work: Work[T], *, durable: bool = False) -> T:
        """Run `work` in a write transaction and return its result. Raises StoreError.

        Once started, the work finishes even if the caller is cancelled. With `durable`, the data is
        on the disk before this returns; otherwise a power failure can lose the last transactions,
        but a crash of the process can't.
        """
        self._opened()
        return await self._in_thread(lambda: self._told(lambda: self._do(work, durable, True)))

    async def read(self, work: Work[T]) -> T:
        """Run read-only `work` and return its result, without waiting for other processes' writes.
        Raises StoreError."""
        self._opened()
        return await self._in_thread(lambda: self._told(lambda: self._do(work, False, False)))

    def stamp(self) -> tuple[int, int]:
        """Return the write-ahead log's modification time (ns) and size in bytes, or (0, 0) without
        a log.

        They change when any process writes, but two writes within 4 ms can look like one.
        """
        try:
            found = self._path.with_name(f"{self._path.name}-wal").stat()
        except OSError:
            return 0, 0
        return found.st_mtime_ns, found.st_size

    async def empty_log(self) -> None:
        """Copy the write-ahead log into the main file and truncate the log, unless another process
        is reading. Raises StoreError."""
        await self.statement("PRAGMA wal_checkpoint(TRUNCATE)")

    async def statement(self, query: str) -> None:
        """Run an SQL statement outside a transaction. Raises StoreError."""
        self._opened()
        await self._in_thread(lambda: self._bare(query))

    async def erase_set_aside(self, before: datetime) -> None:
        """Delete backups of damaged files that are older than the given time. Raises StoreError."""
        try:
            await self._in_thread(lambda: erase_set_aside(self._path, before))
        except OSError as error:
            raise StoreError(problem_of(self._path, error)) from error

    async def check(self) -> bool:
        """Check the whole file on another thread, and replace it if it is damaged. Return False if
        it was damaged. Raises StoreError if the file can't be read or replaced."""
        self._opened()
        inode = self._inode
        try:
            found = await asyncio.to_thread(check, self._path)
        except (sqlite3.Error, OSError) as error:
            raise StoreError(problem_of(self._path, error)) from error
        if found:
            await self._in_thread(lambda: self._told(lambda: self._heal(inode)))
        return not found

    async def _in_thread(self, job: Callable[[], T]) -> T:
        self.waiting += 1
        try:
            await self._room.acquire()
        except asyncio.CancelledError:
            self.waiting -= 1
            raise
        future = asyncio.get_running_loop().run_in_executor(self._thread, job)
        future.add_done_callback(lambda _: self._leave())
        return await asyncio.shield(future)

    def _leave(self) -> None:
        self.waiting -= 1
        self._room.release()

    # --- in the thread

    def _open(self) -> None:
        try:
            self._take(open_file(self._path, self._now, self._refill))
        except TooNewError:
            raise ConfigError(
                f"{self._path} was written by a later version of Hearth; update Hearth "
                "or set journal.path to another file"
            ) from None
        except (OSError, sqlite3.Error) as error:
            if not is_passing(error):
                raise ConfigError(
                    f"{self._path} cannot be used as the journal ({_reason(error)}); "
                    "correct journal.path or assistant.data"
                ) from error
            self._take(open_reading(self._path), writes=False)
            self._fail(error)

    def _take(self, connection: sqlite3.Connection, *, writes: bool = True) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection, self._writes = connection, writes
        self._inode, self._tried_s = inode_of(self._path), time.monotonic()

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StoreError("The journal is closed.")
        return self._connection

    def _do(self, work: Work[T], durable: bool, writes: bool) -> T:
        self._keep_up()
        if writes and not self._writes:
            raise StoreError(self.problem, told=True)
        try:
            return self._transact(work, durable, writes)
        except sqlite3.DatabaseError as error:
            if not is_broken(error):
                raise
        self._heal(self._inode)
        return self._transact(work, durable, writes)

    def _told(self, job: Callable[[], T]) -> T:
        try:
            return job()
        except TooNewError:
            raise StoreError(
                f"{self._path} was changed by a later version of Hearth; restart this one."
            ) from None
        except (OSError, sqlite3.Error) as error:
            raise self._fail(error) from error

    def _keep_up(self) -> None:
        if self._writes:
            if inode_of(self._path) != self._inode:  # replaced by another process, or deleted
                self._take(open_file(self._path, self._now, self._refill))
        elif time.monotonic() - self._tried_s >= _AGAIN_S:
            self._tried_s = time.monotonic()
            try:
                self._take(open_file(self._path, self._now, self._refill))
            except (OSError, sqlite3.Error) as error:
                self._fail(error)

    def _heal(self, broken: int) -> None:
        # If this fails, the damaged file stays open, so that its intact parts can still be read.
        if self._inode == broken:
            self._take(reopen_broken(self._path, broken, self._now, self._refill))

    def _transact(self, work: Work[T], durable: bool, writes: bool) -> T:
        connection = self._opened()
        try:
            if writes:
                connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
            result = work(connection)
            connection.execute("COMMIT")
        except BaseException:
            # COMMIT can fail too, for example on a full disk.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        if writes:
            self._works()
        return result

    def _bare(self, query: str) -> None:
        try:
            # Each step of the statement frees one page, and `executescript` runs all steps.
            self._opened().executescript(query)
        except sqlite3.Error as error:
            raise self._fail(error) from error

    def _fail(self, error: OSError | sqlite3.Error) -> StoreError:
        sentence = problem_of(self._path, error)
        lasting = is_passing(error)
        if lasting:
            if not self.problem:
                _log.error("%s", sentence)
            self.problem = sentence
        return StoreError(sentence, told=lasting)

    def _works(self) -> None:
        if self.problem:
            _log.warning("the journal %s can be written again", self._path)
            self.problem = ""


def _reason(error: OSError | sqlite3.Error) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)


# Process ids, to find calls that a dead process left unfinished.
_BOOT = Path("/proc/sys/kernel/random/boot_id")


def own_mark() -> str:
    """Return a unique id for this process: boot id, process id and start time."""
    pid = os.getpid()
    return f"{_boot()}/{pid}/{_start(pid)}"


def is_alive(mark: str) -> bool:
    """Return True if the process with this `own_mark` is still running."""
    boot, pid, start = mark.split("/")
    return boot == _boot() and start == _start(int(pid))


def _boot() -> str:
    return _BOOT.read_text(encoding="ascii").strip()


def _start(pid: int) -> str:
    """Return a process's start time in ticks since boot (field 22 of /proc/PID/stat, see proc(5)),
    or "" if it has ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    fields = stat.rpartition(b")")[2].split()  # skip the process name, which can contain spaces
    state, start = fields[0], fields[19]
    return "" if state in (b"Z", b"X") else start.decode("ascii")
