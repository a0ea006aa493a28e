"""Types what households say to a complete Hearth in the demo house, and reports what came of it.

    python -m tests.understanding [--half H] [--language L] [--brains "B ..."] [--id PART]
                                  [--json FILE]

Only a run of everything writes docs/reports/understanding.md. Of the held-out half, only counts are
shown and written: what is known of a sentence can be learned by heart. Exit 1 if talk was acted on.
"""

import argparse
import asyncio
import json
import logging
import statistics
import sys
import tempfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress

from tests.benchmarks.__main__ import machine
from tests.understanding.cases import HALVES, LANGUAGES, Case, Half, read
from tests.understanding.house import HOME, household
from tests.understanding.judge import GOOD, Outcome, Result
from tests.understanding.page import Run, counted, page, table

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reports" / "understanding.md"
ORDERS = ("offline", f"{HOME} offline")


async def hold(
    cases: Sequence[Case], language: str, order: str, progress: Progress, console: Console
) -> Run:
    """Hold one language's dialogues with one order of brains."""
    results: list[Result] = []
    bar = progress.add_task(f"{language}, {order}", total=len(cases))
    with tempfile.TemporaryDirectory() as folder:
        async with household(language, order.split(), Path(folder)) as home:
            for case in cases:
                progress.advance(bar)
                if case.needs and case.needs not in home.domains:
                    continue
                result = await home.hold(case)
                results.append(result)
                if case.half == "development" and result.outcome not in GOOD:
                    _show(result, console)
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
        kept = [one for one in run.results if one.case.half == "held-out"]
        for language, sort in sorted({(one.case.language, one.case.sort) for one in kept}):
            some = [one for one in kept if (one.case.language, one.case.sort) == (language, sort)]
            head = {"brains": run.order, "half": "held-out", "language": language, "class": sort}
            rows.append({**head, "counts": {name: n for name, n in counted(some).items() if n}})
    return rows


async def main(arguments: argparse.Namespace) -> int:
    """Hold the dialogues and report the results."""
    console = Console(highlight=False, soft_wrap=True)
    halves: Sequence[Half] = HALVES if arguments.half == "all" else (arguments.half,)
    languages = [arguments.language] if arguments.language else LANGUAGES
    orders = arguments.brains or ORDERS
    runs: list[Run] = []
    with Progress(console=console, transient=True) as progress:
        for order, language in product(orders, languages):
            cases = [case for half in halves for case in read(language, half)]
            wanted = [case for case in cases if arguments.id in case.id]
            runs.append(await hold(wanted, language, order, progress, console))
    console.print(table(runs), markup=False)
    times = [ms for run in runs for one in run.results for ms in one.ms]
    if times:
        console.print(f"Half of the sentences took at most {statistics.median(times):.0f} ms.")
    if arguments.json is not None:
        told = json.dumps(rows(runs), indent=1, ensure_ascii=False)
        arguments.json.write_text(told + "\n", encoding="utf-8")
    everything = arguments.half == "all" and not (arguments.language or arguments.id)
    if everything and not arguments.brains:
        PAGE.write_text(page(runs, machine()), encoding="utf-8")
    acted = sum(one.outcome is Outcome.ACTED for run in runs for one in run.results)
    return 1 if acted or not times else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=(*HALVES, "all"), default="all")
    parser.add_argument("--language", choices=LANGUAGES)
    parser.add_argument(
        "--brains", action="append", metavar='"B ..."', help="an order of brains; can be repeated"
    )
    parser.add_argument("--id", default="", help="only dialogues whose id contains this")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to this file")
    logging.disable(logging.WARNING)  # each sentence that a brain doesn't understand is one
    sys.exit(asyncio.run(main(parser.parse_args())))
