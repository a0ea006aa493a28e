"""Backup copies of files that a file server is about to replace or move, so that undo can restore
them."""

import asyncio
import hashlib
import logging
import os
import secrets
from abc import abstractmethod
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant.domain.clock import Clock
from assistant.tools.house.intents import Action, Move
from assistant.tools.undo.step import (
    WHY_NOT_REACHED,
    WHY_OTHERWISE,
    WHY_UNKNOWN,
    NotPutBack,
    UndoneReport,
    UndoStep,
)
from integrations.mcp.servers import ServerSpec

if TYPE_CHECKING:
    from assistant.tools.undo.stack import UndoStack

_log = logging.getLogger(__name__)

WHY_CHANGED = "backups.why_changed"  # catalogue keys, as in `undo.step`
WHY_TOO_LARGE = "backups.why_too_large"
WHY_NOT_KEPT = "backups.why_not_kept"

LIFE_S = 600.0  # lifetime of a copy
MAX_BYTES = 10 * 1024 * 1024  # of one file
MAX_KEPT = 50  # copies
TOOLS = frozenset({"write_file", "edit_file", "move_file", "create_directory"})
_CHUNK = 1024 * 1024
_MAX_NAME = 60  # characters of a file name that are spoken
_ABSENT = ""  # mark of a missing file


@dataclass(frozen=True, slots=True)
class Backups:
    """Backup copies of files. `folder` is created with the first copy and is readable only by its
    owner."""

    folder: Path
    clock: Clock

    async def clean_up(self, *, alone: bool) -> None:
        """Delete the copies that earlier processes left. Never raises. Call this when Hearth
        starts.

        `alone` means that no other Hearth process has copies, so all are deleted; otherwise only
        those older than `LIFE_S`.
        """
        try:
            await asyncio.to_thread(self._drop_old, 0.0 if alone else LIFE_S)
        except OSError as error:
            _log.warning("Old copies of files could not be deleted: %s", error.strerror)

    async def before(
        self, spec: ServerSpec, tool: str, arguments: Mapping[str, Any]
    ) -> "FileStep | None":
        """Back up the files that a call of `tool` is about to replace, and return the undo step.
        Never raises.

        Returns None if the call doesn't change any local file in the server's folders. The step of
        a file that is too large or unreadable reports that it can't be restored.
        """
        if tool not in TOOLS:
            return None
        return await asyncio.to_thread(self._before, spec, tool, dict(arguments))

    def _before(self, spec: ServerSpec, tool: str, arguments: dict[str, Any]) -> "FileStep | None":
        folders = given_folders(spec)
        names = ("source", "destination") if tool == "move_file" else ("path",)
        paths = [meant(arguments.get(name), spec, folders) for name in names]
        known = [path for path in paths if path is not None]
        if len(known) < len(paths):
            return None
        try:
            if tool == "create_directory":
                return _NewFolders(known[0])
            replaced = _File(known[-1], self._copy(known[-1]))
            return _Moved(known[0], replaced) if tool == "move_file" else _Replaced(replaced)
        except _TooLarge:
            return _NotKept(known[0], WHY_TOO_LARGE)
        except OSError as error:
            _log.warning(
                "A copy of a file that is about to change could not be made: %s", error.strerror
            )
            return _NotKept(known[0], WHY_NOT_KEPT)

    def _copy(self, path: Path) -> Path | None:
        """Copy a file and return the copy, or None if the file doesn't exist. Raises OSError and
        _TooLarge."""
        if not path.exists():
            return None
        if not path.is_file():
            raise IsADirectoryError
        if path.stat().st_size > MAX_BYTES:
            raise _TooLarge
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        self._drop_old(LIFE_S, MAX_KEPT - 1)
        copy = self.folder / secrets.token_hex(16)
        _write(copy, path.read_bytes(), 0o600)
        now_s = self.clock.now().timestamp()
        os.utime(copy, (now_s, now_s))
        return copy

    def _drop_old(self, age_s: float, keep: int = MAX_KEPT) -> None:
        """Delete copies that are at least `age_s` old, and the oldest ones if more than `keep` are
        left."""
        if not self.folder.is_dir():
            return
        limit = self.clock.now().timestamp() - age_s
        copies = []
        for one in self.folder.iterdir():
            with suppress(FileNotFoundError):  # another process may delete it too
                copies.append((one.stat().st_mtime, one))
        copies.sort()
        spare = len(copies) - keep
        for number, (made, copy) in enumerate(copies):
            if made <= limit or number < spare:
                copy.unlink(missing_ok=True)


class _TooLarge(Exception):
    """The file is larger than `MAX_BYTES`."""


class _File:
    """A file with its backup copy, and hashes of its content before and after the call."""

    def __init__(self, path: Path, copy: Path | None) -> None:
        self.path = path
        self._copy = copy
        self._mode = path.stat().st_mode & 0o777 if copy is not None else 0
        self.was = _mark(copy) if copy is not None else _ABSENT
        self.left: str | None = None  # None: not checked after the call

    def look(self) -> None:
        self.left = _mark(self.path)

    def put_back(self) -> None:
        """Restore the file. Raises OSError; FileNotFoundError means that the copy no
        longer exists."""
        if self._copy is None:
            self.path.unlink()
            return
        content = self._copy.read_bytes()
        beside = self.path.with_name(f".{self.path.name[:100]}.{secrets.token_hex(8)}")
        try:
            _write(beside, content, self._mode)
            beside.replace(self.path)
        finally:
            beside.unlink(missing_ok=True)

    def forget(self) -> None:
        if self._copy is not None:
            self._copy.unlink(missing_ok=True)


class FileStep(UndoStep):
    """A change to files. Push the step before the call, and run `after` when the call has ended."""

    def __init__(self, path: Path) -> None:
        self._path = path  # for the report

    async def after(self) -> None:
        """Record the state of the files after the call. Never raises. Later changes weren't made by
        the call, so they aren't undone."""
        try:
            await asyncio.to_thread(self._after)
        except OSError as error:
            _log.info("Could not find out what a call did to a file: %s", error.strerror)

    async def run(self) -> UndoneReport:
        name = _name(self._path)
        try:
            why = await asyncio.to_thread(self._run)
        except OSError as error:
            _log.info("A file could not be restored: %s", error.strerror)
            why = WHY_NOT_REACHED
        if why is None:
            return UndoneReport(unchanged=(name,))
        if why:
            return UndoneReport(not_put_back=(NotPutBack(name, why),))
        return UndoneReport(put_back=(name,))

    async def forget(self) -> None:
        await asyncio.to_thread(self._forget)

    def _after(self) -> None:
        pass

    @abstractmethod
    def _run(self) -> str | None:
        """Restore the files. Returns "" on success, None if nothing had changed, or the catalogue
        key of the reason for a failure."""

    def _forget(self) -> None:
        pass


class _NotKept(FileStep):
    def __init__(self, path: Path, why: str) -> None:
        super().__init__(path)
        self._why = why

    def _run(self) -> str | None:
        return self._why


class _Replaced(FileStep):
    def __init__(self, file: _File) -> None:
        super().__init__(file.path)
        self._file = file

    def _after(self) -> None:
        self._file.look()

    def _run(self) -> str | None:
        file, now = self._file, _mark(self._file.path)
        if now == file.was:
            # If the new file is missing, the server may have written it under another name.
            return None if now != _ABSENT else WHY_UNKNOWN
        if now != file.left or not _same_place(file.path):
            return WHY_CHANGED
        file.put_back()
        return "" if _mark(file.path) == file.was else WHY_OTHERWISE

    def _forget(self) -> None:
        self._file.forget()


class _Moved(FileStep):
    def __init__(self, source: Path, target: _File) -> None:
        super().__init__(source)
        self._target = target
        self._was = _identity(source)
        self._left = ""

    def _after(self) -> None:
        self._target.look()
        self._left = _identity(self._target.path)

    def _run(self) -> str | None:
        target = self._target.path
        if _identity(self._path) == self._was != _ABSENT:
            return None
        if self._path.is_symlink() or self._path.exists() or not self._was:
            return WHY_CHANGED
        now = _identity(target)
        if now != self._was or now != self._left or not _same_place(self._path, target):
            return WHY_CHANGED
        target.rename(self._path)
        if self._target.was != _ABSENT:
            self._target.put_back()
        return ""

    def _forget(self) -> None:
        self._target.forget()


class _NewFolders(FileStep):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        above = (path, *path.parents)
        self._new = tuple(one for one in above if not one.exists())  # the deepest first

    def _run(self) -> str | None:
        there = [folder for folder in self._new if folder.is_dir() and not folder.is_symlink()]
        for folder in there:
            if any(folder.iterdir()):
                return WHY_CHANGED
            folder.rmdir()
        return "" if there else None


def _write(path: Path, content: bytes, mode: int) -> None:
    """Write a new file. Raises FileExistsError if the path already exists, even as a link."""
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode or 0o600)
    with os.fdopen(number, "wb") as file:
        os.fchmod(number, mode or 0o600)  # undo the umask
        file.write(content)
        file.flush()
        os.fsync(number)


def _mark(path: Path) -> str:
    """Return a hash of the file's content, "no file" for a link or folder, or `_ABSENT` if nothing
    exists there. Raises OSError."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        return "no file"
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while part := file.read(_CHUNK):
                digest.update(part)
    except FileNotFoundError:
        return _ABSENT
    return digest.hexdigest()


def _identity(path: Path) -> str:
    """Return an identity that doesn't change when the file is renamed, or `_ABSENT` if nothing
    exists there."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return _ABSENT
    known = f"{found.st_dev}:{found.st_ino}:{found.st_mode}"
    return known if path.is_dir() else f"{known}:{found.st_size}:{found.st_mtime_ns}"


def _same_place(*paths: Path) -> bool:
    """Return True if no parent folder has been replaced by a symbolic link."""
    return all(path.parent.resolve() == path.parent for path in paths)


def _name(path: Path) -> str:
    return "".join(c for c in path.name if c.isprintable())[:_MAX_NAME]


# Local files that a file server's paths refer to. Only files in its folders count.


def given_folders(spec: ServerSpec) -> tuple[Path, ...]:
    """Return the resolved folders among a file server's command-line arguments, which are the
    folders that it can write to."""
    if spec.transport != "stdio":
        return ()
    found = []
    for word in spec.args:
        if not word or word.startswith("-") or "\0" in word:
            continue
        folder = Path(spec.cwd or ".") / _at_home(word, spec)
        if folder.is_dir():
            found.append(folder.resolve())
    return tuple(dict.fromkeys(found))


def meant(path: object, spec: ServerSpec, folders: tuple[Path, ...]) -> Path | None:
    """Return the resolved path that a server would write to for the argument `path`, or None if it
    is invalid or outside `folders`. The file doesn't have to exist."""
    if not isinstance(path, str) or not path or "\0" in path:
        return None
    wanted = Path(_at_home(path, spec))
    tried = [wanted] if wanted.is_absolute() else [folder / wanted for folder in folders]
    for one in tried:
        try:
            real = one.resolve()
            circle = real.is_symlink()  # a link loop since Python 3.13; earlier versions raise
        except (OSError, RuntimeError, ValueError):  # a link loop or an invalid name
            continue
        if not circle and any(real.is_relative_to(folder) and real != folder for folder in folders):
            return real
    return None


def _at_home(path: str, spec: ServerSpec) -> str:
    if path != "~" and not path.startswith("~/"):
        return path
    return spec.env.get("HOME", os.environ.get("HOME", "~")) + path[1:]


# Undo steps for calls that change files.


@dataclass(frozen=True, slots=True)
class FileUndo:
    """Undo for the changes that calls make to files."""

    backups: Backups
    steps: "UndoStack"

    @asynccontextmanager
    async def around(
        self, spec: ServerSpec, tool: str, arguments: Mapping[str, Any], key: str, turn_id: str
    ) -> AsyncIterator[None]:
        """Run a call of `tool` within this context so that its changes to files can be undone. See
        `UndoStack.before` for `key` and `turn_id`."""
        backup = await self.backups.before(spec, tool, arguments)
        if backup is None:
            yield
            return
        # Hearth undoes the change, but the policy judges it like a call of the server's tool.
        work = Move("", Action.NOTE, server=spec.name, tool=tool, rated=tool in spec.allow)
        self.steps.push(key, turn_id, backup, (work,))
        try:
            yield
        finally:
            await asyncio.shield(backup.after())
