"""Promises that hold whatever breaks: nothing lost, nothing done twice, never silently deaf.

Every fault is judged by `assert_promises`, from the sentences said to Hearth, its reports, the
calls that reached the house, and its journal. `daemon` and `judged` (of this folder) call it when
their block ends; a test with a Hearth of another kind makes a `Life` and calls it.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assistant.conversation.record import FinishedTurn

SPOKEN = ("voice", "follow_up", "barge_in")  # sources of turns that a microphone began
# Errors after which nothing need be said: nobody spoke, or the person said the next thing already.
QUIET = frozenset(
    "interrupted no_speech not_meant echo stopped muted withdrawn".split()  # see mark_rows.py
)
_UNDER_WAY = "started"

Reached = Sequence[tuple[str, Mapping[str, Any]]]  # name and arguments, in the order they came


@dataclass(frozen=True, slots=True)
class Told:
    """A turn as Hearth itself reported it, in its log or through its interface."""

    turn_id: str
    source: str
    told: bool  # whoever asked has words or a tone: aloud, or in writing where it was typed
    error: str = ""  # the kind; "" where it went well
    calls: tuple[str, ...] = ()  # names of the tools


@dataclass(frozen=True, slots=True)
class Life:
    """One Hearth from its first start to its last end, seen from outside."""

    spoken: int  # sentences that somebody said to it, wake word and all
    asked: tuple[str, ...]  # ids of the typed turns that it answered
    told: tuple[Told, ...]
    reached: Reached | None  # what the house was asked, looking included; None: it keeps no list
    database: Path | None  # its journal; None: nothing could be written down, and that was told


def told_of(turn: FinishedTurn) -> Told:
    """Return the turn of a Hearth in the test's own process."""
    record = turn.record
    return Told(
        turn_id=record.turn_id,
        source=record.source,
        told=bool(record.clauses or record.sound or (record.source == "text" and record.answer)),
        error=record.error.kind if record.error else "",
        calls=tuple(outcome.name for outcome in turn.outcomes),
    )


def assert_promises(life: Life) -> None:
    """Raise AssertionError with what is lost, done twice, or was silently not heard."""
    assert_never_deaf(life)
    assert_nothing_unsaid(life)
    if life.database is None:
        assert_nothing_twice_by_the_log(life)
        return
    with closing(sqlite3.connect(life.database, timeout=5.0)) as journal:
        assert_nothing_lost(life, journal)
        assert_nothing_twice(life, journal)


def assert_never_deaf(life: Life) -> None:
    """Check that every spoken sentence became a turn."""
    heard = sum(turn.source in SPOKEN for turn in life.told)
    assert heard >= life.spoken, f"{life.spoken} were spoken, {heard} were heard"


def assert_nothing_unsaid(life: Life) -> None:
    """Check that every person got words or a tone."""
    silent = [turn for turn in life.told if not turn.told and turn.error not in QUIET]
    assert not silent, f"nobody was told anything in {silent}"


def assert_nothing_lost(life: Life, journal: sqlite3.Connection) -> None:
    """Check the journal against what was reported and what reached the house.

    Everything reported is written, and so is each call that reached the house; what is written as
    done has reached it, and no call is left without an end.
    """
    kept = {turn_id for (turn_id,) in journal.execute("SELECT turn_id FROM turns")}
    known = {*life.asked, *(turn.turn_id for turn in life.told)}
    assert known <= kept, f"lost from the journal: {known - kept}"
    if life.reached is not None:
        assert_journal_agrees(life.reached, journal)
    left = journal.execute("SELECT name FROM calls WHERE status = ?", (_UNDER_WAY,)).fetchall()
    assert not left, f"calls without an end: {left}"


def assert_journal_agrees(reached: Reached, journal: sqlite3.Connection) -> None:
    """Check that each call that reached the house has a row, and each done row reached it."""
    came = Counter(_key(*one) for one in reached)
    unwritten = came - _calls(journal, "status != 'not_run'")
    assert not unwritten, f"reached the house, and no row of its own tells of it: {unwritten}"
    done = "server = 'home_assistant' AND tier != 'read' AND status = 'done'"
    unreached = _calls(journal, done) - came
    assert not unreached, f"written down as done, and never reached the house: {unreached}"


def assert_nothing_twice(life: Life, journal: sqlite3.Connection) -> None:
    """Check that no turn did the same thing twice, and that no announcement was spoken twice."""
    done = Counter(
        (turn_id, name, arguments)
        for turn_id, name, arguments in journal.execute(
            "SELECT turn_id, name, arguments FROM calls"
            " WHERE tier != 'read' AND status NOT IN ('not_run', 'failed')"
        )
    )
    twice = [what for what, times in done.items() if times > 1]
    assert not twice, f"done twice in one turn: {twice}"
    wanted = Counter(text for (text,) in journal.execute("SELECT text FROM announcements"))
    said = Counter(
        answer
        for (answer,) in journal.execute("SELECT answer FROM turns WHERE source = 'announcement'")
        if answer in wanted
    )
    assert said <= wanted, f"announced twice: {said - wanted}"


def assert_nothing_twice_by_the_log(life: Life) -> None:
    """Check, without a journal, that each call that reached the house is reported by a turn."""
    told = Counter(name for turn in life.told for name in turn.calls)
    untold = Counter(name for name, _ in life.reached or ()) - told
    assert not untold, f"reached the house, and no turn tells of it: {untold}"


def _calls(journal: sqlite3.Connection, which: str) -> Counter[str]:
    """Return the rows of these calls, by name and arguments."""
    rows = journal.execute(f"SELECT name, arguments FROM calls WHERE {which}")
    return Counter(_key(name, json.loads(arguments)) for name, arguments in rows)


def _key(name: str, arguments: Mapping[str, Any]) -> str:
    return f"{name} {json.dumps(arguments, sort_keys=True)}"
