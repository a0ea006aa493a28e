"""Tests of `hearth token`, `link`, `backup` and `unregister`, and of the flags they replaced."""

import asyncio
import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assistant.app.process import locked
from assistant.cli.main import main
from assistant.config.load import load_settings
from assistant.domain.clock import SystemClock
from assistant.domain.records import MemoryRecord
from assistant.interfaces.device.registration import DeviceFile, DeviceRecord
from assistant.interfaces.http import HttpSessions
from assistant.interfaces.http_tokens import ADMIN, AdminToken, HttpTokens, TokenFile
from assistant.journal.store import Store
from integrations.demo_home.rest import DemoHome
from integrations.qr import in_blocks
from integrations.web.box import Caller

NOW = datetime(2026, 11, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the data folder of these tests."""
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path / "state"))
    monkeypatch.setenv("HEARTH_CONFIG", str(tmp_path / "hearth.toml"))
    (tmp_path / "hearth.toml").write_text("[assistant]\nname = 'Hearth'\n")
    return tmp_path / "state"


async def hearth(*words: object) -> int:
    return await asyncio.to_thread(main, [str(word) for word in words])


async def test_a_token_is_created_listed_and_revoked(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await hearth("token", "create", "panel", "--scopes", "read, speak") == 0
    shown = capsys.readouterr()
    token = shown.out.strip()
    assert " ".join(shown.err.split()) == (
        "New token panel with the scopes speak, read. It is shown only once; a running Hearth "
        "accepts it immediately:"
    )
    tokens = HttpTokens("admin's", TokenFile(state))
    assert tokens.caller(token) == Caller("http:panel", frozenset({"speak", "read"}))
    assert await hearth("token", "list") == 0
    listed = capsys.readouterr()
    assert listed.err == ""
    assert listed.out.splitlines()[2].split() == ["panel", "speak,", "read", today()]
    assert await hearth("token", "list", "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["name"], row["scopes"], row["created"][:10]) == (
        "panel",
        ["speak", "read"],
        today(),
    )
    assert await hearth("token", "revoke", "panel") == 0
    assert capsys.readouterr().err == "Token panel revoked; it no longer works.\n"
    assert tokens.caller(token) is None


def today() -> str:
    return f"{SystemClock().now():%Y-%m-%d}"


async def test_a_new_administrators_token_replaces_the_old_one(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tokens = HttpTokens(AdminToken(state), TokenFile(state))
    assert await hearth("token", "create", "admin") == 0
    first = capsys.readouterr().out.strip()
    assert tokens.caller(first) == ADMIN
    assert await hearth("token", "create", "admin") == 0
    assert tokens.caller(first) is None
    assert tokens.caller(capsys.readouterr().out.strip()) == ADMIN


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("token", "create", "panel", "--scopes", "all"),
            "hearth: --scopes must be any of speak, ask, read, see, admin, separated by commas\n",
        ),
        (
            ("token", "revoke", "panel"),
            "hearth: There is no token panel; run hearth token list for all tokens\n",
        ),
        (
            ("link", "--minutes", "0"),
            "hearth: A link to the console can be valid for 1 to 1440 minutes\n",
        ),
    ],
)
async def test_an_impossible_request_is_refused(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], told: str
) -> None:
    assert await hearth(*words) == 2
    assert capsys.readouterr().err == told


@pytest.mark.parametrize("command", ["token", "backup"])
def test_a_command_without_its_action_explains_itself(
    capsys: pytest.CaptureFixture[str], command: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command])
    assert ended.value.code == 2
    assert "ACTION" in capsys.readouterr().err


async def test_a_link_signs_one_browser_in_until_all_are_signed_out(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await hearth("link", "--minutes", "3") == 0
    shown = capsys.readouterr()
    code = shown.out.strip().partition("=")[2]
    assert "within 3 min" in shown.err
    assert code not in shown.err
    sessions = HttpSessions(state, HttpTokens("admin's", TokenFile(state)), SystemClock())
    signed = await sessions.redeem(code)
    assert signed is not None
    assert await sessions.redeem(code) is None
    assert await hearth("link", "--sign-out") == 0
    assert capsys.readouterr().err == "Signed 1 browser out of the console.\n"
    assert sessions.caller(signed.id) is None


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
@pytest.mark.parametrize("at_terminal", [True, False])
async def test_a_link_is_a_code_for_phones_where_somebody_looks(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    at_terminal: bool,
    host: str,
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: at_terminal)
    monkeypatch.setenv("HEARTH_HTTP__HOST", host)
    here = host == "127.0.0.1"
    assert await hearth("link", "--role", "family") == 0
    shown = capsys.readouterr()
    assert len(shown.out.splitlines()) == 1  # the link alone, for programs
    code = in_blocks(shown.out.strip()).splitlines()
    assert all((line in shown.err) is (at_terminal and not here) for line in code)
    assert ("works only on this machine" in shown.err) is (at_terminal and here)


async def test_a_backup_is_restored_on_a_box_without_a_configuration(
    state: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = tmp_path / "hearth.toml"
    config.write_text("[assistant]\narea = 'Kitchen'\n")
    async with Store(load_settings(config, os.environ).database, SystemClock()) as store:
        await store.memory.keep(MemoryRecord("m1", "The bins go out on Monday", NOW))
    TokenFile(state).make("panel", ["read"], NOW)
    file = tmp_path / "hearth.zip"
    assert await hearth("backup", "create", file) == 0
    told = capsys.readouterr().err
    assert told.startswith(f"Written: {file}: settings, 1 fact, 0 timers, ")
    assert "1 token." in told
    assert await hearth("backup", "create", file) == 2
    assert capsys.readouterr().err == (
        f"hearth: {file} already exists: choose another name, or overwrite it with --force\n"
    )
    assert await hearth("backup", "create", file, "--force") == 0

    other = tmp_path / "other" / "hearth.toml"
    other.parent.mkdir()
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path / "other" / "state"))
    assert await hearth("backup", "restore", file, "--config", other) == 2
    assert "No terminal to ask for confirmation on: confirm with --yes" in capsys.readouterr().err
    assert not other.exists()
    assert await hearth("backup", "restore", file, "--yes", "--config", other) == 0
    assert load_settings(other, os.environ).assistant.area == "Kitchen"
    async with Store(load_settings(other, os.environ).database, SystemClock()) as store:
        assert [fact.id for fact in await store.memory.all()] == ["m1"]
    assert [row.name for row in TokenFile(tmp_path / "other" / "state").rows()] == ["panel"]


async def test_unregistering_ends_our_part_whatever_home_assistant_says(
    house: DemoHome, state: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "hearth.toml"
    config.write_text('[home_assistant]\nurl = "http://127.0.0.1:9"\ntoken = "t"\n')
    assert await hearth("unregister") == 0
    assert capsys.readouterr().err == "This box is not registered in Home Assistant.\n"
    kept = DeviceFile(state, SystemClock())
    kept.write(DeviceRecord("ours", house.url, "hook", "device", name="Voice Kitchen"))
    with locked(state):
        assert await hearth("unregister") == 2
    assert "hearth run" in capsys.readouterr().err
    assert await hearth("unregister") == 0
    told = capsys.readouterr().err
    assert "\nRegistration deleted. The next hearth run registers this box again.\n" in told
    assert "Mobile App > Voice Kitchen > Delete" in told
    assert kept.read() == DeviceRecord("ours", name="Voice Kitchen")


@pytest.mark.parametrize(
    ("flags", "code", "note"),
    [
        (("--token", "panel"), 0, '"hearth token create" has replaced "hearth setup --token".'),
        (("--tokens",), 0, '"hearth token list" has replaced "hearth setup --tokens".'),
        (("--revoke", "none"), 2, '"hearth token revoke" has replaced "hearth setup --revoke".'),
        (("--console-link",), 0, '"hearth link" has replaced "hearth setup --console-link".'),
        (("--sign-out",), 0, '"hearth link --sign-out" has replaced "hearth setup --sign-out".'),
        (
            ("--export", "{folder}/a.zip"),
            0,
            '"hearth backup create" has replaced "hearth setup --export".',
        ),
        (
            ("--import", "{folder}/none.zip"),
            2,
            '"hearth backup restore" has replaced "hearth setup --import".',
        ),
        (("--forget",), 0, '"hearth unregister" has replaced "hearth setup --forget".'),
    ],
)
async def test_each_flag_of_setup_still_works_and_names_its_command(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    flags: tuple[str, ...],
    code: int,
    note: str,
) -> None:
    words = [flag.format(folder=tmp_path) for flag in flags]
    assert await hearth("setup", *words) == code
    shown = capsys.readouterr()
    assert shown.err.splitlines()[0] == f"Note: {note}"
    assert "Note:" not in shown.out


def test_setups_help_leaves_those_flags_out(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["setup", "--help"])
    told = capsys.readouterr().out
    assert "--url" in told
    gone = ("--tokens", "--revoke", "--console-link", "--export", "--import", "--forget")
    assert not [flag for flag in gone if flag in told]
