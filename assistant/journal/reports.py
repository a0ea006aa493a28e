"""Reports on many turns: costs, command results, and faults."""

import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from assistant.domain.clock import Clock
from assistant.domain.records import FaultRecord, Mark, TurnRecord
from assistant.domain.tool_call import Decision, Status
from assistant.journal.rows import STARTED, instant, turn_from
from assistant.journal.tables import begin_fault, end_fault, faults_since, settle_faults

if TYPE_CHECKING:
    from assistant.journal.database import Database


CORRECTING = {"undo", "correct_last"}  # built-in tools
_CORRECTED_WITHIN = timedelta(minutes=2)
GATED = {Decision.DENIED, Decision.NEEDS_CONFIRMATION}
_NO_FAULT = {"", "interrupted"}  # interrupting an answer isn't a complaint
Share = Literal["right", "corrected", "refused", "misheard", "failed"]
Call = tuple[str, Decision, Status]  # tool name, decision and status


@dataclass(frozen=True, slots=True)
class CommandTurn:
    """The facts about a person's command that decide its result."""

    at: datetime
    mark: Mark
    error: str  # the error's kind, or ""
    calls: tuple[Call, ...]  # finished calls in order


@dataclass(frozen=True, slots=True)
class Shares:
    """Number of people's commands by result. `turns` is the sum of the other five fields.

    A command gets the first result that applies:

    - misheard: a person said so ("you misheard me").
    - corrected: a person marked it as wrong, or their next command, within two minutes, undid or
      corrected it.
    - refused: one of its calls was denied, or a confirmation was never given.
    - failed: it ended in an error, wasn't understood, or its last call didn't succeed.
    - right: nobody complained, which is the best evidence there is.
    """

    turns: int = 0
    right: int = 0
    corrected: int = 0
    refused: int = 0
    misheard: int = 0
    failed: int = 0


def shares_of(commands: Sequence[CommandTurn]) -> Shares:
    """Count commands by result. They must be sorted, oldest first."""
    following = [*commands[1:], None]
    count: Counter[str] = Counter(map(share_of, commands, following))
    return Shares(turns=len(commands), **count)


def share_of(command: CommandTurn, following: CommandTurn | None) -> Share:
    """Return a command's result. `following` is the person's next command, or None."""
    if command.mark == "misheard":
        return "misheard"
    if command.mark == "wrong" or (following is not None and _corrects(following, command)):
        return "corrected"
    if any(decision in GATED for _, decision, _ in command.calls):
        return "refused"
    if command.error not in _NO_FAULT or _came_to_nothing(command.calls):
        return "failed"
    return "right"


def _corrects(following: CommandTurn, command: CommandTurn) -> bool:
    soon = following.at - command.at <= _CORRECTED_WITHIN
    return soon and any(
        name in CORRECTING and status is Status.DONE for name, _, status in following.calls
    )


def _came_to_nothing(calls: Sequence[Call]) -> bool:
    # Failures before a successful call don't count.
    return bool(calls) and calls[-1][2] is not Status.DONE


# Days are in this machine's time zone, as for the daily cost limit.
_GROUP = (
    "date(started_at, 'localtime') AS day, "
    "COALESCE(brain, '') AS brain, COALESCE(model, '') AS model"
)
_ASKED = "started_at >= ? AND source <> 'announcement'"
_SUMS = (
    f"SELECT {_GROUP}, COUNT(*) AS turns, SUM(cost_usd) AS cost_usd, "
    "TOTAL(cost_usd) FILTER (WHERE usage ->> '$.estimated') AS estimated_usd, "
    "COALESCE(SUM(usage ->> '$.input_tokens'), 0) AS input_tokens, "
    "COALESCE(SUM(usage ->> '$.output_tokens'), 0) AS output_tokens "
    f"FROM turns WHERE {_ASKED} GROUP BY 1, 2, 3 "
    "ORDER BY day DESC, cost_usd DESC, turns DESC, brain, model"
)
_MODALITIES = (
    f"SELECT {_GROUP}, part.key AS modality, SUM(part.value) AS tokens "
    f"FROM turns, json_each(usage, '$.by_modality') AS part "
    f"WHERE {_ASKED} AND usage IS NOT NULL GROUP BY 1, 2, 3, 4 ORDER BY 4"
)


def summed_costs(db: sqlite3.Connection, since: str) -> list[dict[str, Any]]:
    """Return the fields of `CostRow`, newest day first."""
    parts: dict[tuple[str, str, str], dict[str, int]] = {}
    for row in db.execute(_MODALITIES, (since,)):
        key = (row["day"], row["brain"], row["model"])
        parts.setdefault(key, {})[row["modality"]] = row["tokens"]
    return [
        {
            **dict(row),
            "day": date.fromisoformat(row["day"]),
            "by_modality": parts.get((row["day"], row["brain"], row["model"]), {}),
        }
        for row in db.execute(_SUMS, (since,))
    ]


MARKING = "that_was_wrong"  # the tool that marks the previous turn
# Errors of turns that ended without a request, or that a person ended on purpose.
_NO_COMMAND = ("no_speech", "not_meant", "echo", "stopped", "muted", "withdrawn")
_COMMANDS = (
    "source IN ('voice', 'follow_up', 'barge_in', 'text') AND caller = '' "
    f"AND (error_kind IS NULL OR error_kind NOT IN ({', '.join('?' * len(_NO_COMMAND))}))"
)
# All calls of turns with at least one call that can change the result. They are selected by their
# own start time, which is indexed; a call never starts before its turn.
_TELLING_CALLS = (
    "SELECT turn_id, name, decision, status FROM calls WHERE turn_id IN "
    f"(SELECT turn_id FROM calls WHERE started_at >= ? AND (status <> '{Status.DONE}' "
    f"OR decision IN ({', '.join('?' * len(GATED))}) "
    f"OR name IN ({', '.join('?' * len((*CORRECTING, MARKING)))}))) "
    "ORDER BY started_at, rowid"
)


def mark_turn(db: sqlite3.Connection, turn_id: str, said: Mark) -> bool:
    done = db.execute("UPDATE turns SET mark = ? WHERE turn_id = ?", (said, turn_id))
    return done.rowcount == 1


def newest_command(db: sqlite3.Connection, since: str, now: str) -> sqlite3.Row | None:
    # `now` excludes rows written while the clock was ahead.
    query = (
        f"SELECT * FROM turns WHERE started_at BETWEEN ? AND ? AND {_COMMANDS} AND NOT EXISTS "
        "(SELECT 1 FROM calls WHERE calls.turn_id = turns.turn_id AND name = ?) "
        "ORDER BY started_at DESC, rowid DESC LIMIT 1"
    )
    row: sqlite3.Row | None = db.execute(query, (since, now, *_NO_COMMAND, MARKING)).fetchone()
    return row


def judged_commands(db: sqlite3.Connection, since: str) -> list[CommandTurn]:
    """Return all commands since the given time, oldest first. `calls` is empty if the calls can't
    change the result."""
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


T = TypeVar("T")
_MOST_DAYS = 36_500  # older than any journal


@dataclass(frozen=True, slots=True)
class CostRow:
    """One day's cost of a brain and model."""

    day: date  # in this machine's time zone, as `limits.daily_cost_usd` counts it
    brain: str  # as in `brain.order`; "" if no brain was asked
    model: str  # "" if the brain has none or the row predates this column
    turns: int
    cost_usd: float
    input_tokens: int
    output_tokens: int
    # Number of tokens by modality, such as "input_audio".
    by_modality: dict[str, int] = field(default_factory=dict)
    estimated_usd: float = 0.0  # cost of the turns whose tokens were not all reported


def first_midnight(days: int, now: datetime) -> datetime:
    """Return the midnight at the start of the last `days` days, which include today."""
    first = now.date() - timedelta(days=min(days, _MOST_DAYS) - 1)
    # Start from a naive time, so that `astimezone` uses that day's UTC offset.
    return datetime.combine(first, time.min).astimezone()


class Reports:
    """Reports on many turns, and the marks and faults that they use. Every method can raise
    StoreError."""

    def __init__(self, database: "Database", clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def costs(self, since: datetime) -> list[CostRow]:
        """Return costs by day, brain and model: newest day first, then highest cost first."""
        rows = await self._database.read(lambda db: summed_costs(db, instant(since)))
        return [CostRow(**row) for row in rows]

    async def shares(self, since: datetime) -> Shares:
        """Count people's commands since the given time, by result."""
        judged = await self._database.read(lambda db: judged_commands(db, instant(since)))
        return shares_of(judged)

    async def mark(self, turn_id: str, mark: Mark) -> bool:
        """Mark a turn as wrong or misheard, or remove the mark with "". Return False if there is no
        such turn."""
        return await self._database.run(lambda db: mark_turn(db, turn_id, mark), durable=True)

    async def last_command(self, since: datetime) -> TurnRecord | None:
        """Return the newest command that a person gave since the given time, or None."""
        span = (instant(since), instant(self._clock.now()))
        row = await self._database.read(lambda db: newest_command(db, *span))
        return turn_from(row) if row is not None else None

    async def faults(self, since: datetime, limit: int = 1000) -> list[FaultRecord]:
        """Return the faults that were open at `since` or started later, newest first."""
        return await self._database.read(lambda db: faults_since(db, instant(since), limit))

    async def begin_fault(self, what: str, problem: str, at: datetime) -> None:
        """Record a fault, unless one with the same `what` is already open."""
        await self._database.run(lambda db: begin_fault(db, what, problem, instant(at)))

    async def end_fault(self, what: str, at: datetime) -> None:
        await self._database.run(lambda db: end_fault(db, what, instant(at)))

    async def settle_faults(self) -> None:
        """Close the faults that an earlier process left open. Call it only at the start of the
        process that records faults."""
        now = instant(self._clock.now())
        await self._database.run(lambda db: settle_faults(db, now))
