"""Tests of `hearth setup` at a terminal, from the first question to a valid configuration."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from assistant.config import load_settings
from integrations.demo_home.rest import DemoHome
from tests.pipeline.terminal import Terminal, at_a_terminal

KEY = "AIza" + "k" * 35

OWN = """\
# By hand.
[home_assistant]
url = "{url}"  # upstairs
token_file = "ha.token"

[assistant]
area = "Kitchen"

[voice]
engine = "espeak"

[[policy.rules]]  # never
domain = "lock"
decide = "deny"
"""


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("HEARTH_", "GEMINI_", "GOOGLE_"))]:
        monkeypatch.delenv(name)
    for name, value in {
        "STATE_DIRECTORY": str(tmp_path / "state"),
        "HEARTH_GEMINI__BASE_URL": "http://127.0.0.1:9",  # an unused port: nothing leaves a test
        "TERM": "xterm-256color",
        "COLUMNS": "100",
    }.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
async def house() -> AsyncIterator[DemoHome]:
    async with DemoHome() as home:
        yield home


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "etc" / "hearth.toml"


def put(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)


def text_of(file: Path) -> str:
    return file.read_text()


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()] if folder.exists() else []


def typing(terminal: Terminal, *pairs: tuple[str, str]) -> None:
    """For each pair wait for a new prompt, then type the line."""
    for prompt, line in pairs:
        terminal.wait_for(prompt)
        terminal.shown = terminal.shown.partition(prompt)[2]
        terminal.type(f"{line}\n")


async def run(config: Path, *pairs: tuple[str, str]) -> tuple[int, str]:
    """Return the exit code and what was shown after the last answer."""

    def talk() -> tuple[int, str]:
        words = ("setup", "--config", str(config), "--no-sound-check", "--voice", "espeak")
        with at_a_terminal(*words) as terminal:
            typing(terminal, *pairs)
            code, out = terminal.end()
            assert out == ""
            return code, terminal.shown

    return await asyncio.to_thread(talk)


async def test_from_the_first_question_to_a_configuration(house: DemoHome, config: Path) -> None:
    code, shown = await run(
        config,
        ("ddress", house.url),
        ("Token (not shown", "not-the-token"),
        ("Token (not shown", house.token),
        ("for none [-]", "kitch"),
        ("separated by commas [en]", "en, es"),
        ("everything stays in your home [no]", "yes"),
        ("Key (not shown", KEY),
        ("home network? [no]", "yes"),
    )
    assert code == 0
    assert f"Written: {config}" in shown
    assert "/#code=" in shown
    assert "hearth doctor" in shown
    settings = load_settings(config, {})
    assert settings.home_assistant.url == house.url
    assert settings.home_assistant.token.get_secret_value() == house.token
    assert settings.assistant.area == "Kitchen"
    assert settings.assistant.languages == ("en", "es")
    assert settings.privacy.accept_cloud is True
    assert settings.gemini.api_key.get_secret_value() == KEY
    assert settings.http.host == "0.0.0.0"


async def test_a_wrong_address_then_the_simulated_house(config: Path) -> None:
    code, shown = await run(
        config,
        ("ddress", "http://127.0.0.1:9"),
        ("Home Assistant does not answer at http://127.0.0.1:9", "demo"),
        ("for none [-]", "office"),
        ("separated by commas [en]", ""),
        ("everything stays in your home [no]", ""),
        ("home network? [no]", ""),
    )
    assert code == 0
    assert "token" not in shown
    settings = load_settings(config, {})
    assert (settings.home_assistant.url, settings.assistant.area) == ("demo", "Office")


async def test_what_is_typed_unseen_stays_unseen(house: DemoHome, config: Path) -> None:
    def talk() -> str:
        with at_a_terminal("setup", "--config", str(config), "--voice", "espeak") as terminal:
            terminal.wait_for("ddress")
            terminal.type(f"{house.url}\n")
            terminal.wait_for("(not shown")
            terminal.type(f"{house.token}\n")
            terminal.wait_for("for none")
            terminal.type("\x04")  # the person closes the input
            code, _ = terminal.end()
            assert code == 1
            return terminal.shown

    shown = await asyncio.to_thread(talk)
    assert house.token not in shown
    assert "Nothing was written" in shown
    assert "hearth.toml" not in names_in(config.parent)


async def test_ctrl_c_leaves_everything_as_it_was(house: DemoHome, config: Path) -> None:
    def talk() -> tuple[int, bool]:
        with at_a_terminal("setup", "--config", str(config)) as terminal:
            terminal.wait_for("ddress")
            terminal.type(f"{house.url}\n")
            terminal.wait_for("(not shown")
            terminal.process.send_signal(signal.SIGINT)
            code, _ = terminal.end()
            return code, "Traceback" in terminal.shown

    assert await asyncio.to_thread(talk) == (130, False)
    assert names_in(config.parent) == []


async def test_run_again_only_the_answer_changes(house: DemoHome, config: Path) -> None:
    before = OWN.format(url=house.url)
    put(config, before)
    put(config.with_name("ha.token"), house.token)

    def talk() -> int:
        words = ("setup", "--config", str(config), "--no-sound-check")
        with at_a_terminal(*words) as terminal:
            typing(
                terminal,
                (f"[{house.url}]", ""),
                ("Enter keeps the current one", ""),
                ("[Kitchen]", "Living"),
                ("[en]", ""),
                ("[no]", ""),
                ("[no]", ""),
            )
            return terminal.end()[0]

    assert await asyncio.to_thread(talk) == 0
    assert text_of(config) == before.replace('"Kitchen"', '"Living Room"')


@pytest.mark.parametrize(("answer", "code", "area"), [("", 1, "Attic"), ("yes", 0, "Kitchen")])
async def test_an_import_waits_for_a_yes(
    config: Path, tmp_path: Path, answer: str, code: int, area: str
) -> None:
    file, other = tmp_path / "hearth.zip", tmp_path / "other.toml"
    put(config, '[assistant]\narea = "Kitchen"\n')
    put(other, '[assistant]\narea = "Attic"\n')

    def talk() -> tuple[int, str]:
        with at_a_terminal("setup", "--config", str(config), "--export", str(file)) as terminal:
            assert terminal.end()[0] == 0
        with at_a_terminal("setup", "--config", str(other), "--import", str(file)) as terminal:
            terminal.wait_for("changed settings: assistant.area")
            typing(terminal, ("(yes or no) [no]", answer))
            return terminal.end()[0], terminal.shown

    found, shown = await asyncio.to_thread(talk)
    assert found == code
    assert ("Nothing was changed" in shown) is (code == 1)
    assert load_settings(other, {}).assistant.area == area
