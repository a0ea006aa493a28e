"""Fixtures for the tests of the MCP client."""

from collections.abc import AsyncIterator

import pytest

from tests.unit.integrations.mcp.loopback import LoopbackServer


@pytest.fixture
async def server() -> AsyncIterator[LoopbackServer]:
    loopback = LoopbackServer()
    async with loopback.running():
        yield loopback
