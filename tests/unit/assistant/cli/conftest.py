"""Fixtures of the CLI's tests: a house, and a terminal with or without colours."""

from collections.abc import AsyncIterator

import pytest

from integrations.demo_home.rest import DemoHome


@pytest.fixture
async def house() -> AsyncIterator[DemoHome]:
    async with DemoHome() as home:
        yield home


@pytest.fixture(params=["piped", "colours"])
def colours(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Return whether the output has colours, as on a terminal."""
    if request.param == "colours":
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TERM", "xterm-256color")
    else:
        monkeypatch.delenv("FORCE_COLOR", raising=False)
    return bool(request.param == "colours")
