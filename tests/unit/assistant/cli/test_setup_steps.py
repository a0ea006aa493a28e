"""Tests of the list of what may open something, at the end of `hearth setup`."""

import hashlib
import io
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from assistant.cli import setup_steps as setup_openers
from assistant.cli.console import Terminal
from assistant.cli.setup_steps import TerminalPerson, rate_openers, setup_services
from assistant.config.schema import Settings
from assistant.domain.clock import SystemClock
from assistant.domain.tool_call import Tier
from assistant.journal.store import Store
from assistant.models.shelf import parse_manifest
from assistant.setup import services
from assistant.setup.answers import Gone
from assistant.setup.services import SetupServices
from assistant.setup.sound_check import Reading
from assistant.tools.policy.ratings import Ratings
from integrations.demo_home.catalogue import THINGS
from integrations.demo_home.house import Thing
from integrations.demo_home.rest import DemoHome
from tests.unit.integrations.file_server import FileServer, file_server

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
    assert (
        "3 entities could open the house, so Hearth asks before using them: hearth tools rate"
        in (console.export_text())
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


def test_a_name_from_outside_gives_the_terminal_no_orders() -> None:
    written = io.StringIO()
    person = TerminalPerson(Terminal(file=written, force_terminal=True, color_system=None))
    person.tell("   m1 * [red]USB\x1b]0;gone\x07\x1b[2J\x9b2J Mic\n   next")
    assert written.getvalue() == (
        "   m1 * [red]USB\\x1b]0;gone\\x07\\x1b[2J\\x9b2J Mic\\n   next\n"
    )


BODY = {"/a": b"a voice", "/a.json": b"{}"}


NAME = "en_US-a-low"


@pytest.fixture
def server() -> Iterator[FileServer]:
    with file_server(BODY) as served:
        yield served


@pytest.fixture
def lacking(tmp_path: Path, server: FileServer, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    files = ", ".join(
        f'{{url = "{server.url(path)}", size = {len(data)}, '
        f'sha256 = "{hashlib.sha256(data).hexdigest()}"}}'
        for path, data in BODY.items()
    )
    known = parse_manifest(
        f'version = 1\n[[model]]\nname = "{NAME}"\nkind = "voice"\nlanguage = "en_US"\n'
        f'licence = "CC0"\nsource = "https://models.example"\nread = "a test"\nfiles = [{files}]\n',
        "a test",
    )
    monkeypatch.setattr(services, "read_manifest", lambda: known)
    return Settings.model_validate(
        {"assistant": {"data": str(tmp_path)}, "voice": {"models": {"en": NAME}}}
    )


def means() -> tuple[SetupServices, io.StringIO]:
    shown = io.StringIO()
    return setup_services(Terminal(file=shown, width=100)), shown


async def test_a_voice_that_lacks_is_fetched_once(lacking: Settings) -> None:
    fetching, shown = means()
    assert await fetching.fetch_voices(lacking) == ""
    assert (lacking.data_folder / "models" / f"{NAME}.onnx").read_bytes() == BODY["/a"]
    assert f"{NAME}: 0.0 MB, licence: CC0" in shown.getvalue()
    again, shown = means()
    assert await again.fetch_voices(lacking) == ""
    assert shown.getvalue() == ""


async def test_a_voice_that_does_not_come_is_a_sentence(
    lacking: Settings, server: FileServer
) -> None:
    server.statuses.append(404)
    fetching, _ = means()
    assert "does not have" in await fetching.fetch_voices(lacking)


async def test_what_the_manifest_does_not_know_is_left(lacking: Settings) -> None:
    own = Settings.model_validate(
        {"assistant": {"data": str(lacking.data_folder)}, "voice": {"models": {"en": "own.onnx"}}}
    )
    fetching, shown = means()
    assert await fetching.fetch_voices(own) == ""
    assert shown.getvalue() == ""
