"""What a person sees of a scene: at most twelve lines."""

from collections.abc import Mapping
from pathlib import Path

from rich.table import Table
from rich.text import Text

from assistant.cli.paper import Terminal, worded
from assistant.cli.show import describe
from assistant.conversation.log import FinishedTurn
from assistant.demo.scenes import Spoken, Typed
from assistant.journal.trace import draw_bar


def show_scene(
    console: Terminal,
    number: str,
    scene: Spoken | Typed,
    turn: FinishedTurn | None,
    changes: Mapping[str, tuple[str, str]],
    answer: Path,
) -> None:
    """Print one scene. `changes`: entity to what it showed before and after."""
    manner = "typed" if isinstance(scene, Typed) else f"spoken by {scene.voice}"
    console.print()
    head = "[bold]{number}  “{words}”[/]  [dim]{manner}[/]"
    console.tell(head, number=number, words=scene.words, manner=manner, fold=True)
    if turn is None:
        console.print("   nothing was heard: the wake word did not fire", style="red")
        return
    record = turn.record
    _line(console, "heard", record.heard or "(no command)")
    for outcome in turn.outcomes[:2]:
        _line(console, "tool", describe(outcome))
    _line(console, "house", _changes(changes))
    told = worded("[cyan]{said}[/]  [dim]{file}[/]", said=record.answer or "", file=answer)
    _line(console, "answer", told)
    if record.timeline:
        _line(console, "time", draw_bar(record.timeline, width=60))


def show_house(console: Terminal, described: str) -> None:
    """Print the house, a room a line, wrapped under its name."""
    table = Table.grid(padding=(0, 2))
    for line in described.split("\n"):
        area, _, things = line.partition("  ")
        table.add_row(Text(area, style="dim"), things.strip())
    console.print(table)


def _changes(changes: Mapping[str, tuple[str, str]]) -> Text | str:
    if not changes:
        return Text("nothing changed", style="dim")
    return "; ".join(f"{name}: {old} → {new}" for name, (old, new) in changes.items())


def _line(console: Terminal, label: str, text: Text | str) -> None:
    console.tell("   [dim]{label}[/] {text}", label=f"{label:<7}", text=text)
