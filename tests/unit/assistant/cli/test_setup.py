"""Tests that `hearth setup` writes only configurations that work."""

import asyncio
from pathlib import Path

import pytest

from assistant.app.process import locked
from assistant.cli.main import main
from assistant.config import load_settings
from assistant.domain.clock import SystemClock
from assistant.interfaces.device.registration import DeviceFile, DeviceRecord
from integrations.demo_home.rest import DemoHome
from integrations.home_assistant import rest
from integrations.home_assistant.rest import Instance


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the data folder of these tests."""
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path / "state"))
    return tmp_path / "state"


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


async def test_demo_needs_no_token_and_registers_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hearth.toml"
    assert await setup("--config", file, "--url", "demo", "--area", "Kitchen") == 0
    settings = load_settings(file, {})
    assert (settings.home_assistant.url, settings.assistant.area) == ("demo", "Kitchen")
    assert not file.with_name("home_assistant.token").exists()
    assert capsys.readouterr().err == (f"Written: {file}\nNext: hearth doctor, then hearth run\n")
    assert await setup("--config", file, "--area", "Office") == 0
    assert load_settings(file, {}).assistant.area == "Office"


async def test_a_house_without_devices_is_told_and_set_up_all_the_same(
    house: DemoHome, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    token = tmp_path / "token"
    token.write_text(house.token)
    file = tmp_path / "hearth.toml"
    assert await setup("--config", file, "--url", house.url, "--token-file", token) == 0
    assert "Not registered in Home Assistant" in capsys.readouterr().err
    assert file.exists()


async def test_forgetting_without_a_registration_is_no_fault(
    house: DemoHome, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await setup("--forget", "--config", written(tmp_path, house)) == 0
    assert "not registered" in capsys.readouterr().err


async def test_forgetting_ends_our_part_whatever_the_house_says(
    house: DemoHome, state: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = DeviceFile(state, SystemClock())
    kept.write(DeviceRecord("ours", house.url, "hook", "device", name="Voice Kitchen"))
    away = written(tmp_path, house, url="http://127.0.0.1:9")
    assert await setup("--forget", "--config", away) == 0
    told = " ".join(capsys.readouterr().err.split())
    assert "Mobile App > Voice Kitchen > Delete" in told
    assert "hook" not in told
    # The entry may still exist there, and the next registration must replace it, not double it.
    assert kept.read() == DeviceRecord("ours", name="Voice Kitchen")


async def test_a_damaged_file_is_removed_too(
    house: DemoHome, state: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = DeviceFile(state, SystemClock())
    kept.write(DeviceRecord("ours"))
    kept.path.write_text("{")
    config = written(tmp_path, house)
    assert await setup("--forget", "--config", config) == 0
    told = capsys.readouterr().err
    assert "damaged" in told
    assert "MQTT" not in told
    assert not kept.path.exists()


async def test_with_a_broker_a_damaged_file_leaves_entities_there(
    house: DemoHome, state: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = DeviceFile(state, SystemClock())
    kept.write(DeviceRecord("ours"))
    kept.path.write_text("{")
    config = written(tmp_path, house)
    with config.open("a") as file:
        file.write('[mqtt]\nhost = "127.0.0.1"\n')
    assert await setup("--forget", "--config", config) == 0
    assert "Its MQTT entities stay in Home Assistant" in capsys.readouterr().err
    assert not kept.path.exists()


async def test_nothing_is_forgotten_while_the_daemon_runs(
    house: DemoHome, state: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = DeviceFile(state, SystemClock())
    kept.write(DeviceRecord("ours", house.url, "hook"))
    with locked(state):
        assert await setup("--forget", "--config", written(tmp_path, house)) == 2
    assert "hearth run" in capsys.readouterr().err
    assert kept.read() is not None


def written(folder: Path, house: DemoHome, url: str = "") -> Path:
    """Write a configuration for that house and return its path."""
    file = folder / "hearth.toml"
    file.write_text(f'[home_assistant]\nurl = "{url or house.url}"\ntoken = "{house.token}"\n')
    return file


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


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is empty"),
        ("\n", "is empty"),
        ("a\nb", "has several lines"),
        (b"\xff", "is not a text file"),
    ],
)
async def test_a_token_file_that_holds_no_token_is_not_taken_for_a_house_that_is_away(
    text: str | bytes,
    told: str,
    house: DemoHome,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    token = tmp_path / "token"
    token.write_bytes(text if isinstance(text, bytes) else text.encode())
    file = tmp_path / "hearth.toml"
    assert await setup("--config", file, "--url", house.url, "--token-file", token) == 2
    assert told in capsys.readouterr().err
    assert not file.exists()


async def test_a_house_with_a_certificate_of_its_own(
    house: DemoHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[tuple[bool, str]] = []

    async def check(url: str, token: str, verify_tls: bool, ca_file: str) -> Instance:
        tried.append((verify_tls, ca_file))
        return await rest.check(url, token)  # this house is served without TLS

    monkeypatch.setattr("assistant.cli.setup_steps.check", check)
    token, authority = tmp_path / "token", tmp_path / "our ca.pem"
    token.write_text(house.token)
    file = tmp_path / "hearth.toml"
    given = ("--config", file, "--url", house.url, "--token-file", token)
    assert await setup(*given, "--ca-file", authority) == 0
    settings = load_settings(file, {}).home_assistant
    assert (settings.verify_tls, str(settings.ca_file)) == (True, str(authority))
    assert await setup(*given, "--no-verify-tls", "--force") == 0
    settings = load_settings(file, {}).home_assistant
    assert (settings.verify_tls, str(settings.ca_file)) == (False, "")
    assert tried == [(True, str(authority)), (False, "")]


async def test_it_does_not_write_over_a_configuration(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hearth.toml"
    file.write_text("[assistant]\n")
    assert await setup("--config", file) == 2
    assert "--force" in capsys.readouterr().err
    assert file.read_text() == "[assistant]\n"
