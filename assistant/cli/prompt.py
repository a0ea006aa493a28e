"""A person at the terminal, who is asked before a gated call."""

import asyncio
import os
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager

from assistant.cli.console import Terminal

ANSWER_S = 60.0  # typing takes longer than saying yes
_LINE_BYTES = 4096  # the longest line that a terminal gives (termios(3), canonical mode)


class Keyboard:
    """Asks on stderr and reads one line from the terminal."""

    def __init__(self, wait_s: float = ANSWER_S) -> None:
        self._wait_s = wait_s
        self._console = Terminal(stderr=True)

    async def ask(self, question: str, *, hidden: bool) -> str | None:
        """Their line without its end, None where they give none in time or close the input.

        `hidden`: what is typed is not shown. What was typed before the question is no answer.
        """
        what = "PIN" if hidden else "yes or no"
        try:
            with silent(hidden):  # first: somebody may begin to type as soon as they are asked
                termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
                told = "[bold yellow]{question}[/] [dim]({what})[/] "
                self._console.tell(told, question=question, what=what, end="")
                async with asyncio.timeout(self._wait_s):
                    line = await read_line()
        except TimeoutError:
            line = ""
        if hidden or not line:
            self._console.print()
        return line.strip() or None


def keyboard() -> Keyboard | None:
    """The person at this terminal; None where the program's input is no terminal."""
    return Keyboard() if sys.stdin.isatty() and sys.stderr.isatty() else None


async def read_line() -> str:
    """The next line of the terminal with its end, "" where it is closed.

    Read without a thread, so that it can be left.
    """
    loop, stdin = asyncio.get_running_loop(), sys.stdin.fileno()
    line: asyncio.Future[str] = loop.create_future()

    def read() -> None:
        # A terminal gives one line at a time. Not `readline`: after "yes" and Ctrl-D, which ends no
        # line, it would wait for more and stop everything else.
        try:
            typed = os.read(stdin, _LINE_BYTES)
        except OSError:  # the terminal is gone
            typed = b""
        if not line.done():
            line.set_result(typed.decode(errors="replace"))

    loop.add_reader(stdin, read)
    try:
        return await line
    finally:
        loop.remove_reader(stdin)


@contextmanager
def silent(on: bool) -> Iterator[None]:
    """The terminal does not show what is typed."""
    if not on:
        yield
        return
    stdin = sys.stdin.fileno()
    before = termios.tcgetattr(stdin)
    silent = list(before)
    silent[3] &= ~termios.ECHO
    try:
        # At once: a terminal that was halted would keep everything waiting.
        termios.tcsetattr(stdin, termios.TCSANOW, silent)
        yield
    finally:
        termios.tcflush(stdin, termios.TCIFLUSH)  # half a PIN is nothing for the next program
        termios.tcsetattr(stdin, termios.TCSANOW, before)
