"""Measure large houses, long days and many boxes; renew docs/reports/scale.md.

    python -m tests.benchmarks.scale [house] [real] [journal] [boxes] [series]

Without names all parts are measured. docs/reports/scale.json keeps the last figures of each part.
With LONG=1 in the environment the counts are the full ones. `real` and `boxes` start Home
Assistants of their own, which are installed where there is none (tests/home_assistant/README.md
says how); `series` needs promtool on the path or in PROMTOOL, and is left out without. Exit 2 where
there is no such part.
"""

import asyncio
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.benchmarks.scale import boxes, growth, journal, page, series
from tests.benchmarks.scale.houses import SIZES, THE_LIGHT
from tests.benchmarks.scale.kept import keep, kept
from tests.benchmarks.scale.served import hearth, simulated_house

Figures = Mapping[str, Sequence[float]]


def house() -> Mapping[int, Figures]:
    """Return the house's figures by its size."""
    found = {}
    for size in SIZES:
        print(f"  a house of {size:,} things", flush=True)
        grown = asyncio.run(growth.grown(size))
        found[size] = {**grown.parts, **grown.whole}
    return found


def really() -> Mapping[int, Figures]:
    """Return the same in a real Home Assistant."""
    found = {}
    for size in SIZES[1:]:
        grown = asyncio.run(growth.grown_really(size, _say))
        found[size] = {**grown.parts, **grown.whole}
    return found


def days() -> Mapping[int, Figures]:
    """Return the journal's figures by its turns."""
    return {turns: journal.kept(turns).figures for turns in journal.TURNS}


def crowds() -> Mapping[int, Figures]:
    """Return the figures of boxes at one Home Assistant, by their number."""
    return {crowd.boxes: crowd.figures for crowd in asyncio.run(boxes.crowds(_say))}


def stores() -> Mapping[int, Figures]:
    """Return a box's day in a time-series store; nothing without promtool."""
    tool = series.promtool()
    if tool is None:
        print("  promtool is not here: the time-series store is left out")
        return {}
    found = series.stored(asyncio.run(_page()), tool)
    print(f"  {found.sample_bytes:.2f} bytes a sample, by promtool {found.version}")
    return {1: {"a sample, bytes": [found.sample_bytes], "series": [found.series]}}


async def _page() -> str:
    """Return the Prometheus page of a box with which somebody has talked."""
    said = (f"turn on the {THE_LIGHT}", "what time is it", f"turn off the {THE_LIGHT}", "nonsense")
    async with simulated_house(100) as there:
        with tempfile.TemporaryDirectory() as folder:
            async with hearth(Path(folder), there.url, there.token) as box:
                for text in said:
                    await box.ask(text)
                return await box.scrape()


def _say(words: str) -> None:
    print(f"  {words}", flush=True)


PARTS: Mapping[str, Callable[[], Mapping[int, Figures]]] = {
    "house": house,
    "real": really,
    "journal": days,
    "boxes": crowds,
    "series": stores,
}


def main(names: Sequence[str]) -> int:
    """Measure, and write the page."""
    unknown = sorted(set(names) - set(PARTS))
    if unknown:
        print(f"There is no part {', '.join(unknown)}; there are {', '.join(PARTS)}.")
        return 2
    for name in names or PARTS:
        print(f"{name}", flush=True)
        if found := PARTS[name]():
            keep(name, found)
    told = page.generated({name: kept(name) for name in PARTS})
    page.PAGE.write_text(page.renewed(page.PAGE.read_text("utf-8"), told), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
