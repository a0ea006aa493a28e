"""Fixtures of the tool bridge's tests."""

from collections.abc import AsyncIterator

import pytest

from tests.unit.integrations.mcp.loopback import LoopbackServer


@pytest.fixture
async def server() -> AsyncIterator[LoopbackServer]:
    loopback = LoopbackServer()
    async with loopback.running():
        yield loopback
