from collections.abc import AsyncIterator

import pytest

from tests.unit.assistant.brains.scripted import Stage


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    stage = Stage()
    yield stage
    stage.assert_consumed()
