"""Tests that all threads share one heap, as reported by the C library."""

import subprocess
import sys

import pytest

_COUNT = """\
import ctypes, sys, tempfile, threading
from assistant.app.process import share_heap
if sys.argv[1] == "shared":
    share_heap()
libc = ctypes.CDLL(None)
libc.malloc.restype = libc.fopen.restype = ctypes.c_void_p
gate = threading.Barrier(5)
def take():
    gate.wait()
    libc.malloc(5_000)
    gate.wait()
threads = [threading.Thread(target=take) for _ in range(4)]
for one in threads:
    one.start()
gate.wait()
gate.wait()
with tempfile.NamedTemporaryFile() as file:
    told = ctypes.c_void_p(libc.fopen(file.name.encode(), b"w"))
    libc.malloc_info(0, told)
    libc.fclose(told)
    print(file.read().count(b"<heap nr="))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="heaps of glibc")
@pytest.mark.parametrize(("how", "few"), [("shared", True), ("as it is", False)])
def test_threads_share_one_heap(how: str, few: bool) -> None:
    told = subprocess.run(
        [sys.executable, "-c", _COUNT, how], capture_output=True, text=True, check=True
    )
    assert (int(told.stdout) == 1) is few
