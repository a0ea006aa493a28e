"""The memory as programs and the console's page see and change it."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from assistant.domain.clock import VirtualClock
from assistant.domain.records import MemoryRecord
from assistant.interfaces.api.parts import Records
from assistant.journal.store import Store
from integrations.web.box import NotPossible, Unknown

NOW = datetime(2026, 11, 22, 14, 5, tzinfo=UTC)
FACT = MemoryRecord("a", "The bin goes out on Tuesday", NOW, "Ana", "bin", "en", english="rubbish")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with Store(tmp_path / "hearth.db", VirtualClock(NOW)) as opened:
        await opened.memory.keep(FACT, MemoryRecord("b", "The cat is grey", NOW))
        yield opened


@pytest.fixture
def records(store: Store) -> Records:
    return Records(store, lambda: False, VirtualClock(NOW + timedelta(days=1)))


async def test_a_row_tells_whose_it_is_and_about_what(records: Records) -> None:
    [row, other] = await records.memories()
    assert row == {
        "id": "a",
        "text": "The bin goes out on Tuesday",
        "who": "Ana",
        "about": "bin",
        "sensitive": False,
        "created_at": "2026-11-22T14:05:00+00:00",
    }
    assert (other["who"], other["about"]) == ("", "")


async def test_a_fact_is_put_right(records: Records, store: Store) -> None:
    await records.correct("a", " The alarm code is on the bin ")
    fact = next(one for one in await store.memory.all() if one.id == "a")
    assert (fact.text, fact.who, fact.english) == ("The alarm code is on the bin", "Ana", "rubbish")
    assert fact.sensitive
    assert fact.created_at == NOW + timedelta(days=1)


@pytest.mark.parametrize(("text", "says"), [("  ", "nothing to remember"), ("x " * 300, "300")])
async def test_what_is_no_fact_is_refused(records: Records, text: str, says: str) -> None:
    with pytest.raises(NotPossible, match=says):
        await records.correct("a", text)
    assert (await records.memories())[0]["text"] == FACT.text


async def test_one_is_forgotten_or_all(records: Records) -> None:
    await records.forget_one("a")
    assert [row["id"] for row in await records.memories()] == ["b"]
    for refused in (records.forget_one("a"), records.correct("a", "Anything")):
        with pytest.raises(Unknown, match="no such fact"):
            await refused
    assert await records.forget() == 1
    assert await records.memories() == []


async def test_while_guests_are_there_nothing_is_told(store: Store) -> None:
    assert await Records(store, lambda: True, VirtualClock(NOW)).memories() == []
