"""Downloads to disks that are full or read-only; real ones if root may make them."""

import errno
import os
import resource
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from integrations.downloads import ROOM, downloading_into, fetch_together, put_in_place, web_client
from integrations.errors import Misconfigured
from tests.unit.integrations.downloading import VOICE, Pauses, names, refused, voice
from tests.unit.integrations.file_server import FileServer, file_server

_EXTRA = 500_000  # bytes: what the disk has beyond the space that is required


@pytest.fixture
def server() -> Iterator[FileServer]:
    with file_server({"/voice": VOICE}) as served:
        yield served


@pytest.fixture
async def client(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[httpx.AsyncClient]:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    async with web_client() as made:
        yield made


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Make a small disk in memory."""
    with _mounted(tmp_path / "disk", f"size={len(VOICE) + ROOM + _EXTRA}") as folder:
        yield folder


@pytest.fixture
def read_only_disk(tmp_path: Path) -> Iterator[Path]:
    """Make the same disk, read-only."""
    with _mounted(tmp_path / "disk", "ro,size=64k") as folder:
        yield folder


@contextmanager
def _mounted(folder: Path, options: str) -> Iterator[Path]:
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"this process may not mount a disk: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def _fill(folder: Path) -> Path:
    """Use up all free space, as another program would."""
    hog = folder / "another"
    with hog.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(65_536))
    assert shutil.disk_usage(folder).free == 0
    return hog


async def test_a_disk_that_another_program_fills_meanwhile(
    server: FileServer, client: httpx.AsyncClient, disk: Path
) -> None:
    hogs: list[Path] = []

    def filled(name: str, done: int, total: int) -> None:
        if not hogs:
            hogs.append(_fill(disk))

    wanted = voice(server, disk / "models")
    with pytest.raises(Misconfigured) as raised:
        await fetch_together([wanted], client, filled)
    assert str(raised.value).startswith("The disk filled up while en.onnx was being downloaded to ")
    assert list((disk / "models").iterdir()) == []  # the partial file was deleted
    assert len(server.asked) == 1
    hogs[0].unlink()
    assert await fetch_together([wanted], client) == [wanted.path]
    assert wanted.path.read_bytes() == VOICE


async def test_a_disk_that_is_full_before(
    server: FileServer, client: httpx.AsyncClient, disk: Path
) -> None:
    _fill(disk)
    with pytest.raises(
        Misconfigured, match=r"en\.onnx needs another 0\.3 MB in .* 0\.0 MB are free"
    ):
        await fetch_together([voice(server, disk / "models")], client)
    assert server.asked == []


async def test_a_disk_that_is_only_to_be_read(
    server: FileServer, client: httpx.AsyncClient, read_only_disk: Path
) -> None:
    words = rf"cannot be written to {read_only_disk} \(Read-only file system\): make that folder"
    with pytest.raises(Misconfigured, match=words):
        await fetch_together([voice(server, read_only_disk)], client)
    with pytest.raises(Misconfigured, match=words), downloading_into(read_only_disk):
        pass
    assert server.asked == []


async def test_too_little_room_is_told_before_anything_is_asked(
    server: FileServer, client: httpx.AsyncClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    said = await refused(voice(server, tmp_path), client, Misconfigured)
    assert "en.onnx needs another 0.3 MB" in said
    assert server.asked == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
async def test_a_disk_that_fills_up_gets_back_what_was_taken(
    code: int,
    server: FileServer,
    client: httpx.AsyncClient,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(handle: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", full)
    said = await refused(voice(server, tmp_path), client, Misconfigured)
    assert "The disk filled up while en.onnx" in said
    assert names(tmp_path) == []


async def test_the_kernels_own_refusal_to_write_more(
    server: FileServer, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(Misconfigured, match=r"The disk filled up while en\.onnx"):
            await fetch_together([voice(server, tmp_path)], client, pause=Pauses())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert names(tmp_path) == []


def _a_file(tmp_path: Path) -> Path:
    (tmp_path / "models").write_text("a file where the folder should be")
    return tmp_path / "models"


# not even root can write there
@pytest.mark.parametrize("place", [_a_file, lambda _: Path("/sys/models")])
async def test_a_folder_that_cannot_be_written(
    place: Callable[[Path], Path], server: FileServer, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    folder = place(tmp_path)
    said = await refused(voice(server, folder), client, Misconfigured)
    assert f"en.onnx cannot be written to {folder}" in said
    with pytest.raises(Misconfigured, match="cannot be written"), downloading_into(folder):
        pass
    assert server.asked == []


def test_only_one_downloads_into_a_folder(tmp_path: Path) -> None:
    with (
        downloading_into(tmp_path / "models"),
        pytest.raises(Misconfigured, match=r"Another download into .* is running"),
        downloading_into(tmp_path / "models"),
    ):
        pass
    with downloading_into(tmp_path / "models"):
        pass


def test_the_first_file_is_put_in_place_last(tmp_path: Path) -> None:
    (tmp_path / "b.part").write_text("b")  # a.part is missing: power failed in between
    with pytest.raises(FileNotFoundError):
        put_in_place([tmp_path / "b", tmp_path / "a"])
    assert names(tmp_path) == ["b"]
