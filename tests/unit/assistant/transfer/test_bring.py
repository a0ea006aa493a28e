"""Taking an export up is finished once it has begun."""

import asyncio
import sqlite3
import threading
from pathlib import Path

import pytest

from assistant.config.schema import Settings
from assistant.domain.clock import VirtualClock
from assistant.domain.records import MemoryRecord
from assistant.journal.database import Database, Work
from assistant.journal.store import Store
from assistant.setup.document import NewFile
from assistant.transfer.bring import Here, ImportPlan, bring


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
