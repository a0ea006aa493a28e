"""How a turn is shown to a person: the answer on stdout, how it came about on stderr."""

from collections.abc import Sequence

from rich.text import Text

from assistant.cli.console import Terminal, worded
from assistant.cli.terminal import say, say_json
from assistant.conversation.record import FinishedTurn
from assistant.conversation.record import as_json as turn_object
from assistant.domain.outcome import Decision, ToolOutcome
from assistant.domain.records import TurnRecord

_COLOURS = {"done": "green", "not_run": "yellow"}


def print_turn(turn: FinishedTurn, as_json: bool) -> int:
    """Print a finished turn for a program or for a person, and give the exit code."""
    if as_json:
        say_json(turn_object(turn.record, turn.outcomes))
    else:
        show_turn(turn.record, turn.outcomes)
    return 1 if turn.record.error else 0


def show_turn(record: TurnRecord, outcomes: Sequence[ToolOutcome]) -> None:
    """Print what was heard, which tools ran, and the answer."""
    console = Terminal(stderr=True)
    if record.source in ("voice", "follow_up", "barge_in"):
        console.tell("[dim]heard   [/] {heard}", heard=record.heard or "(nothing)", fold=True)
    for outcome in outcomes:
        console.tell("[dim]tool    [/] {call}", call=describe(outcome))
    if record.error:
        problem = record.error.message or record.error.kind
        console.tell("[red]problem [/] {problem}", problem=problem, fold=True)
    if record.answer:
        say(" ".join(record.answer.split("\n")))  # a model may write a list
    if any(outcome.decision is Decision.NEEDS_CONFIRMATION for outcome in outcomes):
        console.print("nobody was there to answer, so it was not done", style="dim")


def show_notices(notices: Sequence[str]) -> None:
    """Print what a person should know before the first turn."""
    console = Terminal(stderr=True, style="dim", soft_wrap=True)
    for notice in notices:
        console.print(f"hearth: {notice}")


def describe(outcome: ToolOutcome) -> Text:
    """One line on a call."""
    arguments = ", ".join(f"{key}={value}" for key, value in outcome.arguments.items())
    colour = _COLOURS.get(outcome.status, "red")
    seen = "; ".join(f"{o.entity_id} {o.before} → {o.after}" for o in outcome.observed)
    status = Text(outcome.status, style=colour)
    told = "{name}({arguments}) {status} {seen}" if seen else "{name}({arguments}) {status}"
    return worded(told, name=outcome.name, arguments=arguments, status=status, seen=seen)
