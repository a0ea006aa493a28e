"""Types what households say to a complete Hearth, and reports the outcomes.

    python -m tests.understanding [--house demo|real] [--half H] [--language L] [--brains "B ..."]
                                  [--id PART] [--json FILE]

Only a run of everything writes docs/reports/understanding.md. For the held-out half, only counts
are shown and written, so that nobody fits the grammar to its sentences. The exit status is 1 if
Hearth acted on talk.

The real house needs root access, as `make test-home-assistant` does. If the environment names a
house that `tests/home_assistant/real/house start NAME --house demo` has started, that house is
used.
"""

import argparse
import asyncio
import json
import logging
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import product
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress

from tests.benchmarks.__main__ import machine
from tests.home_assistant.real import instances
from tests.home_assistant.real.places import Instance, Places
from tests.home_assistant.real.releases import NEWEST
from tests.understanding.cases import HALVES, LANGUAGES, Case, Half, read
from tests.understanding.house import HOME, RealHouse, household
from tests.understanding.judge import GOOD, Outcome, Result
from tests.understanding.page import (
    DEMO,
    HOUSES,
    README_ROW,
    REAL,
    Figures,
    Run,
    as_json,
    classes,
    figures_of,
    from_json,
    page,
    readme_row,
    totals,
)

ROOT = Path(__file__).resolve().parents[2]
README, REPORTS = ROOT / "README.md", ROOT / "docs" / "reports"
PAGE, KEPT = REPORTS / "understanding.md", REPORTS / "understanding.json"
ORDERS = ("offline", f"{HOME} offline")
_INSTANCE = "understanding"


async def hold_all(
    cases: Sequence[Case],
    language: str,
    order: str,
    real: RealHouse | None,
    progress: Progress,
) -> Run:
    """Hold all dialogues of one language, with one order of brains."""
    results: list[Result] = []
    bar = progress.add_task(f"{language}, {order}", total=len(cases))
    with tempfile.TemporaryDirectory() as folder:
        async with household(language, order.split(), Path(folder), real) as home:
            for case in cases:
                progress.advance(bar)
                if not home.has(case):
                    continue
                result = await home.hold(case)
                results.append(result)
                if case.half == "development" and result.outcome not in GOOD:
                    _show(result, progress.console)
    return Run(order, tuple(results), len(cases) - len(results))


def _show(result: Result, console: Console) -> None:
    console.print(f"[yellow]{result.outcome}[/] {result.case.id}: {escape(result.why)}")
    for sentence, answer in result.told:
        console.print(f"       {escape(sentence)} [dim]-> {escape(answer)}[/]")


def rows(runs: Sequence[Run]) -> list[dict[str, object]]:
    """Return every result of the development half, and the counts of the held-out half."""
    rows: list[dict[str, object]] = []
    for run in runs:
        rows += [
            {
                "brains": run.order,
                "half": one.case.half,
                "language": one.case.language,
                "class": one.case.sort,
                "id": one.case.id,
                "outcome": one.outcome,
                "why": one.why,
                "told": one.told,
            }
            for one in run.results
            if one.case.half == "development"
        ]
    kept = [row for row in figures_of(runs, "").rows if row.half == "held-out"]
    rows += [
        {
            "brains": row.brains,
            "half": row.half,
            "language": row.language,
            "class": row.sort,
            "counts": row.counts,
        }
        for row in kept
    ]
    return rows


async def main(arguments: argparse.Namespace) -> int:
    """Hold the dialogues and report the results."""
    console = Console(highlight=False, soft_wrap=True)
    halves: Sequence[Half] = HALVES if arguments.half == "all" else (arguments.half,)
    languages = [arguments.language] if arguments.language else LANGUAGES
    orders = arguments.brains or ORDERS
    runs: list[Run] = []
    async with _house(arguments.house) as real:
        with Progress(console=console, transient=True) as progress:
            for order, language in product(orders, languages):
                cases = [case for half in halves for case in read(language, half)]
                wanted = [case for case in cases if arguments.id in case.id]
                runs.append(await hold_all(wanted, language, order, real, progress))
    house = DEMO if real is None else REAL
    figures = figures_of(runs, machine())
    console.print(totals({house: figures}), markup=False)
    for order in orders:
        console.print(f"\n{order}\n\n{classes(figures, order)}", markup=False)
    times = [ms for run in runs for one in run.results for ms in one.ms]
    if times:
        console.print(f"\nHalf of the sentences took at most {statistics.median(times):.0f} ms.")
    if arguments.json is not None:
        told = json.dumps(rows(runs), indent=1, ensure_ascii=False)
        arguments.json.write_text(told + "\n", encoding="utf-8")
    if arguments.half == "all" and not (arguments.language or arguments.id or arguments.brains):
        _write(house, figures)
    acted = sum(one.outcome is Outcome.ACTED for run in runs for one in run.results)
    return 1 if acted or not times else 0


@asynccontextmanager
async def _house(wanted: str) -> AsyncIterator[RealHouse | None]:
    """Yield a real house, or None for the demo house."""
    if wanted == "demo":
        yield None
        return
    names = ("HA_URL", "HA_TOKEN", "HA_ADMIN_TOKEN")
    told = [os.environ.get(name, "") for name in names]
    if all(told):
        yield RealHouse(*told)
        return
    places = Places.of_environment()
    instances.reset(places, _INSTANCE, _say)
    asked = Instance(name=_INSTANCE, house="demo", version=NEWEST, port=0, log="")
    try:
        started = await instances.start(places, asked, _say)
        environment = instances.surroundings(places, started)
        yield RealHouse(*(environment[name] for name in names))
    finally:
        instances.stop(places, _INSTANCE, _say)


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def _write(house: str, figures: Figures) -> None:
    """Write the page, its figures and the README's line. The other house's figures stay."""
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    kept[house] = as_json(figures)
    told = json.dumps(kept, ensure_ascii=False).replace("[[", "[\n[").replace("], [", "],\n[")
    KEPT.write_text(told + "\n", encoding="utf-8")
    measured = {one: from_json(kept[one]) for one in HOUSES if one in kept}
    PAGE.write_text(page(measured), encoding="utf-8")
    lines = README.read_text(encoding="utf-8").splitlines()
    shown = [readme_row(measured) if one.startswith(README_ROW) else one for one in lines]
    README.write_text("\n".join(shown) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--house", choices=("demo", "real"), default="demo")
    parser.add_argument("--half", choices=(*HALVES, "all"), default="all")
    parser.add_argument("--language", choices=LANGUAGES)
    parser.add_argument(
        "--brains", action="append", metavar='"B ..."', help="an order of brains; can be repeated"
    )
    parser.add_argument("--id", default="", help="only dialogues whose id contains this")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to this file")
    os.environ["TZ"] = "UTC"  # as both houses
    time.tzset()
    logging.disable(logging.WARNING)  # each sentence that a brain doesn't understand is one
    sys.exit(asyncio.run(main(parser.parse_args())))
