"""The house that the contract tests talk to: the embedded one, or the Home Assistant at HA_URL."""

import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from integrations.demo_home import DemoHome


@dataclass(frozen=True, slots=True)
class Address:
    """Where a house answers."""

    url: str
    token: str = field(repr=False)


@pytest.fixture(
    params=["embedded", pytest.param("real", marks=pytest.mark.home_assistant)],
)
async def house(request: pytest.FixtureRequest) -> AsyncIterator[Address]:
    """One of the two; the real one only where HA_URL and HA_TOKEN say which."""
    if request.param == "real":
        url, token = os.environ.get("HA_URL"), os.environ.get("HA_TOKEN")
        if not url or not token:
            pytest.skip("needs HA_URL and HA_TOKEN: make test-home-assistant")
        yield Address(url, token)
        return
    async with DemoHome() as home:
        yield Address(home.url, home.token)
