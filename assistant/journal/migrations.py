"""The database schema as numbered migrations. SQLite's `user_version` is the number of migrations
that have run."""

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
_SECOND = """
CREATE TABLE kept (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL,            -- JSON
    changed_at TEXT NOT NULL
) STRICT;

CREATE TABLE memories (
    id TEXT PRIMARY KEY,
    text TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;

CREATE TABLE audit (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,               -- of the decision or the end that the row tells
    turn_id TEXT NOT NULL,
    call_id TEXT NOT NULL,
    satellite TEXT NOT NULL,
    heard TEXT,
    server TEXT NOT NULL,
    name TEXT NOT NULL,
    arguments TEXT NOT NULL,        -- JSON
    entities TEXT NOT NULL,         -- JSON
    tier TEXT NOT NULL,
    rule TEXT NOT NULL,
    decision TEXT NOT NULL,
    confirmed_by TEXT NOT NULL,
    status TEXT NOT NULL,
    observed TEXT NOT NULL,         -- JSON
    ms REAL NOT NULL,
    sentence TEXT
) STRICT;
CREATE INDEX audit_by_time ON audit (at);
CREATE INDEX audit_by_turn ON audit (turn_id);

-- A row may be deleted only while this table names an instant after it; `erase_old` writes that
-- instant and takes it away again in the transaction in which it deletes.
CREATE TABLE audit_erasing (before TEXT NOT NULL) STRICT;

CREATE TRIGGER audit_is_not_overwritten BEFORE INSERT ON audit
WHEN EXISTS (SELECT 1 FROM audit WHERE number = NEW.number)
BEGIN
    SELECT RAISE(ABORT, 'a row of the audit is never replaced');
END;

CREATE TRIGGER audit_is_not_deleted BEFORE DELETE ON audit
WHEN NOT EXISTS (SELECT 1 FROM audit_erasing WHERE OLD.at < before)
BEGIN
    SELECT RAISE(ABORT, 'a row of the audit is deleted by its age alone');
END;

-- The one change there is: the words are taken away.
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
WHEN (NEW.number, NEW.at, NEW.turn_id, NEW.call_id, NEW.satellite, NEW.server, NEW.name,
      NEW.entities, NEW.tier, NEW.rule, NEW.decision, NEW.confirmed_by, NEW.status,
      NEW.observed, NEW.ms)
  IS NOT (OLD.number, OLD.at, OLD.turn_id, OLD.call_id, OLD.satellite, OLD.server, OLD.name,
      OLD.entities, OLD.tier, OLD.rule, OLD.decision, OLD.confirmed_by, OLD.status,
      OLD.observed, OLD.ms)
  OR NOT (NEW.heard IS NULL OR NEW.heard IS OLD.heard)
  OR NOT (NEW.sentence IS NULL OR NEW.sentence IS OLD.sentence)
  OR NOT (NEW.arguments = '{}' OR NEW.arguments = OLD.arguments)
BEGIN
    SELECT RAISE(ABORT, 'a row of the audit never changes');
END;
"""
_THIRD = "ALTER TABLE timers ADD COLUMN paused_s REAL;"  # seconds left while paused
# The part of an interrupted answer that was heard.
_FOURTH = "ALTER TABLE turns ADD COLUMN cut_at TEXT;"
# The program that started the turn; "" for a person.
_FIFTH = "ALTER TABLE turns ADD COLUMN caller TEXT NOT NULL DEFAULT '';"
# Timer actions other than ringing. The status "started" means that the call is being sent.
_SIXTH = """
ALTER TABLE timers ADD COLUMN kind TEXT NOT NULL DEFAULT 'timer';
ALTER TABLE timers ADD COLUMN rule TEXT;                   -- JSON: at which times and days
ALTER TABLE timers ADD COLUMN text TEXT NOT NULL DEFAULT '';
ALTER TABLE timers ADD COLUMN payload TEXT;                -- JSON: the call that waits
ALTER TABLE timers ADD COLUMN caller TEXT NOT NULL DEFAULT '';
"""
# Feedback on turns, and faults with their start and end.
_SEVENTH = """
ALTER TABLE turns ADD COLUMN mark TEXT NOT NULL DEFAULT '';  -- 'wrong' or 'misheard'
ALTER TABLE turns ADD COLUMN model TEXT;  -- that was paid for
ALTER TABLE turns ADD COLUMN understood INTEGER NOT NULL DEFAULT 1;

CREATE TABLE faults (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    what TEXT NOT NULL,
    problem TEXT NOT NULL,          -- one sentence
    began_at TEXT NOT NULL,
    ended_at TEXT,                  -- NULL: it lasts, or the process has ended meanwhile
    settled INTEGER NOT NULL DEFAULT 0  -- 1: it had ended; ended_at is when the next began
) STRICT;
CREATE INDEX faults_by_time ON faults (began_at);
"""
# Memories with owner and subject, and a full-text index. The index refers to `number`, because a
# VACUUM can change the rowid.
_EIGHTH = """
CREATE TABLE memories_now (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    text TEXT NOT NULL,
    created_at TEXT NOT NULL,
    who TEXT NOT NULL DEFAULT '',
    about TEXT NOT NULL DEFAULT '',
    language TEXT NOT NULL DEFAULT '',
    sensitive INTEGER NOT NULL DEFAULT 0,
    english TEXT NOT NULL DEFAULT '',  -- further words by which it is found
    spanish TEXT NOT NULL DEFAULT ''
) STRICT;
INSERT INTO memories_now (id, text, created_at)
    SELECT id, text, created_at FROM memories ORDER BY created_at, rowid;
DROP TABLE memories;
ALTER TABLE memories_now RENAME TO memories;

CREATE VIRTUAL TABLE memory_words USING fts5(
    text, about, who, english, spanish,
    content='memories', content_rowid='number',
    tokenize='porter unicode61 remove_diacritics 2'
);
INSERT INTO memory_words (memory_words) VALUES ('rebuild');

CREATE TRIGGER memory_is_indexed AFTER INSERT ON memories
BEGIN
    INSERT INTO memory_words (rowid, text, about, who, english, spanish)
    VALUES (NEW.number, NEW.text, NEW.about, NEW.who, NEW.english, NEW.spanish);
END;

CREATE TRIGGER memory_leaves_the_index AFTER DELETE ON memories
BEGIN
    INSERT INTO memory_words (memory_words, rowid, text, about, who, english, spanish)
    VALUES ('delete', OLD.number, OLD.text, OLD.about, OLD.who, OLD.english, OLD.spanish);
END;

CREATE TRIGGER memory_is_indexed_anew AFTER UPDATE ON memories
BEGIN
    INSERT INTO memory_words (memory_words, rowid, text, about, who, english, spanish)
    VALUES ('delete', OLD.number, OLD.text, OLD.about, OLD.who, OLD.english, OLD.spanish);
    INSERT INTO memory_words (rowid, text, about, who, english, spanish)
    VALUES (NEW.number, NEW.text, NEW.about, NEW.who, NEW.english, NEW.spanish);
END;
"""
# Entities that a switch, lamp or button was seen to open. Using the switch, lamp or button needs
# confirmation from then on.
_OPENINGS = """
CREATE TABLE openings (
    entity_id TEXT NOT NULL,
    opened TEXT NOT NULL,           -- the id of a lock, cover, valve or alarm
    seen_at TEXT NOT NULL,
    PRIMARY KEY (entity_id, opened)
) STRICT;
"""
# The server's error message for a failed call. People hear `sentence` instead.
_REASONS = "ALTER TABLE calls ADD COLUMN reason TEXT NOT NULL DEFAULT '';"
MIGRATIONS = (
    _FIRST,
    _SECOND,
    _THIRD,
    _FOURTH,
    _FIFTH,
    _SIXTH,
    _SEVENTH,
    _EIGHTH,
    _OPENINGS,
    _REASONS,
)


class TooNewError(Exception):
    """The file was written by a later version of Hearth."""


def migrate(connection: sqlite3.Connection) -> None:
    """Run the missing migrations, each in its own transaction. Raises TooNewError if the file was
    written by a later version of Hearth."""
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
