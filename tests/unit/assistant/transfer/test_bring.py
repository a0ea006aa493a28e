"""Tests that an import that has begun is also finished."""

import asyncio
import sqlite3
import threading
from pathlib import Path

import pytest

from assistant.config.schema import Settings
from assistant.domain.clock import VirtualClock
from assistant.domain.records import MemoryRecord
from assistant.domain.tool_call import Tier
from assistant.journal.database import Database, Work
from assistant.journal.store import Store
from assistant.setup.document import NewFile
from assistant.transfer.bring import (
    Here,
    ImportPlan,
    bring,
    merged_tiers,
    told_openings,
    told_tiers,
)


async def test_somebody_who_leaves_in_the_midst_finds_it_done_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither rows without the files nor files without the rows."""
    clock, target = VirtualClock(), tmp_path / "hearth.toml"
    settings = Settings.model_validate({"assistant": {"data": str(tmp_path)}})
    here = Here(target, "", settings, (), frozenset(), {}, {}, (), False)
    fact = MemoryRecord("m1", "The bin goes out on Tuesday", clock.now())
    change = ImportPlan((NewFile(target, b"# new"),), (fact,), (), {}, {}, (), None)
    written, left = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    async def run(database: Database, work: Work[object], *, durable: bool = False) -> object:
        def waiting(db: sqlite3.Connection) -> object:
            result = work(db)
            loop.call_soon_threadsafe(written.set)
            assert left.wait(10)
            return result

        return await done(database, waiting, durable=durable)

    done = Database.run
    monkeypatch.setattr(Database, "run", run)
    task = loop.create_task(bring(change, here, clock))
    async with asyncio.timeout(10):
        await written.wait()
        task.cancel()
        loop.call_soon(left.set)  # once it has been told
        with pytest.raises(asyncio.CancelledError):
            await task
    monkeypatch.undo()
    assert target.read_text() == "# new"
    async with Store(settings.database, clock) as store:
        assert await store.memory.all() == [fact]


COMFORT, COSTLY, SECURE = Tier.COMFORT, Tier.COSTLY, Tier.SECURE
SEEN = {"a": frozenset({"lock.front"})}


@pytest.mark.parametrize(
    ("here", "there", "seen_here", "seen_there", "merged"),
    [
        ({"a": COMFORT}, {"b": COSTLY}, {}, {}, {"a": COMFORT, "b": COSTLY}),
        ({"a": SECURE}, {"a": COMFORT}, {}, {}, {"a": COMFORT}),
        ({"a": COMFORT}, {}, {}, SEEN, {}),
        ({"a": SECURE}, {}, {}, SEEN, {"a": SECURE}),
        ({}, {"a": COMFORT}, SEEN, {}, {}),
        ({}, {"a": SECURE}, SEEN, {}, {"a": SECURE}),
        ({"a": COSTLY}, {"a": COMFORT}, SEEN, {}, {"a": COSTLY}),
        # Given when it was known.
        ({}, {"a": COMFORT}, {}, SEEN, {"a": COMFORT}),
        ({"a": COMFORT}, {}, SEEN, SEEN, {"a": COMFORT}),
    ],
)
def test_the_ratings_of_both(
    here: dict[str, Tier],
    there: dict[str, Tier],
    seen_here: dict[str, frozenset[str]],
    seen_there: dict[str, frozenset[str]],
    merged: dict[str, Tier],
) -> None:
    assert merged_tiers(here, there, seen_here, seen_there) == merged


def test_all_that_may_be_asked_about_less_is_told() -> None:
    before = {"a": SECURE, "b": COSTLY, "c": COMFORT, "d": COSTLY}
    after = {"a": COSTLY, "b": SECURE, "c": COMFORT, "e": COMFORT, "f": SECURE}
    assert told_tiers(before, after) == [
        "confirmed less often than now: a (secure -> costly), e (unrated -> comfort)",
        "ratings removed, because these were seen opening something: d",
    ]
    assert told_tiers(after, after) == []


def test_new_openings_are_told() -> None:
    assert told_openings({}, {}) == told_openings(SEEN, {}) == []
    assert told_openings({}, SEEN) == ["entities seen opening something: 1, new here: a"]
    assert told_openings(SEEN, SEEN) == ["entities seen opening something: 1"]
    more = {"a": frozenset({"lock.front", "lock.back"})}
    assert told_openings(SEEN, more) == ["entities seen opening something: 1, new here: a"]
