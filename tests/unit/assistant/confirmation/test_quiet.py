"""Tests that nearby media is paused for a question, and resumed after it."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import pytest

from assistant.confirmation.witness import GRACE_S, WATCH_S, Quiet
from integrations.errors import Unavailable
from integrations.home_assistant.house import Entity, House
from tests.unit.assistant.tools.undo.doubles import FakeHome, thing

ABLE = 1 | 16384


def player(name: str, state: str = "playing", area: str = "kitchen", can: int = ABLE) -> Entity:
    return thing(f"media_player.{name}", state, area_id=area, supported_features=can)


class Room(FakeHome):
    """Pauses and resumes several players at once, unless the test sets otherwise."""

    hangs = False

    async def call(
        self,
        domain: str,
        service: str,
        data: Mapping[str, Any] | None = None,
        *,
        entities: Sequence[str] = (),
        answer: bool = False,
    ) -> None:
        if self.hangs:
            await asyncio.get_running_loop().create_future()
        self._request(f"{service} {' '.join(entities)}")
        for entity_id in entities:
            if entity_id not in self.stuck:
                self.write(entity_id, {"media_pause": "paused", "media_play": "playing"}[service])


class Watched(Room):
    """A house that can only be observed when the test lets it."""

    def __init__(self, *entities: Entity) -> None:
        super().__init__(*entities)
        self.looks = asyncio.Event()

    async def wait_for(
        self, entity_ids: Collection[str], predicate: Callable[[House], bool], timeout_s: float
    ) -> bool:
        while timeout_s == WATCH_S and not predicate(self.house):
            await self.looks.wait()
        return predicate(self.house)

    async def look(self) -> None:
        looks, self.looks = self.looks, asyncio.Event()
        looks.set()
        for _ in range(5):
            await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("area", "paused"),
    [
        ("kitchen", "media_player.radio media_player.tv"),
        ("bedroom", "media_player.clock"),
        ("", "media_player.radio media_player.tv media_player.clock media_player.nowhere"),
    ],
)
async def test_what_plays_in_the_room_is_paused(area: str, paused: str) -> None:
    room = Room(
        player("radio"),
        player("tv", "buffering"),
        player("idle", "idle"),
        player("clock", area="bedroom"),
        thing("media_player.nowhere", "playing", supported_features=ABLE),
        thing("light.lamp", "on", area_id="kitchen"),
    )
    hush = await Quiet(room, room).hush(area)
    assert hush.quiet
    await hush.resume()
    await hush.resume()
    assert room.done == [f"media_pause {paused}", f"media_play {paused}"]


async def test_a_silent_room_is_left_alone() -> None:
    room = Room(player("radio", "paused"), player("clock", area="bedroom"))
    hush = await Quiet(room, room).hush("kitchen")
    await hush.resume()
    assert hush.quiet
    assert room.done == []


async def test_one_that_cannot_be_paused() -> None:
    room = Room(player("radio"), player("tuner", can=16384))
    hush = await Quiet(room, room).hush("kitchen")
    assert not hush.quiet
    await hush.resume()
    assert room.done == ["media_pause media_player.radio", "media_play media_player.radio"]


async def test_one_that_plays_on() -> None:
    room = Room(player("radio"))
    room.stuck = {"media_player.radio"}
    hush = await Quiet(room, room).hush("kitchen")
    assert not hush.quiet
    await hush.resume()
    assert room.done == ["media_pause media_player.radio"]


@pytest.mark.parametrize("state", ["playing", "idle", "off"])
async def test_what_somebody_has_changed_meanwhile_stays_so(state: str) -> None:
    room = Room(player("radio"))
    hush = await Quiet(room, room).hush("kitchen")
    room.write("media_player.radio", state)
    await hush.resume()
    assert room.done == ["media_pause media_player.radio"]


async def test_a_house_that_hangs_does_not_hold_up_the_question(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("assistant.confirmation.witness.HUSH_S", 0.01)
    monkeypatch.setattr("assistant.confirmation.witness.RESUME_S", 0.01)
    room = Room(player("radio"))
    room.hangs = True
    hush = await Quiet(room, room).hush("kitchen")
    assert not hush.quiet
    room.write("media_player.radio", "paused")
    await hush.resume()


async def test_a_house_that_is_away() -> None:
    room = Room(player("radio"))
    room.away = True
    assert not (await Quiet(room, room).hush("kitchen")).quiet
    room.connected = False
    assert not (await Quiet(room, room).hush("kitchen")).quiet
    assert room.done == []


async def test_resuming_in_vain_is_no_error() -> None:
    room = Room(player("radio"))
    hush = await Quiet(room, room).hush("kitchen")
    room.away = True
    await hush.resume()
    with pytest.raises(Unavailable):
        await room.call("media_player", "media_play", entities=["media_player.radio"])


@pytest.mark.parametrize(
    ("entity_id", "quiet"), [("media_player.tv", False), ("media_player.clock", True)]
)
async def test_what_begins_while_the_answer_is_waited_for(entity_id: str, quiet: bool) -> None:
    room = Watched(player("radio"), player("tv", "idle"), player("clock", "idle", "bedroom"))
    hush = await Quiet(room, room).hush("kitchen")
    await room.look()
    assert hush.quiet
    room.write(entity_id, "playing")
    assert hush.quiet is quiet
    await room.look()
    room.write(entity_id, "idle")  # it ends before the answer
    assert hush.quiet is quiet
    await hush.resume()


async def test_a_house_that_goes_meanwhile_is_not_known_to_be_quiet() -> None:
    room = Room(player("radio", "paused"))
    hush = await Quiet(room, room).hush("kitchen")
    assert hush.quiet
    room.connected = False
    assert not hush.quiet
    await hush.resume()


class Late(Watched):
    """A house that shows late that the radio was asked to play before the question."""

    async def wait_for(
        self, entity_ids: Collection[str], predicate: Callable[[House], bool], timeout_s: float
    ) -> bool:
        if timeout_s == GRACE_S:
            self.write("media_player.radio", "playing")
            return predicate(self.house)
        return await super().wait_for(entity_ids, predicate, timeout_s)


@pytest.mark.parametrize("stuck", [False, True])
async def test_what_shows_late_that_it_plays_is_paused_too(stuck: bool) -> None:
    room = Late(player("radio", "paused"))
    room.stuck = {"media_player.radio"} if stuck else set()
    hush = await Quiet(room, room).hush("kitchen")
    await room.look()
    assert hush.quiet is not stuck
    await hush.resume()
    played = [] if stuck else ["media_play media_player.radio"]
    assert room.done == ["media_pause media_player.radio", *played]
