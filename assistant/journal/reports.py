"""Reports over many turns: costs, success of commands, and faults."""

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


# Share of commands that went right or were corrected, refused, misheard or failed.
CORRECTING = {"undo", "correct_last"}  # built-in tools
_CORRECTED_WITHIN = timedelta(minutes=2)
GATED = {Decision.DENIED, Decision.NEEDS_CONFIRMATION}
_NO_FAULT = {"", "interrupted"}  # talking over an answer is not a complaint
Share = Literal["right", "corrected", "refused", "misheard", "failed"]
Call = tuple[str, Decision, Status]  # tool name, decision and status


@dataclass(frozen=True, slots=True)
class CommandTurn:
    """A turn in which a person asked for something, reduced to the facts needed to judge it."""

    at: datetime
    mark: Mark
    error: str  # kind of error, "" for none
    calls: tuple[Call, ...]  # ended calls in order


@dataclass(frozen=True, slots=True)
class Shares:
    """Number of commands by result. `turns` is the sum of the other five.

    A command is a turn that a person started by voice or keyboard, with words in it. Turns of
    programs, echoes of Hearth's own voice and "that was wrong" itself do not count. The first of
    these results that applies is counted:

    - misheard: it was marked so ("you misheard me");
    - corrected: it was marked wrong, or the person's next command, within two minutes, undid or
      corrected it;
    - refused: one of its calls was denied, by the policy, a rule or the person's no, or waited for
      a confirmation that did not come;
    - failed: it ended in an error, its words were not understood, or its last call did not succeed
      (`failed`, `timeout`, `not_observed`, `unknown`, or never sent);
    - right: all others. Nobody complained, which is all that can be known.
    """

    turns: int = 0
    right: int = 0
    corrected: int = 0
    refused: int = 0
    misheard: int = 0
    failed: int = 0


def shares_of(commands: Sequence[CommandTurn]) -> Shares:
    """Count commands, which must be in the order in which they began."""
    following = [*commands[1:], None]
    count: Counter[str] = Counter(map(share_of, commands, following))
    return Shares(turns=len(commands), **count)


def share_of(command: CommandTurn, following: CommandTurn | None) -> Share:
    """Return the result of a command. `following` is the person's next command, if there is one."""
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
    """Return True if the following command took back what this one did."""
    soon = following.at - command.at <= _CORRECTED_WITHIN
    return soon and any(
        name in CORRECTING and status is Status.DONE for name, _, status in following.calls
    )


def _came_to_nothing(calls: Sequence[Call]) -> bool:
    """Return True if the last call failed; if it succeeded, it made up for earlier failures."""
    return bool(calls) and calls[-1][2] is not Status.DONE


# Days follow this machine's clock, as the daily cap does. An hour that daylight saving repeats or
# skips changes no day.
_GROUP = (
    "date(started_at, 'localtime') AS day, "
    "COALESCE(brain, '') AS brain, COALESCE(model, '') AS model"
)
_ASKED = "started_at >= ? AND source <> 'announcement'"
_SUMS = (
    f"SELECT {_GROUP}, COUNT(*) AS turns, SUM(cost_usd) AS cost_usd, "
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


MARKING = "that_was_wrong"  # the tool with which a person marks the previous turn
# Ended before anything was requested, or deliberately, so that no answer was due.
_NO_COMMAND = ("no_speech", "not_meant", "echo", "stopped", "muted", "withdrawn")
_COMMANDS = (
    "source IN ('voice', 'follow_up', 'barge_in', 'text') AND caller = '' "
    f"AND (error_kind IS NULL OR error_kind NOT IN ({', '.join('?' * len(_NO_COMMAND))}))"
)
# All calls of the turns with at least one telling call. Selected by their own times, which are
# indexed; no call starts before its turn.
_TELLING_CALLS = (
    "SELECT turn_id, name, decision, status FROM calls WHERE turn_id IN "
    f"(SELECT turn_id FROM calls WHERE started_at >= ? AND (status <> '{Status.DONE}' "
    f"OR decision IN ({', '.join('?' * len(GATED))}) "
    f"OR name IN ({', '.join('?' * len((*CORRECTING, MARKING)))}))) "
    "ORDER BY started_at, rowid"
)


def mark_turn(db: sqlite3.Connection, turn_id: str, said: Mark) -> bool:
    """Mark a turn. Returns False if there is no such turn."""
    done = db.execute("UPDATE turns SET mark = ? WHERE turn_id = ?", (said, turn_id))
    return done.rowcount == 1


def newest_command(db: sqlite3.Connection, since: str, now: str) -> sqlite3.Row | None:
    """Return the row of the newest command since `since`.

    Rows dated after `now`, by a clock that was ahead, are ignored.
    """
    query = (
        f"SELECT * FROM turns WHERE started_at BETWEEN ? AND ? AND {_COMMANDS} AND NOT EXISTS "
        "(SELECT 1 FROM calls WHERE calls.turn_id = turns.turn_id AND name = ?) "
        "ORDER BY started_at DESC, rowid DESC LIMIT 1"
    )
    row: sqlite3.Row | None = db.execute(query, (since, now, *_NO_COMMAND, MARKING)).fetchone()
    return row


def judged_commands(db: sqlite3.Connection, since: str) -> list[CommandTurn]:
    """Return all commands since `since`, oldest first.

    Turns whose calls all simply succeeded are returned without calls, which would not change the
    verdict. Reading thousands of them would keep people waiting.
    """
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


# Reports over many turns in the journal: costs, success of commands, and faults.
T = TypeVar("T")
_MOST_DAYS = 36_500  # no journal is older


@dataclass(frozen=True, slots=True)
class CostRow:
    """Cost of one brain with one model on one day."""

    day: date  # in this machine's time zone, as `limits.daily_cost_usd` counts it
    brain: str  # as in `brain.order`; "" if no brain was asked
    model: str  # "" if the brain has none, or the row is older than the column
    turns: int
    cost_usd: float
    input_tokens: int
    output_tokens: int
    by_modality: dict[str, int] = field(default_factory=dict)  # "input_audio": tokens, ...


def first_midnight(days: int, now: datetime) -> datetime:
    """Return the midnight that begins the last `days` days, counting today."""
    first = now.date() - timedelta(days=min(days, _MOST_DAYS) - 1)
    # Naive at first, so that `astimezone` finds the offset of that very day.
    return datetime.combine(first, time.min).astimezone()


class Reports:
    """Reports over many rows, and the marks and faults that are written later.

    Every method may raise StoreError.
    """

    def __init__(self, database: "Database", clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def costs(self, since: datetime) -> list[CostRow]:
        """Return costs by day, brain and model since `since`: newest day first, then highest cost.

        Announcements, which cost nothing, are left out; the cost of jobs is included.
        """
        rows = await self._database.read(lambda db: summed_costs(db, instant(since)))
        return [CostRow(**row) for row in rows]

    async def shares(self, since: datetime) -> Shares:
        """Count the results of people's commands since `since`; see `Shares`."""
        judged = await self._database.read(lambda db: judged_commands(db, instant(since)))
        return shares_of(judged)

    async def mark(self, turn_id: str, mark: Mark) -> bool:
        """Mark a turn as wrong or misheard; "" removes the mark. Returns False if there is no such
        turn."""
        return await self._database.run(lambda db: mark_turn(db, turn_id, mark), durable=True)

    async def last_command(self, since: datetime) -> TurnRecord | None:
        """Return the last command of a person since `since`, or None.

        Announcements, turns of programs, turns without words, and turns that only marked another
        one do not count.
        """
        span = (instant(since), instant(self._clock.now()))
        row = await self._database.read(lambda db: newest_command(db, *span))
        return turn_from(row) if row is not None else None

    async def faults(self, since: datetime, limit: int = 1000) -> list[FaultRecord]:
        """Return the faults that began or lasted since `since`, newest first."""
        return await self._database.read(lambda db: faults_since(db, instant(since), limit))

    async def begin_fault(self, what: str, problem: str, at: datetime) -> None:
        """Record that something has stopped working, until `end_fault`."""
        await self._database.run(lambda db: begin_fault(db, what, problem, instant(at)))

    async def end_fault(self, what: str, at: datetime) -> None:
        """Record the end of a fault."""
        await self._database.run(lambda db: end_fault(db, what, instant(at)))

    async def settle_faults(self) -> None:
        """Close the faults of an earlier process, whose end is unknown.

        Only for the process that records faults, at its start.
        """
        now = instant(self._clock.now())
        await self._database.run(lambda db: settle_faults(db, now))
