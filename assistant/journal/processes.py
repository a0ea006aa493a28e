"""Tells living processes from dead ones, so that what a dead one left unfinished is found."""

import os
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")


def own_mark() -> str:
    """This process as text: boot, process id, moment of its start. Never given to another one."""
    pid = os.getpid()
    return f"{_boot()}/{pid}/{_start(pid)}"


def is_alive(mark: str) -> bool:
    """Whether the process with this mark still runs."""
    boot, pid, start = mark.split("/")
    return boot == _boot() and start == _start(int(pid))


def _boot() -> str:
    return _BOOT.read_text(encoding="ascii").strip()


def _start(pid: int) -> str:
    """Start of a process in ticks since boot, field 22 of proc(5)'s stat; "" if it has ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    fields = stat.rpartition(b")")[2].split()  # the name before may hold anything
    state, start = fields[0], fields[19]
    return "" if state in (b"Z", b"X") else start.decode("ascii")
