"""The list of what may open something, at the end of `hearth setup`."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from assistant.cli import setup_steps as setup_openers
from assistant.cli.console import Terminal
from assistant.cli.setup_steps import rate_openers
from assistant.config.schema import Settings
from assistant.domain.clock import SystemClock
from assistant.domain.outcome import Tier
from assistant.journal.store import Store
from assistant.setup.answers import Gone
from assistant.setup.sound_check import Reading
from assistant.tools.policy.choices import Ratings
from integrations.demo_home.catalogue import THINGS
from integrations.demo_home.house import Thing
from integrations.demo_home.rest import DemoHome

GATE, ALARM, COVER = "switch.gate", "switch.alarm", "cover.left"
MORE = (
    Thing(GATE, "Front gate", "off"),
    Thing(ALARM, "Burglar alarm", "off"),
    Thing(COVER, "Left", "closed", {"supported_features": 3}, "bedroom"),
)


class Typing:
    """A person who types these lines, and then closes the terminal."""

    def __init__(self, *lines: str) -> None:
        self.lines = list(lines)
        self.told: list[str] = []

    def tell(self, text: str, style: str = "") -> None:
        self.told.append(text)

    async def ask(self, prompt: str, default: str = "", *, hidden: bool = False) -> str:
        if not self.lines:
            raise Gone
        return self.lines.pop(0)

    def watch(self) -> AbstractContextManager[Callable[[Reading], None]]:
        raise NotImplementedError


@pytest.fixture
async def house() -> AsyncIterator[DemoHome]:
    async with DemoHome(things=(*THINGS, *MORE)) as home:
        yield home


@pytest.fixture
def settings(house: DemoHome, tmp_path: Path) -> Settings:
    given = {"url": house.url, "token": house.person_token}
    return Settings.model_validate({"assistant": {"data": str(tmp_path)}, "home_assistant": given})


@pytest.fixture
def console() -> Terminal:
    return Terminal(record=True, width=200)


async def rated(settings: Settings) -> dict[str, Tier]:
    async with Store(settings.database, SystemClock()) as store:
        ratings = Ratings(store)
        await ratings.load()
        return dict(ratings.tiers)


async def test_whoever_chooses_has_looked_at_all(settings: Settings, console: Terminal) -> None:
    person = Typing("four", "9", "3 1")
    assert await rate_openers(settings, person, console) == 1
    told = [line.split() for line in person.told]
    numbers = {
        line[-1]: int(line[0]) for line in told if line[-1:] and line[-1] in (GATE, ALARM, COVER)
    }
    assert numbers == {GATE: 1, ALARM: 2, COVER: 3}
    assert sum("Type numbers from 1 to 3" in line for line in person.told) == 2
    assert any("Bedroom" in line and "cover.left" in line for line in person.told)
    assert await rated(settings) == {
        GATE: Tier.COMFORT,
        ALARM: Tier.SECURE,
        COVER: Tier.COMFORT,
    }
    again = Typing()
    assert await rate_openers(settings, again, console) == 0, "it is asked once"
    assert again.told == []


@pytest.mark.parametrize("lines", [("",), ()])
async def test_what_is_skipped_stays_asked_about(
    settings: Settings, console: Terminal, lines: tuple[str, ...]
) -> None:
    assert await rate_openers(settings, Typing(*lines), console) == 1
    assert await rated(settings) == {}


async def test_what_no_registry_knows_is_in_the_list(tmp_path: Path, console: Terminal) -> None:
    things = (*THINGS, Thing("switch.four", "Channel 4", "off", registered=False))
    async with DemoHome(things=things) as home:
        given = {"url": home.url, "token": home.person_token}
        settings = Settings.model_validate(
            {"assistant": {"data": str(tmp_path)}, "home_assistant": given}
        )
        person = Typing("1")
        assert await rate_openers(settings, person, console) == 1
        assert any("Channel 4" in line for line in person.told)
        assert await rated(settings) == {"switch.four": Tier.COMFORT}


async def test_where_nobody_is_there_the_list_is_named(
    settings: Settings, console: Terminal
) -> None:
    assert await rate_openers(settings, None, console) == 0
    assert "3 things may open something and are asked about: hearth tools rate" in (
        console.export_text()
    )


async def test_a_long_list_is_cut(
    settings: Settings, console: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setup_openers, "SHOWN", 2)
    person = Typing("2")
    await rate_openers(settings, person, console)
    assert any("and 1 more; hearth tools rate" in line for line in person.told)
    assert await rated(settings) == {GATE: Tier.SECURE, ALARM: Tier.COMFORT}


async def test_a_house_that_is_away_is_no_matter_here(tmp_path: Path, console: Terminal) -> None:
    away = {"url": "http://127.0.0.1:9", "token": "t"}
    settings = Settings.model_validate(
        {"assistant": {"data": str(tmp_path)}, "home_assistant": away}
    )
    assert await rate_openers(settings, Typing(), console) == 0
    assert console.export_text() == ""


async def test_a_store_that_cannot_be_opened_is_told(settings: Settings, console: Terminal) -> None:
    settings.database.mkdir(parents=True)
    assert await rate_openers(settings, Typing("1"), console) == 0
    assert "Nothing was rated:" in console.export_text()
