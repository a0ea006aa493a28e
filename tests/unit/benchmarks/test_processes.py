"""Tests of the use of a process and its children."""

import subprocess
import sys
import time

from tests.benchmarks.processes import cpu_s, family, pss_mb, rss_mb

_PARENT = """\
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=sys.stdin)
print(child.pid, flush=True)
child.wait()
"""
_BUSY = """\
import sys, time
while time.process_time() < 0.3:
    pass
held = bytearray(40_000_000)
print("held", flush=True)
sys.stdin.read()
"""
_THREADS = """\
import sys, threading, time
def work():
    while time.thread_time() < 0.2:
        pass
thread = threading.Thread(target=work)
thread.start()
thread.join()
print("over", flush=True)
sys.stdin.read()
"""


def _run(code: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def _told(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_a_family_is_the_process_and_its_children() -> None:
    with _run(_PARENT) as process:
        child = int(_told(process))
        assert family(process.pid) == [process.pid, child]


def test_one_that_has_ended_has_no_children_and_holds_nothing() -> None:
    with _run("pass") as process:
        process.wait()
    assert family(process.pid) == [process.pid]
    assert cpu_s([process.pid]) == pss_mb([process.pid]) == rss_mb([process.pid]) == 0


def test_work_and_memory_are_seen_from_outside() -> None:
    with _run(_BUSY) as process:
        assert _told(process) == "held"
        used, held = cpu_s([process.pid]), pss_mb([process.pid])
        resident = rss_mb([process.pid])
        assert cpu_s([process.pid, process.pid]) >= 2 * used
    assert 0.25 < used < time.process_time() + 60
    assert 40 < held <= resident


def test_a_thread_that_has_ended_has_used_what_it_used() -> None:
    with _run(_THREADS) as process:
        assert _told(process) == "over"
        assert cpu_s([process.pid]) > 0.2
