"""Reports over many turns: what they cost, how commands went, and what did not work."""

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


# How many commands went right, were corrected, refused, misheard or failed.
CORRECTING = {"undo", "correct_last"}  # tools of ours
_CORRECTED_WITHIN = timedelta(minutes=2)
GATED = {Decision.DENIED, Decision.NEEDS_CONFIRMATION}
_NO_FAULT = {"", "interrupted"}  # to talk over an answer is no complaint
Share = Literal["right", "corrected", "refused", "misheard", "failed"]
Call = tuple[str, Decision, Status]  # the tool's name, and what became of it


@dataclass(frozen=True, slots=True)
class CommandTurn:
    """A turn in which a person asked for something, as far as it is judged by."""

    at: datetime
    mark: Mark
    error: str  # its kind, "" for none
    calls: tuple[Call, ...]  # that have ended, in their order


@dataclass(frozen=True, slots=True)
class Shares:
    """A count of commands. Each is in one of the five: `turns` is their sum.

    A command is a turn that a person began, by voice or typed, with something said in it; not a
    program's, not one that was our own echo, and not "that was wrong" itself. Of it is, in this
    order:

    - misheard: it was marked so ("you misheard me");
    - corrected: it was marked wrong, or the person's next command, within two minutes, undid or
      corrected it;
    - refused: a call of it was denied, by the policy, by a rule or by the person's no, or waited
      for a yes that did not come;
    - failed: it ended in an error, nothing was made of its words, or the last call of it did not
      come about (`failed`, `timeout`, `not_observed`, `unknown`, or never sent);
    - right: all others. Nobody has said anything against it: that is all that can be known.
    """

    turns: int = 0
    right: int = 0
    corrected: int = 0
    refused: int = 0
    misheard: int = 0
    failed: int = 0


def shares_of(commands: Sequence[CommandTurn]) -> Shares:
    """Count commands, given in the order in which they began."""
    following = [*commands[1:], None]
    count: Counter[str] = Counter(map(share_of, commands, following))
    return Shares(turns=len(commands), **count)


def share_of(command: CommandTurn, following: CommandTurn | None) -> Share:
    """Return how it went. `following`: the person's next command, if there was one."""
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
    """Return whether it took back what the one before had done."""
    soon = following.at - command.at <= _CORRECTED_WITHIN
    return soon and any(
        name in CORRECTING and status is Status.DONE for name, _, status in following.calls
    )


def _came_to_nothing(calls: Sequence[Call]) -> bool:
    """Return whether the last one failed; those before it may have been mended by it."""
    return bool(calls) and calls[-1][2] is not Status.DONE


# The day is that of this machine's clock, as the daily cap counts it. An hour that the clocks
# repeat or leave out changes no day.
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
    """The fields of `assistant.journal.reports.CostRow`, the newest day first."""
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


def mark_turn(db: sqlite3.Connection, turn_id: str, said: Mark) -> bool:
    """Return whether there is such a turn; it is marked now."""
    done = db.execute("UPDATE turns SET mark = ? WHERE turn_id = ?", (said, turn_id))
    return done.rowcount == 1


def newest_command(db: sqlite3.Connection, since: str, now: str) -> sqlite3.Row | None:
    """The row of the newest command from `since` on; what a clock that was ahead has dated later
    than `now` is none."""
    query = (
        f"SELECT * FROM turns WHERE started_at BETWEEN ? AND ? AND {_COMMANDS} AND NOT EXISTS "
        "(SELECT 1 FROM calls WHERE calls.turn_id = turns.turn_id AND name = ?) "
        "ORDER BY started_at DESC, rowid DESC LIMIT 1"
    )
    row: sqlite3.Row | None = db.execute(query, (since, now, *_NO_COMMAND, MARKING)).fetchone()
    return row


def judged_commands(db: sqlite3.Connection, since: str) -> list[CommandTurn]:
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


# What the journal tells of many turns at once: costs, how the turns went, and faults.
T = TypeVar("T")
_MOST_DAYS = 36_500  # no journal is older


@dataclass(frozen=True, slots=True)
class CostRow:
    """What one brain with one model has cost on one day."""

    day: date  # in this machine's time zone, as `limits.daily_cost_usd` counts it
    brain: str  # as in `brain.order`; "" where none was asked
    model: str  # "" where the brain has none, or the row is older than the column
    turns: int
    cost_usd: float
    input_tokens: int
    output_tokens: int
    by_modality: dict[str, int] = field(default_factory=dict)  # "input_audio": tokens, ...


def first_midnight(days: int, now: datetime) -> datetime:
    """The midnight with which the last so many days begin, the present one among them."""
    first = now.date() - timedelta(days=min(days, _MOST_DAYS) - 1)
    # Without a zone as yet: `astimezone` finds the offset that counted on that very day.
    return datetime.combine(first, time.min).astimezone()


class Reports:
    """Reads over many rows, and the few words that are written about them afterwards.

    Every method may raise StoreError.
    """

    def __init__(self, database: "Database", clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def costs(self, since: datetime) -> list[CostRow]:
        """By day, brain and model from `since` on, the newest day first; within a day the dearest.

        Announcements, which cost nothing, are left out; what jobs have cost is there.
        """
        rows = await self._database.read(lambda db: summed_costs(db, instant(since)))
        return [CostRow(**row) for row in rows]

    async def shares(self, since: datetime) -> Shares:
        """Return how the commands of people from `since` on have gone; see `Shares`."""
        judged = await self._database.read(lambda db: judged_commands(db, instant(since)))
        return shares_of(judged)

    async def mark(self, turn_id: str, mark: Mark) -> bool:
        """Say of a turn that it was wrong or misheard; "" takes it back. False: no such turn."""
        return await self._database.run(lambda db: mark_turn(db, turn_id, mark), durable=True)

    async def last_command(self, since: datetime) -> TurnRecord | None:
        """Return what a person asked for last, from `since` on: no announcement, no program's turn,
        none in which nothing was said, and none that only marked another one."""
        span = (instant(since), instant(self._clock.now()))
        row = await self._database.read(lambda db: newest_command(db, *span))
        return turn_from(row) if row is not None else None

    async def faults(self, since: datetime, limit: int = 1000) -> list[FaultRecord]:
        """Return what did not work from `since` on, or still does not; the newest first."""
        return await self._database.read(lambda db: faults_since(db, instant(since), limit))

    async def begin_fault(self, what: str, problem: str, at: datetime) -> None:
        """Something has stopped working; it lasts until `end_fault`."""
        await self._database.run(lambda db: begin_fault(db, what, problem, instant(at)))

    async def end_fault(self, what: str, at: datetime) -> None:
        """It works again."""
        await self._database.run(lambda db: end_fault(db, what, instant(at)))

    async def settle_faults(self) -> None:
        """End what an earlier process left open: nobody knows when it was over. For the one
        process that writes faults down, at its start."""
        now = instant(self._clock.now())
        await self._database.run(lambda db: settle_faults(db, now))
