"""One daemon for one data folder."""

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assistant.config.errors import ConfigError

_NAME = "lock"
_TRIES, _AGAIN_S = 5, 0.02  # somebody may hold it for an instant, only to look (`is_held`)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock; it goes with the process, however that ends. Raises ConfigError."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = _open(folder / _NAME)
    except OSError as error:
        raise ConfigError(
            f"The data folder {folder} cannot be used ({error.strerror}); "
            "set assistant.data to one that is yours"
        ) from error
    try:
        if not _taken(handle):
            raise ConfigError(
                f"Another hearth run uses the data folder {folder}; stop it, or set assistant.data"
            )
        yield
    finally:
        os.close(handle)


def _open(file: Path) -> int:
    """A handle to lock by. One that only reads will do, on a disk that is read-only or full.

    Raises OSError.
    """
    try:
        return os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        if error.errno not in (errno.EROFS, errno.ENOSPC):
            raise
    try:
        return os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:  # nothing can be written here, so nobody can be in the way
        return os.open(file.parent, os.O_RDONLY | os.O_CLOEXEC)


def is_held(folder: Path) -> bool:
    """Whether a `hearth run` uses this folder now, this process included."""
    try:
        handle = os.open(folder / _NAME, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def _taken(handle: int) -> bool:
    for left in reversed(range(_TRIES)):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if left:
                time.sleep(_AGAIN_S)
    return False
