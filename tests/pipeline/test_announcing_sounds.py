"""Tests of a sound file that a program has Hearth play, from its name to the loudspeaker."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from assistant.announcements.service import FOLDER, AnnouncementService, SoundFiles, WaitingSounds
from assistant.announcements.speaking import Announcements
from assistant.app.build import App, open_app
from assistant.config.schema import Settings
from assistant.conversation.rules.state import Standing, State
from assistant.domain.clock import SystemClock
from assistant.domain.records import TurnRecord
from audio.earcons import earcon
from audio.player import WavPlayer
from audio.sound_files import LONGEST_S, write_wav
from audio.tts.tuned import TARGET_DB
from integrations.home_assistant.media import HomeSounds
from integrations.web.box import Caller, NotPossible
from integrations.web.requests import AnnounceRequest
from tests.pipeline.rig import offline_settings

CALLER = Caller("http:kitchen", frozenset({"speak"}))
TONE_HZ = 880
RATE = 16_000  # Hz, of the bell


class Program:
    """The running app as a program sees it, and what it has said."""

    def __init__(self, app: App, desk: AnnouncementService) -> None:
        self._app = app
        self._desk = desk

    async def announce(self, **wanted: Any) -> str:
        return await self._desk.announce(AnnounceRequest.model_validate(wanted), CALLER)

    async def said(self, name: str) -> TurnRecord:
        async with asyncio.timeout(60):
            assert await self._desk.over(name)
        return (await self._app.home.store.turns(1))[0]

    async def spoke(self) -> int:
        """Return the number of announcements in the journal."""
        return len(await self._app.home.store.turns(9))

    async def stop_once_it_sounds(self) -> None:
        sounds = asyncio.Event()

        def look(standing: Standing) -> None:
            if standing.state is State.SPEAKING:
                sounds.set()

        self._app.runner.observe(look)
        async with asyncio.timeout(60):
            await sounds.wait()
        self._app.runner.stop()


@asynccontextmanager
async def program(settings: Settings, file: Path, *, paced: bool = False) -> AsyncIterator[Program]:
    """Yield the app; the loudspeaker's sound is complete in `file` once the block is left."""
    player = WavPlayer(file, paced=paced)
    try:
        async with open_app(settings, player, hears=False) as app:
            announcements = Announcements(
                app.home.store,
                app.runner,
                lambda text: "en",
                sounds=WaitingSounds(settings.data_folder / FOLDER),
            )
            assert app.home.demo is not None
            home = HomeSounds(app.home.client, app.home.demo.url)
            sounds = SoundFiles(settings.data_folder / "media", home)
            desk = AnnouncementService(announcements, sounds, SystemClock())
            async with announcements:
                yield Program(app, desk)
    finally:
        await player.close()


def put_bell(settings: Settings, seconds: float = 1.0) -> None:
    tone = np.sin(2 * np.pi * TONE_HZ * np.arange(round(seconds * RATE)) / RATE) * 2_000
    folder = settings.data_folder / "media"
    folder.mkdir(parents=True)
    write_wav(folder / "bell.wav", tone.astype("<i2").tobytes(), RATE)


def played(file: Path) -> tuple[NDArray[np.float64], int]:
    data = file.read_bytes()
    rate = int.from_bytes(data[24:28], "little")
    return np.frombuffer(data[44:], "<i2") / 32768, rate


def loudness(samples: NDArray[np.float64]) -> float:
    return float(10 * np.log10(np.mean(samples**2)))


def pitch(samples: NDArray[np.float64], rate: int) -> float:
    return float(np.abs(np.fft.rfft(samples)).argmax() * rate / len(samples))


@pytest.mark.parametrize("persist", [True, False])
async def test_it_is_a_tone_and_then_the_sound_as_loud_as_our_voice(
    tmp_path: Path, persist: bool
) -> None:
    settings = offline_settings(tmp_path)
    put_bell(settings)
    file = tmp_path / "said.wav"
    async with program(settings, file) as box:
        record = await box.said(await box.announce(media="bell.wav", persist=persist))
    assert (record.source, record.sound, record.clauses) == ("announcement", "bell.wav", ())
    assert record.caller == "http:kitchen"
    assert (record.answer, record.heard, record.error) == (None, None, None)
    assert record.audio_ms == pytest.approx(1_000 + 440, abs=5)
    samples, rate = played(file)
    chime = len(earcon("announce")[0]) // 2
    assert len(samples) == pytest.approx(chime + rate, abs=20)
    bell = samples[chime + 200 : -200]
    assert pitch(bell, rate) == pytest.approx(TONE_HZ, abs=2)
    assert loudness(bell) == pytest.approx(TARGET_DB, abs=0.5)
    assert not list((settings.data_folder / FOLDER).glob("*"))


async def test_volume_and_quiet_hours_count_for_it(tmp_path: Path) -> None:
    settings = offline_settings(
        tmp_path, quiet_hours={"from": "00:00", "to": "00:00", "volume": 0.1}
    )
    put_bell(settings)
    file = tmp_path / "said.wav"
    async with program(settings, file) as box:
        await box.said(await box.announce(media="bell.wav", preannounce=False, volume=0.5))
    samples, _ = played(file)
    assert loudness(samples[200:-200]) == pytest.approx(TARGET_DB - 20, abs=0.5)


async def test_stop_silences_it_and_it_is_not_played_again(tmp_path: Path) -> None:
    settings = offline_settings(tmp_path)
    put_bell(settings, seconds=LONGEST_S - 1)
    file = tmp_path / "said.wav"
    async with program(settings, file, paced=True) as box:
        name = await box.announce(media="bell.wav", preannounce=False, persist=True)
        await box.stop_once_it_sounds()
        record = await box.said(name)
    assert record.audio_ms < 2_000
    assert record.sound == "bell.wav"
    async with program(settings, tmp_path / "after.wav") as box:
        await box.said(await box.announce(text="One."))
        assert await box.spoke() == 2


async def test_what_cannot_be_played_is_refused_at_once(tmp_path: Path) -> None:
    settings = offline_settings(tmp_path)
    put_bell(settings)
    (settings.data_folder / "media" / "page.wav").write_text("<html>")
    async with program(settings, tmp_path / "said.wav") as box:
        for media in ("page.wav", "none.wav", "../hearth.db", "https://example.invalid/x.wav"):
            with pytest.raises(NotPossible, match=r"[^.]+\."):
                await box.announce(media=media)
