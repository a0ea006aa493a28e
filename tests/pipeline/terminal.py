"""`hearth` at a terminal: what is shown and what is typed."""

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_WITHIN_S = 60.0
_ROOT = Path(__file__).parents[2]


@dataclass
class Terminal:
    """One run. Standard input and standard error are the terminal, standard output is a pipe."""

    process: "subprocess.Popen[bytes]"
    _master: int
    shown: str = ""

    def wait_for(self, text: str) -> None:
        """Return once the terminal has shown `text`. Raises AssertionError."""
        ends_s = time.monotonic() + _WITHIN_S
        while text not in self.shown:
            left_s = ends_s - time.monotonic()
            assert left_s > 0, f"never shown: {text!r}, but {self.shown!r}"
            assert self._read(left_s), f"it ended without {text!r}: {self.shown!r}"

    def shows_before_the_end(self, text: str) -> bool:
        """Return whether the terminal shows `text` at all."""
        while text not in self.shown:
            if not self._read(_WITHIN_S):
                return False
        return True

    def type(self, keys: str) -> None:
        r"""Type as if by hand: "\n" is the return key, "\x04" Ctrl-D, "\x03" Ctrl-C."""
        os.write(self._master, keys.encode())

    def end(self) -> tuple[int, str]:
        """Return the exit code and standard output, once the program has ended."""
        assert self.process.stdout is not None
        out = self.process.stdout.read().decode()
        code = self.process.wait(_WITHIN_S)
        while self._read(0.0):
            pass
        return code, out

    def _read(self, within_s: float) -> bool:
        """Read what is shown; return False if there is nothing more, or nothing in time."""
        if not select.select([self._master], [], [], within_s)[0]:
            return False
        try:
            piece = os.read(self._master, 4096)
        except OSError:  # the other end is closed
            return False
        self.shown += piece.decode(errors="replace")
        return bool(piece)


@contextmanager
def at_a_terminal(*words: str) -> Iterator[Terminal]:
    """Run `hearth WORDS` with this environment."""
    master, slave = pty.openpty()
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "assistant", *words],
            stdin=slave,
            stdout=subprocess.PIPE,
            stderr=slave,
            cwd=_ROOT,
            start_new_session=True,
        )
    finally:
        os.close(slave)
    try:
        yield Terminal(process, master)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
        os.close(master)
