"""`hearth trace`: what happened in a turn, moment by moment, how it sounded, and how turns went."""

import argparse
from datetime import timedelta

from assistant.cli.command import Command, Failed
from assistant.cli.paper import Terminal
from assistant.cli.terminal import say, say_json
from assistant.cli.trace_list import list_faults, list_turns
from assistant.cli.trace_sound import play, print_recordings, why_silent
from assistant.cli.waterfall import show
from assistant.config.schema import Settings
from assistant.domain.clock import SystemClock
from assistant.domain.records import Mark, TurnRecord
from assistant.journal.store import Store
from assistant.journal.trace import draw_trace, turn_object
from assistant.sound.recordings import listed

_MOST = 1000  # rows of one turn
_LISTED = 20  # turns, where nobody says how many
_MARKS: dict[str, Mark] = {"wrong": "wrong", "misheard": "misheard", "none": ""}


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("turn", nargs="?", default="last", metavar="TURN", help="its id, or last")
    parser.add_argument(
        "--list",
        nargs="?",
        type=int,
        const=_LISTED,
        metavar="N",
        help=f"list the last N turns (default {_LISTED}), and how those of a week have gone",
    )
    parser.add_argument(
        "--mark", choices=list(_MARKS), help="say how TURN was; it counts in the week's figures"
    )
    parser.add_argument("--faults", action="store_true", help="list what has not worked, and when")
    parser.add_argument(
        "--play", action="store_true", help="play its sound; TURN may be a recording's name, too"
    )
    parser.add_argument("--recordings", action="store_true", help="list the sounds that were kept")
    parser.add_argument("--json", action="store_true", help="print one JSON value")


async def _run(arguments: argparse.Namespace, settings: Settings) -> int:
    if arguments.list is not None and arguments.list < 1:
        raise Failed("--list takes a number from 1 on, such as --list 50", 2)
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
    """Print the turn that is meant, marked if that is wanted."""
    record = await _meant(store, arguments.turn)
    if arguments.mark is not None:
        await store.reports.mark(record.turn_id, _MARKS[arguments.mark])
        record = await _meant(store, record.turn_id)
    calls = await store.calls(record.turn_id)
    audited = await store.audited(turn_id=record.turn_id, limit=_MOST)
    console = Terminal()
    if arguments.json:
        say_json(turn_object(record, calls, audited))
    elif console.is_terminal:
        show(console, record, calls, audited)
    else:
        say(*draw_trace(record, calls, audited))
    return record


async def _meant(store: Store, turn: str) -> TurnRecord:
    record = await (store.last_turn() if turn == "last" else store.turn(turn))
    if record is None:
        raise Failed(_missing(turn))
    return record


def _missing(turn: str) -> str:
    if turn == "last":
        return 'No turn has been kept yet; make one with hearth ask "what time is it"'
    return f"There is no turn {turn}; see the last ones with hearth trace --list"


COMMAND = Command(
    name="trace",
    summary="show a turn's waterfall, or how the last turns went",
    example="hearth trace last, hearth trace --list, "
    "or of one that was not as it was meant: hearth trace TURN --mark wrong",
    add_arguments=_arguments,
    run=_run,
)
