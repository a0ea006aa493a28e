from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from assistant.domain.clock import VirtualClock
from assistant.journal.store import Store


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "hearth.db"


@pytest.fixture
async def store(path: Path, clock: VirtualClock) -> AsyncIterator[Store]:
    async with Store(path, clock) as opened:
        yield opened
