"""Commands of people in the tables: their marks, and what is needed to judge them."""

import sqlite3
from datetime import datetime

from assistant.domain.outcome import Decision, Status
from assistant.domain.records import Mark
from assistant.journal.rows import STARTED
from assistant.journal.trace import CORRECTING, GATED, Call, CommandTurn

MARKING = "that_was_wrong"  # the tool by which a person marks the turn before

# Ended before anything was asked for, or on purpose: what no answer was owed to.
_NO_COMMAND = ("no_speech", "not_meant", "echo", "stopped", "muted", "withdrawn")
_COMMANDS = (
    "source IN ('voice', 'follow_up', 'barge_in', 'text') AND caller = '' "
    f"AND (error_kind IS NULL OR error_kind NOT IN ({', '.join('?' * len(_NO_COMMAND))}))"
)
# All calls of the turns that have one which may tell something about its turn. By their own times,
# which the index has in order: no call begins before its turn.
_TELLING_CALLS = (
    "SELECT turn_id, name, decision, status FROM calls WHERE turn_id IN "
    f"(SELECT turn_id FROM calls WHERE started_at >= ? AND (status <> '{Status.DONE}' "
    f"OR decision IN ({', '.join('?' * len(GATED))}) "
    f"OR name IN ({', '.join('?' * len((*CORRECTING, MARKING)))}))) "
    "ORDER BY started_at, rowid"
)


def mark(db: sqlite3.Connection, turn_id: str, said: Mark) -> bool:
    """Whether there is such a turn; it is marked now."""
    done = db.execute("UPDATE turns SET mark = ? WHERE turn_id = ?", (said, turn_id))
    return done.rowcount == 1


def last_command(db: sqlite3.Connection, since: str, now: str) -> sqlite3.Row | None:
    """The row of the newest command from `since` on; what a clock that was ahead has dated later
    than `now` is none."""
    query = (
        f"SELECT * FROM turns WHERE started_at BETWEEN ? AND ? AND {_COMMANDS} AND NOT EXISTS "
        "(SELECT 1 FROM calls WHERE calls.turn_id = turns.turn_id AND name = ?) "
        "ORDER BY started_at DESC, rowid DESC LIMIT 1"
    )
    row: sqlite3.Row | None = db.execute(query, (since, now, *_NO_COMMAND, MARKING)).fetchone()
    return row


def judged(db: sqlite3.Connection, since: str) -> list[CommandTurn]:
    """All commands from `since` on, the oldest first. Where all calls of one just came about, they
    say nothing about it and are not read: thousands are judged while somebody waits."""
    calls: dict[str, list[Call]] = {}
    marking = set()
    telling = (since, *GATED, *CORRECTING, MARKING)
    for turn_id, name, decision, status in db.execute(_TELLING_CALLS, telling):
        if name == MARKING:
            marking.add(turn_id)
        if status != STARTED:
            call = (name, Decision(decision), Status(status))
            calls.setdefault(turn_id, []).append(call)
    query = (
        "SELECT turn_id, started_at, mark, error_kind, understood FROM turns "
        f"WHERE started_at >= ? AND {_COMMANDS} ORDER BY started_at, rowid"
    )
    return [
        CommandTurn(
            datetime.fromisoformat(at),
            said,
            error or ("" if understood else "not_understood"),
            tuple(calls.get(turn_id, ())),
        )
        for turn_id, at, said, error, understood in db.execute(query, (since, *_NO_COMMAND))
        if turn_id not in marking
    ]
