"""What programs have said becomes an announcement, or a reason why not."""

from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from assistant.announcements.queue import TooMuchSound
from assistant.announcements.service import KEEP, Announcements, AnnouncementService
from assistant.announcements.sound_files import SoundFiles
from assistant.domain.clock import VirtualClock
from assistant.domain.records import AnnouncementRecord, StoreError
from audio.mixer import RATE
from audio.sound_files import Clip
from integrations.web.box import Caller, NotAnnounced, NotKept, NotPossible
from integrations.web.requests import AnnounceRequest

CALLER = Caller("http:kitchen", frozenset({"speak"}))
BELL = Clip("bell.wav", b"\1\2" * 800, 8_000)


class Queue(Announcements):
    """Stands for `Announcements`: takes it, or does what the test says."""

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
    """Has one sound."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def fetch(self, media: str) -> Clip:
        self.asked.append(media)
        if media != "bell.wav":
            raise NotPossible("There is no such sound.")
        return BELL


class Stage:
    """The desk and who stands behind it."""

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
    with pytest.raises(NotPossible, match="give a text"):
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
