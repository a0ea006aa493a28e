"""Bar charts of the ratios, as SVG: each bar is our figure by the peer's, or by its bound.

The axis is logarithmic and its middle is 1: to the left of it we need less. The colours follow the
reader's light or dark surroundings, on a ground of the picture's own.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from xml.sax.saxutils import escape

from tests.benchmarks.report.document import drawn, figure
from tests.benchmarks.report.line import Line, Verdict
from tests.benchmarks.report.whole import Report

WIDTH = 900
NAMES = 330  # of them for what the bars are called
PLOT = 400  # and for the bars
ROW = 40
TOP, BOTTOM = 62, 34
LETTERS = 46  # of a line of a name
TICKS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
STYLE = """\
.ground { fill: #ffffff } .word { fill: #1f2328 } .faint { fill: #59636e }
.grid { stroke: #d1d9e0 } .one { stroke: #1f2328 } .bound { stroke: #8250df }
.less { fill: #1a7f37 } .more { fill: #bc4c00 } .own { fill: #0969da }
text { font: 13px system-ui, sans-serif }
.title { font-weight: 600; font-size: 15px } .small { font-size: 11px }
@media (prefers-color-scheme: dark) {
  .ground { fill: #0d1117 } .word { fill: #f0f6fc } .faint { fill: #9198a1 }
  .grid { stroke: #3d444d } .one { stroke: #f0f6fc } .bound { stroke: #ab7df8 }
  .less { fill: #3fb950 } .more { fill: #db6d28 } .own { fill: #4493f8 }
}"""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a chart."""

    name: str
    value: float  # ours by the peer's, or by the bound
    by: str  # what it is divided by, in a word or a few
    bound: float | None = None  # the most that is aimed at, where that is not 1
    behind: bool = False
    missed: bool = False  # the bound
    alone: bool = False  # there is no peer: by its bound


def bar(line: Line) -> Bar:
    """Return the bar of a line which is `drawn`."""
    missed = line.verdict is Verdict.MISSED
    if line.ratio is not None:
        return Bar(line.subject, line.ratio, line.peer, line.most_ratio, line.behind, missed)
    assert line.most, "there is nothing to divide by"
    by = f"the target, {figure(line.most)} {line.ours.unit}"
    return Bar(line.subject, line.ours.p50 / line.most, by, None, line.behind, missed, alone=True)


def bars(lines: Sequence[Line]) -> list[Bar]:
    """Return the bars of all lines that have one."""
    return [bar(line) for line in lines if drawn(line)]


def overview(report: Report) -> list[Bar]:
    """Return a bar for every line of the report that has a bound."""
    parts = [entry.part for entry in report.entries if entry.part is not None]
    return bars([line for part in parts for line in part.lines if line.verdict is not Verdict.NONE])


def picture(title: str, shown: Sequence[Bar]) -> str:
    """Return the whole file."""
    least, most = _range(shown)
    height = TOP + ROW * len(shown) + BOTTOM
    pieces = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img" aria-label={_quoted(title)}>',
        f"<title>{escape(title)}</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="ground" width="{WIDTH}" height="{height}" rx="6"/>',
        f'<text class="word title" x="16" y="26">{escape(title)}</text>',
        '<text class="faint small" x="16" y="44">Hearth\'s median relative to the peer\'s (green, '
        "orange) or the target (blue); left of 1 is better; violet: the target ratio</text>",
        *_grid(least, most, height),
    ]
    for number, one in enumerate(shown):
        pieces += _bar(one, TOP + ROW * number, least, most)
    return "\n".join([*pieces, "</svg>"]) + "\n"


def _range(shown: Sequence[Bar]) -> tuple[float, float]:
    """Return the axis' ends: ticks around all bars and bounds, and around 1."""
    values = [value for one in shown for value in (one.value, one.bound) if value]
    low, high = min([*values, 0.5]), max([*values, 2.0])
    least = max((tick for tick in TICKS if tick <= low), default=TICKS[0])
    most = min((tick for tick in TICKS if tick >= high), default=TICKS[-1])
    return least, most


def _across(value: float, least: float, most: float) -> float:
    """Return the position on the picture; a value beyond the axis lies at its end."""
    share = math.log(max(value, 1e-9) / least) / math.log(most / least)
    return round(NAMES + PLOT * min(1.0, max(0.0, share)), 1)


def _grid(least: float, most: float, height: int) -> Iterator[str]:
    bottom = height - BOTTOM
    for tick in TICKS:
        if least <= tick <= most:
            at, kind = _across(tick, least, most), "one" if tick == 1 else "grid"
            yield f'<line class="{kind}" x1="{at}" x2="{at}" y1="{TOP - 6}" y2="{bottom}"/>'
            yield (
                f'<text class="faint small" x="{at}" y="{bottom + 16}" text-anchor="middle">'
                f"{tick:g}</text>"
            )


def _bar(one: Bar, top: int, least: float, most: float) -> Iterator[str]:
    at, middle = _across(one.value, least, most), _across(1.0, least, most)
    kind = "more" if one.behind else "own" if one.alone else "less"
    left, width = min(at, middle), max(abs(at - middle), 1.0)
    name = wrap(one.name, LETTERS)[:2]
    for number, words in enumerate(name):
        y = top + (21 if len(name) == 1 else 14 + 15 * number)
        yield f'<text class="word" x="16" y="{y}">{escape(words)}</text>'
    yield (
        f'<rect class="{kind}" x="{left}" y="{top + 8}" width="{width:.1f}" height="18" rx="2">'
        f"<title>{escape(one.name)}: {figure(one.value)} of {escape(one.by)}</title></rect>"
    )
    if one.bound is not None:
        bound = _across(one.bound, least, most)
        yield (
            f'<line class="bound" stroke-width="3" x1="{bound}" x2="{bound}" y1="{top + 4}" '
            f'y2="{top + 30}"/>'
        )
    yield (
        f'<text class="word" x="{NAMES + PLOT + 12}" y="{top + 16}">{figure(one.value)}'
        f"{' ✗' if one.missed else ''}</text>"
        f'<text class="faint small" x="{NAMES + PLOT + 12}" y="{top + 30}">'
        f"{escape(_short(one.by))}</text>"
    )


def _short(words: str) -> str:
    """Return as much as fits beside the bars."""
    return words if len(words) <= 22 else f"{words[:21].rstrip()}…"


def _quoted(words: str) -> str:
    return '"' + escape(words, {'"': "&quot;"}) + '"'
