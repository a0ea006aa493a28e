"""The disk's side of a download: parts, room, locks and what can go wrong with them."""

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from integrations.errors import Misconfigured

ROOM = 1 << 20  # bytes that must stay free beside the file
_LOCK = ".downloads.lock"
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextmanager
def downloading_into(folder: Path) -> Iterator[None]:
    """Be the only one who downloads into a folder, which is made. Raises Misconfigured.

    The lock goes with the process, however that ends.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise disk_trouble(error, folder / _LOCK) from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Misconfigured(
                f"Another download into {folder} is under way: wait until it is done."
            ) from None
        except OSError as error:  # a file system without locks
            raise disk_trouble(error, folder / _LOCK) from error
        yield
    finally:
        os.close(handle)


def part_of(path: Path) -> Path:
    """Where the beginning of a file lies until it is whole."""
    return path.with_name(f"{path.name}.part")


def begin(path: Path, size: int) -> int:
    """Make the part, or take the one that is there. Returns its bytes. Raises OSError."""
    part = part_of(path)
    part.parent.mkdir(parents=True, exist_ok=True)
    part.touch()
    have = part.stat().st_size
    if have <= size:
        return have
    forget(path)  # longer than the file: never a beginning of it
    part.touch()
    return 0


def forget(path: Path) -> None:
    """Throw away what was begun of a file."""
    part_of(path).unlink(missing_ok=True)
    _tag_of(path).unlink(missing_ok=True)


def kept_tag(path: Path) -> str:
    """The server's name for the version that was begun; "" where there is none."""
    try:
        return _tag_of(path).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def keep_tag(path: Path, tag: str) -> None:
    """Remember the server's name for the version that is being fetched; "" forgets it."""
    if tag and tag.isascii() and tag.isprintable():
        _tag_of(path).write_text(tag, encoding="ascii")
    else:
        _tag_of(path).unlink(missing_ok=True)


def put_in_place(paths: Sequence[Path]) -> None:
    """Make whole parts the files that they should be, in that order. Raises OSError.

    The last is the one that makes the set count: an older one of it goes first, so that a stop in
    between leaves none of mixed age.
    """
    if len(paths) > 1:
        paths[-1].unlink(missing_ok=True)
    for path in paths:
        part_of(path).replace(path)
        _tag_of(path).unlink(missing_ok=True)
        handle = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)  # the name as well survives a power cut
        finally:
            os.close(handle)


def check_room(path: Path, more: int) -> None:
    """Raise Misconfigured where `more` bytes do not fit beside what is there."""
    free = shutil.disk_usage(path.parent).free
    if more and free < more + ROOM:
        raise Misconfigured(
            f"{path.name} needs {megabytes(more)} more in {path.parent}, where {megabytes(free)} "
            "are free: make room, or set assistant.data to another disk."
        )


def disk_trouble(error: OSError, path: Path) -> Misconfigured:
    """The sentence for what the disk refused. A full disk gets back what we took of it."""
    if error.errno in _FULL:
        forget(path)
        return Misconfigured(
            f"There is no room left for {path.name} in {path.parent}; what had come was removed: "
            "make room, or set assistant.data to another disk."
        )
    reason = error.strerror or type(error).__name__
    return Misconfigured(
        f"{path.name} cannot be written into {path.parent} ({reason}): make that folder yours to "
        "write, or set assistant.data to another."
    )


def megabytes(count: int) -> str:
    """Bytes in words."""
    return f"{count / 1e6:.1f} MB"


def _tag_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.part.tag")
