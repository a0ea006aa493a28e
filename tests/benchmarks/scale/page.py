"""Renew the generated part of docs/reports/scale.md; the rest of it is written by hand."""

from collections.abc import Callable, Iterator
from pathlib import Path

from tests.benchmarks import markdown
from tests.benchmarks.report.line import Table
from tests.benchmarks.scale import tables
from tests.benchmarks.scale.kept import Measured
from tests.benchmarks.scale.needs import constants

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reports" / "scale.md"
BEGIN = "<!-- from here on by `python -m tests.benchmarks.scale`; not edited by hand -->"
END = "<!-- up to here -->"
_NOT_YET = "Not measured yet: `python -m tests.benchmarks.scale {name}`."
_HOW = {
    "house": "Medians, in brackets the 95th percentile.",
    "real": "Things of the template integration, beside some hundred of its own.",
    "journal": "Medians, in brackets the 95th percentile, of the store alone.",
    "boxes": "Medians, in brackets the 95th percentile. Boxes and Home Assistant share two cores.",
}


def generated(measured: dict[str, Measured | None]) -> str:
    """All tables. `measured`: "house", "real", "journal", "boxes" and "series", where they are
    there."""
    pieces = [
        *_section("As the house grows", "house", measured["house"], _house),
        *_section("In a real Home Assistant", "real", measured["real"], _real),
        *_section("As the day grows", "journal", measured["journal"], _journal),
        *_section("As boxes grow", "boxes", measured["boxes"], _boxes),
        *_needs(measured),
    ]
    return "\n".join(pieces)


def renewed(page: str, told: str) -> str:
    """The page with another generated part. Raises ValueError where it has no place for it."""
    return markdown.renewed(page, told, BEGIN, END)


def _section(
    title: str, name: str, found: Measured | None, make: Callable[[Measured], list[Table]]
) -> Iterator[str]:
    yield f"## {title}\n"
    if found is None:
        yield _NOT_YET.format(name=name) + "\n"
        return
    yield f"{_HOW[name]} Measured on {found.machine}.\n"
    for table in make(found):
        yield from _titled(table)


def _house(found: Measured) -> list[Table]:
    columns = found.by_size
    return [
        tables.table("Hearth's parts", tables.HOUSE_PARTS, columns, "things"),
        tables.table("`hearth run`, whole, without sound", tables.HOUSE_WHOLE, columns, "things"),
    ]


def _real(found: Measured) -> list[Table]:
    every = (*tables.HOUSE_PARTS, *tables.HOUSE_WHOLE)
    rows = [row for row in every if any(row.name in one for one in found.by_size.values())]
    return [tables.table("Hearth in it, without sound", rows, found.by_size, "things")]


def _journal(found: Measured) -> list[Table]:
    return [tables.table("The journal", tables.JOURNAL, found.by_size, "turns")]


def _boxes(found: Measured) -> list[Table]:
    return [tables.table("At one Home Assistant", tables.BOXES, found.by_size, "boxes")]


def _needs(measured: dict[str, Measured | None]) -> Iterator[str]:
    boxes, journal, series = (measured[name] for name in ("boxes", "journal", "series"))
    yield "## What is needed\n"
    if boxes is None or journal is None:
        yield _NOT_YET.format(name="journal boxes series") + "\n"
        return
    sample = next(iter(series.by_size.values()))["a sample, bytes"][0] if series else 0.0
    known = constants(boxes.by_size, journal.by_size[max(journal.by_size)], sample)
    yield from _titled(tables.constants_table(known))
    yield from _titled(tables.needs_table(known))


def _titled(table: Table) -> Iterator[str]:
    yield from markdown.titled(table)
    yield ""
