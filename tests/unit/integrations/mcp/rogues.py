"""Servers that misbehave, and what is left of their processes."""

import asyncio
import os
import sys
from pathlib import Path

from integrations.mcp.servers import ServerSpec

SCRIPT = Path(__file__).with_name("rogue.py")


def rogue(mode: str, folder: Path, timeout_s: float = 2.0, name: str = "rogue") -> ServerSpec:
    """Make a program that misbehaves as `mode` says; `folder` is created."""
    folder.mkdir(exist_ok=True)
    return ServerSpec(
        name,
        "stdio",
        command=sys.executable,
        args=("-S", "-E", str(SCRIPT), mode, str(folder)),
        env={"A_KEY": "canary-7f3a"},
        timeout_s=timeout_s,
    )


def started(folder: Path) -> list[int]:
    """Return the process ids of all starts."""
    return [int(one.name) for one in folder.iterdir()]


def alive(folder: Path) -> list[int]:
    """Return those that still run or are not reaped."""
    return [number for number in started(folder) if Path(f"/proc/{number}").exists()]


async def all_gone(folder: Path) -> bool:
    """Return True if none is left; orphans are reaped by the system at any time."""
    for _ in range(2_000):
        if not alive(folder):
            return True
        await asyncio.sleep(0.01)
    return False


def memory() -> int:
    """Return this process's resident memory in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
