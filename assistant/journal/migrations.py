"""The store's tables, as numbered steps; SQLite's user_version says how many were taken."""

import sqlite3

_FIRST = """
CREATE TABLE turns (
    turn_id TEXT PRIMARY KEY,
    started_at TEXT NOT NULL,       -- UTC, ISO 8601 with microseconds: sorts as text
    source TEXT NOT NULL,
    language TEXT NOT NULL,
    brain TEXT,
    wake TEXT,                      -- JSON
    heard TEXT,
    answer TEXT,
    clauses TEXT NOT NULL,          -- JSON
    sound TEXT,
    audio_ms REAL NOT NULL,
    timeline TEXT NOT NULL,         -- JSON
    usage TEXT,                     -- JSON
    cost_usd REAL NOT NULL,
    error_kind TEXT,
    error_message TEXT,
    confirmation_asked TEXT,
    confirmation_heard TEXT,
    confirmation_verdict TEXT
) STRICT;
CREATE INDEX turns_by_time ON turns (started_at);

CREATE TABLE calls (
    turn_id TEXT NOT NULL,          -- no foreign key: a call is written before its turn is
    id TEXT NOT NULL,
    server TEXT NOT NULL,
    name TEXT NOT NULL,
    arguments TEXT NOT NULL,        -- JSON
    decision TEXT NOT NULL,
    tier TEXT NOT NULL,
    started_at TEXT NOT NULL,
    writer TEXT NOT NULL,           -- the process that sends it
    status TEXT NOT NULL,           -- 'started' until it ends
    observed TEXT NOT NULL,         -- JSON
    ms REAL NOT NULL,
    sentence TEXT,
    PRIMARY KEY (turn_id, id)
) STRICT;
CREATE INDEX calls_by_time ON calls (started_at);
CREATE INDEX calls_under_way ON calls (writer) WHERE status = 'started';

CREATE TABLE timers (
    id TEXT PRIMARY KEY,
    due TEXT NOT NULL,
    duration_s REAL NOT NULL,
    created_at TEXT NOT NULL,
    name TEXT NOT NULL,
    language TEXT NOT NULL,
    status TEXT NOT NULL            -- running, acknowledged or cancelled
) STRICT;

CREATE TABLE announcements (
    id TEXT PRIMARY KEY,
    text TEXT NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT,
    options TEXT NOT NULL,          -- JSON
    started_at TEXT,                -- its first sample was played
    done_at TEXT
) STRICT;
"""

MIGRATIONS = (_FIRST,)


class TooNewError(Exception):
    """The file was written by a later version of Hearth."""


def migrate(connection: sqlite3.Connection) -> None:
    """Take the steps that are missing, each in a transaction of its own. Raises TooNewError."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(MIGRATIONS):
        raise TooNewError
    for number, script in enumerate(MIGRATIONS[version:], start=version + 1):
        try:
            connection.executescript(
                f"BEGIN IMMEDIATE; {script} PRAGMA user_version = {number}; COMMIT;"
            )
        except sqlite3.Error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
