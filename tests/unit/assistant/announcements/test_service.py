"""Tests that a program's request becomes an announcement, or a reason for its refusal."""

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assistant.announcements import service
from assistant.announcements import service as sound_files
from assistant.announcements.service import (
    MOST_S,
    AnnouncementService,
    SoundFiles,
    TooMuchSound,
    WaitingSounds,
)
from assistant.announcements.speaking import KEEP, Announcements
from assistant.domain.clock import VirtualClock
from assistant.domain.records import AnnouncementRecord, StoreError
from audio.mixer import RATE
from audio.sound_files import Clip, write_wav
from integrations.errors import IntegrationError, Refused, SignInAgain, Unavailable
from integrations.home_assistant.media import HomeSounds, SoundFile
from integrations.web.box import Caller, NotAnnounced, NotKept, NotPossible
from integrations.web.requests import AnnounceRequest

CALLER = Caller("http:kitchen", frozenset({"speak"}))
BELL = Clip("bell.wav", b"\1\2" * 800, 8_000)


class Queue(Announcements):
    """A replacement for `Announcements` that accepts everything, or does what the test sets."""

    def __init__(self) -> None:
        self.held: list[tuple[AnnouncementRecord, Clip | None]] = []
        self.kept: list[tuple[AnnouncementRecord, Clip | None]] = []
        self.takes = True
        self.fails: Exception | None = None

    async def keep(self, record: AnnouncementRecord, clip: Clip | None = None) -> bool:
        return self._take(self.kept, record, clip)

    def hold(self, record: AnnouncementRecord, clip: Clip | None = None) -> bool:
        return self._take(self.held, record, clip)

    async def knows(self, name: str) -> bool:
        if self.fails is not None:
            raise self.fails
        return any(record.id == name for record, _ in self.kept)

    async def over(self, name: str) -> bool:
        return name == "said"

    def _take(
        self,
        to: list[tuple[AnnouncementRecord, Clip | None]],
        record: AnnouncementRecord,
        clip: Clip | None,
    ) -> bool:
        if self.fails is not None:
            raise self.fails
        to.append((record, clip))
        return self.takes


class Sounds(SoundFiles):
    """A collection of one sound."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def fetch(self, media: str) -> Clip:
        self.asked.append(media)
        if media != "bell.wav":
            raise NotPossible("There is no such sound.")
        return BELL


class Stage:
    """The announcement service with its collaborators."""

    def __init__(self) -> None:
        self.queue, self.sounds, self.clock = Queue(), Sounds(), VirtualClock()
        self.desk = AnnouncementService(self.queue, self.sounds, self.clock)

    async def announce(self, name: str = "", **wanted: Any) -> str:
        request = AnnounceRequest.model_validate(wanted)
        return await self.desk.announce(request, CALLER, announcement_id=name)


@pytest.fixture
def stage() -> Stage:
    return Stage()


async def test_a_text_with_all_that_was_wanted(stage: Stage) -> None:
    name = await stage.announce(
        text="The wash is done.", volume=0.4, priority="high", expire_s=60, language="es"
    )
    now = stage.clock.now()
    options = {
        "priority": "high",
        "caller": "http:kitchen",
        "sound": "announce",
        "volume": 0.4,
        "language": "es",
    }
    record = AnnouncementRecord(
        name, "The wash is done.", now, now + timedelta(seconds=60), options
    )
    assert stage.queue.held == [(record, None)]
    assert stage.queue.kept == []


async def test_a_text_as_it_is_without_wishes(stage: Stage) -> None:
    await stage.announce(text="Hello.", preannounce=False)
    [(record, _)] = stage.queue.held
    assert record.options == {"priority": "normal", "caller": "http:kitchen"}
    assert record.expires_at == stage.clock.now() + KEEP


async def test_a_sound_is_there_before_it_is_taken(stage: Stage) -> None:
    await stage.announce(media="bell.wav", persist=True)
    [(record, clip)] = stage.queue.kept
    assert (record.text, record.options["media"], clip) == ("", "bell.wav", BELL)
    with pytest.raises(NotPossible):
        await stage.announce(media="other.wav", persist=True)
    assert len(stage.queue.kept) == 1


async def test_without_a_place_for_sounds_there_are_none(stage: Stage) -> None:
    desk = AnnouncementService(stage.queue, None, stage.clock)
    with pytest.raises(NotPossible, match="cannot play sound files: send text"):
        await desk.announce(AnnounceRequest(media="bell.wav"), CALLER)


async def test_one_that_is_sent_again_has_its_id_and_is_not_fetched_again(stage: Stage) -> None:
    for _ in range(2):
        assert await stage.announce("m1", media="bell.wav", persist=True) == "m1"
    assert (len(stage.queue.kept), stage.sounds.asked) == (1, ["bell.wav"])
    assert await stage.announce("m2", text="Hello.") == "m2"


@pytest.mark.parametrize("persist", [True, False])
async def test_what_is_not_taken_is_told(stage: Stage, persist: bool) -> None:
    stage.queue.takes = False
    with pytest.raises(NotAnnounced, match="as important"):
        await stage.announce(text="Hello.", persist=persist)
    stage.queue.fails = TooMuchSound()
    with pytest.raises(NotAnnounced, match="too much sound"):
        await stage.announce(media="bell.wav", persist=persist)


@pytest.mark.parametrize("name", ["", "m1"])
async def test_a_disk_that_does_not_take_it_is_told(stage: Stage, name: str) -> None:
    stage.queue.fails = StoreError("The disk is full.")
    with pytest.raises(NotKept, match="The disk is full"):
        await stage.announce(name, text="Hello.", persist=True)


async def test_sound_of_this_process_is_held_at_our_loudness(stage: Stage) -> None:
    pcm = (np.sin(np.arange(16_000) / 4) * 300).astype("<i2").tobytes()
    name = await stage.desk.play(pcm, 16_000, CALLER, name="broadcast", volume=0.5)
    [(record, clip)] = stage.queue.held
    assert (record.id, record.text) == (name, "")
    assert record.options == {
        "priority": "normal",
        "caller": "http:kitchen",
        "volume": 0.5,
        "media": "broadcast",
    }
    assert clip is not None
    assert (clip.rate, clip.seconds) == (RATE, 1.0)
    assert np.abs(np.frombuffer(clip.pcm, "<i2")).max() > 2_500
    with pytest.raises(NotPossible, match="longer"):
        await stage.desk.play(bytes(2 * 4_000 * 121), 4_000, CALLER)
    stage.queue.takes = False
    with pytest.raises(NotAnnounced):
        await stage.desk.play(pcm, 16_000, CALLER)


async def test_whoever_must_can_wait_for_its_end(stage: Stage) -> None:
    assert await stage.desk.over("said")
    assert not await stage.desk.over("left out")


# The sound of waiting announcements: in memory or on the disk, within the limit.


WAITING_SOUNDS_RATE = 8_000


def clip(seconds: float = 1.0) -> Clip:
    return Clip("bell.wav", b"\1\2" * round(WAITING_SOUNDS_RATE * seconds), WAITING_SOUNDS_RATE)


def files(folder: Path) -> list[Path]:
    return list(folder.rglob("*.wav"))


@pytest.fixture
def sounds(tmp_path: Path) -> WaitingSounds:
    return WaitingSounds(tmp_path / "announcements")


async def test_what_is_held_is_there_until_it_is_let_go(sounds: WaitingSounds) -> None:
    sounds.hold("one", clip())
    assert await sounds.take("one", "bell.wav") == clip()
    sounds.let_go("one")
    sounds.let_go("one")
    assert await sounds.take("one", "bell.wav") is None


def test_there_is_room_for_so_much_in_memory(sounds: WaitingSounds) -> None:
    sounds.hold("one", clip(MOST_S - 1))
    with pytest.raises(TooMuchSound):
        sounds.hold("two", clip(2))
    sounds.let_go("one")
    sounds.hold("two", clip(2))


async def test_what_is_kept_is_there_for_the_next_process(
    sounds: WaitingSounds, tmp_path: Path
) -> None:
    await sounds.keep("../../etc/one", clip())
    assert [path.parent for path in files(tmp_path)] == [tmp_path / "announcements"]
    assert (tmp_path / "announcements").stat().st_mode & 0o777 == 0o700
    after = WaitingSounds(tmp_path / "announcements")
    assert await after.take("../../etc/one", "bell.wav") == clip()
    await after.drop("../../etc/one")
    await after.drop("../../etc/one")
    assert await after.take("../../etc/one", "bell.wav") is None
    assert not files(tmp_path)


async def test_there_is_room_for_so_much_on_the_disk(
    sounds: WaitingSounds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "MOST_KEPT_S", 1.5)
    await sounds.keep("one", clip())
    await sounds.keep("one", clip())  # it replaces itself
    with pytest.raises(TooMuchSound):
        await sounds.keep("two", clip())
    await sounds.drop("one")
    await sounds.keep("two", clip())


async def test_of_earlier_processes_only_what_waits_is_left(
    sounds: WaitingSounds, tmp_path: Path
) -> None:
    earlier = WaitingSounds(tmp_path / "announcements")
    await earlier.keep("over", clip())
    await earlier.keep("waits", clip())
    await sounds.keep("new", clip())
    await sounds.drop_others(["waits"])
    assert await sounds.take("over", "x") is None
    assert await sounds.take("waits", "x") is not None
    assert await sounds.take("new", "x") is not None


async def test_where_there_was_never_any(sounds: WaitingSounds, tmp_path: Path) -> None:
    await sounds.drop_others([])
    await sounds.drop("one")
    assert not files(tmp_path)
    assert await sounds.take("one", "bell.wav") is None


async def test_a_disk_that_does_not_take_it(tmp_path: Path) -> None:
    (tmp_path / "announcements").write_text("a file")
    with pytest.raises(StoreError, match="the sound cannot be saved"):
        await WaitingSounds(tmp_path / "announcements").keep("one", clip())


async def test_one_that_is_damaged_is_lost(sounds: WaitingSounds, tmp_path: Path) -> None:
    await sounds.keep("one", clip())
    for file in files(tmp_path):
        file.write_bytes(b"RIFF")
    assert await sounds.take("one", "bell.wav") is None


# A program's sound comes only from the owner's folder or from Home Assistant.


SOUND_FILES_RATE = 16_000


class Home(HomeSounds):
    """A Home Assistant that has one file, or an error."""

    def __init__(self, gives: bytes | IntegrationError = b"") -> None:
        self._gives = gives
        self.asked: list[str] = []

    async def fetch(self, media: str) -> SoundFile:
        self.asked.append(media)
        if isinstance(self._gives, IntegrationError):
            raise self._gives
        return SoundFile("bell.wav", self._gives)


def bell(path: Path) -> bytes:
    tone = np.sin(np.arange(SOUND_FILES_RATE) / 4) * 3000
    path.parent.mkdir(parents=True, exist_ok=True)
    write_wav(path, tone.astype("<i2").tobytes(), SOUND_FILES_RATE)
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
    with pytest.raises(NotPossible, match="sound does not exist"):
        await SoundFiles(tmp_path / "none", Home()).fetch("bell.wav")


async def test_one_that_is_too_large(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sound_files, "MAX_SOUND_BYTES", 1000)
    with pytest.raises(NotPossible, match="larger"):
        await SoundFiles(folder, Home()).fetch("bell.wav")


async def test_one_that_is_no_sound(folder: Path) -> None:
    (folder / "page.wav").write_text("<html>")
    with pytest.raises(NotPossible, match=r"page\.wav is not a sound file"):
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
