"""`hearth setup` writes a configuration that works, and nothing when it would not."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from assistant.cli.main import main
from assistant.config import load_settings
from integrations.demo_home.server import DemoHome


@pytest.fixture
async def house() -> AsyncIterator[DemoHome]:
    async with DemoHome() as home:
        yield home


async def setup(*arguments: object) -> int:
    return await asyncio.to_thread(
        main, ["setup", "--non-interactive", *(str(argument) for argument in arguments)]
    )


async def test_it_writes_what_then_loads(house: DemoHome, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(house.token + "\n")
    file = tmp_path / "new" / "hearth.toml"
    given = ("--config", file, "--url", house.url, "--token-file", token, "--area", "Salón")
    assert await setup(*given) == 0
    settings = load_settings(file, {})
    assert settings.home_assistant.url == house.url
    assert settings.home_assistant.token.get_secret_value() == house.token
    assert settings.assistant.area == "Salón"
    assert house.token not in file.read_text()
    kept = file.with_name("home_assistant.token")
    assert kept.stat().st_mode & 0o777 == 0o600


async def test_a_wrong_token_writes_nothing(
    house: DemoHome, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    token = tmp_path / "token"
    token.write_text("wrong-token")
    file = tmp_path / "hearth.toml"
    assert await setup("--config", file, "--url", house.url, "--token-file", token) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "long-lived" in told
    assert "wrong-token" not in told
    assert not file.exists()


async def test_it_does_not_write_over_a_configuration(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hearth.toml"
    file.write_text("[assistant]\n")
    assert await setup("--config", file) == 2
    assert "--force" in capsys.readouterr().err
    assert file.read_text() == "[assistant]\n"
