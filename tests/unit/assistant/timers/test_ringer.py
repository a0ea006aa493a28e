"""Tests of what rings, until when, and with which result."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from assistant.domain.clock import VirtualClock
from assistant.domain.records import TimerRecord
from assistant.journal.store import Store
from assistant.timers.book import TimerBook
from assistant.timers.monitor import READ_S
from assistant.timers.ringer import GIVE_UP_S, PAUSE_S, WORDS_S
from assistant.timers.service import LOOK_S, TimerService
from tests.unit.assistant.timers.conftest import Room, Shelf, Talker, a_keeper, an_almanac

HOUR = 3600.0
PASTA, EGGS = "Your pasta timer is done.", "Your eggs timer is done."
LATE = "Your pasta timer finished at 12:05."
UNHEARD = f"{LATE} It rang for ten minutes, but nobody turned it off."

Ringing = Callable[[], AbstractAsyncContextManager[TimerService]]


@pytest.fixture
def ringing(room: Room) -> Ringing:
    return room.keeping


@pytest.fixture
def book(room: Room) -> TimerBook:
    return room.book


@pytest.fixture
async def pasta(book: TimerBook) -> TimerRecord:
    return await book.start(300, "pasta", "en")


async def test_it_rings_to_the_second_until_it_is_heard(
    ringing: Ringing, pasta: TimerRecord, talker: Talker, clock: VirtualClock, shelf: Shelf
) -> None:
    async with ringing() as ringer:
        await clock.run(299.9)
        assert (talker.tones, ringer.ringing) == ([], False)
        await clock.run(0.1)
        assert (talker.tones, talker.said, ringer.ringing) == ([300], [PASTA], True)
        await clock.run(WORDS_S - 0.1)
        assert talker.tones == [300 + PAUSE_S * n for n in range(10)]
        assert talker.said == [PASTA]
        await clock.run(0.1)
        assert talker.said == [PASTA, PASTA]
        assert talker.alarms == [True, True], "at night too"
        ringer.heard()
        assert (ringer.ringing, talker.hushed) == (False, 1)
        await clock.run(HOUR)
    assert (len(talker.tones), talker.said) == (11, [PASTA, PASTA])
    assert (shelf.ended, shelf.rows) == ({pasta.id: "acknowledged"}, {})


async def test_a_process_that_starts_rings_what_fell_due_while_nobody_was_there(
    ringing: Ringing, pasta: TimerRecord, talker: Talker, clock: VirtualClock
) -> None:
    clock.advance(2 * HOUR)
    async with ringing():
        assert (talker.said, len(talker.tones)) == ([LATE], 1)


async def test_a_restart_while_it_rings_goes_on_ringing(
    ringing: Ringing, pasta: TimerRecord, talker: Talker, clock: VirtualClock
) -> None:
    async with ringing():
        await clock.run(301)
    async with ringing():
        assert talker.said == [PASTA, LATE]


async def test_three_at_once_in_one_breath_and_each_in_its_language(
    ringing: Ringing, book: TimerBook, pasta: TimerRecord, talker: Talker, clock: VirtualClock
) -> None:
    await book.start(300, "eggs", "en")
    await book.start(300, "té", "es")
    async with ringing() as ringer:
        await clock.run(300)
        assert talker.said == [f"{PASTA} {EGGS}", "Tu temporizador de té ha terminado."]
        assert talker.languages == ["en", "es"]
        ringer.heard()
        await clock.settle()
        assert await book.all() == []


@pytest.mark.parametrize(
    ("language", "own", "words", "unheard"),
    [
        ("de", "de", "Dein Timer tè ist abgelaufen.", "Er hat zehn Minuten geklingelt"),
        ("fr", "fr", "Ton minuteur tè est terminé.", "Il a sonné dix minutes"),
        ("pt-BR", "pt-BR", "O seu temporizador tè terminou.", "Tocou dez minutos"),
        ("vi", "vi", "Bộ hẹn giờ tè của bạn đã hết giờ.", "Nó reo mười phút"),
        ("it", "en", "Your tè timer is done.", "It rang for ten minutes"),  # no Italian text
    ],
)
async def test_it_rings_and_is_told_in_the_language_it_was_set_in(
    ringing: Ringing,
    book: TimerBook,
    talker: Talker,
    clock: VirtualClock,
    language: str,
    own: str,
    words: str,
    unheard: str,
) -> None:
    await book.start(300, "tè", language)
    async with ringing() as ringer:
        await clock.run(300 + GIVE_UP_S + 2 * PAUSE_S)
        assert set(talker.said) == {words}
        ringer.heard()
        await clock.settle()
    assert unheard in talker.said[-1]
    assert set(talker.languages) == {own}


async def test_one_that_comes_due_while_another_rings_joins_it(
    ringing: Ringing, book: TimerBook, pasta: TimerRecord, talker: Talker, clock: VirtualClock
) -> None:
    await book.start(310, "eggs", "en")
    async with ringing():
        await clock.run(310 + PAUSE_S)
        assert talker.said == [PASTA, EGGS]


async def test_it_never_sounds_while_somebody_speaks(
    ringing: Ringing, pasta: TimerRecord, talker: Talker, clock: VirtualClock, shelf: Shelf
) -> None:
    async with ringing() as ringer:
        talker.free.clear()
        await clock.run(320)
        assert (talker.tones, ringer.ringing) == ([], False)
        ringer.heard()  # the turn began before the ringing, so it is not a reaction to it
        await clock.run(1)
        talker.free.set()
        await clock.settle()
        assert (talker.said, shelf.ended) == ([PASTA], {})


async def test_a_turn_may_still_give_more_time_to_what_it_has_silenced(
    ringing: Ringing,
    book: TimerBook,
    pasta: TimerRecord,
    talker: Talker,
    clock: VirtualClock,
    shelf: Shelf,
) -> None:
    async with ringing() as ringer:
        await clock.run(301)
        talker.free.clear()  # the wake word
        ringer.heard()
        await clock.run(5)
        (timer,) = await book.all()
        await book.add(timer, 60)
        talker.free.set()
        await clock.run(59)
        assert (shelf.ended, talker.said) == ({}, [PASTA])
        await clock.run(1)
        assert talker.said == [PASTA, PASTA]


async def test_nobody_comes_and_it_is_told_once_later(
    ringing: Ringing, pasta: TimerRecord, talker: Talker, clock: VirtualClock, shelf: Shelf
) -> None:
    async with ringing() as ringer:
        await clock.run(300 + GIVE_UP_S + PAUSE_S)
        assert (ringer.ringing, shelf.ended) == (False, {pasta.id: "acknowledged"})
        rung = len(talker.tones)
        await clock.run(HOUR)
        assert len(talker.tones) == rung
    talker.said.clear()
    async with ringing() as ringer:  # a restart forgets nothing
        talker.free.clear()  # somebody says the wake word
        ringer.heard()
        await clock.settle()
        assert talker.said == []
        talker.free.set()
        await clock.settle()
        assert talker.said == [UNHEARD]
        assert not talker.alarms[-1], "nobody is to be woken by it"
        ringer.heard()
        await clock.settle()
        assert talker.said == [UNHEARD]


async def test_what_another_process_does_is_seen_within_a_second(
    ringing: Ringing, book: TimerBook, talker: Talker, clock: VirtualClock
) -> None:
    async with ringing() as ringer:
        await clock.run(100)
        timer = await book.start(5, "eggs", "en")
        await clock.run(5)
        assert talker.said == [EGGS]
        assert await book.end(timer)  # as "hearth ask stop the timer" does
        await clock.run(LOOK_S)
        assert not ringer.ringing
        rung = len(talker.tones)
        await clock.run(60)
        assert len(talker.tones) == rung


async def test_the_store_is_read_only_where_something_was_written(
    ringing: Ringing, clock: VirtualClock, shelf: Shelf
) -> None:
    async with ringing():
        await clock.run(10 * READ_S)
        assert shelf.reads <= 12


async def test_cancelled_and_paused_ones_are_silent(
    ringing: Ringing, book: TimerBook, pasta: TimerRecord, talker: Talker, clock: VirtualClock
) -> None:
    eggs = await book.start(300, "eggs", "en")
    async with ringing():
        await clock.run(100)
        await book.end(pasta)
        paused = await book.pause(eggs)
        await clock.run(HOUR)
        assert talker.said == []
        assert paused is not None
        await book.resume(paused)
        await clock.run(199)
        assert talker.said == []
        await clock.run(2)
        assert talker.said == [EGGS]


@pytest.mark.parametrize("hours", [-3, 3])
async def test_a_clock_that_is_set_does_not_move_what_runs(
    ringing: Ringing, book: TimerBook, talker: Talker, clock: VirtualClock, shelf: Shelf, hours: int
) -> None:
    async with ringing():
        await clock.run(10)
        timer = await book.start(300, "pasta", "en")
        await clock.run(100)
        clock.set_ahead(hours * HOUR)
        await clock.run(199)
        assert talker.said == []
        left_s = (shelf.rows[timer.id].due - clock.now()).total_seconds()
        assert left_s == pytest.approx(1)
        await clock.run(2)
        assert talker.said == [PASTA]


async def test_a_box_without_a_clock_of_its_own_learns_that_it_was_due(
    ringing: Ringing, pasta: TimerRecord, talker: Talker, clock: VirtualClock
) -> None:
    clock.set_ahead(-8 * HOUR)  # as after a power cut
    async with ringing():
        await clock.run(100)
        assert talker.said == []
        clock.set_ahead(10 * HOUR)  # the network time arrives
        await clock.run(LOOK_S)
        assert talker.said == [LATE]


async def test_a_store_that_fails_is_told_once_and_silences_nothing(
    ringing: Ringing,
    pasta: TimerRecord,
    talker: Talker,
    clock: VirtualClock,
    shelf: Shelf,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with ringing() as ringer:
        shelf.broken = True
        with caplog.at_level(logging.ERROR):
            await clock.run(310)
            assert talker.said == [PASTA]
            ringer.heard()
            await clock.run(60)
        assert [record.message for record in caplog.records] == [
            "timers cannot be read or saved: The disk is full."
        ]
        assert (ringer.ringing, shelf.ended) == (False, {})
        shelf.broken = False
        await clock.run(READ_S)
        assert shelf.ended == {pasta.id: "acknowledged"}
        assert talker.said == [PASTA]


async def test_without_a_loudspeaker_the_words_are_tried_all_the_same(
    ringing: Ringing,
    pasta: TimerRecord,
    talker: Talker,
    clock: VirtualClock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    talker.deaf = True
    async with ringing():
        await clock.run(320)
        assert talker.said == [PASTA]
    assert [record.message for record in caplog.records] == [
        "the timer sound could not be played: There is no loudspeaker."
    ]


async def test_a_loudspeaker_that_comes_back_while_it_rings_brings_the_words_at_once(
    ringing: Ringing, pasta: TimerRecord, talker: Talker, clock: VirtualClock
) -> None:
    talker.deaf = True
    async with ringing() as ringer:
        await clock.run(310)
        assert (talker.tones, ringer.ringing) == ([], True)
        talker.said.clear()  # there was no loudspeaker
        talker.deaf = False
        await clock.run(PAUSE_S)
        assert (len(talker.tones), talker.said) == (1, [PASTA])
        await clock.run(PAUSE_S)
        assert (len(talker.tones), talker.said) == (2, [PASTA])


async def test_outside_of_its_context_nothing_is_begun(
    ringing: Ringing, pasta: TimerRecord, talker: Talker, clock: VirtualClock, shelf: Shelf
) -> None:
    async with ringing() as ringer:
        await clock.run(301)
    ringer.heard()
    await clock.run(60)
    assert (talker.hushed, talker.said) == (0, [PASTA])
    assert (shelf.ended, set(shelf.rows)) == ({}, {pasta.id}), "the next process rings on"


async def test_with_the_real_store_and_two_processes(
    tmp_path: Path, talker: Talker, clock: VirtualClock
) -> None:
    async with (
        Store(tmp_path / "hearth.db", clock) as ours,
        Store(tmp_path / "hearth.db", clock) as theirs,
        a_keeper(ours, talker, talker.ring, clock) as ringer,
    ):
        await _until(clock, lambda: clock.since_boot() > 3)
        book = TimerBook(theirs, clock, an_almanac(theirs))
        timer = await book.start(20, "pasta", "en")
        await _until(clock, lambda: talker.said == [PASTA])
        assert clock.now() >= timer.due
        ringer.heard()
        await _until(clock, lambda: not ringer.ringing)
        async with asyncio.timeout(20):
            while await theirs.timers():
                await clock.run(0.5)


async def _until(clock: VirtualClock, condition: Callable[[], bool]) -> None:
    """Let time pass in small steps, so that the store's thread keeps up."""
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.to_thread(lambda: None)
            await clock.run(0.25)
