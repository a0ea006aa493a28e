"""Downloads of files whose size and hash are known beforehand: resumed, checked, then put in place.

What has arrived lies in `NAME.part` beside the file to be. It becomes the file only when size and
hash are right, so nobody ever reads half a file. `NAME.part.tag` keeps the server's name for the
version that was begun (RFC 9110, 8.8.3), so that two versions are never glued together.
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

# The disk's side of a download: parts, room, locks and what can go wrong with them.


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


TRIES = 4  # in a row without one new byte
FIRST_PAUSE_S = 1.0  # doubled at each try in vain
SILENCE_S = 30.0  # without a byte: the connection counts as dropped
CONNECT_S = 10.0
REDIRECTS = 10

Progress = Callable[[str, int, int], None]  # the file's name, bytes that are there, bytes in all
Pause = Callable[[float], Awaitable[None]]  # seconds


@dataclass(frozen=True, slots=True)
class Download:
    """One file to fetch."""

    url: str
    path: Path  # where it goes; its folder is made
    size: int  # bytes
    digest: str  # hexadecimal
    algorithm: Literal["sha256", "md5"] = "sha256"

    @property
    def part(self) -> Path:
        return part_of(self.path)


class _Dropped(Exception):
    """The connection ended early, or the server asks for patience: it may work in a moment."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def web_client() -> httpx.AsyncClient:
    """A client for downloads: the environment's proxies, redirects only where we allow them."""
    return httpx.AsyncClient(
        timeout=httpx.Timeout(SILENCE_S, connect=CONNECT_S),
        verify=tls_context(),
        follow_redirects=False,
        headers={"Accept-Encoding": "identity"},  # sizes and ranges are those of the file itself
    )


async def fetch_together(
    downloads: Sequence[Download],
    client: httpx.AsyncClient,
    progress: Progress = lambda name, done, total: None,
    pause: Pause = asyncio.sleep,
) -> list[Path]:
    """Fetch files that belong together, and put them in place when all of them are right.

    The first one is put in place last. Files that are right already are left alone; the others are
    returned. Raises Unavailable (what came stays for the next time), Refused (wrong size or hash,
    an address that is gone or leads astray: nothing stays) and Misconfigured (the disk).
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
    """Whether that file has the size and the hash that it should. Reads all of it."""
    try:
        return path.stat().st_size == download.size and digest_of(path, download.algorithm) == (
            download.digest
        )
    except OSError:
        return False


def digest_of(path: Path, algorithm: str = "sha256") -> str:
    """A file's hash in hexadecimal. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


async def _fetch(
    download: Download, client: httpx.AsyncClient, progress: Progress, pause: Pause
) -> None:
    """Make `download.part` whole and right."""
    address_allowed(download.url, download.url)
    resumed = await _fill(download, client, progress, pause)
    if is_right(download, download.part):
        return
    forget(download.path)
    if resumed:  # its beginning may be from another version: once more, whole
        await _fill(download, client, progress, pause)
        if is_right(download, download.part):
            return
        forget(download.path)
    raise Refused(
        f"{download.path.name} is not what it should be (its {download.algorithm} differs from the "
        "manifest's): it was thrown away; try again, and if it stays so do not use that source."
    )


async def _fill(
    download: Download, client: httpx.AsyncClient, progress: Progress, pause: Pause
) -> bool:
    """Fetch until the part has its size. Returns whether it was begun before this call."""
    try:
        begun = begin(download.path, download.size)
        check_room(download.path, download.size - begun)
        tries, done = 0, begun  # `done`: the most that there ever was, so that it ends
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
    kept = f"; {done:,} of {download.size:,} bytes are kept for the next time" if done else ""
    return (
        f"{download.path.name} could not be fetched from {host} ({reason}): check the network"
        f"{kept}."
    )


async def _request(download: Download, client: httpx.AsyncClient, progress: Progress) -> None:
    """One request for what is missing. Raises _Dropped, Refused and OSError."""
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
    raise Refused(f"{download.url} leads in circles: look for another source of it.")


def _in_words(error: httpx.TransportError) -> str:
    if isinstance(error, httpx.TimeoutException):
        return "no answer in time"
    if isinstance(error, httpx.ProxyError):
        return f"the proxy refuses: {error}"
    if isinstance(error, httpx.ConnectError):
        return "it cannot be reached"
    return "the connection was dropped"


async def _take(
    download: Download, response: httpx.Response, done: int, progress: Progress
) -> None:
    """Write an answer's bytes to the part, behind the first `done` or in their place."""
    start = _start(download, response, done)
    tag = response.headers.get("ETag", "")
    keep_tag(download.path, "" if tag.startswith("W/") else tag)  # a weak one may not be compared
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
        raise _Dropped("the server ended it early")


def _start(download: Download, response: httpx.Response, done: int) -> int:
    """Where an answer's first byte belongs. Raises _Dropped and Refused."""
    status = response.status_code
    if status == httpx.codes.PARTIAL_CONTENT:
        if response.headers.get("Content-Range", "").startswith(f"bytes {done}-"):
            return done
        forget(download.path)
        begin(download.path, download.size)
        raise _Dropped("the server sent another part than the one asked for")
    if status == httpx.codes.OK:
        told = response.headers.get("Content-Length", "")
        if told.isdigit() and int(told) != download.size:
            if done:  # somebody's page in between; what has come already is not lost for that
                raise _Dropped("the server sent something else")
            raise _wrong_size(download, told)
        return 0
    if status == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
        forget(download.path)
        begin(download.path, download.size)
        raise _Dropped("the server has less than what was begun")
    if status in (408, 425, 429) or status >= 500:
        raise _Dropped(f"the server answers {status}")
    raise Refused(
        f"{download.path.name} is not to be had from {response.url.host} (it answers {status}): "
        "look whether there is a newer release, or put the file into the models folder yourself."
    )


def _wrong_size(download: Download, told: str) -> IntegrationError:
    forget(download.path)
    return Refused(
        f"{download.path.name} has {told} bytes at its source and not the {download.size} of the "
        "manifest: it was thrown away; do not use that source."
    )
