"""A process that stays prepares Gemini before the first wake word."""

import asyncio
from pathlib import Path

import pytest

from assistant.app import open_app
from integrations.errors import Misconfigured
from integrations.gemini import access
from integrations.gemini.access import Access
from tests.pipeline.rig import offline_settings


class Makers:
    """Stands for the making of google-genai's client, which fails."""

    def __init__(self) -> None:
        self.asked = 0
        self.both_asked = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def make(self, access: Access) -> None:
        self._loop.call_soon_threadsafe(self._count)  # it is made in a thread
        raise Misconfigured("There is no such file.")

    def _count(self) -> None:
        self.asked += 1
        if self.asked == 2:
            self.both_asked.set()


@pytest.mark.parametrize("resident", [True, False])
async def test_gemini_is_prepared_only_in_a_process_that_stays(
    resident: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    makers = Makers()
    monkeypatch.setattr(access, "make_client", makers.make)
    settings = offline_settings(
        tmp_path,
        brain={"order": ["gemini-live", "gemini-once", "offline"]},
        privacy={"accept_cloud": True},
        gemini={"api_key": "k"},
    )
    async with open_app(settings, None, hears=False, resident=resident) as app:
        if resident:
            async with asyncio.timeout(10):
                await makers.both_asked.wait()
        await app.runner.rest()
    assert makers.asked == (2 if resident else 0)
