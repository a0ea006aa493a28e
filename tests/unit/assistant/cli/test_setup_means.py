"""What setup fetches: the voices that are lacking, from a server on loopback."""

import hashlib
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from assistant.cli.console import Terminal
from assistant.cli.setup_steps import setup_services
from assistant.config.schema import Settings
from assistant.models.shelf import parse_manifest
from assistant.setup import services
from assistant.setup.services import SetupServices
from tests.unit.integrations.file_server import FileServer, file_server

BODY = {"/a": b"a voice", "/a.json": b"{}"}
NAME = "en_US-a-low"


@pytest.fixture
def server() -> Iterator[FileServer]:
    with file_server(BODY) as served:
        yield served


@pytest.fixture
def settings(tmp_path: Path, server: FileServer, monkeypatch: pytest.MonkeyPatch) -> Settings:
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


async def test_a_voice_that_lacks_is_fetched_once(settings: Settings) -> None:
    fetching, shown = means()
    assert await fetching.fetch_voices(settings) == ""
    assert (settings.data_folder / "models" / f"{NAME}.onnx").read_bytes() == BODY["/a"]
    assert f"{NAME}: 0.0 MB, licence: CC0" in shown.getvalue()
    again, shown = means()
    assert await again.fetch_voices(settings) == ""
    assert shown.getvalue() == ""


async def test_a_voice_that_does_not_come_is_a_sentence(
    settings: Settings, server: FileServer
) -> None:
    server.statuses.append(404)
    fetching, _ = means()
    assert "not to be had" in await fetching.fetch_voices(settings)


async def test_what_the_manifest_does_not_know_is_left(settings: Settings) -> None:
    own = Settings.model_validate(
        {"assistant": {"data": str(settings.data_folder)}, "voice": {"models": {"en": "own.onnx"}}}
    )
    fetching, shown = means()
    assert await fetching.fetch_voices(own) == ""
    assert shown.getvalue() == ""
