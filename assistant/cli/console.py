"""Coloured output, tables and questions on a terminal, safe for text from outside.

Printing a `str` never parses it as markup. To colour Hearth's own text around a name, pass a
template and the name separately to `worded` or `tell`:

    tell("[red]wrong[/] {name}", name=thing.name)
"""

import asyncio
import os
import sys
import termios
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from string import Formatter
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.segment import Segment
from rich.text import Span, Text

from assistant.cli.terminal import output, remote_terminal
from integrations.cleaning import escaped, escaped_signs

_PIPED = 160  # columns if the output is not a terminal
_FIRST_MARK = 0xF0000  # private-use character that replaces a value while markup is parsed


class Terminal(Console):
    """A rich console that escapes control characters in everything it prints (see `escaped`)."""

    def __init__(self, *, stderr: bool = False, **options: Any) -> None:
        remote = remote_terminal.get()
        if remote is not None:
            options["file"] = output(error=stderr)
            options.setdefault("width", remote.columns)
            is_terminal = remote.error_is_terminal if stderr else remote.out_is_terminal
            options |= {"force_terminal": is_terminal, "_environ": remote.environ}
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False, **options)

    def tell(
        self,
        template: str,
        *,
        style: str = "",
        end: str = "\n",
        fold: bool = False,
        **values: object,
    ) -> None:
        """Print a template with rich markup, and insert the values as plain text. `fold` wraps
        lines at the console's width; otherwise wrapping is left to the terminal."""
        self.print(worded(template, **values), style=style or None, end=end, soft_wrap=not fold)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        if isinstance(renderable, Text):
            renderable = _escaped(renderable)
        return super().render(renderable, options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Escape the text before rich measures column widths, which it does before `render`."""
        return super().render_str(escaped(text), **options)


def paper() -> Terminal:
    terminal = Terminal()
    return terminal if terminal.is_terminal else Terminal(width=_PIPED)


def worded(template: str, **values: object) -> Text:
    """Return a rich Text from a template with markup, and insert the values as plain text."""
    marks: dict[str, Text] = {}
    parts = []
    for literal, name, _, _ in Formatter().parse(template):
        parts.append(literal)
        if name is not None:
            mark = chr(_FIRST_MARK + len(marks))
            value = values[name]
            marks[mark] = value if isinstance(value, Text) else Text(escaped(str(value)))
            parts.append(mark)
    marked = Text.from_markup("".join(parts), emoji=False)
    values_in = [marks.get(sign) for sign in marked.plain]
    pieces = [
        sign if value is None else value.plain
        for sign, value in zip(marked.plain, values_in, strict=True)
    ]
    found, starts = _respelled(marked, pieces)
    for start, value in zip(starts, values_in, strict=False):
        for span in value.spans if value is not None else ():
            found.spans.append(Span(start + span.start, start + span.end, span.style))
        if value is not None and value.style:
            found.stylize(value.style, start, start + len(value))
    return found


def stacked(*lines: Text | str) -> Group:
    return Group(*lines)


def _escaped(text: Text) -> Text:
    if escaped(text.plain) == text.plain:
        return text
    return _respelled(text, list(escaped_signs(text.plain)))[0]


def _respelled(text: Text, pieces: Sequence[str]) -> tuple[Text, list[int]]:
    found = Text(
        style=text.style,
        justify=text.justify,
        overflow=text.overflow,
        no_wrap=text.no_wrap,
        end=text.end,
        tab_size=text.tab_size,
    )
    found.append("".join(pieces))
    starts = list(accumulate(map(len, pieces), initial=0))
    last = len(pieces)
    found.spans = [
        Span(starts[min(one.start, last)], starts[min(one.end, last)], one.style)
        for one in text.spans
    ]
    return found, starts


ANSWER_S = 60.0  # seconds; typing takes longer than speaking
_LINE_BYTES = 4096  # longest line of a terminal (termios(3), canonical mode)


class Keyboard:
    """Asks questions on stderr and reads the answers from the terminal."""

    def __init__(self, wait_s: float = ANSWER_S) -> None:
        self._wait_s = wait_s
        self._console = Terminal(stderr=True)

    async def ask(self, question: str, *, hidden: bool) -> str | None:
        """Return the user's answer, or None if it is empty or too late, or if the input is closed.
        With `hidden`, the answer is not echoed. Anything typed before the question is discarded."""
        what = "PIN" if hidden else "yes or no"
        try:
            with silent(hidden):  # first, because the user may start typing at once
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
    return Keyboard() if sys.stdin.isatty() and sys.stderr.isatty() else None


async def read_line() -> str:
    """Return the next line with its line break, or "" if the terminal was closed. It uses no
    thread, so it can be cancelled."""
    loop, stdin = asyncio.get_running_loop(), sys.stdin.fileno()
    line: asyncio.Future[str] = loop.create_future()

    def read() -> None:
        # `os.read` returns one line at a time. `readline` would block the event loop if the user
        # typed "yes" and Ctrl-D, because that input has no line break.
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
    """With `on`, turn off the terminal's echo while the context is open."""
    if not on:
        yield
        return
    stdin = sys.stdin.fileno()
    before = termios.tcgetattr(stdin)
    silent = list(before)
    silent[3] &= ~termios.ECHO
    try:
        # TCSANOW, because the other modes block while output is paused (Ctrl-S).
        termios.tcsetattr(stdin, termios.TCSANOW, silent)
        yield
    finally:
        termios.tcflush(stdin, termios.TCIFLUSH)  # part of a PIN must not reach the next program
        termios.tcsetattr(stdin, termios.TCSANOW, before)
