"""Tests of a room's players during a turn, in a real house with Home Assistant's demo players."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from assistant.config.sound import Media
from assistant.conversation.rules.state import State
from assistant.domain.clock import SystemClock
from assistant.journal.store import Store
from assistant.sound.media import NAME, RoomMedia
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.services import Services
from tests.fakes.sound import standing
from tests.home_assistant.admin import Admin
from tests.home_assistant.conftest import Address, Power, real_only

pytestmark = real_only

# Home Assistant's demo players cannot be put into a room, so what stands there is one that plays by
# the walkman, and a group of two. The kitchen's is in no room and in no group.
RADIO, FILM, CLOCK = "media_player.walkman", "media_player.living_room", "media_player.bedroom"
FAR = "media_player.kitchen"
ROOMS = {"english": "Office", "spanish": "Despacho"}  # in which the walkman's stands
GROUP = "Wide sound"
VOLUMES = {RADIO: 0.83, FILM: 0.6, CLOCK: 0.9, FAR: 0.7}
LOWERED = {RADIO: 0.25, FILM: 0.18, CLOCK: 0.27}
LIMIT_S, STEP_S = 10.0, 0.01


@pytest.fixture
def room(house: Address) -> str:
    if house.kind not in ROOMS:
        pytest.skip("needs the rooms of a house of ours")
    return ROOMS[house.kind]


Make = Callable[..., RoomMedia]


@pytest.fixture
def media_of(home: HomeAssistant, store: Store, room: str) -> Make:
    def make(**settings: Any) -> RoomMedia:
        clock = SystemClock()
        return RoomMedia(home, Services(home), store, clock, Media(**settings), room)

    return make


@pytest.fixture
async def players(admin: Admin, room: str) -> AsyncIterator[None]:
    """Let three play in the room, one elsewhere; they are as loud as in the demo afterwards."""
    entry_id = await group_of(admin, FILM, CLOCK)
    areas = {row["name"]: row["area_id"] for row in await admin.ask("config/area_registry/list")}
    await admin.ask(
        "config/entity_registry/update", entity_id="media_player.wide_sound", area_id=areas[room]
    )
    for entity_id, volume in VOLUMES.items():
        await admin.call("media_player.turn_on", entity_id=entity_id)
        # Another test may have left it without sound: then there is nothing to lower.
        await admin.call("media_player.volume_mute", entity_id=entity_id, is_volume_muted=False)
        await admin.call("media_player.volume_set", entity_id=entity_id, volume_level=volume)
    assert await admin.settles("media_player.wide_sound", "playing") == "playing"
    yield
    await admin.delete(f"/api/config/config_entries/entry/{entry_id}")
    for entity_id in VOLUMES:
        await admin.call("media_player.turn_on", entity_id=entity_id)
        await admin.call("media_player.volume_set", entity_id=entity_id, volume_level=1.0)


async def group_of(admin: Admin, *members: str) -> str:
    """Return the entry of a group, made as its page makes it."""
    flow = await admin.post("/api/config/config_entries/flow", {"handler": "group"})
    step = f"/api/config/config_entries/flow/{flow['flow_id']}"
    await admin.post(step, {"next_step_id": "media_player"})
    made = await admin.post(step, {"name": GROUP, "entities": members, "hide_members": False})
    return str(made["result"]["entry_id"])


@pytest.fixture
async def home(house: Address, players: None) -> AsyncIterator[HomeAssistant]:
    async with HomeAssistant(house.url, house.token) as home:
        assert home.connected
        yield home


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with Store(tmp_path / "hearth.db", SystemClock()) as store:
        yield store


async def volumes(admin: Admin) -> dict[str, float]:
    return {name: await admin.attribute(name, "volume_level") for name in VOLUMES}


async def until(condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not await condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(STEP_S)


async def become(admin: Admin, *changes: dict[str, float]) -> None:
    """Wait until they are as loud as at first, except for these."""
    wanted = dict(VOLUMES)
    for change in changes:
        wanted |= change

    async def so() -> bool:
        return await volumes(admin) == wanted

    await until(so)


async def test_lowered_and_put_back_exactly(media_of: Make, store: Store, admin: Admin) -> None:
    async with media_of() as media:
        began = time.monotonic()
        media.stand(standing(State.WAKING))
        await become(admin, LOWERED)
        print(f"seen lowered {1000 * (time.monotonic() - began):.0f} ms after the wake")
        media.stand(standing(State.LISTENING))
        media.stand(standing(State.THINKING))
        await become(admin)
        media.stand(standing(State.SPEAKING))
        await become(admin, LOWERED)
        assert await store.kept(NAME)
        media.stand(standing(State.IDLE))
        await become(admin)
        await until(lambda: _nothing_kept(store))
        assert media.plays


async def test_what_somebody_sets_meanwhile_stays(
    media_of: Make, home: HomeAssistant, store: Store, admin: Admin
) -> None:
    async with media_of() as media:
        media.stand(standing(State.WAKING))
        await become(admin, LOWERED)
        await admin.call("media_player.volume_set", entity_id=RADIO, volume_level=0.5)
        await home.wait_for([RADIO], _shows(RADIO, 0.5), LIMIT_S)
        media.stand(standing(State.IDLE))
        await become(admin, {RADIO: 0.5})
        await until(lambda: _nothing_kept(store))
    await become(admin, {RADIO: 0.5})


async def test_paused_and_played_on(
    media_of: Make, home: HomeAssistant, store: Store, admin: Admin
) -> None:
    async with media_of(during_turn="pause") as media:
        media.stand(standing(State.WAKING))
        assert await admin.settles(RADIO, "paused") == "paused"
        assert await admin.settles(FILM, "paused") == "paused"
        assert await admin.state(FAR) == "playing"
        await admin.call("media_player.turn_off", entity_id=FILM)
        await home.wait_for([FILM], lambda house: house.entities[FILM].state == "off", LIMIT_S)
        media.stand(standing(State.IDLE))
        assert await admin.settles(RADIO, "playing") == "playing"
        await until(lambda: _nothing_kept(store))
    assert await admin.state(FILM) == "off"
    await become_volume(admin, RADIO, 0.83)


async def test_one_that_was_switched_off_comes_back_as_loud_as_it_was(
    media_of: Make, home: HomeAssistant, store: Store, admin: Admin
) -> None:
    async with media_of() as media:
        media.stand(standing(State.WAKING))
        await become(admin, LOWERED)
        await admin.call("media_player.turn_off", entity_id=FILM)
        await home.wait_for([FILM], lambda house: house.entities[FILM].state == "off", LIMIT_S)
        media.stand(standing(State.IDLE))
        await become_volume(admin, RADIO, 0.83)
        await admin.call("media_player.turn_on", entity_id=FILM)
        await become(admin)


async def test_the_next_process_puts_back(media_of: Make, store: Store, admin: Admin) -> None:
    """The first one dies suddenly: it may not even leave its context."""
    first = media_of()
    task = asyncio.create_task(first._follow())  # what its context would end in good order
    first.stand(standing(State.WAKING))
    await become(admin, LOWERED)
    task.cancel()
    await asyncio.wait([task])
    async with media_of():
        await become(admin)


async def test_a_house_that_goes_away_in_the_middle(
    media_of: Make, store: Store, admin: Admin, power: Power
) -> None:
    """Its demo players start again at their first volume: they are not ours any more."""
    async with media_of() as media:
        media.stand(standing(State.WAKING))
        await become(admin, LOWERED)
        await power.off()
        media.stand(standing(State.IDLE))
        media.stand(standing(State.WAKING))
        media.stand(standing(State.IDLE))
        await power.on()
        await until(lambda: _nothing_kept(store))
        assert await admin.attribute(RADIO, "volume_level") == 1.0


async def become_volume(admin: Admin, entity_id: str, volume: float) -> None:
    async def so() -> bool:
        return bool(await admin.attribute(entity_id, "volume_level") == volume)

    await until(so)


def _shows(entity_id: str, volume: float) -> Callable[[Any], bool]:
    return lambda house: house.entities[entity_id].attributes.get("volume_level") == volume


async def _nothing_kept(store: Store) -> bool:
    return await store.kept(NAME) is None
