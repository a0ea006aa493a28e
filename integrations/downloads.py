"""Download files whose size and hash are known. Downloads can be resumed and are verified.

Partial content is stored in `NAME.part` beside the target file. `NAME.part.tag` contains the
server's entity tag for the downloaded version (RFC 9110, 8.8.3), if it sent one, so that parts of
two versions are not joined.
"""

import asyncio
import errno
import fcntl
import hashlib
import os
import shutil
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import httpx

from integrations.errors import IntegrationError, Misconfigured, Refused, Unavailable
from integrations.tls import address_allowed, next_address, tls_context

# Files on disk: partial content, free space, locks and errors.


ROOM = 1 << 20  # bytes that must stay free on the disk
_LOCK = ".downloads.lock"
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextmanager
def downloading_into(folder: Path) -> Iterator[None]:
    """Create the folder if needed and lock it against other downloads. Raises Misconfigured."""
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
                f"Another download into {folder} is running: wait until it has finished."
            ) from None
        except OSError as error:  # a file system that does not support locks
            raise disk_trouble(error, folder / _LOCK) from error
        yield
    finally:
        os.close(handle)


def part_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")


def begin(path: Path, size: int) -> int:
    """Return the size of the partial file, which is created if it doesn't exist. A file of more
    than `size` bytes is replaced with an empty file. Raises OSError."""
    part = part_of(path)
    part.parent.mkdir(parents=True, exist_ok=True)
    part.touch()
    have = part.stat().st_size
    if have <= size:
        return have
    forget(path)  # too long to be a part of this version
    part.touch()
    return 0


def forget(path: Path) -> None:
    """Delete the file's partial content and its tag."""
    part_of(path).unlink(missing_ok=True)
    _tag_of(path).unlink(missing_ok=True)


def kept_tag(path: Path) -> str:
    """Return the stored entity tag of the partial content, or ""."""
    try:
        return _tag_of(path).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def keep_tag(path: Path, tag: str) -> None:
    """Store the entity tag of the version being downloaded, or delete the stored tag if this one
    can't be used."""
    if tag and tag.isascii() and tag.isprintable():
        _tag_of(path).write_text(tag, encoding="ascii")
    else:
        _tag_of(path).unlink(missing_ok=True)


def put_in_place(paths: Sequence[Path]) -> None:
    """Rename complete partial files to their targets, in this order. Raises OSError.

    The last file marks the set as complete. Its old version is deleted first, so that a set that
    looks complete never mixes versions.
    """
    if len(paths) > 1:
        paths[-1].unlink(missing_ok=True)
    for path in paths:
        part_of(path).replace(path)
        _tag_of(path).unlink(missing_ok=True)
        handle = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)  # so that the new name survives a power cut
        finally:
            os.close(handle)


def check_room(path: Path, more: int) -> None:
    """Raise Misconfigured if the disk has no room for another `more` bytes."""
    free = shutil.disk_usage(path.parent).free
    if more and free < more + ROOM:
        raise Misconfigured(
            f"{path.name} needs another {megabytes(more)} in {path.parent}, but only "
            f"{megabytes(free)} are free: free some space, or set assistant.data to another "
            "disk."
        )


def disk_trouble(error: OSError, path: Path) -> Misconfigured:
    """Return the error for a failed disk operation. If the disk is full, also delete the partial
    file."""
    if error.errno in _FULL:
        forget(path)
        return Misconfigured(
            f"The disk filled up while {path.name} was being downloaded to {path.parent}, "
            "and the part already there was deleted: free some space, or set assistant.data "
            "to another disk."
        )
    reason = error.strerror or type(error).__name__
    return Misconfigured(
        f"{path.name} cannot be written to {path.parent} ({reason}): make that folder "
        "writable, or set assistant.data to another one."
    )


def megabytes(count: int) -> str:
    return f"{count / 1e6:.1f} MB"


def _tag_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.part.tag")


TRIES = 4  # consecutive tries without a new byte
FIRST_PAUSE_S = 1.0  # doubled after each failed try
SILENCE_S = 30.0  # time without a byte after which the connection counts as dropped
CONNECT_S = 10.0
REDIRECTS = 10

# Gets the file's name, the bytes downloaded and the total bytes.
Progress = Callable[[str, int, int], None]
Pause = Callable[[float], Awaitable[None]]  # takes seconds


@dataclass(frozen=True, slots=True)
class Download:
    url: str
    path: Path  # target; its folder is created
    size: int  # bytes
    digest: str  # hexadecimal
    algorithm: Literal["sha256", "md5"] = "sha256"

    @property
    def part(self) -> Path:
        return part_of(self.path)


class _Dropped(Exception):
    """The connection was interrupted, or the server asked to wait. A retry may succeed."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def web_client() -> httpx.AsyncClient:
    """Return an HTTP client that uses the environment's proxies and does not follow redirects."""
    return httpx.AsyncClient(
        timeout=httpx.Timeout(SILENCE_S, connect=CONNECT_S),
        verify=tls_context(),
        follow_redirects=False,
        # sizes and ranges must refer to the file itself
        headers={"Accept-Encoding": "identity"},
    )


async def fetch_together(
    downloads: Sequence[Download],
    client: httpx.AsyncClient,
    progress: Progress = lambda name, done, total: None,
    pause: Pause = asyncio.sleep,
) -> list[Path]:
    """Download files that belong together, and move them into place once all are verified.

    Returns the paths of the downloaded files. Files that are already correct are skipped. The first
    file is moved into place last. Raises Unavailable if the download can be continued later,
    Misconfigured if there is a problem with the disk, and Refused if a URL can't be used or its
    file has the wrong size or hash.
    """
    wanted = [one for one in downloads if not is_right(one, one.path)]
    for one in wanted:
        await _fetch(one, client, progress, pause)
    try:
        put_in_place([one.path for one in reversed(wanted)])
    except OSError as error:
        raise disk_trouble(error, wanted[0].path) from error
    return [one.path for one in wanted]


def is_right(download: Download, path: Path) -> bool:
    """Return True if the file has the expected size and hash."""
    try:
        return path.stat().st_size == download.size and digest_of(path, download.algorithm) == (
            download.digest
        )
    except OSError:
        return False


def digest_of(path: Path, algorithm: str = "sha256") -> str:
    """Return the file's hash in hexadecimal. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


async def _fetch(
    download: Download, client: httpx.AsyncClient, progress: Progress, pause: Pause
) -> None:
    address_allowed(download.url, download.url)
    resumed = await _fill(download, client, progress, pause)
    if is_right(download, download.part):
        return
    forget(download.path)
    # The resumed part may be from another version, so download the file once more from the start.
    if resumed:
        await _fill(download, client, progress, pause)
        if is_right(download, download.part):
            return
        forget(download.path)
    raise Refused(
        f"{download.path.name} was downloaded incorrectly (its {download.algorithm} differs "
        "from the manifest's) and has been deleted. Try again; if it happens again, do not "
        "use that source."
    )


async def _fill(
    download: Download, client: httpx.AsyncClient, progress: Progress, pause: Pause
) -> bool:
    """Download until the partial file is complete. Returns True if this resumed an earlier
    download."""
    try:
        begun = begin(download.path, download.size)
        check_room(download.path, download.size - begun)
        tries, done = 0, begun  # `done` never decreases, so that the loop ends
        while begin(download.path, download.size) < download.size:
            try:
                await _request(download, client, progress)
            except _Dropped as dropped:
                now = begin(download.path, download.size)
                tries = tries + 1 if now <= done else 1
                done = max(now, done)
                if tries >= TRIES:
                    raise Unavailable(_gave_up(download, dropped.reason, now)) from dropped
                await pause(FIRST_PAUSE_S * 2 ** (tries - 1))
    except OSError as error:
        raise disk_trouble(error, download.path) from error
    return begun > 0


def _gave_up(download: Download, reason: str, done: int) -> str:
    host = httpx.URL(download.url).host
    kept = (
        f"; the first {done:,} of {download.size:,} bytes are kept for the next attempt"
        if done
        else ""
    )
    return (
        f"{download.path.name} could not be downloaded from {host} ({reason}): check the "
        f"network{kept}."
    )


async def _request(download: Download, client: httpx.AsyncClient, progress: Progress) -> None:
    done = download.part.stat().st_size if download.part.exists() else 0
    headers = {"Range": f"bytes={done}-"} if done else {}
    if done and (tag := kept_tag(download.path)):
        headers["If-Range"] = tag
    url = httpx.URL(download.url)
    try:
        for _ in range(REDIRECTS):
            async with client.stream("GET", url, headers=headers) as response:
                if response.is_redirect:
                    url = next_address(url, response.headers.get("Location", ""), download.url)
                    continue
                return await _take(download, response, done, progress)
    except httpx.TransportError as error:
        raise _Dropped(_in_words(error)) from error
    raise Refused(f"{download.url} redirects in a loop: find another source for it.")


def _in_words(error: httpx.TransportError) -> str:
    if isinstance(error, httpx.TimeoutException):
        return "it did not answer in time"
    if isinstance(error, httpx.ProxyError):
        return f"the proxy refused the connection: {error}"
    if isinstance(error, httpx.ConnectError):
        return "it cannot be reached"
    return "the connection was dropped"


async def _take(
    download: Download, response: httpx.Response, done: int, progress: Progress
) -> None:
    start = _start(download, response, done)
    tag = response.headers.get("ETag", "")
    # Weak tags must not be used for ranges.
    keep_tag(download.path, "" if tag.startswith("W/") else tag)
    with download.part.open("r+b") as file:
        file.truncate(start)
        file.seek(start)
        have = start
        progress(download.path.name, have, download.size)
        async for block in response.aiter_raw():
            have += len(block)
            if have > download.size:
                raise _wrong_size(download, "more")
            file.write(block)
            progress(download.path.name, have, download.size)
        file.flush()
        os.fsync(file.fileno())
    if have < download.size:
        raise _Dropped("the server closed the connection early")


def _start(download: Download, response: httpx.Response, done: int) -> int:
    """Return the file offset at which the response body starts. Raises _Dropped or Refused."""
    status = response.status_code
    if status == httpx.codes.PARTIAL_CONTENT:
        if response.headers.get("Content-Range", "").startswith(f"bytes {done}-"):
            return done
        forget(download.path)
        begin(download.path, download.size)
        raise _Dropped("the server sent a different part of the file from the one requested")
    if status == httpx.codes.OK:
        told = response.headers.get("Content-Length", "")
        if told.isdigit() and int(told) != download.size:
            if done:  # probably a page from a proxy or login portal; keep the partial content
                raise _Dropped("the server sent a different file")
            raise _wrong_size(download, told)
        return 0
    if status == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
        forget(download.path)
        begin(download.path, download.size)
        raise _Dropped("the file on the server is shorter than the part already downloaded")
    if status in (408, 425, 429) or status >= 500:
        raise _Dropped(f"the server answered with status {status}")
    raise Refused(
        f"{response.url.host} does not have {download.path.name} (status {status}): check "
        "for a newer release, or put the file into the models folder yourself."
    )


def _wrong_size(download: Download, told: str) -> IntegrationError:
    forget(download.path)
    return Refused(
        f"{download.path.name} has {told} bytes at its source, but the manifest says "
        f"{download.size}. It was deleted; do not use that source."
    )
