"""Colours, tables and bars on a terminal, in which text from outside is only text.

A `str` is never markup here. Where our own words need colours around a name, `worded` and `tell`
take them as a template and the name beside it: `tell("[red]wrong[/] {name}", name=thing.name)`.
"""

from collections.abc import Iterable, Sequence
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
