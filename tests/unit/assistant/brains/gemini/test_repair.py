"""Tests of the search for the refused part of a set-up, with a client that refuses some."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import cast

import pytest

from assistant.brains.gemini.repair import (
    HOPELESS_S,
    NAME,
    RefusedPart,
    SetupRepair,
    read_refused,
)
from assistant.domain.clock import VirtualClock
from assistant.journal.store import Store
from integrations.errors import Blocked, IntegrationError, Refused, Stale, Unavailable
from integrations.gemini.declarations import Declaration
from integrations.gemini.live import LiveClient, LiveSession, OnEvent
from integrations.gemini.models import model_row
from integrations.gemini.setup import OPTIONAL, LiveSetup, suspects, without
from tests.fakes.small_values import FakeValues

SETUP = LiveSetup(
    model_row("gemini-3.8-live")[0],
    "You are Hearth.",
    (Declaration("look", "Look.", {}, ()),),
    vocabulary=("Kitchen",),
    language_codes=("en-GB",),
    google_search=True,
)
EVERY = tuple(part.name for part in OPTIONAL)


class Client:
    """Opens sessions for set-ups that `refuses` lets pass."""

    def __init__(self, refuses: Callable[[LiveSetup], IntegrationError | None]) -> None:
        self.refuses = refuses
        self.tried: list[tuple[str, ...]] = []  # parts that were left out
        self.hangs = asyncio.Event()
        self.hangs.set()

    async def load(self) -> None:
        pass

    async def connect(self, setup: LiveSetup, on_event: OnEvent, timeout_s: float) -> LiveSession:
        self.tried.append(tuple(name for name in EVERY if name not in suspects(setup)))
        await self.hangs.wait()
        if error := self.refuses(setup):
            raise error
        return cast(LiveSession, setup)


class Rig:
    """The repair with its client, values and clock."""

    def __init__(self, *parts: str, error: IntegrationError | None = None) -> None:
        refusal = error or Refused("Request contains an invalid argument.")
        self.client = Client(lambda setup: refusal if set(parts) & set(suspects(setup)) else None)
        self.values, self.clock = FakeValues(), VirtualClock()
        self.repair = self.start()

    def start(self) -> SetupRepair:
        store = cast(Store, self.values)
        return SetupRepair(cast(LiveClient, self.client), store, self.clock, "v1beta")

    async def connect(self, setup: LiveSetup = SETUP) -> LiveSetup:
        session = await self.repair.connect(setup, lambda event: None)
        return cast(LiveSetup, session)


def test_every_optional_part_is_sent_and_can_be_left_out() -> None:
    assert suspects(SETUP) == EVERY
    for name in EVERY:
        assert suspects(without(SETUP, {name})) == tuple(one for one in EVERY if one != name)
    assert suspects(without(SETUP, EVERY)) == ()


async def test_a_set_up_that_is_taken_is_sent_whole() -> None:
    rig = Rig()
    assert await rig.connect() == SETUP
    assert (rig.client.tried, rig.values.values) == ([()], {})


async def test_a_search_that_is_cut_off_goes_on() -> None:
    rig = Rig("turn coverage")
    rig.client.hangs.clear()
    for _ in EVERY:
        trying = asyncio.create_task(rig.connect())
        await rig.clock.settle()
        rig.client.hangs.set()
        await rig.clock.settle()
        rig.client.hangs.clear()
        trying.cancel()
        await asyncio.wait([trying])
    rig.client.hangs.set()
    assert suspects(await rig.connect()) == tuple(one for one in EVERY if one != "turn coverage")
    assert (
        len(rig.client.tried)
        == len(set(rig.client.tried)) + rig.client.tried.count(("turn coverage",)) - 1
    ), "nothing is tried twice but what helped"


@pytest.mark.parametrize("error", [Unavailable("down"), Stale("gone"), Blocked("no")])
async def test_other_errors_are_passed_on(error: IntegrationError) -> None:
    rig = Rig(*EVERY, error=error)
    with pytest.raises(type(error)):
        await rig.connect()
    assert len(rig.client.tried) == 1


async def test_two_parts_of_which_none_is_named_are_both_left_out() -> None:
    rig = Rig("custom vocabulary", "Google Search")
    assert suspects(await rig.connect()) == ()
    assert {row["part"] for row in rig.values.values[NAME]["gemini-3.8-live v1beta"]} == set(EVERY)


async def test_after_a_vain_search_there_is_a_pause() -> None:
    rig = Rig()
    rig.client.refuses = lambda setup: Refused("The instruction is not allowed.")
    with pytest.raises(Refused, match="instruction"):
        await rig.connect()
    tried = len(rig.client.tried)
    assert tried == len(EVERY) + 2
    with pytest.raises(Refused):
        await rig.connect()
    assert len(rig.client.tried) == tried + 1
    rig.clock.advance(HOPELESS_S + 1)
    with pytest.raises(Refused):
        await rig.connect()
    assert len(rig.client.tried) == 2 * tried + 1


async def test_a_disk_that_fails_costs_only_the_memory() -> None:
    rig = Rig("custom vocabulary")
    rig.values.readable = rig.values.writable = False
    assert "custom vocabulary" not in suspects(await rig.connect())
    assert "custom vocabulary" not in suspects(await rig.connect())
    assert len(rig.client.tried) == 3, "this process knows it"


def test_odd_values_are_left_out() -> None:
    now = VirtualClock().now()
    good = {"part": EVERY[0], "reason": "no", "until": (now + timedelta(days=1)).isoformat()}
    odd = [good, {**good, "part": "unknown"}, {**good, "until": "soon"}, {"part": EVERY[1]}, 3]
    assert read_refused({"m": odd}, "m", now) == {EVERY[0]: RefusedPart(**good)}
    others: list[object] = [None, [], {"m": 3}, {"other": odd}]
    for stored in others:
        assert read_refused(stored, "m", now) == {}
