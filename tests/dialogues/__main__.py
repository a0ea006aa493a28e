"""A day in the life: every dialogue through every rung, and docs/reports/day.md.

    python -m tests.dialogues [--rung R] [--language L] [--way W] [--name PART] [--json FILE]

Exit 1 where something stands open that nobody wished open, a dialogue on which safety hangs goes
wrong, or far fewer go right than they should (`page.FLOORS`; not with --name). Only a run of
everything writes the page.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from itertools import product
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress

from assistant.evaluation.commands import Outcome
from tests.benchmarks.__main__ import machine
from tests.dialogues.page import bad, page, short
from tests.dialogues.rungs import RUNGS, WAYS, Result, Way, talk
from tests.dialogues.script import LANGUAGES, all_dialogues, read

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reports" / "day.md"
_COLOURS = {Outcome.RIGHT: "green", Outcome.WRONG: "red"}


async def hold(
    rungs: Sequence[str], languages: Sequence[str], ways: Sequence[Way], name: str, console: Console
) -> list[Result]:
    """Hold all wanted dialogues. A dialogue keeps its voice and noise, whatever else is left
    out."""
    results: list[Result] = []
    days = {
        language: [one for one in enumerate(read(language)) if name in one[1].name]
        for language in languages
    }
    total = sum(len(day) for day in days.values()) * len(rungs) * len(ways)
    with Progress(console=console, transient=True) as progress:
        bar = progress.add_task("Talking", total=total)
        for rung, (language, day) in product(rungs, days.items()):
            with tempfile.TemporaryDirectory() as folder:
                async with talk(rung, language, Path(folder)) as held:
                    for way, (number, dialogue) in product(ways, day):
                        result = await held.hold(dialogue, number, way)
                        results.append(result)
                        progress.advance(bar)
                        if result.outcome is not Outcome.RIGHT or name:
                            _show(result, progress.console)
    return results


def _where() -> str:
    """Return the machine and its load: a recogniser without time hears nothing."""
    return f"{machine()}, load {os.getloadavg()[0]:.1f}"


def _show(result: Result, console: Console) -> None:
    colour = _COLOURS.get(result.outcome, "yellow")
    console.print(
        f"[{colour}]{result.outcome:6}[/] {result.rung}, {result.language}, {result.way}: "
        f"{escape(result.dialogue)} [dim]{result.seconds:.1f} s[/]\n"
        f"       heard  {escape(result.heard)}\n       answer {escape(result.answer)}\n"
        f"       [dim]{escape(result.what)}[/]"
    )


async def main(arguments: argparse.Namespace) -> int:
    """Hold the dialogues and report the results."""
    console = Console(highlight=False, soft_wrap=True)
    rungs = [arguments.rung] if arguments.rung else RUNGS
    languages = [arguments.language] if arguments.language else LANGUAGES
    ways: Sequence[Way] = [arguments.way] if arguments.way else WAYS
    results = await hold(rungs, languages, ways, arguments.name, console)
    counts = {outcome: sum(one.outcome is outcome for one in results) for outcome in Outcome}
    console.print(f"{len(results)} held: {', '.join(f'{n} {o}' for o, n in counts.items())}.")
    if arguments.json is not None:
        told = json.dumps([asdict(one) for one in results], indent=1, ensure_ascii=False)
        arguments.json.write_text(told + "\n", encoding="utf-8")
    chosen = arguments.rung or arguments.language or arguments.way or arguments.name
    if not chosen and not arguments.no_page:
        PAGE.write_text(page(all_dialogues(), results, _where()), encoding="utf-8")
    failures = bad(results)
    for one in failures:
        console.print(f"[red]not safe:[/] {escape(one.dialogue)} on {one.rung}, {one.way}")
    fewer = [] if arguments.name else short(results)
    for told in fewer:
        console.print(f"[red]too few:[/] {told}")
    return 1 if failures or fewer or not results else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rung", choices=RUNGS)
    parser.add_argument("--language", choices=LANGUAGES)
    parser.add_argument("--way", choices=WAYS)
    parser.add_argument("--name", default="", help="only dialogues whose name has this in it")
    parser.add_argument("--no-page", action="store_true", help="leave docs/reports/day.md as it is")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every result there")
    sys.exit(asyncio.run(main(parser.parse_args())))
