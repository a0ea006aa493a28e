"""Stop one thread of a process as if it hung in the kernel, and let the others go on.

    python tests/service/freezing.py TID

traces the thread (ptrace) and never continues it, until it is killed or we are. Needs root. It is a
process of its own because whoever traces a thread has to take note of its end, or the process that
the thread belongs to never goes.
"""

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_SEIZE, _INTERRUPT = 0x4206, 0x4207
_ALL = 0x40000000  # __WALL of waitpid(2): threads too
_STANDS = "it stands"


def threads(pid: int) -> dict[int, str]:
    """Return the permanent threads of a process, each with its name."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # one may end while the others are read
            found[int(task.name)] = (task / "comm").read_text().strip()
    return found


@contextmanager
def frozen(tid: int) -> Iterator[None]:
    """Freeze that thread; at the end it goes on, if it still lives. Raises RuntimeError."""
    command = [sys.executable, __file__, str(tid)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as tracer:
        assert tracer.stdout is not None
        try:
            if tracer.stdout.readline().strip() != _STANDS:
                raise RuntimeError(f"thread {tid} could not be frozen")
            yield
        finally:
            tracer.kill()


def _freeze(tid: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    for request in (_SEIZE, _INTERRUPT):
        if libc.ptrace(request, tid, None, None) == -1:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    os.waitpid(tid, _ALL)
    print(_STANDS, flush=True)
    os.waitpid(tid, _ALL)  # only its end is told now


if __name__ == "__main__":
    _freeze(int(sys.argv[1]))
