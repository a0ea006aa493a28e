"""Conversion of MCP tools for Gemini: ours and five other converters."""

import asyncio
from collections.abc import Iterator

from assistant.tools.catalog.menu import build_menu
from integrations.gemini.declarations import convert
from integrations.mcp.servers import ServerSpec
from tests.benchmarks import declarations
from tests.benchmarks.figures import how_many
from tests.benchmarks.report.line import Line, Measured, Other, Part, Table, beside
from tests.benchmarks.schema_comparison import Column, Comparison, compare
from tests.benchmarks.schema_judge import Verdict

TEXT = """\
{count} tools in `tests/corpus/schemas-*.json`, each with arguments that its schema accepts and
rejects, are converted by each converter and google-genai to the set-up that is sent. The same code
judges all of them (`tests/benchmarks/schema_judge.py`). [tool-schemas.md](tool-schemas.md) explains
the judgement, how each converter is called, the result for every tool, and the limits of this
corpus, which is ours. The timed tools are like Home Assistant's, which crash none of the
converters. The time is CPU time from the listed tools to the serialised set-up, with the converters
in alternation.
"""
WORK = (
    "Hearth's own code, which also checks each declaration against the subset and records "
    "losses, takes {own:.3g} ms of this. google-genai, which the peer uses too, takes the "
    "rest. In the corpus, the peer crashes on {crash} tools and converts {wrong} wrongly."
)
CHECKED = (
    "Hearth translates each schema, describes in words what Gemini can't express, and checks the "
    "result against the subset again."
)


def part() -> Part:
    """Measure five passes over each menu; LONG=1: 51."""
    found = asyncio.run(compare(how_many(5, 51), print))
    ours, *theirs = found.columns
    rows: list[tuple[object, ...]] = [
        (one.title, *one.counts().values(), one.unwarned) for one in found.columns
    ]
    rows += [(title, why, "", "", "", "") for title, why in found.missing.items()]
    return Part(
        "MCP tool conversion for Gemini",
        (*_counted(ours, theirs), *_timed(found), *_alone()),
        (Table("Results", ("", *Verdict, "right without warnings"), rows),),
        TEXT.format(count=len(found.cases)),
        {name: text for one in theirs for name, text in one.versions.items() if name in one.title},
    )


def _counted(ours: Column, theirs: list[Column]) -> Iterator[Line]:
    for verdict in (Verdict.CRASH, Verdict.WRONG, Verdict.LOSS):
        subject, mine = f'tools with the result "{verdict}"', _number(ours, verdict)
        most = None if verdict is Verdict.LOSS else 0
        others = [Other(one.title, _number(one, verdict)) for one in theirs]
        yield from beside(subject, mine, others, most=most)


def _number(column: Column, verdict: Verdict) -> Measured:
    return Measured((float(column.counts()[verdict]),), "tools")


def _timed(found: Comparison) -> Iterator[Line]:
    counts = {
        column.title: {verdict.value: number for verdict, number in column.counts().items()}
        for column in found.columns
    }
    for size, taken in found.ms.items():
        (_, ours), *theirs = taken.items()
        subject, mine = f"declaring {size:,} tools", Measured(ours, "ms of CPU")
        others = [
            Other(
                title,
                Measured(values, "ms of CPU"),
                reason=WORK.format(own=found.own_ms[size], **counts[title]),
            )
            for title, values in theirs
        ]
        yield from beside(subject, mine, others)


def _alone() -> Iterator[Line]:
    """Yield ours without the SDK: 1,000 tools of all shapes, and the menu with tiers and names."""
    listed, times = declarations.tools(), how_many(9, 51)
    spec = {"many": ServerSpec("many", "http", trust="trusted")}

    def converting() -> None:
        for one in listed:
            convert(one.name, one.description, one.input_schema)

    ways = {
        "converting and checking 1,000 tools with all kinds of schemas": (
            converting,
            declarations.BUDGET_MS,
        ),
        "building the complete tool list for 1,000 tools with all kinds of schemas": (
            lambda: build_menu(listed, spec),
            None,
        ),
    }
    for subject, (work, most) in ways.items():
        taken = tuple(declarations.milliseconds(work, 1) for _ in range(times))
        yield Line(subject, Measured(taken, "ms of CPU"), most=most).because(CHECKED)
