"""Processes that outlive the command that started them: started, found again, ended."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

_STOP_LIMIT_S = 40.0  # Home Assistant itself gives its parts 20 s and more
_STEP_S = 0.05


# Prints the number and ends, so that the process is not our child and leaves no zombie.
_BESIDE = 'log=$1; shift; "$@" >>"$log" 2>&1 </dev/null & echo $!'


def launch(command: Sequence[str], env: Mapping[str, str], log: Path, pid_file: Path) -> None:
    """Start it in a new session; its output is appended to `log`."""
    told = subprocess.run(
        ["sh", "-c", _BESIDE, "sh", str(log), *command],
        env=env,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        start_new_session=True,
    )
    pid = int(told.stdout)
    pid_file.write_text(f"{pid} {_birth(pid)}\n")


def running(pid_file: Path) -> int | None:
    """Return its process id while it runs. An id that another process has got since does not
    count."""
    try:
        pid, born = pid_file.read_text().split()
    except (FileNotFoundError, ValueError):
        return None
    return int(pid) if born and _birth(int(pid)) == born else None


def stop(pid_file: Path) -> bool:
    """End it and wait until it is gone; return True if it had to be killed."""
    killed = False
    if (pid := running(pid_file)) is not None:
        os.kill(pid, signal.SIGTERM)
        if not _gone(pid_file, _STOP_LIMIT_S):
            killed = True
            kill(pid_file)
    pid_file.unlink(missing_ok=True)
    return killed


def kill(pid_file: Path) -> None:
    """Kill it if it runs, and wait until it is gone."""
    if (pid := running(pid_file)) is not None:
        os.kill(pid, signal.SIGKILL)
        _gone(pid_file, _STOP_LIMIT_S)
    pid_file.unlink(missing_ok=True)


def _gone(pid_file: Path, limit_s: float) -> bool:
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        if running(pid_file) is None:
            return True
        time.sleep(_STEP_S)
    return False


def _birth(pid: int) -> str:
    """Return its start time in the kernel's ticks; empty when it is over (proc(5), field 22)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return "" if fields[0] in "ZX" else fields[19]
