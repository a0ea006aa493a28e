"""Separate disks for tests; some can only be made by root."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make disks")
_FILLER = "filler"


def run(*command: str | Path) -> str:
    """Return its stdout. Raises CalledProcessError."""
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    return done.stdout.strip()


def fill(folder: Path) -> None:
    """Leave no room at all on its disk."""
    with (folder / _FILLER).open("wb", buffering=0) as file:
        for piece in (1 << 16, 1 << 10, 1):
            try:
                while file.write(bytes(piece)) == piece:
                    pass
            except OSError:
                continue


def make_room(folder: Path) -> None:
    """Remove what `fill` has written."""
    (folder / _FILLER).unlink()


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """Yield a disk in memory."""
    folder.mkdir(parents=True)
    run("mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0700", "tmpfs", folder)
    try:
        yield folder
    finally:
        run("umount", "--lazy", folder)


@dataclass(frozen=True, slots=True)
class FailingDisk:
    """An ext4 in a file, which the kernel treats as broken on request."""

    folder: Path
    device: str  # "/dev/loop0"

    def break_down(self) -> None:
        """Make the kernel refuse all writes from now on, as after a fault of the medium."""
        name = Path(self.device).name
        Path(f"/sys/fs/ext4/{name}/trigger_fs_error").write_text("a test", encoding="ascii")


@contextmanager
def failing_disk(folder: Path, image: Path) -> Iterator[FailingDisk]:
    """Mount it so that a fault makes it read-only, as Debian and Raspberry Pi OS do."""
    if shutil.which("mkfs.ext4") is None:
        pytest.skip("mkfs.ext4 is missing")
    folder.mkdir(parents=True)
    with image.open("wb") as file:
        file.truncate(32 << 20)
    at_once = "lazy_itable_init=0,lazy_journal_init=0"  # else the kernel goes on writing
    run("mkfs.ext4", "-q", "-E", at_once, image)
    device = run("losetup", "--find", "--show", image)
    try:
        run("mount", "-o", "errors=remount-ro", device, folder)
        try:
            yield FailingDisk(folder, device)
        finally:
            run("umount", "--lazy", folder)
    finally:
        run("losetup", "--detach", device)
