"""Tests of a program's announcement, from its request to the sound: a tone, then the words."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from assistant.announcements.service import AnnouncementService
from assistant.announcements.speaking import Announcements
from assistant.app.build import open_app
from assistant.app.interfaces import open_interfaces
from assistant.config.schema import Settings
from assistant.domain.clock import SystemClock
from assistant.domain.records import TurnRecord
from audio.earcons import earcon
from audio.player import WavPlayer
from integrations.web.box import Caller
from integrations.web.requests import AnnounceRequest
from tests.pipeline.rig import offline_settings
from tests.ports import free_port

TOKEN = "t0ken-of-the-test"
WORDS = "The washing machine has finished."
FULL = 32_767


class Asked:
    """The running app as a program sees it, and what it has said."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client
        self.told: asyncio.Queue[TurnRecord] = asyncio.Queue()

    async def announce(self, **body: Any) -> str:
        answer = await self._client.post("/v1/announce", json={"text": WORDS, **body})
        assert answer.status_code == 202, answer.text
        return str(answer.json()["id"])

    async def said(self) -> TurnRecord:
        async with asyncio.timeout(60):
            return await self.told.get()


@asynccontextmanager
async def asked(settings: Settings, file: Path) -> AsyncIterator[Asked]:
    """Yield the app; the loudspeaker's sound is complete in `file` once the block is left."""
    player = WavPlayer(file, paced=False)
    try:
        async with (
            open_app(settings, player, hears=False, resident=True) as app,
            open_interfaces(app) as faces,
            httpx.AsyncClient(
                base_url=f"http://127.0.0.1:{faces.port}",
                headers={"Authorization": f"Bearer {TOKEN}"},
            ) as client,
        ):
            program = Asked(client)
            app.log.on_turn(lambda turn: program.told.put_nowait(turn.record))
            yield program
    finally:
        await player.close()


def served_settings(folder: Path, **sections: dict[str, Any]) -> Settings:
    """Return settings of a process that programs reach."""
    return offline_settings(folder, http={"port": free_port(), "token": TOKEN}, **sections)


def sound(file: Path) -> tuple[np.ndarray, int]:
    """Return the samples as float, and their rate in Hz."""
    data = file.read_bytes()
    rate = int.from_bytes(data[24:28], "little")
    return np.frombuffer(data[44:], "<i2").astype(float), rate


def loudness(samples: np.ndarray) -> float:
    return float(np.sqrt(np.mean(samples**2)))


async def test_the_sound_is_a_tone_and_then_the_words(tmp_path: Path) -> None:
    file = tmp_path / "said.wav"
    async with asked(served_settings(tmp_path), file) as program:
        await program.announce()
        record = await program.said()
    assert (record.source, record.language, record.clauses) == ("announcement", "en", (WORDS,))
    chime, chime_rate = earcon("announce")
    samples, rate = sound(file)
    assert rate == chime_rate
    length = len(chime) // 2
    assert samples[:length] == pytest.approx(np.frombuffer(chime, "<i2"))
    words = samples[length:]
    assert 1.0 <= len(words) / rate <= 4.0
    assert loudness(words) > 0.01 * FULL


@pytest.mark.parametrize(
    ("settings", "preannounce"), [({}, False), ({"sounds": {"announce": False}}, True)]
)
async def test_without_the_tone_there_are_the_words_alone(
    tmp_path: Path, settings: dict[str, Any], preannounce: bool
) -> None:
    with_tone, without = tmp_path / "with.wav", tmp_path / "without.wav"
    async with asked(served_settings(tmp_path), with_tone) as program:
        await program.announce()
        await program.said()
    async with asked(served_settings(tmp_path, **settings), without) as program:
        await program.announce(preannounce=preannounce)
        await program.said()
    chime, rate = earcon("announce")
    longer, shorter = len(sound(with_tone)[0]), len(sound(without)[0])
    assert longer - shorter == pytest.approx(len(chime) / 2, abs=0.05 * rate)


@pytest.mark.parametrize(
    ("settings", "volume", "loudest"),
    [
        ({}, 0.25, 0.25),
        ({"voice": {"engine": "espeak", "volume": 0.2}}, None, 0.2),
        ({"quiet_hours": {"from": "00:00", "to": "00:00", "volume": 0.1}}, 1.0, 0.1),
        ({"quiet_hours": {"from": "00:00", "to": "00:00", "volume": 0.1}}, None, 0.1),
    ],
)
async def test_how_loud_it_is(
    tmp_path: Path, settings: dict[str, Any], volume: float | None, loudest: float
) -> None:
    file = tmp_path / "said.wav"
    async with asked(served_settings(tmp_path, **settings), file) as program:
        await program.announce(volume=volume, priority="high", preannounce=True)
        await program.said()
    samples, _ = sound(file)
    chime = np.abs(np.frombuffer(earcon("announce")[0], "<i2").astype(float)).max()
    length = len(earcon("announce")[0]) // 2
    assert np.abs(samples[:length]).max() == pytest.approx(loudest * chime, abs=1)
    assert 0.02 * loudest * FULL < np.abs(samples[length:]).max() <= loudest * FULL


async def test_the_important_is_said_first_and_the_rest_after_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "said.wav"
    settings = served_settings(tmp_path)
    async with asked(settings, file) as program:
        await program.announce(text="One.", persist=True, priority="low")
        first = await program.said()
    assert first.clauses == ("One.",)
    async with open_app(settings, None, hears=False) as app:  # nothing announces here
        queue = Announcements(app.home.store, app.runner, lambda text: "en")
        desk = AnnouncementService(queue, None, SystemClock())
        low = AnnounceRequest(text="Two.", priority="low", persist=True)
        high = AnnounceRequest(text="Three.", priority="high", persist=True)
        for wanted in (low, high):
            await desk.announce(wanted, Caller("http:washing", frozenset({"speak"})))
    async with asked(settings, file) as program:
        said = [(await program.said()).clauses for _ in range(2)]
    assert said == [("Three.",), ("Two.",)]


async def test_a_process_that_stays_announces_by_itself(tmp_path: Path) -> None:
    """Its queue works, and it announces that a voice is missing."""
    settings = offline_settings(tmp_path, voice={"engine": "piper"})
    player = WavPlayer(tmp_path / "said.wav", paced=False)
    try:
        async with open_app(settings, player, hears=False, resident=True) as app:
            assert app.daemon is not None
            app.daemon.announcements.say(WORDS, "en")
            told: list[str | None] = []
            async with asyncio.timeout(60):
                while len(told) < 2:
                    await asyncio.to_thread(int)  # the voice works on a thread
                    told = [turn.answer for turn in await app.home.store.turns(5)]
            line = app.home.catalogue.say("voice.fallback", "en")
            assert sorted(map(str, told)) == sorted([WORDS, line])
    finally:
        await player.close()
