"""Shortage of a machine's resources: memory, and time on its processors."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import pytest

_ROOT = Path("/sys/fs/cgroup")
_OLD = _ROOT / "memory"  # version 1 has a folder for each resource
_SPIN = "while True: pass"
# Takes a megabyte more each time, until it is ended.
_GREEDY = """
import sys, time
held = []
while True:
    held.append(b"x" * (1 << 20))
    time.sleep(float(sys.argv[1]))
"""


def _can_limit() -> bool:
    folder = _OLD if _OLD.is_dir() else _ROOT
    controllers = _ROOT / "cgroup.controllers"
    has = _OLD.is_dir() or (controllers.is_file() and "memory" in controllers.read_text())
    return os.geteuid() == 0 and has and os.access(folder, os.W_OK)


needs_memory_limits = pytest.mark.skipif(
    not _can_limit(), reason="needs root and a memory controller (cgroups)"
)


class Memory:
    """Processes with a common memory limit, and no swap."""

    def __init__(self, folder: Path, limit_mb: int) -> None:
        self._folder = folder
        limit, total = f"{limit_mb << 20}", ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes")
        names = total if _OLD.is_dir() else ("memory.max",)
        for name in names:
            if (folder / name).exists():
                (folder / name).write_text(limit, encoding="ascii")
        if (folder / "memory.swap.max").exists():
            (folder / "memory.swap.max").write_text("0", encoding="ascii")

    @property
    def command(self) -> tuple[str, ...]:
        """Return the beginning of a command that is to run within the limit."""
        return ("sh", "-c", f'echo $$ > {self._folder}/cgroup.procs && exec "$@"', "sh")

    def killed(self) -> int:
        """Return how many of its processes Linux has killed for want of memory."""
        name = "memory.oom_control" if _OLD.is_dir() else "memory.events"
        rows = (self._folder / name).read_text(encoding="ascii").split()
        return int(rows[rows.index("oom_kill") + 1])

    @contextmanager
    def greedy(self, every_s: float, rather: int | None = None) -> Iterator[None]:
        """Run a neighbour in it that takes a megabyte more each time, until memory runs out.

        Then Linux kills it; or, if `rather` is given, the process with that id.
        """
        words = (sys.executable, "-S", "-c", _GREEDY, f"{every_s}")
        neighbour = subprocess.Popen((*self.command, *words))
        ended = neighbour.pid if rather is None else rather
        Path(f"/proc/{ended}/oom_score_adj").write_text("1000", encoding="ascii")
        try:
            yield
        finally:
            neighbour.kill()
            neighbour.wait()


@contextmanager
def memory(limit_mb: int) -> Iterator[Memory]:
    """Yield a memory limit. Its processes must have ended when the block does."""
    folder = (_OLD if _OLD.is_dir() else _ROOT) / f"hearth-chaos-{os.getpid()}"
    folder.mkdir()
    try:
        yield Memory(folder, limit_mb)
    finally:
        with suppress(OSError):
            folder.rmdir()


@asynccontextmanager
async def busy_core(core: int, programs: int) -> AsyncIterator[None]:
    """Keep that core busy with `programs` programs for as long as the block runs."""
    words = ("taskset", "--cpu-list", f"{core}", sys.executable, "-S", "-c", _SPIN)
    spinning = [await asyncio.create_subprocess_exec(*words) for _ in range(programs)]
    try:
        yield
    finally:
        for one in spinning:
            one.kill()
            await one.wait()
