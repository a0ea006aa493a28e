"""`hearth trace`: what happened in a turn, moment by moment."""

import argparse
import json
from dataclasses import asdict

from assistant.cli.command import Command, Failed
from assistant.clock import SystemClock
from assistant.config.schema import Settings
from assistant.journal.records import AuditRecord, CallRecord, TurnRecord
from assistant.journal.store import Store
from assistant.journal.trace import draw_trace

_MOST = 1000  # rows of one turn


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("turn", nargs="?", default="last", metavar="TURN", help="its id, or last")
    parser.add_argument("--json", action="store_true", help="print one JSON value")


async def _run(arguments: argparse.Namespace, settings: Settings) -> int:
    async with Store(settings.database, SystemClock()) as store:
        if arguments.turn == "last":
            record = await store.last_turn()
        else:
            record = await store.turn(arguments.turn)
        if record is None:
            raise Failed(_missing(arguments.turn))
        calls = await store.calls(record.turn_id)
        audited = await store.audited(turn_id=record.turn_id, limit=_MOST)
    if arguments.json:
        print(json.dumps(_plain(record, calls, audited), ensure_ascii=False, default=str))
    else:
        print(draw_trace(record, calls, audited))
    return 0


def _missing(turn: str) -> str:
    if turn == "last":
        return 'No turn has been kept yet; make one with hearth ask "what time is it"'
    return f"There is no turn {turn}; see the last one with hearth trace last"


def _plain(
    record: TurnRecord, calls: list[CallRecord], audited: list[AuditRecord]
) -> dict[str, object]:
    ends = {row.call_id: row for row in reversed(audited)}
    return {**asdict(record), "tool_calls": [_call(call, ends.get(call.id)) for call in calls]}


def _call(call: CallRecord, row: AuditRecord | None) -> dict[str, object]:
    return {
        **asdict(call),
        "rule": row.rule if row else "",
        "entities": row.entities if row else (),
        "confirmed_by": row.confirmed_by if row else "",
    }


COMMAND = Command(
    name="trace",
    summary="show a turn's waterfall",
    example="hearth trace last",
    add_arguments=_arguments,
    run=_run,
)
