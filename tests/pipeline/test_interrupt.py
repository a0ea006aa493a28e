"""Ctrl-C ends a command at any moment without a traceback. LONG=1 presses it at every moment."""

import os
import pty
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from assistant.domain.version import own_version
from tests.pipeline.manners import PROGRAM, environment

LONG = os.environ.get("LONG") == "1"
MOMENTS = (0.05, 0.1, 0.2, 0.35, 0.5, 0.8, 1.2, 2.0, 3.0, 5.0)  # seconds after the start
_COMMANDS = {
    "ask": ["ask", "turn", "on", "the", "kitchen", "light"],
    "say": ["say", "one two three four five six seven eight nine ten", "--out", "said.wav"],
    "run": ["run"],
    "doctor": ["doctor", "--silent"],
    "tools": ["tools"],
    "setup": ["setup"],
}
_SHORT = {  # a few moments for each, all ten covered
    "ask": (0.05, 0.35, 1.2),
    "say": (0.1, 0.5),
    "run": (0.2, 2.0, 3.0),
    "doctor": (0.8, 5.0),
    "tools": (0.5, 1.2),
    "setup": (0.35, 2.0),
}
_CASES = [(name, moment) for name in _COMMANDS for moment in (MOMENTS if LONG else _SHORT[name])]
_INTERRUPTED = (130, -signal.SIGINT)  # a shell shows both as 130
_OWN_ENDS = (0, 1, 2)  # of a command that was over before


@pytest.mark.parametrize("terminal", [False, True], ids=["pipe", "terminal"])
@pytest.mark.parametrize(("name", "moment"), _CASES)
def test_ctrl_c(name: str, moment: float, terminal: bool, tmp_path: Path) -> None:
    if terminal and not LONG and moment not in _SHORT[name][:1]:
        pytest.skip("with LONG=1")
    code, written = _interrupted(name, moment, tmp_path, terminal=terminal)
    if _in_python_itself(written):
        pytest.skip("Python had not begun with the program")
    assert "Traceback" not in written, written
    assert "KeyboardInterrupt" not in written, written
    assert code in _INTERRUPTED or (code in _OWN_ENDS and name != "run"), (code, written)


def test_an_ignored_ctrl_c_stays_ignored() -> None:
    script = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "from assistant.cli.entry import main\n"
        "sys.argv[1:] = ['--version']\n"
        "main()\n"
        "os.kill(os.getpid(), signal.SIGINT)\n"
    )
    done = subprocess.run(
        [PROGRAM[0], "-c", script], capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"hearth {own_version()}\n")


def _interrupted(name: str, moment: float, folder: Path, *, terminal: bool) -> tuple[int, str]:
    """Press Ctrl-C so many seconds after the start; return the exit code and all output."""
    surroundings = environment(folder)
    if name == "setup":  # as on a box that nobody has set up
        del surroundings["HEARTH_HOME_ASSISTANT__URL"]
        (folder / "hearth.toml").unlink()
    ours, theirs = pty.openpty() if terminal else (-1, -1)
    output = theirs if terminal else subprocess.PIPE
    running = subprocess.Popen(
        [*PROGRAM, *_COMMANDS[name]],
        env=surroundings,
        cwd=folder,
        stdin=theirs if terminal else subprocess.DEVNULL,
        stdout=output,
        stderr=theirs if terminal else subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        time.sleep(moment)
        os.killpg(running.pid, signal.SIGINT)
        if terminal:
            os.close(theirs)
            written = _read_all(ours)
            running.wait(timeout=30)
        else:
            written, _ = running.communicate(timeout=30)
        return running.returncode, written.decode(errors="replace")
    finally:
        if running.poll() is None:
            running.kill()
            running.wait()
        if terminal:
            os.close(ours)


def _read_all(terminal: int) -> bytes:
    pieces = []
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # EIO: every process has closed it
            break
        if not piece:
            break
        pieces.append(piece)
    return b"".join(pieces)


def _in_python_itself(written: str) -> bool:
    """Return True if Ctrl-C came before Python ran any line of ours (its first 10 to 20 ms)."""
    # A path in the message is no frame of ours: `KeyError: '.../assistant'` comes from the import.
    return "Traceback" in written and not re.search(r'File "[^"]*/assistant/', written)
