"""Run a program with a quarter of one core, so that a fast machine simulates a slow one."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

SHARE = 0.25  # of one core, for all threads together
PERIOD_S = 0.1  # of the kernel's own limiter, and of ours
_TREES = (Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup"))  # version 1, version 2


def run_held(command: Sequence[str], timeout_s: float) -> tuple[str, str]:
    """Return the program's standard output, and how it was limited.

    The limit is the kernel's CPU bandwidth control if a control group can be made; otherwise the
    program is stopped and continued, which is less even. Raises CalledProcessError, TimeoutExpired.
    """
    with _group() as group:
        if group is not None:
            held = "by a control group"
            # The shell joins the group first, then becomes the program.
            join = 'echo $$ > "$0/cgroup.procs" && exec "$@"'
            command = ["sh", "-c", join, str(group), *command]
            done = subprocess.run(
                command, stdout=subprocess.PIPE, text=True, timeout=timeout_s, check=True
            )
            return done.stdout, held
    return _stop_and_go(command, timeout_s), "by stopping it three quarters of the time"


@contextmanager
def _group() -> Iterator[Path | None]:
    """Yield a control group that has SHARE of a core, or None if none can be made."""
    for tree in _TREES:
        group = tree / f"hearth-benchmark-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            if _limit(group):
                yield group
                return
        finally:
            with suppress(OSError):  # what ran in it may just be ending
                group.rmdir()
    yield None


def _limit(group: Path) -> bool:
    period, quota = round(PERIOD_S * 1e6), round(PERIOD_S * SHARE * 1e6)
    values = {"cpu.max": f"{quota} {period}", "cpu.cfs_quota_us": f"{quota}"}
    for name, value in values.items():
        if (group / name).exists():
            (group / name).write_text(value)
            return True
    return False


def _stop_and_go(command: Sequence[str], timeout_s: float) -> str:
    program = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    until = time.monotonic() + timeout_s
    while program.poll() is None:  # it prints less than a pipe holds
        if time.monotonic() > until:
            program.kill()
            raise subprocess.TimeoutExpired(command, timeout_s)
        for sign, part in ((signal.SIGSTOP, 1 - SHARE), (signal.SIGCONT, SHARE)):
            program.send_signal(sign)
            time.sleep(PERIOD_S * part)
    output, _ = program.communicate()
    if program.returncode:
        raise subprocess.CalledProcessError(program.returncode, command)
    return output
