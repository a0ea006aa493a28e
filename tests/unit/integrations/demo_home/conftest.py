"""A house without a server, and one that serves."""

from collections.abc import AsyncIterator, Coroutine
from typing import Any

import httpx
import pytest

from integrations.demo_home.catalogue import AREAS, FLOORS, THINGS
from integrations.demo_home.house import DemoHouse
from integrations.demo_home.surroundings import SystemClock
from tests.simulators.phone_home import PhoneHome


def _no_waiting(journey: Coroutine[Any, Any, None]) -> Any:
    raise AssertionError(f"{journey} should not wait")


@pytest.fixture
def house() -> DemoHouse:
    """Make a house in which locks and covers arrive at once."""
    return DemoHouse(FLOORS, AREAS, THINGS, clock=SystemClock(), spawn=_no_waiting, settle_s=0)


@pytest.fixture
def unserved() -> PhoneHome:
    """Make a house with its application but without a port; everything arrives at once."""
    return PhoneHome(settle_s=0)


@pytest.fixture
async def client(unserved: PhoneHome) -> AsyncIterator[httpx.AsyncClient]:
    """Make an HTTP client of `unserved` with its token."""
    async with httpx.AsyncClient(
        base_url="http://demo.home",
        headers={"Authorization": f"Bearer {unserved.token}"},
        transport=httpx.ASGITransport(unserved.app),
    ) as client:
        yield client


@pytest.fixture
async def home() -> AsyncIterator[PhoneHome]:
    """Make a serving house in which everything arrives at once."""
    async with PhoneHome(settle_s=0) as home:
        yield home
