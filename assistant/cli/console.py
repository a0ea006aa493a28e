"""Colours, tables and bars on a terminal, in which text from outside is only text.

A `str` is never markup here. Where our own words need colours around a name, `worded` and `tell`
take them as a template and the name beside it: `tell("[red]wrong[/] {name}", name=thing.name)`.
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

from integrations.cleaning import escaped, escaped_signs

_PIPED = 160  # columns, where no person reads along
_FIRST_MARK = 0xF0000  # of a private plane: stands for a value while markup is read


class Terminal(Console):
    """A console that spells out what would act, in everything that it draws: see `escaped`."""

    def __init__(self, *, stderr: bool = False, **options: Any) -> None:
        """`options`: of rich's Console, which is asked for no markup, pictures or highlights."""
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
        """Print our own words with their markup, and the values in them as plain text.

        `fold`: break lines at the terminal's width; else the terminal does it.
        """
        self.print(worded(template, **values), style=style or None, end=end, soft_wrap=not fold)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """See Console. Every text, that of a table's cell too, comes by here before it is drawn."""
        if isinstance(renderable, Text):
            renderable = _escaped(renderable)
        return super().render(renderable, options)

    def render_str(self, text: str, **options: Any) -> Text:
        """See Console. Earlier than `render`, so that a column is as wide as what is drawn."""
        return super().render_str(escaped(text), **options)


def paper() -> Terminal:
    """A console for stdout. Colours are there where people look, and nowhere else."""
    terminal = Terminal()
    return terminal if terminal.is_terminal else Terminal(width=_PIPED)


def worded(template: str, **values: object) -> Text:
    """A text from our own words in rich's markup; each {name} in it is the value of that name."""
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
    """Several lines in one cell of a table."""
    return Group(*lines)


def _escaped(text: Text) -> Text:
    """The same text with what would act spelled out, in the same colours."""
    if escaped(text.plain) == text.plain:
        return text
    return _respelled(text, list(escaped_signs(text.plain)))[0]


def _respelled(text: Text, pieces: Sequence[str]) -> tuple[Text, list[int]]:
    """The text with a piece in place of each of its characters, and where each piece begins."""
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
