"""A program's sound comes from the owner's folder or from Home Assistant, and from nowhere else."""

import os
from pathlib import Path

import numpy as np
import pytest

from assistant.announcements import sound_files
from assistant.announcements.sound_files import SoundFiles
from audio.sound_files import write_wav
from integrations.errors import IntegrationError, Refused, SignInAgain, Unavailable
from integrations.home_assistant.media import HomeSounds, SoundFile
from integrations.web.box import NotAnnounced, NotPossible

RATE = 16_000


class Home(HomeSounds):
    """Home Assistant has one file, or an error."""

    def __init__(self, gives: bytes | IntegrationError = b"") -> None:
        self._gives = gives
        self.asked: list[str] = []

    async def fetch(self, media: str) -> SoundFile:
        self.asked.append(media)
        if isinstance(self._gives, IntegrationError):
            raise self._gives
        return SoundFile("bell.wav", self._gives)


def bell(path: Path) -> bytes:
    tone = np.sin(np.arange(RATE) / 4) * 3000
    path.parent.mkdir(parents=True, exist_ok=True)
    write_wav(path, tone.astype("<i2").tobytes(), RATE)
    return path.read_bytes()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    bell(tmp_path / "outside.wav")
    bell(tmp_path / "media" / "bell.wav")
    bell(tmp_path / "media" / "door" / "front.wav")
    return tmp_path / "media"


@pytest.mark.parametrize("media", ["bell.wav", "door/front.wav", "door/../bell.wav"])
async def test_a_file_of_the_folder(folder: Path, media: str) -> None:
    clip = await SoundFiles(folder, Home()).fetch(media)
    assert (clip.name, clip.seconds) == (Path(media).name, 1.0)


async def test_its_whole_path_will_do_and_the_folder_may_be_a_link(
    folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(folder)
    sounds = SoundFiles(tmp_path / "link", Home())
    for media in (str(folder / "bell.wav"), str(tmp_path / "link" / "bell.wav"), "bell.wav"):
        assert (await sounds.fetch(media)).seconds == 1.0


async def test_nothing_beyond_the_folder(folder: Path) -> None:
    (folder / "away.wav").symlink_to(folder.parent / "outside.wav")
    (folder / "ring").symlink_to(folder / "ring")
    os.mkfifo(folder / "pipe")
    outside = str(folder.parent / "outside.wav")
    for media in (
        "../outside.wav",
        outside,
        "away.wav",
        "ring",
        "pipe",
        "door",
        "missing.wav",
        "",
        "a\0b",
        "x" * 2000,
    ):
        with pytest.raises(NotPossible, match=r"/config/www") as raised:
            await SoundFiles(folder, Home()).fetch(media)
        assert str(folder.parent) not in str(raised.value)


async def test_without_a_folder_there_is_nothing(tmp_path: Path) -> None:
    with pytest.raises(NotPossible, match="no such sound"):
        await SoundFiles(tmp_path / "none", Home()).fetch("bell.wav")


async def test_one_that_is_too_large(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sound_files, "MAX_SOUND_BYTES", 1000)
    with pytest.raises(NotPossible, match="larger"):
        await SoundFiles(folder, Home()).fetch("bell.wav")


async def test_one_that_is_no_sound(folder: Path) -> None:
    (folder / "page.wav").write_text("<html>")
    with pytest.raises(NotPossible, match=r"page\.wav is no sound file"):
        await SoundFiles(folder, Home()).fetch("page.wav")


@pytest.mark.parametrize(
    "media",
    [
        "http://homeassistant.local:8123/local/bell.wav",
        "https://house.invalid/local/bell.wav",
        "media-source://media_source/local/bell.wav",
        "/local/bell.wav",
        "/media/local/bell.wav",
        "/api/tts_proxy/x.mp3",
    ],
)
async def test_all_else_is_home_assistants(folder: Path, media: str) -> None:
    home = Home((folder / "bell.wav").read_bytes())
    assert (await SoundFiles(folder, home).fetch(media)).seconds == 1.0
    assert home.asked == [media]


@pytest.mark.parametrize("error", [Refused("It is not there."), SignInAgain("No token.")])
async def test_what_it_refuses_is_told_with_the_mend(folder: Path, error: IntegrationError) -> None:
    with pytest.raises(NotPossible, match=r"^(It is not there|No token)\. .*/config/www"):
        await SoundFiles(folder, Home(error)).fetch("/local/bell.wav")


async def test_a_home_assistant_that_is_away_is_no_fault_of_the_request(folder: Path) -> None:
    with pytest.raises(NotAnnounced, match=r"Away\."):
        await SoundFiles(folder, Home(Unavailable("Away."))).fetch("/local/bell.wav")
