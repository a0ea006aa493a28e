"""How a turn is shown to a person: the answer on stdout, how it came about on stderr."""

import json
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape

from assistant.journal.records import TurnRecord
from assistant.tools.outcome import Decision, ToolOutcome
from assistant.turn.log import FinishedTurn
from assistant.turn.record import as_json as turn_object

_COLOURS = {"done": "green", "not_run": "yellow"}


def print_turn(turn: FinishedTurn, as_json: bool) -> int:
    """Print a finished turn for a program or for a person, and give the exit code."""
    if as_json:
        print(json.dumps(turn_object(turn.record, turn.outcomes), ensure_ascii=False))
    else:
        show_turn(turn.record, turn.outcomes)
    return 1 if turn.record.error else 0


def show_turn(record: TurnRecord, outcomes: Sequence[ToolOutcome]) -> None:
    """Print what was heard, which tools ran, and the answer."""
    console = Console(stderr=True, highlight=False)
    if record.source in ("voice", "follow_up", "barge_in"):
        console.print(f"[dim]heard   [/] {escape(record.heard or '(nothing)')}")
    for outcome in outcomes:
        console.print(f"[dim]tool    [/] {describe(outcome)}", soft_wrap=True)
    if record.error:
        console.print(f"[red]problem [/] {escape(record.error.message or record.error.kind)}")
    if record.answer:
        print(record.answer)
        sys.stdout.flush()
    if any(outcome.decision is Decision.NEEDS_CONFIRMATION for outcome in outcomes):
        console.print("[dim]nobody was there to answer, so it was not done[/]")


def show_notices(notices: Sequence[str]) -> None:
    """Print what a person should know before the first turn."""
    console = Console(stderr=True, style="dim", highlight=False, soft_wrap=True)
    for notice in notices:
        console.print(f"hearth: {escape(notice)}")


def describe(outcome: ToolOutcome) -> str:
    """One line on a call, in rich's markup."""
    arguments = ", ".join(f"{key}={value}" for key, value in outcome.arguments.items())
    colour = _COLOURS.get(outcome.status, "red")
    seen = "; ".join(f"{o.entity_id} {o.before} → {o.after}" for o in outcome.observed)
    line = f"{escape(outcome.name)}({escape(arguments)}) [{colour}]{outcome.status}[/]"
    return f"{line} {escape(seen)}".rstrip()
