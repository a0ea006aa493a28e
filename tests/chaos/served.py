"""Checks that hold whatever breaks: the wake word, a command of the house, and the reports."""

import json
import sqlite3
from pathlib import Path
from typing import Any

from tests.chaos.daemon import Daemon

OFFICE_ON = {"area": "Office", "domain": ["light"]}


def with_gemini(
    url: str, ca_file: Path | None = None, key: str = "simulated-key"
) -> dict[str, str]:
    """Return settings that put Gemini's brains before the device's own."""
    return {
        "BRAIN__ORDER": '["gemini-live","gemini-once","offline"]',
        "PRIVACY__ACCEPT_CLOUD": "true",
        "GEMINI__API_KEY": key,
        "GEMINI__BASE_URL": url,
        **({"GEMINI__CA_FILE": str(ca_file)} if ca_file else {}),
    }


async def heard(box: Daemon, recording: Path) -> dict[str, str]:
    """Say it, check that this machine answers aloud, and return the log's fields of the turn."""
    turn = await box.say(recording)
    assert (turn["source"], turn["wake"], turn["brain"]) == ("voice", "okay_nabu", "offline")
    assert "error" not in turn
    assert int(turn["audio_ms"]) > 500, "it was answered aloud"
    return turn


async def served(box: Daemon, recording: Path) -> dict[str, str]:
    """Say the office lights' command, check that it is done and answered, return its fields."""
    done = len(box.house.calls)
    turn = await heard(box, recording)
    [(name, arguments)] = box.house.calls[done:]
    assert (name.endswith("HassTurnOn"), arguments) == (True, OFFICE_ON)
    return turn


def written(box: Daemon, table: str) -> int:
    """Return the number of rows in that table."""
    [[count]] = _rows(box, f"SELECT COUNT(*) FROM {table}")
    return int(count)


def said(box: Daemon) -> list[str]:
    """Return the spoken words of each turn, oldest first."""
    rows = _rows(box, "SELECT clauses FROM turns ORDER BY rowid")
    return [" ".join(json.loads(clauses)) for (clauses,) in rows]


def announced(box: Daemon) -> list[str]:
    """Return the announcements, oldest first."""
    query = "SELECT answer FROM turns WHERE source = 'announcement' ORDER BY rowid"
    return [answer for (answer,) in _rows(box, query)]


def _rows(box: Daemon, query: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(box.data / "hearth.db", timeout=5.0)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()
