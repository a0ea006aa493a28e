"""Tests that the room's players are lowered for a turn and restored afterwards."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from assistant.config.sound import Media
from assistant.conversation.rules.state import State
from assistant.domain.clock import VirtualClock
from assistant.sound.media import KEEP, NAME, RoomMedia
from integrations.errors import Refused, Unavailable
from integrations.home_assistant.house import Area, House
from integrations.home_assistant.reasons import Unanswered
from integrations.home_assistant.services import Services
from tests.fakes.home import StillHome
from tests.fakes.small_values import FakeValues
from tests.fakes.sound import standing
from tests.unit.assistant.sound.test_media_players import player

RADIO = "media_player.radio"


class Shelf(FakeValues):
    """Counts the writes."""

    def __init__(self) -> None:
        super().__init__()
        self.writes = 0

    async def keep(self, name: str, value: Any) -> None:
        await super().keep(name, value)
        self.writes += 1

    async def drop_kept(self, name: str) -> None:
        await super().drop_kept(name)
        self.writes += 1


class Room(StillHome):
    """A house with one room; an action that it does not know fails the test."""

    def __init__(self, *players: Any) -> None:
        area = Area("kitchen", "Kitchen", aliases=("Galley",))
        super().__init__(House({}, {"kitchen": area}, {one.entity_id: one for one in players}))
        self.done: list[str] = []
        self.slow = False  # does what is asked, but does not report it
        self.error: Exception | None = None  # of every action
        self.hangs = False
        self.shelf = Shelf()
        self.clock = VirtualClock()

    def write(self, entity_id: str, state: str | None = None, /, **attributes: Any) -> None:
        old = self.house.entities[entity_id]
        now = replace(old, state=state or old.state, attributes={**old.attributes, **attributes})
        self.house = replace(self.house, entities={**self.house.entities, entity_id: now})

    @property
    def lowered(self) -> Any:
        """Return the stored entry of lowered players."""
        return self.shelf.values.get(NAME)

    def volume(self, entity_id: str = RADIO) -> Any:
        return self.house.entities[entity_id].attributes["volume_level"]

    async def command(self, kind: str, **fields: Any) -> None:
        assert (kind, fields["domain"]) == ("call_service", "media_player")
        (entity_id,) = fields["target"]["entity_id"]
        service, data = fields["service"], fields.get("service_data", {})
        if service in ("media_pause", "volume_set") and self.shelf.writable:
            assert self.lowered is not None  # whatever happens now is known
        if self.hangs:
            await asyncio.Event().wait()
        if self.error is not None:
            raise self.error
        self.done.append(" ".join([service, entity_id, *map(str, data.values())]))
        if self.slow:
            return
        match service:
            case "volume_set":
                self.write(entity_id, volume_level=data["volume_level"])
            case "media_pause":
                self.write(entity_id, "paused")
            case _:
                assert service == "media_play"
                self.write(entity_id, "playing")


class Turn:
    """A box in that room."""

    def __init__(self, media: RoomMedia, room: Room) -> None:
        self.media, self.room = media, room

    async def __call__(self, *states: State) -> None:
        for state in states:
            self.media.stand(standing(state))
        await self.room.clock.settle()

    async def later(self, seconds: float = 3.0) -> None:
        await self.room.clock.run(seconds)


@pytest.fixture
def room() -> Room:
    return Room(player("radio"), player("far", area="bedroom"))


@asynccontextmanager
async def at_work(room: Room, area: str = "Galley", **settings: Any) -> AsyncIterator[Turn]:
    kept = room.shelf, room.clock
    async with RoomMedia(room, Services(room), *kept, Media(**settings), area) as media:
        await room.clock.settle()
        yield Turn(media, room)


@pytest.fixture
async def turn(room: Room) -> AsyncIterator[Turn]:
    async with at_work(room) as turn:
        yield turn


async def test_lowered_at_the_wake_and_put_back_at_its_end(turn: Turn, room: Room) -> None:
    await turn(State.WAKING)
    assert room.done == [f"volume_set {RADIO} 0.24"]
    await turn(State.LISTENING)
    await turn.later(10.0)
    assert len(room.done) == 1
    await turn(State.THINKING)
    assert room.volume() == 0.8
    await turn.later()
    assert room.lowered is None
    assert len(room.done) == 2


async def test_lowered_again_while_we_speak_and_are_answered(turn: Turn, room: Room) -> None:
    await turn(State.WAKING)
    await turn(State.THINKING)
    room.write(RADIO, volume_level=0.9)  # "louder"
    await turn.later()
    await turn(State.SPEAKING)
    assert room.volume() == 0.27
    await turn(State.FOLLOW_UP)
    await turn(State.LISTENING)
    assert room.volume() == 0.27
    await turn(State.IDLE)
    assert room.volume() == 0.9


@pytest.mark.parametrize("state", [State.THINKING, State.IDLE, State.FAULT])
async def test_nobody_speaks(turn: Turn, room: Room, state: State) -> None:
    await turn(state)
    await turn.later()
    assert room.done == []
    assert turn.media.plays


async def test_paused_instead(room: Room) -> None:
    async with at_work(room, during_turn="pause") as turn:
        await turn(State.WAKING)
        await turn.later()
        assert not turn.media.plays
        await turn(State.THINKING)
        await turn.later()
    assert room.done == [f"media_pause {RADIO}", f"media_play {RADIO}"]
    assert room.volume() == 0.8


async def test_left_alone(room: Room) -> None:
    async with at_work(room, during_turn="leave") as turn:
        await turn(State.WAKING)
        await turn.later()
        assert turn.media.plays
    assert room.done == []


@pytest.mark.parametrize("area", ["", "Moon"])
async def test_without_a_room(room: Room, area: str) -> None:
    async with at_work(room, area=area) as turn:
        await turn(State.WAKING)
        assert not turn.media.plays
    assert room.done == []


async def test_what_somebody_sets_meanwhile_is_theirs(turn: Turn, room: Room) -> None:
    await turn(State.WAKING)
    room.write(RADIO, volume_level=0.5)
    await turn(State.THINKING)
    await turn.later()
    assert room.volume() == 0.5
    assert len(room.done) == 1
    assert room.lowered is None


async def test_what_somebody_plays_on_is_theirs(room: Room) -> None:
    async with at_work(room, during_turn="pause") as turn:
        await turn(State.WAKING)
        await turn.later()
        room.write(RADIO, "idle")
        await turn(State.THINKING)
        await turn.later()
    assert room.done == [f"media_pause {RADIO}"]


async def test_several_wakes_in_a_row_lower_once_and_restore_exactly(
    turn: Turn, room: Room
) -> None:
    room.write(RADIO, volume_level=0.8123)
    for _ in range(5):
        await turn(State.WAKING, State.IDLE, State.WAKING)
        await turn(State.IDLE)
    await turn.later()
    assert room.volume() == 0.8123
    assert set(room.done) == {
        f"volume_set {RADIO} 0.24",
        f"volume_set {RADIO} 0.8123",
    }


async def test_a_wake_while_it_is_being_put_back(turn: Turn, room: Room) -> None:
    """The picture is late: the base is the first volume, not the one that is shown now."""
    await turn(State.WAKING)
    await turn.later(0.5)
    room.slow = True
    await turn(State.IDLE)
    await turn(State.WAKING)
    await turn(State.IDLE)
    assert room.done == [
        f"volume_set {RADIO} 0.24",
        f"volume_set {RADIO} 0.8",
        f"volume_set {RADIO} 0.24",
        f"volume_set {RADIO} 0.8",
    ]
    room.write(RADIO, volume_level=0.8)
    await turn.later()
    assert len(room.done) == 4


async def test_a_turn_that_ends_before_the_player_shows_anything(turn: Turn, room: Room) -> None:
    room.slow = True
    await turn(State.WAKING)
    await turn(State.IDLE)
    assert room.done == [f"volume_set {RADIO} 0.24", f"volume_set {RADIO} 0.8"]


async def test_one_that_does_not_come_back_is_asked_three_times(
    turn: Turn, room: Room, caplog: pytest.LogCaptureFixture
) -> None:
    await turn(State.WAKING)
    await turn.later()
    room.slow = True
    await turn(State.IDLE)
    await turn.later(20.0)
    assert room.done[1:] == [f"volume_set {RADIO} 0.8"] * 3
    assert room.lowered is None
    assert "set it by hand" in caplog.text


async def test_one_that_goes_off_is_put_back_when_it_comes_again(turn: Turn, room: Room) -> None:
    await turn(State.WAKING)
    await turn.later(0.5)
    room.write(RADIO, "off", volume_level=None)
    await turn(State.THINKING)
    await turn.later(600.0)
    assert len(room.done) == 1
    assert room.lowered is not None
    room.write(RADIO, "playing", volume_level=0.24)
    await turn.later()
    assert room.volume() == 0.8
    assert room.lowered is None


async def test_one_that_stays_off_is_forgotten_after_a_day(turn: Turn, room: Room) -> None:
    await turn(State.WAKING)
    room.write(RADIO, "off", volume_level=None)
    await turn(State.IDLE)
    room.clock.set_ahead(KEEP.total_seconds() + 1)
    await turn.later()
    assert room.lowered is None
    assert len(room.done) == 1


async def test_home_assistant_is_away(turn: Turn, room: Room) -> None:
    room.connected = False
    await turn.later(1.5)
    assert not turn.media.plays
    await turn(State.WAKING)
    await turn(State.IDLE)
    await turn.later()
    assert room.done == []
    room.connected = True
    await turn(State.WAKING)
    assert room.volume() == 0.24
    room.connected = False
    await turn(State.IDLE)
    await turn.later(60.0)
    assert len(room.done) == 1
    room.connected = True
    await turn.later()
    assert room.volume() == 0.8


@pytest.mark.parametrize(
    ("error", "kept"),
    [
        (Refused("no"), False),
        (Unavailable("gone"), False),
        (Unanswered("late", timed_out=True), True),
    ],
)
async def test_a_player_that_was_not_lowered(
    turn: Turn, room: Room, error: Exception, kept: bool
) -> None:
    room.error = error
    await turn(State.WAKING)
    room.error = None
    await turn(State.IDLE)
    await turn.later()
    assert room.done == ([f"volume_set {RADIO} 0.8"] if kept else [])
    assert room.lowered is None


async def test_a_house_that_hangs_holds_up_nobody(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with at_work(room) as turn:
        room.hangs = True
        monkeypatch.setattr(
            "assistant.sound.media.CALL_S", 30.0
        )  # real time; a busy machine is slow
        await turn(State.WAKING)
        await turn(State.IDLE)
        monkeypatch.setattr("assistant.sound.media.CALL_S", 0.01)  # for the end alone
    assert room.done == []
    assert room.lowered is not None  # it may have been done: the next process looks


async def test_the_next_process_puts_back_what_a_dead_one_left(room: Room) -> None:
    room.shelf.values[NAME] = [
        {"entity_id": RADIO, "was": 0.8, "put": 0.24, "since": room.clock.now().isoformat()},
        {
            "entity_id": "media_player.far",
            "was": 0.9,
            "put": 0.1,
            "since": room.clock.now().isoformat(),
        },
        {"entity_id": "media_player.odd"},
    ]
    room.write(RADIO, volume_level=0.24)
    async with at_work(room) as turn:
        await turn.later()
    assert room.done == [f"volume_set {RADIO} 0.8"]  # the other one was set by somebody
    assert room.lowered is None


async def test_leaving_in_the_middle_of_a_turn_puts_back(room: Room) -> None:
    async with at_work(room) as turn:
        await turn(State.LISTENING)
        assert room.volume() == 0.24
    assert room.volume() == 0.8
    assert room.lowered is None


async def test_a_full_disk_is_no_reason_to_shout(room: Room) -> None:
    room.shelf.readable = room.shelf.writable = False
    async with at_work(room) as turn:
        await turn(State.WAKING)
        assert room.volume() == 0.24
        await turn(State.IDLE)
        assert room.volume() == 0.8


async def test_what_begins_to_play_during_the_turn_is_left(turn: Turn, room: Room) -> None:
    room.write(RADIO, "idle")
    await turn(State.WAKING)
    room.write(RADIO, "playing")
    await turn.later()
    assert room.done == []


async def test_what_a_player_made_of_it_is_written_down(turn: Turn, room: Room) -> None:
    await turn(State.WAKING)
    room.write(RADIO, volume_level=0.25)
    await turn.later(1.0)
    assert room.lowered[0]["put"] == 0.25
    assert room.shelf.writes == 2


async def test_whether_media_plays_is_told_at_each_change(room: Room) -> None:
    told: list[bool] = []
    kitchen = (room, Services(room), room.shelf, room.clock, Media(), "Kitchen")
    async with RoomMedia(*kitchen, on_plays=told.append) as media:
        for state in ("playing", "playing", "idle", "buffering", "off"):
            room.write(RADIO, state)
            await room.clock.run(1.1)
        assert not media.plays
    assert told == [True, False, True, False]
