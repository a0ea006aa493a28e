"""`hearth costs`: show cloud costs by day, brain and model."""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import date

from rich.table import Table
from rich.text import Text

from assistant.brains.slots import start_of_day
from assistant.cli.console import paper
from assistant.cli.terminal import CliCommand, Failed, say_json
from assistant.config.schema import Settings
from assistant.domain.clock import SystemClock
from assistant.journal.reports import CostRow, first_midnight
from assistant.journal.store import Store

_DAYS = 30
_BAR = 24  # columns
_NEAR = 0.8  # share of the cap at which the bar turns yellow


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--days",
        type=int,
        default=_DAYS,
        metavar="N",
        help=f"show the last N days, including today (default {_DAYS})",
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


async def _run(arguments: argparse.Namespace, settings: Settings) -> int:
    if arguments.days < 1:
        raise Failed("--days must be at least 1, such as --days 7", 2)
    clock = SystemClock()
    now = clock.now()
    async with Store(settings.database, clock) as store:
        rows = await store.reports.costs(first_midnight(arguments.days, now))
        spent = await store.spent_since(start_of_day(now))
    cap = settings.limits.daily_cost_usd
    if arguments.json:
        total = sum(row.cost_usd for row in rows)
        days = [{**asdict(row), "day": row.day.isoformat()} for row in rows]
        told = {"days": days, "total_usd": total, "today_usd": spent, "cap_usd": cap}
        say_json({**told, "estimated_usd": sum(row.estimated_usd for row in rows)})
    else:
        today = sum(row.estimated_usd for row in rows if row.day == now.date())
        for line in _today(_cost(spent, today), spent, cap):
            paper().print(line)
        _print(rows, arguments.days, settings.journal.keep_days)
    return 0


def _print(rows: Sequence[CostRow], days: int, kept: int) -> None:
    console = paper()
    if not rows:
        console.print(f"The journal has no turns from the last {days} days.")
        return
    console.print()
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("day", "brain", "model"):
        table.add_column(heading, no_wrap=True)
    for heading in ("turns", "cost", "tokens in", "out"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("of them")
    shown: date | None = None
    for row in rows:
        day = "" if row.day == shown else f"{row.day:%a %d %b}"
        shown = row.day
        cost = Text(_cost(row.cost_usd, row.estimated_usd), style="" if row.cost_usd else "dim")
        tokens = [_tokens(row.input_tokens), _tokens(row.output_tokens)]
        model = row.model or Text("-", style="dim")
        brain = row.brain or Text("none", style="dim")
        table.add_row(day, brain, model, str(row.turns), cost, *tokens, _modalities(row))
    table.add_section()
    total = sum(row.cost_usd for row in rows)
    estimated = sum(row.estimated_usd for row in rows)
    turns = str(sum(row.turns for row in rows))
    inputs = _tokens(sum(row.input_tokens for row in rows))
    outputs = _tokens(sum(row.output_tokens for row in rows))
    cost = Text(_cost(total, estimated), style="bold")
    table.add_row("total", "", "", turns, cost, inputs, outputs, "")
    console.print(table)
    if estimated:
        console.print(
            f"~ Includes {_usd(estimated)} of estimates, for turns whose tokens Gemini didn't all "
            "report.",
            style="dim",
        )
    if days > kept:
        console.print(f"Turns are kept for {kept} days (journal.keep_days).", style="dim")


def _today(told: str, spent: float, cap: float) -> Iterator[Text]:
    share = min(1.0, spent / cap) if cap > 0 else 1.0
    colour = "red" if share >= 1 else "yellow" if share >= _NEAR else "green"
    full = round(share * _BAR)
    text = Text("today  ").append("█" * full, colour).append("░" * (_BAR - full), "dim")
    yield text.append(f"  {told} of {_usd(cap)}", colour)
    if share >= 1:
        yield Text(
            "The daily limit (limits.daily_cost_usd) is reached: no cloud until midnight.", colour
        )


def _cost(cost: float, estimated: float) -> str:
    return f"{'~' if estimated else ''}{_usd(cost)}"


def _usd(cost: float) -> str:
    return f"${cost:.2f}" if cost == 0 or cost >= 1 else f"${cost:.4f}"


def _tokens(count: int) -> str:
    return f"{count:,}" if count else "-"


def _modalities(row: CostRow) -> Text:
    parts = []
    for key, count in row.by_modality.items():
        side, _, kind = key.partition("_")
        named = f"{kind} {side.removesuffix('put')}" if kind else side
        parts.append(f"{named} {count:,}")
    return Text(", ".join(parts), style="dim")


COMMAND = CliCommand(
    name="costs",
    examples=("hearth costs", "hearth costs --days 7 --json"),
    add_arguments=_arguments,
    run=_run,
)
