"""`hearth audit`: list tool calls with the decision about each call and who confirmed it."""

import argparse
import re
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, time, timedelta

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from assistant.cli.console import Terminal, stacked
from assistant.cli.terminal import CliCommand, Failed, say, say_json
from assistant.config.schema import Settings
from assistant.domain.clock import SystemClock
from assistant.domain.records import AuditRecord
from assistant.domain.tool_call import Decision
from assistant.journal.store import Store

_LIMIT = 50  # default number of rows
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_MOMENTS = "2h, 30m, 7d, today, yesterday, 2026-11-22 or 2026-11-22T18:00"
_DECISION_COLOURS = {
    "allowed": "green",
    "confirmed": "green",
    "needs_confirmation": "yellow",
    "denied": "red",
}
_STATUS_COLOURS = {"done": "green", "not_run": "yellow"}


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--since", metavar="WHEN", help=f"list only calls after this time: {_MOMENTS}"
    )
    parser.add_argument(
        "--until", metavar="WHEN", help="list only calls before this time, in the same formats"
    )
    parser.add_argument(
        "--entity",
        metavar="ID",
        help='list only calls that concern this entity; "lock.*" matches every lock',
    )
    parser.add_argument(
        "--decision",
        choices=[str(one) for one in Decision],
        help="list only calls with this decision",
    )
    parser.add_argument(
        "--limit",
        type=int,
        default=_LIMIT,
        metavar="N",
        help=f"list at most N calls, newest first (default {_LIMIT})",
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


async def _run(arguments: argparse.Namespace, settings: Settings) -> int:
    clock = SystemClock()
    if arguments.limit < 1:
        raise Failed("--limit must be at least 1, such as --limit 20", 2)
    since = moment(arguments.since, clock.now(), "--since") if arguments.since else None
    until = moment(arguments.until, clock.now(), "--until") if arguments.until else None
    decision = Decision(arguments.decision) if arguments.decision else None
    async with Store(settings.database, clock) as store:
        rows = await store.audited(since, until, arguments.limit, arguments.entity, decision)
    if arguments.json:
        say_json([asdict(row) for row in rows], default=_plain)
    elif rows:
        _print(rows)
    else:
        say(
            "No tool calls match. Run `hearth ask turn on the light` to make one, or widen --since."
        )
    return 0


def moment(text: str, now: datetime, option: str) -> datetime:
    """Parse a time such as "2h", "yesterday" or an ISO date, in the machine's time zone. Raises
    Failed, with the name of the `option`, for any other text."""
    said = text.strip().lower()
    # A naive date, so that `astimezone` uses that day's UTC offset.
    today = datetime.combine(now.astimezone().date(), time.min)
    try:
        if said in ("today", "yesterday"):
            return (today - timedelta(days=said == "yesterday")).astimezone()
        if ago := re.fullmatch(r"(\d{1,9})([mhdw])", said):
            return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        return datetime.fromisoformat(text.strip()).astimezone()
    except (ValueError, OverflowError):
        raise Failed(f"{option} cannot be {text!r}; use {_MOMENTS}", 2) from None


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _print(rows: Sequence[AuditRecord]) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading, width in (("time", 14), ("asked for", 0), ("decided", 18), ("ended", 22)):
        table.add_column(heading, overflow="fold", min_width=width)
    for row in reversed(rows):
        table.add_row(
            f"{row.at.astimezone():%m-%d %H:%M:%S}", _asked(row), _decided(row), _end(row)
        )
    Terminal().print(table)


def _asked(row: AuditRecord) -> RenderableType:
    given = ", ".join(f"{key}={value}" for key, value in row.arguments.items())
    lines = [f"“{row.heard}”"] if row.heard else []
    lines += [f"{row.name} ({row.server})", *([given] if given else []), *row.entities]
    return stacked(*lines)


def _decided(row: AuditRecord) -> RenderableType:
    decision = Text(row.decision, style=_DECISION_COLOURS[row.decision])
    rule = f", {row.rule}" if row.rule else ""
    by = [f"by {row.confirmed_by}"] if row.confirmed_by else []
    return stacked(decision, f"{row.tier}{rule}", *by)


def _end(row: AuditRecord) -> RenderableType:
    end = Text(f"{row.status} {row.ms:.0f} ms", style=_STATUS_COLOURS.get(row.status, "red"))
    seen = [f"{one.entity_id} {one.before or '?'} → {one.after or '?'}" for one in row.observed]
    return stacked(end, *seen)


COMMAND = CliCommand(
    name="audit",
    examples=(
        "hearth audit --since yesterday",
        "hearth audit --entity 'lock.*' --decision denied --json",
    ),
    add_arguments=_arguments,
    run=_run,
)
