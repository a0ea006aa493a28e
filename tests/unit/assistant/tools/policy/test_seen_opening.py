"""Tests that observed openings are stored, and make an earlier rating void."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from assistant.domain.clock import VirtualClock
from assistant.domain.records import StoreError
from assistant.domain.tool_call import Tier
from assistant.journal.store import Store
from assistant.tools.house.intents import Action
from assistant.tools.policy.choices import RETRY_S, SeenOpening
from assistant.tools.policy.ratings import Ratings, may_open
from assistant.tools.policy.risk import weigh
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.house import Entity, House

HALL, LOCK = "switch.hall", frozenset({"lock.front"})


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
async def store(tmp_path: Path, clock: VirtualClock) -> AsyncIterator[Store]:
    async with Store(tmp_path / "hearth.db", clock) as opened:
        yield opened


def see(home: HomeAssistant, *, switch: str = HALL, context: str = "call") -> None:
    """Report a template switch that unlocks, as Home Assistant does."""
    for entity_id, states in {"lock.front": ("locked", "unlocked"), switch: ("off", "on")}.items():
        for number, state in enumerate(states):
            new = {
                "entity_id": entity_id,
                "state": state,
                "context": {"id": context if number else "before"},
            }
            home._on_state_changed({"data": {"entity_id": entity_id, "new_state": new}})


def home() -> HomeAssistant:
    return HomeAssistant("http://127.0.0.1:1", "token")


async def test_it_survives_a_restart(store: Store, clock: VirtualClock) -> None:
    async with SeenOpening(first := home(), store, Ratings(store), clock):
        see(first)
        assert first.house.seen_opening == {HALL: LOCK}
    async with SeenOpening(second := home(), store, Ratings(store), clock):
        assert second.house.seen_opening == {HALL: LOCK}


async def test_two_processes_add_to_each_other(store: Store, clock: VirtualClock) -> None:
    async with (
        SeenOpening(first := home(), store, Ratings(store), clock),
        SeenOpening(second := home(), store, Ratings(store), clock),
    ):
        see(first)
        see(second, switch="switch.other")
    assert await store.openings() == {HALL: LOCK, "switch.other": LOCK}


async def test_a_rating_from_before_is_void_and_a_later_one_counts(
    store: Store, clock: VirtualClock
) -> None:
    ratings = Ratings(store)
    before = {HALL: Tier.COMFORT, "switch.other": Tier.COMFORT, "switch.third": Tier.SECURE}
    await ratings.rate(before)
    async with SeenOpening(first := home(), store, ratings, clock):
        see(first)
        see(first, switch="switch.third", context="third")
    left = {"switch.other": Tier.COMFORT, "switch.third": Tier.SECURE}
    assert ratings.tiers == left
    assert weigh(HALL, Action.ON, {}, first.house, ratings.tiers).tier is Tier.SECURE
    await ratings.rate({HALL: Tier.COMFORT})
    async with SeenOpening(second := home(), store, ratings, clock):
        see(second)
    assert ratings.tiers == {**left, HALL: Tier.COMFORT}
    assert weigh(HALL, Action.ON, {}, second.house, ratings.tiers).tier is Tier.COMFORT


class SlowDisk(Store):
    """A store whose first write takes longer than the process lives."""

    def __init__(self, path: Path, clock: VirtualClock) -> None:
        super().__init__(path, clock)
        self.writing = asyncio.Event()

    async def add_openings(self, openings: Mapping[str, frozenset[str]]) -> None:
        if not self.writing.is_set():
            self.writing.set()
            await asyncio.Event().wait()
        await super().add_openings(openings)


async def test_a_write_that_the_end_of_the_process_cancels_is_made_up_for(
    tmp_path: Path, clock: VirtualClock
) -> None:
    async with SlowDisk(tmp_path / "hearth.db", clock) as disk:
        async with SeenOpening(first := home(), disk, Ratings(disk), clock):
            see(first)
            await disk.writing.wait()
        assert await disk.openings() == {HALL: LOCK}


class FullDisk(Store):
    """A store that stores nothing until the test allows it."""

    def __init__(self, path: Path, clock: VirtualClock, *, told: bool) -> None:
        super().__init__(path, clock)
        self.full = True
        self.tried = asyncio.Event()
        self._told = told

    async def add_openings(self, openings: Mapping[str, frozenset[str]]) -> None:
        self.tried.set()
        if self.full:
            raise StoreError("The disk is full", told=self._told)
        await super().add_openings(openings)


@pytest.mark.parametrize("told", [True, False])
async def test_a_full_disk_is_tried_again(
    tmp_path: Path, clock: VirtualClock, told: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        FullDisk(tmp_path / "hearth.db", clock, told=told) as disk,
        SeenOpening(first := home(), disk, Ratings(disk), clock),
    ):
        see(first)
        await disk.tried.wait()
        assert first.house.seen_opening == {HALL: LOCK}
        disk.full = False
        for _ in range(100):
            await clock.run(RETRY_S)
            if await disk.openings():
                break
        assert await disk.openings() == {HALL: LOCK}
    assert ("Could not save which switches open something" in caplog.text) is not told


def test_the_list_of_what_may_open() -> None:
    things = [
        Entity("cover.left", "Left", "closed"),
        Entity("cover.blind", "Blind", "closed"),
        Entity("cover.garage", "Garage", "closed", device_class="garage"),
        Entity("cover.hidden", "Hidden", "closed", exposed=False),
        Entity("lock.front", "Front", "locked"),
        Entity("valve.garden", "Garden", "closed"),
        Entity("switch.gate", "Gate", "off"),
        Entity("switch.alarm", "Burglar alarm", "off"),
        Entity("switch.fountain", "Fountain", "off"),
        Entity("light.shelf", "Shelf", "off"),
        Entity("siren.roof", "Roof", "off"),
        Entity("script.gate", "Gate", "off"),
        Entity("script.film", "Film", "off"),
    ]
    house = House(
        entities={one.entity_id: one for one in things}, seen_opening={"light.shelf": LOCK}
    )
    assert [one.entity_id for one in may_open(house)] == [
        "cover.left",
        "valve.garden",
        "switch.gate",
        "switch.alarm",
        "light.shelf",
        "script.gate",
    ]
