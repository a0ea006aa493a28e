"""Tests of what programs may set, see and end."""

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from assistant.domain.clock import VirtualClock
from assistant.domain.records import TimerRecord
from assistant.timers.book import MOST, ProgramTimers, TimerBook, Wanted, Which, choose
from assistant.timers.service import TimerService
from integrations.web.box import NotKept, NotPossible
from integrations.web.requests import TimerRequest
from tests.unit.assistant.timers.conftest import Room, Shelf, a_keeper, an_almanac

MADRID = ZoneInfo("Europe/Madrid")
WEEKDAYS = ["mon", "tue", "wed", "thu", "fri"]


class Desk:
    """A desk with its keeper, which only runs if the test runs it."""

    def __init__(self, shelf: Shelf, keeper: TimerService, clock: VirtualClock) -> None:
        almanac = an_almanac(shelf, MADRID)
        self.book = TimerBook(shelf, clock, almanac)
        self.desk = ProgramTimers(self.book, keeper, almanac, clock, lambda text: "es")

    async def set(self, **wanted: Any) -> dict[str, Any]:
        return await self.desk.set(TimerRequest.model_validate(wanted), "mqtt")


@pytest.fixture
def desk(shelf: Shelf, room: Room, clock: VirtualClock) -> Desk:
    return Desk(shelf, a_keeper(shelf, room.talker, room.talker.ring, clock), clock)


async def test_a_row_tells_all(desk: Desk) -> None:
    row = await desk.set(seconds=600, name="pasta", language="en")
    assert await desk.desk.rows() == [row]
    assert row == {
        "id": row["id"],
        "kind": "timer",
        "name": "pasta",
        "text": "",
        "due": "2026-01-01T13:10:00+01:00",
        "set_for_s": 600,
        "left_s": 600,
        "state": "runs",
        "repeat": None,
        "caller": "mqtt",
    }


@pytest.mark.parametrize(
    ("wanted", "due", "repeat"),
    [
        ({"kind": "alarm", "at": "07:30"}, "2026-01-02T07:30", None),
        (
            {"kind": "alarm", "at": "07:30", "repeat": {"weekdays": WEEKDAYS}},
            "2026-01-02T07:30",
            {"weekdays": WEEKDAYS, "dates": []},
        ),
        (
            {"kind": "alarm", "at": "13:30", "repeat": {}},
            "2026-01-01T13:30",
            {"weekdays": [*WEEKDAYS, "sat", "sun"], "dates": []},
        ),
        ({"kind": "alarm", "at": "2026-07-01T07:30"}, "2026-07-01T07:30", None),
        ({"kind": "alarm", "at": "2026-07-01T07:30:00Z"}, "2026-07-01T09:30", None),
        ({"kind": "reminder", "seconds": 60, "text": "call Ana."}, "2026-01-01T13:01", None),
        ({"kind": "request", "at": "08:00", "text": "the weather"}, "2026-01-02T08:00", None),
    ],
)
async def test_when_it_comes(desk: Desk, wanted: Any, due: str, repeat: Any) -> None:
    row = await desk.set(**wanted)
    assert (row["due"][:16], row["repeat"]) == (due, repeat)
    (timer,) = await desk.book.all()
    assert (timer.language, timer.text) == ("es", wanted.get("text", "").rstrip("."))


@pytest.mark.parametrize(
    "wanted",
    [
        {},
        {"seconds": 5, "at": "07:00"},
        {"kind": "timer", "at": "07:00"},
        {"kind": "alarm", "at": "25:00"},
        {"kind": "alarm", "at": "seven"},
        {"kind": "alarm", "at": "2026-13-01T07:00"},
        {"kind": "alarm", "at": "2025-07-01T07:30"},
        {"kind": "alarm", "at": "07:00", "repeat": {"dates": ["2026-02-30"]}},
        {"kind": "alarm", "sun": "sunset"},
        {"kind": "reminder", "seconds": 5},
        {"kind": "request", "seconds": 5, "text": " . "},
        {"kind": "alarm", "seconds": 5, "repeat": {}},
    ],
)
async def test_what_is_not_possible(desk: Desk, wanted: Any) -> None:
    with pytest.raises(NotPossible):
        await desk.set(**wanted)
    assert await desk.desk.rows() == []


async def test_not_without_end(desk: Desk) -> None:
    for _ in range(MOST):
        await desk.set(seconds=60)
    with pytest.raises(NotPossible, match="too many"):
        await desk.set(seconds=60)


async def test_end(desk: Desk, shelf: Shelf) -> None:
    row = await desk.set(seconds=600)
    assert await desk.desk.end(row["id"]) is True
    assert await desk.desk.end(row["id"]) is False
    assert await desk.desk.end("none") is False


async def test_a_ringing_timer_rings_again_later(desk: Desk, clock: VirtualClock) -> None:
    row = await desk.set(seconds=60, name="eggs")
    with pytest.raises(NotPossible, match="isn't ringing"):
        await desk.desk.snooze(row["id"], 300)
    await clock.run(61)
    later = await desk.desk.snooze(row["id"], 300)
    assert later is not None
    assert (later["id"], later["state"], later["left_s"]) == (row["id"], "runs", 300)
    assert await desk.desk.rows() == [later]
    assert await desk.desk.snooze("none", 300) is None


async def test_a_disk_that_fails(desk: Desk, shelf: Shelf) -> None:
    shelf.broken = True
    with pytest.raises(NotKept):
        await desk.set(seconds=600)
    with pytest.raises(NotKept):
        await desk.desk.rows()
    with pytest.raises(NotKept):
        await desk.desk.end("x")
    with pytest.raises(NotKept):
        await desk.desk.snooze("x", 300)


async def test_the_next_one_and_how_many(room: Room) -> None:
    looks: list[tuple[datetime | None, int]] = []
    async with room.keeping() as keeper:
        desk = Desk(room.shelf, keeper, room.clock)
        leave = desk.desk.follow(lambda: looks.append(desk.desk.next()))
        assert desk.desk.next() == (None, 0)
        eggs = await desk.book.start(60, "eggs", "en")
        await room.clock.run(1)
        pasta = await desk.book.start(30, "pasta", "en")
        await desk.book.set(Wanted("request", 10, text="what rings?"))
        await room.clock.run(1)
        assert looks[-1] == (pasta.due, 2)
        await desk.book.pause(eggs)
        await room.clock.run(31)
        assert looks[-1] == desk.desk.next() == (None, 2)  # one rings, one is paused
        leave()
    assert pasta.due.tzinfo is UTC


# The timer that a person means.


NOW = VirtualClock().now()
TIMERS = [
    TimerRecord("1", NOW, 600, NOW, "Pasta"),
    TimerRecord("2", NOW, 300, NOW, "soft eggs"),
    TimerRecord("3", NOW, 300, NOW),
    TimerRecord("4", NOW, 900, NOW, "パン"),
    TimerRecord("5", NOW, 900, NOW, "Käse"),
    TimerRecord("6", NOW, 60, NOW, "steak"),
]


@pytest.mark.parametrize(
    ("which", "ids"),
    [
        (Which(), "123456"),
        (Which("pasta"), "1"),
        (Which("the PASTA"), "1"),
        (Which("egg"), "2"),
        (Which("パン"), "4"),
        (Which("KÄSE"), "5"),
        (Which("tea"), ""),
        (Which("3"), "3"),
        (Which("bread"), ""),
        (Which("!"), ""),
        (Which(duration_s=300), "23"),
        (Which(duration_s=301), ""),
        (Which("eggs", 300), "2"),
        (Which("pasta", 300), ""),
    ],
)
def test_by_name_and_length(which: Which, ids: str) -> None:
    assert "".join(timer.id for timer in choose(TIMERS, which, UTC)) == ids


def test_the_whole_name_counts_before_words_of_it() -> None:
    both = [TimerRecord("1", NOW, 60, NOW, "rice pudding"), TimerRecord("2", NOW, 60, NOW, "Rice")]
    assert [timer.id for timer in choose(both, Which("rice"), UTC)] == ["2"]
    assert [timer.id for timer in choose(both, Which("the rice"), UTC)] == ["2"]


AT_SEVEN = NOW.replace(hour=7) + timedelta(days=1)
MIXED = [
    TIMERS[0],
    TimerRecord("a", AT_SEVEN, 0, NOW, kind="alarm"),
    TimerRecord("b", NOW, 0, NOW, "gym", kind="alarm"),
    TimerRecord("r", NOW, 0, NOW, kind="reminder", text="call Ana about the pasta"),
    replace(TIMERS[1], id="c", kind="command", text="turn off the lights", name=""),
]


@pytest.mark.parametrize(
    ("which", "ids"),
    [
        (Which(kind="alarm"), "ab"),
        (Which(kind="alarm", at=time(7)), "a"),
        (Which(at=time(7)), "a"),
        (Which("gym"), "b"),
        (Which("call Ana"), "r"),
        (Which("pasta"), "1"),  # a name takes precedence over words of a text
        (Which("the lights", kind="command"), "c"),
        (Which("the lights", kind="alarm"), ""),
        (Which(kind="request"), ""),
    ],
)
def test_by_kind_time_and_words(which: Which, ids: str) -> None:
    assert "".join(timer.id for timer in choose(MIXED, which, UTC)) == ids
