"""Tests of reports on secrets that others can read, each with the command that repairs it."""

import os
from pathlib import Path

import pytest

from assistant.cli import run
from assistant.cli.main import main
from assistant.config import exposed_secrets
from assistant.config.exposed_secrets import KEPT
from assistant.config.load import load_settings
from assistant.config.schema import Settings, own_paths
from assistant.doctor.box import CHECKS
from assistant.doctor.daemon import May, Scene
from assistant.interfaces import http, http_tokens
from assistant.interfaces.device import registration
from tests.unit.assistant.doctor.scenes import look

ALL_OF_IT = """
[home_assistant]
token_file = "token"
[gemini]
api_key_file = "key"
[mqtt]
password_file = "password"
[policy]
pin_file = "pin"
[http]
tls_cert = "cert.pem"
tls_key = "key.pem"
[[mcp.servers]]
name = "far"
transport = "http"
url = "https://tools.example/mcp"
headers_file = "headers"
[[mcp.servers]]
name = "near"
transport = "stdio"
command = "server"
env_file = "env"
"""
NAMED = ("token", "key", "password", "pin", "headers", "env")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir(mode=0o700)
    for name, text in {"pin": "2026", "headers": "X-A: b", "env": "A=b"}.items():
        _write(tmp_path / name, text)
    for name in ("token", "key", "password", "key.pem", "cert.pem"):
        _write(tmp_path / name, "of some length, so that it counts")
    return _write(
        tmp_path / "hearth.toml", ALL_OF_IT.replace('= "key.pem"', f'= "{tmp_path}/key.pem"')
    )


def _write(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


def settings(file: Path) -> Settings:
    return load_settings(file, {"HEARTH_ASSISTANT__DATA": str(file.parent / "data")})


def exposed(file: Path) -> list[str]:
    found = exposed_secrets.exposed_secrets(settings(file), file)
    return [one.sentence for one in found]


def test_what_only_the_owner_reads_is_no_trouble(file: Path) -> None:
    for name in KEPT:
        _write(file.parent / "data" / name, "{}")
    file.chmod(0o644)  # it contains no secret
    (file.parent / "cert.pem").chmod(0o644)
    assert exposed(file) == []


@pytest.mark.parametrize("name", [*NAMED, "key.pem"])
@pytest.mark.parametrize("mode", [0o644, 0o604, 0o602, 0o640, 0o660])
def test_a_file_that_the_configuration_names(file: Path, name: str, mode: int) -> None:
    path = file.parent / name
    path.chmod(mode)
    who = "its group" if mode in (0o640, 0o660) else "everyone on this machine"
    assert exposed(file) == [
        f"{path} contains secrets, and {who} can read it; run: chmod 600 {path}"
    ]


@pytest.mark.parametrize("name", [*KEPT, "hearth.db", "hearth.db-wal"])
def test_a_file_of_the_data_folder(file: Path, name: str) -> None:
    path = _write(file.parent / "data" / name, "", 0o644)
    (sentence,) = exposed(file)
    assert sentence.endswith(f": chmod 600 {path}")


def test_the_names_are_those_of_the_files_that_are_written() -> None:
    files = {http_tokens.ADMIN_FILE, http_tokens.NAME, http.SESSIONS_FILE, http.LINKS_FILE}
    assert set(KEPT) == files | {registration.NAME}


def test_the_data_folder_itself(file: Path) -> None:
    folder = file.parent / "data"
    folder.chmod(0o755)
    (sentence,) = exposed(file)
    assert sentence.endswith(f": chmod 700 {folder}")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[home_assistant]\ntoken = "a"', True),
        ('[http]\ntoken = "sixteen-letters!"', True),
        ('[policy]\npin = "2026"', True),
        (
            '[[mcp.servers]]\nname = "x"\ntransport = "http"\nurl = "http://h"\n'
            'headers = {Authorization = "Bearer b"}',
            True,
        ),
        ('[[mcp.servers]]\nname = "x"\ntransport = "http"\nurl = "http://h"', False),
        ('[home_assistant]\nurl = "http://ha:8123"', False),
        ("", False),
    ],
)
def test_the_configuration_where_secrets_stand_in_it(file: Path, text: str, told: bool) -> None:
    _write(file, text, 0o644)
    assert bool(exposed(file)) is told


def test_a_certificate_that_holds_its_key(file: Path) -> None:
    _write(file, f'[http]\ntls_cert = "{file.parent}/cert.pem"', 0o644)
    cert = _write(file.parent / "cert.pem", "-----BEGIN CERTIFICATE-----", 0o644)
    assert exposed(file) == []
    _write(cert, "-----BEGIN PRIVATE KEY-----", 0o644)
    assert len(exposed(file)) == 1
    cert.unlink()
    assert exposed(file) == []


def test_no_tool_server_reads_what_would_be_told(file: Path) -> None:
    folder, held = file.parent, settings(file)
    wanted = {file, held.data_folder, held.database, folder / "key.pem"}
    assert wanted | {folder / name for name in NAMED} <= set(own_paths(held))
    _write(file, f'[http]\ntls_cert = "{folder}/cert.pem"')
    assert folder / "cert.pem" in own_paths(settings(file))  # which may hold its key


def test_what_setup_leaves_to_the_services_group_is_no_trouble(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = file.parent / "token"
    path.chmod(0o640)
    real = Path.stat

    def stat(self: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        found = real(self, follow_symlinks=follow_symlinks)
        if self != path:
            return found
        return os.stat_result((*found[:4], 0, 993, *found[6:]))

    monkeypatch.setattr(Path, "stat", stat)
    assert exposed(file) == []
    path.chmod(0o644)
    assert len(exposed(file)) == 1


def test_without_a_configuration_and_with_one_that_is_damaged(file: Path) -> None:
    held = settings(file)
    (file.parent / "token").unlink()
    assert exposed_secrets.exposed_secrets(held, None) == []
    _write(file, "[", 0o644)
    assert exposed_secrets.exposed_secrets(held, file) == []


def test_a_name_with_a_blank_is_quoted(tmp_path: Path) -> None:
    config = _write(tmp_path / "my config.toml", '[home_assistant]\ntoken = "a"', 0o644)
    held = Settings.model_validate({"assistant": {"data": str(tmp_path / "none")}})
    (one,) = exposed_secrets.exposed_secrets(held, config)
    assert one.command == f"chmod 600 '{config}'"


async def test_the_doctor_has_a_row_for_it(file: Path) -> None:
    at = Scene(settings(file), May(), None, file)
    assert (await look(CHECKS, "secrets", at)).status == "ok"
    token, pin = file.parent / "token", file.parent / "pin"
    token.chmod(0o644)
    pin.chmod(0o640)
    found = await look(CHECKS, "secrets", at)
    assert found.status == "warn"
    assert found.detail == (f"everyone on this machine can read {token}; its group can read {pin}")
    assert found.mend == f"chmod 600 {token} && chmod 600 {pin}"


def test_the_start_warns_once(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Served:
        def __init__(self, *_: object) -> None: ...

        async def run(self) -> None: ...

    monkeypatch.setattr(run, "Service", Served)
    monkeypatch.setattr(run, "share_heap", lambda: None)
    monkeypatch.setenv("HEARTH_ASSISTANT__DATA", str(file.parent / "data"))
    (file.parent / "pin").chmod(0o644)
    assert main(["run", "--config", str(file)]) == 0
    sentence = f"{file.parent}/pin contains secrets, and everyone on this machine can read it"
    assert capsys.readouterr().err == f"hearth: {sentence}; run: chmod 600 {file.parent}/pin\n"
