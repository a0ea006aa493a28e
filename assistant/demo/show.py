"""What a person sees of a scene: at most twelve lines."""

from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from assistant.cli.show import describe
from assistant.demo.scenes import Spoken, Typed
from assistant.journal.trace import draw_bar
from assistant.turn.log import FinishedTurn


def show_scene(
    console: Console,
    number: str,
    scene: Spoken | Typed,
    turn: FinishedTurn | None,
    changes: Mapping[str, tuple[str, str]],
    answer: Path,
) -> None:
    """Print one scene. `changes`: entity to what it showed before and after."""
    manner = "typed" if isinstance(scene, Typed) else f"spoken by {scene.voice}"
    console.print(f"\n[bold]{number}  “{escape(scene.words)}”[/]  [dim]{manner}[/]")
    if turn is None:
        console.print("   [red]nothing was heard: the wake word did not fire[/]")
        return
    record = turn.record
    _line(console, "heard", escape(record.heard or "(no command)"))
    for outcome in turn.outcomes[:2]:
        _line(console, "tool", describe(outcome))
    _line(console, "house", _changes(changes))
    _line(console, "answer", f"[cyan]{escape(record.answer or '')}[/]  [dim]{answer}[/]")
    if record.timeline:
        _line(console, "time", escape(draw_bar(record.timeline, width=60)))


def show_house(console: Console, described: str) -> None:
    """Print the house, a room a line, wrapped under its name."""
    table = Table.grid(padding=(0, 2))
    for line in described.splitlines():
        area, _, things = line.partition("  ")
        table.add_row(f"[dim]{escape(area)}[/]", escape(things.strip()))
    console.print(table)


def _changes(changes: Mapping[str, tuple[str, str]]) -> str:
    if not changes:
        return "[dim]nothing changed[/]"
    return escape("; ".join(f"{name}: {old} → {new}" for name, (old, new) in changes.items()))


def _line(console: Console, label: str, text: str) -> None:
    console.print(f"   [dim]{label:<7}[/] {text}", soft_wrap=True)
