"""One daemon for one data folder."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assistant.config.errors import ConfigError


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock; it goes with the process, however that ends. Raises ConfigError."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise ConfigError(
            f"The data folder {folder} cannot be used ({error.strerror}); "
            "set assistant.data to one that is yours"
        ) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise ConfigError(
            f"Another hearth run uses the data folder {folder}; stop it, or set assistant.data"
        ) from None
    try:
        yield
    finally:
        os.close(handle)
