"""Tests of sounds of a real Home Assistant, fetched for an announcement."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from assistant.announcements.service import SoundFiles
from audio.sound_files import write_wav
from audio.tts.tuned import TARGET_DB, block_powers, speech_power
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.media import HomeSounds
from integrations.web.box import NotPossible
from tests.home_assistant.conftest import Address, real_only

pytestmark = [real_only, pytest.mark.changes_nothing]

RATE = 16_000


@pytest.fixture
async def sounds(house: Address, tmp_path: Path) -> AsyncIterator[SoundFiles]:
    async with HomeAssistant(house.url, house.token) as home:
        yield SoundFiles(tmp_path, HomeSounds(home, house.url))


async def test_what_its_voice_says(sounds: SoundFiles) -> None:
    clip = await sounds.fetch("media-source://tts/demo?message=The+wash+is+done")
    assert clip.seconds > 0.3
    samples = np.frombuffer(clip.pcm, "<i2") / 32768
    power, _ = speech_power(block_powers(samples, clip.rate)[0])
    assert 10 * np.log10(power) == pytest.approx(TARGET_DB, abs=2)


async def test_a_file_of_its_www_folder_by_each_of_its_names(
    sounds: SoundFiles, house: Address
) -> None:
    record = os.environ.get("HA_INSTANCE")
    folder = Path(record or "").parent / "config" / "www"
    if record is None or not folder.is_dir():
        pytest.skip("needs a house of ours that had its www folder when it began")
    file = folder / "hearth-test.wav"
    write_wav(file, (np.sin(np.arange(RATE) / 4) * 3000).astype("<i2").tobytes(), RATE)
    try:
        for media in ("/local/hearth-test.wav", f"{house.url}/local/hearth-test.wav"):
            assert (await sounds.fetch(media)).seconds == 1.0
    finally:
        file.unlink()


@pytest.mark.parametrize(
    "media",
    [
        "/local/there-is-none.wav",
        "/media/local/there-is-none.wav",
        "media-source://media_source/local/../../etc/passwd",
        "media-source://nothing/such",
        "/api/config",
        "http://example.invalid/local/bell.wav",
    ],
)
async def test_what_is_not_there_or_not_to_be_had_is_told(sounds: SoundFiles, media: str) -> None:
    with pytest.raises(NotPossible, match=r"/config/www"):
        await sounds.fetch(media)
