"""`hearth trace`: show a turn's stages and recording, and summarise recent turns."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from assistant.cli.console import Terminal, paper, stacked
from assistant.cli.terminal import CliCommand, Failed, say, say_json
from assistant.cli.trace_sound import play, print_recordings, why_silent
from assistant.config.schema import Settings
from assistant.domain.clock import SystemClock
from assistant.domain.records import UNASKED, AuditRecord, CallRecord, FaultRecord, Mark, TurnRecord
from assistant.domain.tool_call import Decision, Status
from assistant.journal.reports import Shares
from assistant.journal.store import Store
from assistant.journal.trace import (
    Stage,
    draw_trace,
    faults_during,
    first_sound_ms,
    short_cost,
    slowest,
    stages,
    told_cost,
    told_decision,
    turn_and_calls_json,
    turn_json,
)
from assistant.sound.recordings import listed

_WIDEST = 110  # columns: wider bars are no easier to read
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
    faults: Sequence[FaultRecord] = (),
) -> None:
    """Print a turn. `audited` contains its rows in the audit log, newest first."""
    ends = {row.call_id: row for row in reversed(audited)}
    parts: list[RenderableType] = [_head(turn), _facts([("heard", _words(turn.heard))])]
    if turn.timeline:
        parts += [Text(), _waterfall(turn, min(console.width, _WIDEST)), Text()]
    rows = [_call(call, ends.get(call.id)) for call in calls]
    rows += [("fault", Text(fault.problem, style="yellow")) for fault in faults]
    parts.append(_facts([*rows, *_tail(turn)]))
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
    found = stages(turn.timeline)
    longest = slowest(found)
    first, last = min(turn.timeline.values()), max(turn.timeline.values())
    room = max(20, width - 40)  # width left for the bar
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


WEEK = timedelta(days=7)
_MARK_COLOURS = {
    "right": "green",
    "corrected": "yellow",
    "refused": "magenta",
    "misheard": "bright_red",
    "failed": "red",
}
_BAR = 24  # columns
_HEARD = 4  # index of the transcript column
_LEAST_WORDS = 12  # minimum width of the transcript
_SLOW_MS = 2000.0  # ms to the first sound above which a turn is shown in yellow


async def list_turns(store: Store, limit: int, now: datetime, *, as_json: bool) -> None:
    turns = await store.turns(limit)
    shares = await store.reports.shares(now - WEEK)
    if as_json:
        told = {"turns": [turn_json(turn) for turn in turns], "shares": asdict(shares)}
        say_json(told)
    elif turns:
        console = paper()
        console.print(_turns(turns, console.width))
        console.print()
        console.print(_share_line(shares))
    else:
        say('No turns have been recorded yet; make one with hearth ask "what time is it"')


async def list_faults(store: Store, since: datetime, *, as_json: bool) -> None:
    faults = await store.reports.faults(since)
    if as_json:
        say_json([asdict(one) for one in faults], ascii_only=True, default=datetime.isoformat)
    elif faults:
        paper().print(_faults(faults))
    else:
        say("No failures have been recorded; run hearth doctor to check the current state")


def _turns(turns: Sequence[TurnRecord], width: int) -> Table:
    rows = [_row(turn) for turn in reversed(turns)]
    headings = ["time", "turn", "by", "brain", "heard", "first sound", "cost", "end"]
    right = {"first sound", "cost"}
    shown = [
        number
        for number, heading in enumerate(headings)
        if heading not in right or any(row[number].plain for row in rows)
    ]
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    room = width
    for number in shown:
        if headings[number] != "heard":
            room -= max(len(headings[number]), *(row[number].cell_len for row in rows)) + 2
    for number in shown:
        column = headings[number]
        table.add_column(column, no_wrap=True, justify="right" if column in right else "left")
    for row in rows:
        row[_HEARD].truncate(max(room - 2, _LEAST_WORDS), overflow="ellipsis")
        table.add_row(*(row[number] for number in shown))
    return table


def _row(turn: TurnRecord) -> list[Text]:
    return [
        Text(f"{turn.started_at.astimezone():%m-%d %H:%M:%S}"),
        Text(turn.turn_id, style="dim"),
        Text(turn.caller or turn.source.replace("_", " ")),
        Text(turn.brain or ""),
        _heard(turn),
        _latency(turn),
        Text(short_cost(turn)),
        _end(turn),
    ]


def _heard(turn: TurnRecord) -> Text:
    if turn.heard:
        return Text(turn.heard)
    return Text("" if turn.source in UNASKED else "(nothing, or erased)", style="dim")


def _latency(turn: TurnRecord) -> Text:
    latency = first_sound_ms(turn.timeline)
    if latency is None:
        return Text("")
    return Text(f"{latency:.0f} ms", style="yellow" if latency > _SLOW_MS else "")


def _end(turn: TurnRecord) -> Text:
    if turn.mark:
        return Text(
            turn.mark, style=_MARK_COLOURS["corrected" if turn.mark == "wrong" else turn.mark]
        )
    if turn.error:
        return Text(turn.error.kind, style="red")
    if not turn.understood:
        return Text("not understood", style="red")
    return Text("ok", style="green")


def _share_line(shares: Shares) -> Text:
    if not shares.turns:
        return Text("No command in the last 7 days.", style="dim")
    counts = {
        name: count for name, count in asdict(shares).items() if name in _MARK_COLOURS and count
    }
    text = Text("7 days  ")
    for name, count in counts.items():
        text.append("█" * max(1, round(_BAR * count / shares.turns)), _MARK_COLOURS[name])
    text.append(f"  {shares.turns} commands: ")
    for number, (name, count) in enumerate(counts.items()):
        text.append(", " if number else "").append(f"{count} {name}", _MARK_COLOURS[name])
    return text


def _faults(faults: Sequence[FaultRecord]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("since", no_wrap=True)
    table.add_column("for", no_wrap=True, justify="right")
    table.add_column("what", no_wrap=True)
    table.add_column("problem", overflow="fold")
    for one in reversed(faults):
        lasts = one.ended_at is None
        table.add_row(
            f"{one.began_at.astimezone():%m-%d %H:%M:%S}",
            Text(_length(one), style="red" if lasts else ""),
            one.what,
            one.problem,
        )
    return table


def _length(fault: FaultRecord) -> str:
    if fault.ended_at is None:
        return "lasts"
    seconds = (fault.ended_at - fault.began_at).total_seconds()
    units = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))
    told = next((f"{seconds / size:.0f} {name}" for size, name in units if seconds >= size), "0 s")
    return f"<{told}" if fault.settled else told


_MOST = 1000  # audit rows read for one turn
_LISTED = 20  # default number of turns
_MARKS: dict[str, Mark] = {"wrong": "wrong", "misheard": "misheard", "none": ""}


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "turn",
        nargs="?",
        default="last",
        metavar="TURN",
        help="the turn's id, or last for the latest turn (default: last)",
    )
    parser.add_argument(
        "--list",
        nargs="?",
        type=int,
        const=_LISTED,
        metavar="N",
        help=f"list the last N turns (default {_LISTED}) and a summary of the week",
    )
    parser.add_argument(
        "--mark", choices=list(_MARKS), help="mark how the turn went, for the weekly summary"
    )
    parser.add_argument(
        "--faults", action="store_true", help="list recent failures and when they happened"
    )
    parser.add_argument(
        "--play",
        action="store_true",
        help="play the turn's recording; TURN can also be a recording's name",
    )
    parser.add_argument("--recordings", action="store_true", help="list the stored recordings")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


async def _run(arguments: argparse.Namespace, settings: Settings) -> int:
    if arguments.list is not None and arguments.list < 1:
        raise Failed("--list must be at least 1, such as --list 50", 2)
    recordings = listed(settings.data_folder) if arguments.recordings or arguments.play else []
    if arguments.recordings:
        print_recordings(recordings, settings, as_json=arguments.json)
        return 0
    named = next((one for one in recordings if one.name == arguments.turn), None)
    if named is not None:
        await play(named, settings)
        return 0
    clock = SystemClock()
    async with Store(settings.database, clock) as store:
        if arguments.list is not None:
            await list_turns(store, arguments.list, clock.now(), as_json=arguments.json)
            return 0
        if arguments.faults:
            since = clock.now() - timedelta(days=settings.journal.keep_days)
            await list_faults(store, since, as_json=arguments.json)
            return 0
        record = await _show(store, arguments)
    if arguments.play:
        turns = [one for one in recordings if one.turn_id == record.turn_id]
        if not turns:
            raise Failed(why_silent(record, settings))
        await play(turns[-1], settings)
    return 0


async def _show(store: Store, arguments: argparse.Namespace) -> TurnRecord:
    record = await _meant(store, arguments.turn)
    if arguments.mark is not None:
        await store.reports.mark(record.turn_id, _MARKS[arguments.mark])
        record = await _meant(store, record.turn_id)
    calls = await store.calls(record.turn_id)
    audited = await store.audited(turn_id=record.turn_id, limit=_MOST)
    faults = faults_during(record, await store.reports.faults(record.started_at))
    console = Terminal()
    if arguments.json:
        say_json(turn_and_calls_json(record, calls, audited, faults))
    elif console.is_terminal:
        show(console, record, calls, audited, faults)
    else:
        say(*draw_trace(record, calls, audited, faults))
    return record


async def _meant(store: Store, turn: str) -> TurnRecord:
    record = await (store.last_turn() if turn == "last" else store.turn(turn))
    if record is None:
        raise Failed(_missing(turn))
    return record


def _missing(turn: str) -> str:
    if turn == "last":
        return 'No turns have been recorded yet; make one with hearth ask "what time is it"'
    return f"There is no turn {turn}; run hearth trace --list for recent turns"


COMMAND = CliCommand(
    name="trace",
    examples=("hearth trace last", "hearth trace --list", "hearth trace TURN --mark wrong"),
    add_arguments=_arguments,
    run=_run,
)
