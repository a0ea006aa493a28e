"""A turn for a person at a terminal: its waterfall in colours, its calls, what it cost."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from assistant.cli.paper import Terminal, stacked
from assistant.domain.outcome import Decision, Status
from assistant.domain.records import AuditRecord, CallRecord, TurnRecord
from assistant.journal.trace import Stage, first_sound_ms, slowest, stages, told_cost, told_decision

_WIDEST = 110  # columns: beyond that a bar is no easier to read
_COLOURS = {
    "speech": "cyan",
    "pause": "bright_black",
    "connection": "blue",
    "wake word": "cyan",
    "upload": "blue",
    "recognition": "magenta",
    "thinking": "bright_blue",
    "house": "green",
    "first words": "yellow",
    "voice": "yellow",
    "answer": "bright_yellow",
}
_GOOD = {Status.DONE: "green", Status.NOT_RUN: "yellow"}


def show(
    console: Terminal,
    turn: TurnRecord,
    calls: Sequence[CallRecord],
    audited: Sequence[AuditRecord],
) -> None:
    """Print it. `audited`: the turn's rows of the audit, newest first."""
    ends = {row.call_id: row for row in reversed(audited)}
    parts: list[RenderableType] = [_head(turn), _facts([("heard", _words(turn.heard))])]
    if turn.timeline:
        parts += [Text(), _waterfall(turn, min(console.width, _WIDEST)), Text()]
    parts.append(_facts([*(_call(call, ends.get(call.id)) for call in calls), *_tail(turn)]))
    console.print(Group(*parts))


def _head(turn: TurnRecord) -> Text:
    began = turn.started_at.astimezone()
    facts = [f"{began:%Y-%m-%d %H:%M:%S}", turn.caller or turn.source.replace("_", " ")]
    facts += [turn.brain or "no brain", turn.language]
    return Text(turn.turn_id, style="bold").append("  ".join(["", *facts]), style="dim")


def _facts(rows: Sequence[tuple[str, RenderableType]]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(min_width=11, style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for label, text in rows:
        table.add_row(label, text)
    return table


def _waterfall(turn: TurnRecord, width: int) -> Table:
    """One row a stage; the longest that the person waited for stands out."""
    found = stages(turn.timeline)
    longest = slowest(found)
    first, last = min(turn.timeline.values()), max(turn.timeline.values())
    room = max(20, width - 40)  # beside the label, the figure and the remark
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(min_width=12, no_wrap=True)
    table.add_column(width=room, no_wrap=True)
    table.add_column(justify="right", min_width=9, no_wrap=True)
    table.add_column(no_wrap=True)
    for stage in found:
        is_longest = stage is longest
        label = Text(stage.name, style="bold" if is_longest else "dim")
        figure = f"at {stage.end - first:.0f}" if stage.instant else f"{stage.ms:.0f} ms"
        remark = Text("← longest wait", style="red") if is_longest else Text()
        bar = _bar(stage, first, last - first, room)
        table.add_row(label, bar, Text(figure, style="bold" if is_longest else ""), remark)
    return table


def _bar(stage: Stage, first: float, span: float, room: int) -> Text:
    scale = (room - 1) / max(span, 1.0)
    left, right = int((stage.start - first) * scale), int((stage.end - first) * scale)
    sign = "◆" if stage.instant else "█" * (right - left + 1)
    return Text(" " * left).append(sign, _COLOURS.get(stage.name, "white"))


def _call(call: CallRecord, row: AuditRecord | None) -> tuple[str, RenderableType]:
    given = ", ".join(f"{key}={value}" for key, value in call.arguments.items())
    text = Text(f"{call.name}({given}) ", style="bold")
    refused = call.decision in (Decision.DENIED, Decision.NEEDS_CONFIRMATION)
    became = str(call.decision) if refused else str(call.status or "under way")
    colour = "yellow" if refused or call.status is None else _GOOD.get(call.status, "red")
    text.append(became, style=f"not bold {colour}")
    text.append(f" {call.ms:.0f} ms", style="not bold")
    lines = [text]
    lines += [
        Text(f"{one.entity_id} {one.before or '?'} → {one.after or '?'}") for one in call.observed
    ]
    if told := told_decision(call, row):
        lines.append(Text(told, style="dim"))
    return "call", stacked(*lines)


def _tail(turn: TurnRecord) -> list[tuple[str, Text]]:
    rows = []
    if turn.confirmation:
        verdict = turn.confirmation.verdict
        rows.append(("asked", Text(f"{turn.confirmation.asked or '(erased)'} {verdict}")))
    rows.append(("answer", _words(turn.answer)))
    if turn.cut_at is not None:
        rows.append(("cut at", Text(turn.cut_at)))
    if turn.error:
        told = f"{turn.error.kind}: {turn.error.message or '(erased)'}"
        rows.append(("error", Text(told, style="red")))
    if turn.mark:
        rows.append(("marked", Text(turn.mark, style="yellow")))
    latency = first_sound_ms(turn.timeline)
    if latency is not None:
        rows.append(("first sound", Text(f"{latency:.0f} ms after the last word")))
    if cost := told_cost(turn):
        rows.append(("cost", Text(cost)))
    return rows


def _words(text: str | None) -> Text:
    return Text(text) if text else Text("(nothing, or erased)", style="dim")
