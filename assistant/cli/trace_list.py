"""`hearth trace --list` and `--faults`: the last turns, how they went, and what did not work."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta

from rich.table import Table
from rich.text import Text

from assistant.cli.paper import paper
from assistant.cli.terminal import say, say_json
from assistant.domain.records import UNASKED, FaultRecord, TurnRecord
from assistant.journal.store import Store
from assistant.journal.trace import Shares, first_sound_ms, turn_row

WEEK = timedelta(days=7)
_COLOURS = {
    "right": "green",
    "corrected": "yellow",
    "refused": "magenta",
    "misheard": "bright_red",
    "failed": "red",
}
_BAR = 24  # columns
_HEARD = 4  # the column of the words
_LEAST_WORDS = 12  # columns of them
_SLOW_MS = 2000.0  # to the first sound: told in another colour


async def list_turns(store: Store, limit: int, now: datetime, *, as_json: bool) -> None:
    """Print the last turns, the newest last, and the shares of the last seven days."""
    turns = await store.turns(limit)
    shares = await store.reports.shares(now - WEEK)
    if as_json:
        told = {"turns": [turn_row(turn) for turn in turns], "shares": asdict(shares)}
        say_json(told)
    elif turns:
        console = paper()
        console.print(_turns(turns, console.width))
        console.print()
        console.print(_share_line(shares))
    else:
        say('No turn has been kept yet; make one with hearth ask "what time is it"')


async def list_faults(store: Store, since: datetime, *, as_json: bool) -> None:
    """Print what has not worked since then, the newest last."""
    faults = await store.reports.faults(since)
    if as_json:
        say_json([asdict(one) for one in faults], ascii_only=True, default=datetime.isoformat)
    elif faults:
        paper().print(_faults(faults))
    else:
        say("Nothing is known that has not worked; hearth doctor looks at what does now")


def _turns(turns: Sequence[TurnRecord], width: int) -> Table:
    """All in one line each, the words as far as there is room for them."""
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
        Text(f"${turn.cost_usd:.4f}" if turn.cost_usd else ""),
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
        return Text(turn.mark, style=_COLOURS["corrected" if turn.mark == "wrong" else turn.mark])
    if turn.error:
        return Text(turn.error.kind, style="red")
    if not turn.understood:
        return Text("not understood", style="red")
    return Text("ok", style="green")


def _share_line(shares: Shares) -> Text:
    """The week as one bar, each part in its colour and with its figure."""
    if not shares.turns:
        return Text("No command in the last 7 days.", style="dim")
    counts = {name: count for name, count in asdict(shares).items() if name in _COLOURS and count}
    text = Text("7 days  ")
    for name, count in counts.items():
        text.append("█" * max(1, round(_BAR * count / shares.turns)), _COLOURS[name])
    text.append(f"  {shares.turns} commands: ")
    for number, (name, count) in enumerate(counts.items()):
        text.append(", " if number else "").append(f"{count} {name}", _COLOURS[name])
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
