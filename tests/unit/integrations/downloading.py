"""Helpers for the tests of downloads."""

import hashlib
import os
from pathlib import Path

import httpx
import pytest

from integrations.downloads import Download, fetch_together
from integrations.errors import IntegrationError
from tests.unit.integrations.file_server import FileServer

VOICE = os.urandom(300_000)


class Pauses:
    """A replacement for sleeping that records the durations."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def voice(server: FileServer, folder: Path, path: str = "/voice", body: bytes = VOICE) -> Download:
    digest = hashlib.sha256(body).hexdigest()
    return Download(server.url(path), folder / "en.onnx", len(body), digest)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def refused(
    download: Download, client: httpx.AsyncClient, kind: type[IntegrationError]
) -> str:
    with pytest.raises(kind) as raised:
        await fetch_together([download], client, pause=Pauses())
    sentence = str(raised.value)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    assert not download.path.exists()
    return sentence
