"""Fixtures: a house with a month of history, one browser, and a window for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.console.browser import Console, browsing, window
from tests.console.house import House, running
from tests.console.household import fill


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Yield a running house with 10,000 turns in its journal."""
    data: Path = tmp_path_factory.mktemp("console") / "data"
    data.mkdir()
    fill(data)
    with running(data) as house:
        yield house


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with browsing() as browser:
        yield browser


@pytest.fixture
def stranger(browser: Browser, house: House) -> Iterator[Console]:
    """Yield a window of somebody who has not signed in."""
    with window(browser, house.url) as console:
        yield console


@pytest.fixture
def console(stranger: Console) -> Console:
    """Return a window of the administrator."""
    stranger.sign_in()
    return stranger
