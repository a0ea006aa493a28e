"""File in the data folder that only its owner can read, shared by several processes."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assistant.config.errors import ConfigError


class PrivateFile:
    """A file that is always read and written whole. Blocking."""

    def __init__(self, path: Path, what: str) -> None:
        """`what` describes the contents in error messages."""
        self.path = path
        self._what = what

    def read(self) -> bytes | None:
        """Return the contents, or None if the file doesn't exist. Raises ConfigError."""
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unusable(error) from error

    def stamp(self) -> tuple[int, int, int] | None:
        """Return a cheap fingerprint that changes with the file, or None if there is no file."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Lock out other processes while the context is open. Hold the lock while reading and
        rewriting the file. Raises ConfigError."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle = os.open(
                self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
            )
        except OSError as error:
            raise self._unusable(error) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def write(self, data: bytes) -> None:
        """Replace the contents atomically. Call it only while holding `alone`. Raises
        ConfigError."""
        aside = self.path.with_suffix(".new")
        try:
            aside.unlink(missing_ok=True)
            handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            aside.replace(self.path)
        except OSError as error:
            raise self._unusable(error) from error

    def _unusable(self, error: OSError) -> ConfigError:
        return ConfigError(
            f"{self.path}, {self._what}, cannot be used ({error.strerror}): "
            "let Hearth's user read and write it"
        )
