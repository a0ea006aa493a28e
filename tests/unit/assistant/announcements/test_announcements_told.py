"""Tests that announcements are reported, spoken once however often they are sent, and may be
sounds."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from assistant.announcements.queue import UNKEPT
from assistant.announcements.service import TooMuchSound, WaitingSounds
from assistant.announcements.speaking import Announcements
from assistant.domain.clock import VirtualClock
from assistant.domain.events import BusEvent, EventBus
from assistant.domain.records import AnnouncementRecord, StoreError
from assistant.journal.store import Store
from assistant.speech.sink import Manner
from audio.sound_files import Clip
from tests.unit.assistant.announcements.test_queue import Talker, news, said

BELL = Clip("bell.wav", b"\1\2" * 800, 8_000)


class Stage:
    """Announcements of successive processes on one disk."""

    def __init__(self, store: Store, clock: VirtualClock, folder: Path) -> None:
        self.store, self.clock, self.folder = store, clock, folder
        self.talker = Talker()
        self.told: list[tuple[str, str]] = []  # ids and event names, in order
        self.bus = EventBus()
        self.bus.follow(self._hear)
        self.callers: set[str] = set()

    @asynccontextmanager
    async def process(self) -> AsyncIterator[Announcements]:
        async with Announcements(
            self.store,
            self.talker,
            lambda text: "en",
            self.talker,
            self.clock,
            sounds=WaitingSounds(self.folder),
            bus=self.bus,
        ) as announcements:
            yield announcements

    def record(self, name: str, **options: Any) -> AnnouncementRecord:
        return news(self.clock, name, **options)

    def sound(self, name: str, **options: Any) -> AnnouncementRecord:
        now = self.clock.now()
        options |= {"media": BELL.name}
        return AnnouncementRecord(name, "", now, now + timedelta(minutes=10), options)

    @property
    def files(self) -> int:
        return len(list(self.folder.glob("*")))

    async def settle(self) -> None:
        """Wait until the store has nothing more to do."""
        for _ in range(20):
            await self.store.kept("nothing")
            await self.clock.settle()

    async def cleared(self) -> None:
        """Wait until no announcement's sound is left."""
        async with asyncio.timeout(20):
            while self.files:
                await asyncio.to_thread(int)

    def _hear(self, happening: BusEvent) -> None:
        assert (happening.kind, happening.words) == ("announcement", {})
        self.callers.add(happening.data["caller"])
        self.told.append((happening.data["id"], happening.data["what"]))


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    clock = VirtualClock()
    async with Store(tmp_path / "hearth.db", clock) as store:
        yield Stage(store, clock, tmp_path / "announcements")


@pytest.mark.parametrize("kept", [True, False])
async def test_it_waits_and_then_it_is_said(stage: Stage, kept: bool) -> None:
    stage.talker.free.clear()
    async with stage.process() as announcements:
        record = stage.record("one", caller="mqtt")
        assert await announcements.keep(record) if kept else announcements.hold(record)
        assert stage.told == [("one", "waits")]
        stage.talker.free.set()
        assert await announcements.over("one")
        assert stage.told == [("one", "waits"), ("one", "said")]
    assert stage.callers == {"mqtt"}
    assert stage.talker.manners == [Manner(caller="mqtt")]


async def test_what_is_left_out_is_told_whatever_the_reason(stage: Stage) -> None:
    stage.talker.free.clear()
    async with stage.process() as announcements:
        for number in range(UNKEPT + 1):
            announcements.hold(stage.record(f"{number}"))
        assert ("0", "left_out") in stage.told
        assert not await announcements.over("0")
        stage.clock.advance(11 * 60)
        stage.talker.free.set()
        assert not await announcements.over("1")
        await stage.settle()
    assert stage.talker.said == []
    assert len([what for _, what in stage.told if what == "left_out"]) == UNKEPT + 1


async def test_who_waits_for_one_is_let_go_when_everything_ends(stage: Stage) -> None:
    stage.talker.free.clear()
    async with stage.process() as announcements:
        announcements.hold(stage.record("one"))
        waiting = asyncio.ensure_future(announcements.over("one"))
        await stage.clock.settle()
    assert not await waiting
    assert not await announcements.over("of no such thing")


async def test_one_that_is_sent_again_is_said_once(stage: Stage) -> None:
    """While it waits, while it is spoken, after it was spoken, and in the next process."""
    stage.talker.free.clear()
    async with stage.process() as announcements:
        assert not await announcements.knows("one")
        for _ in range(2):
            assert await announcements.keep(stage.record("one"))
        assert await announcements.knows("one")
        stage.talker.free.set()
        assert await announcements.over("one")
        assert await announcements.keep(stage.record("one"))
        await stage.settle()
    async with stage.process() as announcements:
        assert await announcements.keep(stage.record("one"))
        assert await announcements.keep(stage.record("two"))
        await announcements.over("two")
    assert stage.talker.said == [("one!", "en"), ("two!", "en")]
    assert [what for name, what in stage.told if name == "one"] == ["waits", "said"]


async def test_one_that_was_left_out_is_not_said_when_it_is_sent_again(stage: Stage) -> None:
    stage.talker.free.clear()
    async with stage.process() as announcements:
        assert await announcements.keep(stage.record("one"))
        stage.clock.advance(11 * 60)
        stage.talker.free.set()
        assert not await announcements.over("one")
        await stage.settle()
        assert await announcements.keep(stage.record("one"))
        await stage.settle()
    assert stage.talker.said == []


@pytest.mark.parametrize("kept", [True, False])
async def test_a_sound_is_given_to_the_speaker_and_then_to_nobody(stage: Stage, kept: bool) -> None:
    stage.talker.free.clear()
    async with stage.process() as announcements:
        record = stage.sound("one", sound="announce", volume=0.5)
        if kept:
            assert await announcements.keep(record, BELL)
        else:
            assert announcements.hold(record, BELL)
        assert stage.files == kept
        stage.talker.free.set()
        assert await announcements.over("one")
        await stage.cleared()
    assert stage.talker.said == [("", "en")]
    assert stage.talker.manners == [Manner("announce", 0.5, clip=BELL)]


async def test_a_kept_sound_is_played_by_the_next_process(stage: Stage) -> None:
    stage.talker.free.clear()
    async with stage.process() as announcements:
        await announcements.keep(stage.sound("one"), BELL)
        await stage.settle()
    stage.talker.free.set()
    async with stage.process() as announcements:
        await said(stage.talker, 1)
        await announcements.over("one")
        await stage.cleared()
    assert stage.talker.manners == [Manner(clip=BELL)]


async def test_what_a_killed_process_left_of_sounds_is_cleared_away(stage: Stage) -> None:
    await stage.store.add_announcement(stage.sound("over"))
    await WaitingSounds(stage.folder).keep("over", BELL)
    await stage.store.start_announcement("over")
    async with stage.process():
        await stage.cleared()
    assert stage.talker.said == []


async def test_a_sound_that_is_sent_again_leaves_nothing_behind(stage: Stage) -> None:
    async with stage.process() as announcements:
        await announcements.keep(stage.sound("one"), BELL)
        await announcements.over("one")
        await stage.settle()
        assert await announcements.keep(stage.sound("one"), BELL)
        await stage.cleared()
    assert len(stage.talker.said) == 1


async def test_a_sound_that_is_sent_again_while_it_waits_is_still_there(stage: Stage) -> None:
    stage.talker.free.clear()
    async with stage.process() as announcements:
        for _ in range(2):
            assert await announcements.keep(stage.sound("one"), BELL)
        stage.talker.free.set()
        assert await announcements.over("one")
    assert stage.talker.manners == [Manner(clip=BELL)]


async def test_a_sound_that_is_lost_is_left_out(stage: Stage) -> None:
    stage.talker.free.clear()
    async with stage.process() as announcements:
        await announcements.keep(stage.sound("one"), BELL)
        for file in stage.folder.glob("*"):
            file.unlink()
        stage.talker.free.set()
        assert not await announcements.over("one")
        await stage.settle()
    assert stage.talker.said == []
    assert stage.told[-1] == ("one", "left_out")


async def test_sounds_that_expire_or_are_too_many_leave_nothing_behind(stage: Stage) -> None:
    stage.talker.free.clear()
    async with stage.process() as announcements:
        await announcements.keep(stage.sound("one"), BELL)
        announcements.hold(stage.sound("two"), BELL)
        stage.clock.advance(11 * 60)
        stage.talker.free.set()
        await announcements.over("one")
        await stage.cleared()
    assert stage.talker.said == []


async def test_a_store_that_fails_before_it_is_said_costs_nothing(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, failed = stage.store.start_announcement, asyncio.Event()

    async def broken(name: str) -> bool:
        failed.set()
        raise StoreError("The disk is full.")

    async with stage.process() as announcements:
        monkeypatch.setattr(stage.store, "start_announcement", broken)
        await announcements.keep(stage.sound("one"), BELL)
        await failed.wait()
        await stage.settle()
        monkeypatch.setattr(stage.store, "start_announcement", start)
        stage.clock.advance(31)
        await said(stage.talker, 1)
        assert await announcements.over("one") or stage.told[-1] == ("one", "said")
    assert stage.talker.manners == [Manner(clip=BELL)]
    assert stage.told == [("one", "waits"), ("one", "said")]


async def test_there_is_no_room_for_any_amount_of_sound(stage: Stage) -> None:
    stage.talker.free.clear()
    long = Clip("long", bytes(2 * 100 * 200), 100)
    async with stage.process() as announcements:
        assert announcements.hold(stage.sound("one"), long)
        with pytest.raises(TooMuchSound):
            announcements.hold(stage.sound("two"), long)
    assert stage.told == [("one", "waits")]
