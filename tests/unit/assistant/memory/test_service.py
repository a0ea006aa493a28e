"""Tests that the memory leaves one machine as rows, and another imports all of them or none."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from assistant.domain.clock import VirtualClock
from assistant.domain.records import MemoryRecord
from assistant.journal.store import Store
from assistant.memory.service import checked_rows, export_rows

NOW = datetime(2026, 11, 22, 14, 5, tzinfo=UTC)
FACTS = [
    MemoryRecord("a", "The bin goes out on Tuesday", NOW, language="en"),
    MemoryRecord(
        "b",
        "Soy alérgica a las nueces",
        NOW + timedelta(hours=1),
        "Ana",
        "Ana",
        "es",
        True,
        "allergy nuts",
        "alergia nueces",
    ),
]
ROW = {"id": "x", "text": "One", "created_at": NOW.isoformat()}


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with Store(tmp_path / "hearth.db", VirtualClock(NOW)) as opened:
        yield opened


async def test_it_comes_back_as_it_was(store: Store) -> None:
    await store.memory.keep(*FACTS)
    rows = json.loads(json.dumps(await export_rows(store.memory)))
    assert checked_rows(rows) == tuple(FACTS)
    assert checked_rows([]) == ()


def test_what_an_older_version_did_not_tell_is_unknown() -> None:
    assert checked_rows([ROW]) == (MemoryRecord("x", "One", NOW),)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ({"id": "x"}, "list of facts"),
        ("text", "list of facts"),
        (["text"], "Fact 1 must be an object"),
        ([ROW, {**ROW, "id": "y", "text": ""}], "Fact 2 has no text"),
        ([{**ROW, "text": "word " * 100}], "text is too long"),
        ([{**ROW, "text": "two\nlines"}], "one line"),
        ([{**ROW, "text": "hid\u202eden"}], "plain text"),
        ([{**ROW, "text": 4}], "has no text"),
        ([{**ROW, "created_at": "soon"}], "must be a time with a time zone"),
        ([{**ROW, "created_at": "2026-11-22T14:05:00"}], "must be a time with a time zone"),
        ([{**ROW, "sensitive": "yes"}], "true or false"),
        ([{**ROW, "colour": "red"}], "unknown key: colour"),
        ([ROW, ROW], "same id"),
    ],
)
def test_what_is_no_export_says_so(rows: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        checked_rows(rows)
