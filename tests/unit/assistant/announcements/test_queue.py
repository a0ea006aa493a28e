"""Tests that announcements are spoken once, between turns, and after a restart if they are
recent."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from assistant.announcements.queue import KEPT, UNKEPT
from assistant.announcements.speaking import AGAIN_S, KEEP, TRIES, Announcements
from assistant.domain.clock import VirtualClock
from assistant.domain.records import AnnouncementRecord, StoreError
from assistant.journal.store import Store
from assistant.speech.output import SpeechOutput
from assistant.speech.sink import PLAIN, Manner


class Talker(SpeechOutput):
    """A conversation that pauses when the test says so, and its loudspeaker."""

    drops: int = 0

    def __init__(self) -> None:
        self.said: list[tuple[str, str]] = []
        self.manners: list[Manner] = []
        self.free = asyncio.Event()
        self.free.set()
        self.spoke = asyncio.Event()
        self.there = asyncio.Event()  # set while there is a loudspeaker
        self.there.set()
        self.goes = 0  # the number of times it disappears during an announcement
        self.mute = False  # playback fails for a reason other than a missing loudspeaker
        # Other answers that end meanwhile, and whether they were played in full.
        self.between: list[tuple[str, bool]] = []
        self.ended: Callable[[str, bool], None] = lambda text, played: None
        self.ending = False

    def announce(self, text: str, language: str, manner: Manner = PLAIN) -> None:
        assert self.free.is_set(), "it talks over somebody"
        played = not self.goes and not self.mute
        if self.goes:
            self.goes -= 1
            self.drops += 1
            self.there.clear()
        self.said.append((text, language))
        self.manners.append(manner)
        self.ended(text, played)
        for other in self.between:
            self.drops += not other[1]
            self.ended(*other)
        self.spoke.set()

    def follow_announcements(self, ended: Callable[[str, bool], None]) -> None:
        self.ended = ended

    async def rest(self) -> None:
        await self.free.wait()

    async def audible(self) -> None:
        await self.there.wait()


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def talker() -> Talker:
    return Talker()


@pytest.fixture
async def store(tmp_path: Path, clock: VirtualClock) -> AsyncIterator[Store]:
    async with Store(tmp_path / "hearth.db", clock) as opened:
        yield opened


@asynccontextmanager
async def speaking(
    store: Store, talker: Talker, clock: VirtualClock
) -> AsyncIterator[Announcements]:
    async with Announcements(store, talker, language_of, talker, clock) as announcements:
        yield announcements


def language_of(text: str) -> str:
    return "es" if "¡" in text else "en"


def news(clock: VirtualClock, name: str, **options: Any) -> AnnouncementRecord:
    now = clock.now()
    return AnnouncementRecord(name, f"{name}!", now, now + timedelta(minutes=10), options)


async def said(talker: Talker, count: int) -> list[tuple[str, str]]:
    async with asyncio.timeout(20):
        while len(talker.said) < count:
            talker.spoke.clear()
            await talker.spoke.wait()
    return talker.said


async def test_they_are_said_in_order_with_their_language_and_sound(
    store: Store, talker: Talker, clock: VirtualClock
) -> None:
    async with speaking(store, talker, clock) as announcements:
        await announcements.keep(news(clock, "one"))
        await announcements.keep(news(clock, "two", language="es", sound="timer"))
        assert await said(talker, 2) == [("one!", "en"), ("two!", "es")]
        await announcements.keep(news(clock, "¡tres", volume=0.4, alarm=True))
        assert (await said(talker, 3))[2:] == [("¡tres!", "es")]
        assert talker.manners == [Manner(), Manner("timer"), Manner("", 0.4, True)]


async def test_it_waits_for_the_conversation(
    store: Store, talker: Talker, clock: VirtualClock
) -> None:
    talker.free.clear()
    async with speaking(store, talker, clock) as announcements:
        await announcements.keep(news(clock, "one"))
        assert [one.id for one in await store.pending_announcements()] == ["one"]
        assert talker.said == []
        talker.free.set()
        await said(talker, 1)


async def test_what_waits_is_unsaid_until_it_was_heard(
    store: Store, talker: Talker, clock: VirtualClock
) -> None:
    async with speaking(store, talker, clock) as announcements:
        assert not announcements.unsaid
        talker.free.clear()
        await announcements.keep(news(clock, "one"))
        await announcements.keep(news(clock, "two"))
        assert announcements.unsaid
        talker.free.set()
        await announcements.over("one")
        assert announcements.unsaid
        await announcements.over("two")
        await clock.run(0)
        assert not announcements.unsaid
        talker.there.clear()
        await announcements.keep(news(clock, "three"))
        await clock.run(0)
        assert not announcements.unsaid  # it is unknown how long there is no loudspeaker


async def test_where_nothing_more_is_begun_what_was_kept_is_for_the_next_process(
    store: Store, talker: Talker, clock: VirtualClock
) -> None:
    talker.free.clear()
    async with speaking(store, talker, clock) as announcements:
        await announcements.keep(news(clock, "one"))
        talker.ending = True
        talker.free.set()
        await clock.run(1)
        assert talker.said == []
    talker.ending = False
    async with speaking(store, talker, clock):
        assert await said(talker, 1) == [("one!", "en")]


async def test_it_is_marked_before_it_is_said_and_never_said_again(
    store: Store, talker: Talker, clock: VirtualClock
) -> None:
    async with speaking(store, talker, clock) as announcements:
        await announcements.keep(news(clock, "one"))
        await said(talker, 1)
        assert not await store.start_announcement("one")
    async with speaking(store, talker, clock) as announcements:
        await announcements.keep(news(clock, "two"))
        assert await said(talker, 2) == [("one!", "en"), ("two!", "en")]


async def test_what_an_earlier_process_kept_is_said_if_it_is_news(
    store: Store, talker: Talker, clock: VirtualClock
) -> None:
    await store.add_announcement(news(clock, "old"))
    clock.advance(9 * 60)
    await store.add_announcement(news(clock, "new"))
    clock.advance(2 * 60)
    async with speaking(store, talker, clock):
        assert await said(talker, 1) == [("new!", "en")]


async def test_what_expires_while_it_waits_is_left_out(
    store: Store, talker: Talker, clock: VirtualClock
) -> None:
    talker.free.clear()
    async with speaking(store, talker, clock) as announcements:
        await announcements.keep(news(clock, "old"))
        clock.advance(11 * 60)
        await announcements.keep(news(clock, "new"))
        talker.free.set()
        assert await said(talker, 1) == [("new!", "en")]


async def test_a_store_that_fails_is_tried_again_with_the_next(
    store: Store,
    talker: Talker,
    clock: VirtualClock,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    read = store.pending_announcements
    failed = asyncio.Event()

    async def broken() -> list[AnnouncementRecord]:
        failed.set()
        raise StoreError("The disk is full.")

    monkeypatch.setattr(store, "pending_announcements", broken)
    with caplog.at_level(logging.ERROR):
        async with speaking(store, talker, clock) as announcements:
            await failed.wait()
            monkeypatch.setattr(store, "pending_announcements", read)
            await announcements.keep(news(clock, "one"))
            await said(talker, 1)
    assert "The disk is full." in caplog.text


async def test_without_a_loudspeaker_it_waits_as_long_as_it_is_news(
    store: Store, talker: Talker, clock: VirtualClock
) -> None:
    talker.there.clear()
    async with speaking(store, talker, clock) as announcements:
        await announcements.keep(news(clock, "old"))
        clock.advance(6 * 60)
        await announcements.keep(news(clock, "new"))
        assert len(await store.pending_announcements()) == 2, "neither has begun"
        clock.advance(6 * 60)
        assert talker.said == []
        talker.there.set()
        assert await said(talker, 1) == [("new!", "en")]


async def test_one_during_which_the_loudspeaker_goes_is_said_again_when_it_is_back(
    store: Store, talker: Talker, clock: VirtualClock
) -> None:
    talker.goes = 1
    async with speaking(store, talker, clock) as announcements:
        await announcements.keep(news(clock, "one", sound="timer"))
        await said(talker, 1)
        clock.advance(5 * 60)
        talker.there.set()
        assert await said(talker, 2) == [("one!", "en")] * 2
        await announcements.keep(news(clock, "two"))
        assert (await said(talker, 3))[2:] == [("two!", "en")]
    assert [manner.sound for manner in talker.manners] == ["timer", "timer", ""]
    assert await store.pending_announcements() == []


async def test_after_its_time_it_is_not_said_again(
    store: Store, talker: Talker, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    talker.goes = 1
    async with speaking(store, talker, clock) as announcements:
        await announcements.keep(news(clock, "old"))
        await said(talker, 1)
        clock.advance(60 * 60)
        talker.there.set()
        await announcements.keep(news(clock, "new"))
        assert await said(talker, 2) == [("old!", "en"), ("new!", "en")]
    assert "was not heard" in caplog.text


async def test_a_loudspeaker_that_comes_and_goes_ends_it(
    store: Store, talker: Talker, clock: VirtualClock
) -> None:
    talker.goes = TRIES
    async with speaking(store, talker, clock) as announcements:
        await announcements.keep(news(clock, "one"))
        for count in range(1, TRIES + 1):
            await said(talker, count)
            talker.there.set()
        await announcements.keep(news(clock, "two"))
        assert (await said(talker, TRIES + 1))[-2:] == [("one!", "en"), ("two!", "en")]


@pytest.mark.parametrize("mute", [True, False])
async def test_only_what_was_itself_dropped_is_said_again(
    store: Store, talker: Talker, clock: VirtualClock, mute: bool
) -> None:
    talker.mute = mute  # for example no voice could be made; a loudspeaker would not help
    talker.between = [] if mute else [("another answer", False)]
    async with speaking(store, talker, clock) as announcements:
        await announcements.keep(news(clock, "one"))
        await said(talker, 1)
        talker.mute, talker.between = False, []
        await announcements.keep(news(clock, "two"))
        assert await said(talker, 2) == [("one!", "en"), ("two!", "en")]


async def test_one_that_was_dropped_is_said_again_whatever_else_was_heard(
    store: Store, talker: Talker, clock: VirtualClock
) -> None:
    talker.goes = 1
    talker.between = [("another answer", True)]
    async with speaking(store, talker, clock) as announcements:
        await announcements.keep(news(clock, "one"))
        await said(talker, 1)
        talker.there.set()
        assert await said(talker, 2) == [("one!", "en")] * 2


async def test_what_is_not_kept_is_said_in_order_and_never_on_the_disk(
    store: Store, talker: Talker, clock: VirtualClock
) -> None:
    async with speaking(store, talker, clock) as announcements:
        announcements.say("The wash is done.", "en")
        announcements.say("La puerta.", "es")
        assert await store.pending_announcements() == []
        assert await said(talker, 2) == [("The wash is done.", "en"), ("La puerta.", "es")]
        await announcements.keep(news(clock, "one"))
        assert (await said(talker, 3))[2:] == [("one!", "en")]
    assert set(talker.manners) == {Manner()}


async def test_one_that_is_withdrawn_before_its_turn_is_not_said(
    store: Store, talker: Talker, clock: VirtualClock
) -> None:
    talker.free.clear()  # a conversation is going on
    async with speaking(store, talker, clock) as announcements:
        for name in ("one", "two", "three"):
            announcements.hold(news(clock, name))
        waits = asyncio.create_task(announcements.over("two"))
        await asyncio.sleep(0)
        announcements.withdraw("two")
        announcements.withdraw("two")
        announcements.withdraw("unknown")
        assert await waits is False
        talker.free.set()
        assert await said(talker, 2) == [("one!", "en"), ("three!", "en")]
        announcements.withdraw("one")


async def test_what_is_not_kept_waits_for_a_loudspeaker_too(
    store: Store, talker: Talker, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    talker.there.clear()
    async with speaking(store, talker, clock) as announcements:
        announcements.say("old", "en")
        clock.advance(KEEP.total_seconds() / 2)
        announcements.say("new", "en")
        clock.advance(KEEP.total_seconds() / 2 + 1)
        talker.goes = 1
        talker.there.set()
        assert await said(talker, 1) == [("new", "en")]
        talker.there.set()
        assert await said(talker, 2) == [("new", "en")] * 2, "it went in the middle"
    assert caplog.text.count("was not heard") == 1


async def test_too_much_that_is_not_kept_and_what_comes_too_late_is_left_out(
    store: Store, talker: Talker, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    talker.there.clear()
    async with speaking(store, talker, clock) as announcements:
        for number in range(UNKEPT + 1):
            announcements.say(str(number), "en")
        talker.there.set()
        texts = [text for text, _ in await said(talker, UNKEPT)]
    assert texts == [str(number) for number in range(1, UNKEPT + 1)]
    assert "was dropped" in caplog.text
    announcements.say("too late", "en")
    assert not announcements.hold(news(clock, "much too late")), "everything ends"
    assert "too late" not in [text for text, _ in talker.said]


async def together(
    announcements: Announcements, talker: Talker, *records: AnnouncementRecord, kept: bool
) -> list[str]:
    """Return, in order, what is said of announcements that came during a conversation."""
    for record in records:
        assert await announcements.keep(record) if kept else announcements.hold(record)
    assert talker.said == []
    talker.free.set()
    return [text.strip("!") for text, _ in await said(talker, len(records))]


@pytest.mark.parametrize("kept", [True, False])
async def test_the_important_goes_before_what_waits(
    store: Store, talker: Talker, clock: VirtualClock, kept: bool
) -> None:
    talker.free.clear()
    records = []
    for name in ("low", "one", "high", "two", "highest", "lowest"):
        records.append(news(clock, name, priority=name.removesuffix("est")))
        clock.advance(1)
    async with speaking(store, talker, clock) as announcements:
        order = await together(announcements, talker, *records, kept=kept)
    assert order == ["high", "highest", "one", "two", "low", "lowest"]


async def test_what_is_kept_and_what_is_held_are_one_queue(
    store: Store, talker: Talker, clock: VirtualClock
) -> None:
    talker.free.clear()
    async with speaking(store, talker, clock) as announcements:
        for number, kept in enumerate((True, False, True, False)):
            record = news(clock, f"{number}")
            assert await announcements.keep(record) if kept else announcements.hold(record)
            clock.advance(1)
        announcements.hold(news(clock, "4", priority="high"))
        talker.free.set()
        order = [text for text, _ in await said(talker, 5)]
    assert order == ["4!", "0!", "1!", "2!", "3!"]


async def test_one_that_comes_while_another_is_said_cuts_nothing(
    store: Store, talker: Talker, clock: VirtualClock
) -> None:
    async with speaking(store, talker, clock) as announcements:
        announcements.hold(news(clock, "long", priority="low"))
        await said(talker, 1)
        talker.free.clear()  # it is still being spoken
        announcements.hold(news(clock, "fire", priority="high"))
        await clock.settle()
        assert [text for text, _ in talker.said] == ["long!"]
        talker.free.set()
        assert [text for text, _ in await said(talker, 2)] == ["long!", "fire!"]


async def test_only_what_was_kept_outlives_the_process(
    tmp_path: Path, talker: Talker, clock: VirtualClock
) -> None:
    talker.free.clear()
    async with (
        Store(tmp_path / "hearth.db", clock) as first,
        speaking(first, talker, clock) as announcements,
    ):
        announcements.hold(news(clock, "held"))
        await announcements.keep(news(clock, "low", priority="low"))
        await announcements.keep(news(clock, "kept", volume=0.5))
        await clock.settle()
    assert talker.said == []
    talker.free.set()
    async with Store(tmp_path / "hearth.db", clock) as second, speaking(second, talker, clock):
        assert await said(talker, 2) == [("kept!", "en"), ("low!", "en")]
        assert talker.manners == [Manner(volume=0.5), Manner()]
        while await second.pending_announcements():
            await clock.settle()


@pytest.mark.parametrize("kept", [True, False])
async def test_what_expires_while_somebody_talks_is_left_out_and_logged(
    store: Store,
    talker: Talker,
    clock: VirtualClock,
    caplog: pytest.LogCaptureFixture,
    kept: bool,
) -> None:
    talker.free.clear()
    async with speaking(store, talker, clock) as announcements:
        for name in ("old", "new"):
            record = news(clock, name)
            assert await announcements.keep(record) if kept else announcements.hold(record)
            clock.advance(6 * 60)
        talker.free.set()
        assert await said(talker, 1) == [("new!", "en")]
        await clock.settle()
    assert talker.said == [("new!", "en")]
    assert caplog.text.count("expired while it waited") == 1


async def test_one_too_many_leaves_out_the_least_and_oldest_even_if_it_is_that_one(
    store: Store, talker: Talker, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    talker.free.clear()
    async with speaking(store, talker, clock) as announcements:
        for number in range(KEPT):
            assert await announcements.keep(news(clock, f"{number}"))
        assert not await announcements.keep(news(clock, "low", priority="low"))
        assert await announcements.keep(news(clock, "last", priority="high"))
        kept = [record.id for record in await store.pending_announcements()]
        assert kept == [*(f"{number}" for number in range(1, KEPT)), "last"]
        for number in range(UNKEPT):
            assert announcements.hold(news(clock, f"held {number}", priority="high"))
        assert not announcements.hold(news(clock, "held too late"))
        assert len(await store.pending_announcements()) == KEPT, "each kind has its own room"
        talker.free.set()
        await said(talker, 1)
    assert talker.said[0] == ("last!", "en")
    assert caplog.text.count("was dropped") == 3


async def test_a_store_that_fails_is_asked_again_by_itself(
    store: Store, talker: Talker, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.add_announcement(news(clock, "from before"))
    read = store.pending_announcements
    failed = asyncio.Event()

    async def broken() -> list[AnnouncementRecord]:
        failed.set()
        raise StoreError("The disk is full.")

    monkeypatch.setattr(store, "pending_announcements", broken)
    async with speaking(store, talker, clock):
        await failed.wait()
        monkeypatch.setattr(store, "pending_announcements", read)
        await clock.run(AGAIN_S - 1)
        assert not talker.said
        await clock.run(2)
        assert [text for text, _ in await said(talker, 1)] == ["from before!"]


async def test_a_store_that_fails_at_the_beginning_of_one_hinders_no_other(
    store: Store,
    talker: Talker,
    clock: VirtualClock,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    talker.free.clear()

    async def broken(announcement_id: str) -> bool:
        raise StoreError("The disk is full.")

    async with speaking(store, talker, clock) as announcements:
        with monkeypatch.context() as patch:
            patch.setattr(store, "start_announcement", broken)
            await announcements.keep(news(clock, "kept", priority="high"))
            announcements.hold(news(clock, "held"))
            talker.free.set()
            assert await said(talker, 1) == [("held!", "en")]
        announcements.hold(news(clock, "next", priority="high"))
        texts = [text for text, _ in await said(talker, 3)]
    assert sorted(texts[1:]) == ["kept!", "next!"], "it is found in the store again"
    assert caplog.text.count("The disk is full.") == 1
