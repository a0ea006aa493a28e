"""Downloads on real disks that are full, or that nobody may write. Mounting them takes root."""

import asyncio
import hashlib
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from integrations.download_files import ROOM, downloading_into
from integrations.downloads import Download, fetch_together, web_client
from integrations.errors import Misconfigured
from tests.unit.integrations.file_server import FileServer, file_server

VOICE = os.urandom(300_000)
_EXTRA = 500_000  # bytes: what the disk has beyond the room that is asked for beforehand


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
    """A small disk of its own, in memory."""
    with _mounted(tmp_path / "disk", f"size={len(VOICE) + ROOM + _EXTRA}") as folder:
        yield folder


@pytest.fixture
def read_only_disk(tmp_path: Path) -> Iterator[Path]:
    """The same, but only to be read."""
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
    """Take all the room that is left, as another program would."""
    hog = folder / "another"
    with hog.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(65_536))
    assert shutil.disk_usage(folder).free == 0
    return hog


def voice(server: FileServer, folder: Path) -> Download:
    digest = hashlib.sha256(VOICE).hexdigest()
    return Download(server.url("/voice"), folder / "en.onnx", len(VOICE), digest)


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
    assert str(raised.value).startswith(f"There is no room left for en.onnx in {disk}/models; ")
    assert list((disk / "models").iterdir()) == []  # the disk got back what we had taken
    assert len(server.asked) == 1
    hogs[0].unlink()
    assert await fetch_together([wanted], client) == [wanted.path]
    assert wanted.path.read_bytes() == VOICE


async def test_a_disk_that_is_full_before(
    server: FileServer, client: httpx.AsyncClient, disk: Path
) -> None:
    _fill(disk)
    with pytest.raises(Misconfigured, match=r"en\.onnx needs 0\.3 MB more in .* 0\.0 MB are free"):
        await fetch_together([voice(server, disk / "models")], client)
    assert server.asked == []


async def test_a_disk_that_is_only_to_be_read(
    server: FileServer, client: httpx.AsyncClient, read_only_disk: Path
) -> None:
    words = rf"cannot be written into {read_only_disk} \(Read-only file system\): make that folder"
    with pytest.raises(Misconfigured, match=words):
        await fetch_together([voice(server, read_only_disk)], client)
    with pytest.raises(Misconfigured, match=words), downloading_into(read_only_disk):
        pass
    assert server.asked == []


async def test_a_cancel_in_the_middle_of_the_answer_keeps_what_came(
    server: FileServer, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    wanted = voice(server, tmp_path)

    async def fetch() -> None:
        task = asyncio.current_task()
        assert task is not None

        def stopped(name: str, done: int, total: int) -> None:
            if done:
                task.cancel()

        await fetch_together([wanted], client, stopped)

    task = asyncio.create_task(fetch())
    with pytest.raises(asyncio.CancelledError):
        await task
    kept = wanted.part.stat().st_size
    assert 0 < kept < len(VOICE)
    assert not wanted.path.exists()
    assert await fetch_together([wanted], client) == [wanted.path]
    assert server.asked[-1] == ("/voice", f"bytes={kept}-", '"one"')
    assert wanted.path.read_bytes() == VOICE
