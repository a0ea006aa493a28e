"""Tests of the search for the refused part of a set-up, with a client that refuses some."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import cast

import pytest

from assistant.brains.gemini.repair import (
    HOPELESS_S,
    KEPT_UNNAMED,
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
        self.models: list[str] = []
        self.hangs = asyncio.Event()
        self.hangs.set()

    async def load(self) -> None:
        pass

    async def connect(self, setup: LiveSetup, on_event: OnEvent, timeout_s: float) -> LiveSession:
        self.tried.append(tuple(name for name in EVERY if name not in suspects(setup)))
        self.models.append(setup.row.name)
        await self.hangs.wait()
        if error := self.refuses(setup):
            raise error
        return cast(LiveSession, setup)


class SlowValues(FakeValues):
    """Lets other tasks run after each read, as a database does."""

    async def kept(self, name: str) -> object:
        value = await super().kept(name)
        await asyncio.sleep(0)
        return value


class Rig:
    """The repair with its client, values and clock."""

    def __init__(self, *parts: str, error: IntegrationError | None = None) -> None:
        refusal = error or Refused("Request contains an invalid argument.")
        self.client = Client(lambda setup: refusal if set(parts) & set(suspects(setup)) else None)
        self.values, self.clock = SlowValues(), VirtualClock()
        self.told: list[str] = []
        self.repair = self.start()

    def start(self) -> SetupRepair:
        store = cast(Store, self.values)
        client = cast(LiveClient, self.client)
        return SetupRepair(client, store, self.clock, "v1beta", self.told.append)

    async def connect(self, setup: LiveSetup = SETUP) -> LiveSetup:
        session = await self.repair.connect(setup, lambda event: None)
        return cast(LiveSetup, session)

    def stored(self, model: str) -> set[str]:
        return {row["part"] for row in self.values.values[NAME][f"{model} v1beta"]}


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
    assert rig.stored("gemini-3.8-live") == set(EVERY)


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


# --- Several conversations at once.

OTHER = replace(SETUP, row=replace(SETUP.row, name="gemini-other-live"))


async def test_two_models_are_searched_at_once_and_apart() -> None:
    rig = Rig()
    refused = {SETUP.row.name: "custom vocabulary", OTHER.row.name: "Google Search"}
    invalid = Refused("Request contains an invalid argument.")
    rig.client.refuses = lambda setup: (
        invalid if refused[setup.row.name] in suspects(setup) else None
    )
    rig.client.hangs.clear()
    async with asyncio.TaskGroup() as group:
        ours = group.create_task(rig.connect())
        other = group.create_task(rig.connect(OTHER))
        await rig.clock.settle()
        rig.client.hangs.set()
    for setup in (ours.result(), other.result(), await rig.connect(), await rig.connect(OTHER)):
        assert set(EVERY) - set(suspects(setup)) == {refused[setup.row.name]}
    assert {model: rig.stored(model) for model in refused} == {
        model: {part} for model, part in refused.items()
    }
    assert len(rig.told) == 2


async def test_a_part_that_one_model_refuses_is_sent_to_another() -> None:
    rig = Rig()
    invalid = Refused("Request contains an invalid argument.")
    rig.client.refuses = lambda setup: (
        invalid if setup.row == SETUP.row and setup.vocabulary else None
    )
    assert "custom vocabulary" not in suspects(await rig.connect())
    assert suspects(await rig.connect(OTHER)) == EVERY
    assert "custom vocabulary" not in suspects(await rig.connect())
    assert len(rig.client.tried) == 4, "the finding is not forgotten meanwhile"


@pytest.mark.parametrize("part", ["custom vocabulary", "turn coverage"])
async def test_two_sessions_of_one_model_find_the_same_part_once(part: str) -> None:
    rig = Rig(part)
    rig.client.hangs.clear()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(rig.connect()) for _ in range(2)]
        await rig.clock.settle()
        rig.client.hangs.set()
    for task in tasks:
        assert set(EVERY) - set(suspects(task.result())) == {part}
    assert rig.stored("gemini-3.8-live") == {part}
    assert len(rig.told) == 1


async def test_a_slower_session_does_not_widen_what_a_faster_one_has_found() -> None:
    rig = Rig("custom vocabulary")
    rig.client.hangs.clear()
    slow = asyncio.create_task(rig.connect())
    await rig.clock.settle()
    hanging, rig.client.hangs = rig.client.hangs, asyncio.Event()
    rig.client.hangs.set()
    await rig.connect()
    hanging.set()
    assert set(EVERY) - set(suspects(await slow)) == {"custom vocabulary"}
    assert len(rig.client.tried) == 4, "the slow one takes the finding at once"
    assert rig.stored("gemini-3.8-live") == {"custom vocabulary"}


async def test_an_expired_part_is_tried_again_and_told_again() -> None:
    rig = Rig("custom vocabulary")
    await rig.connect()
    rig.clock.advance(KEPT_UNNAMED.total_seconds() + 1)
    rig.client.refuses = lambda setup: None
    assert await rig.connect() == SETUP
    rig.client.refuses = lambda setup: Refused("Invalid.") if setup.row.custom_vocabulary else None
    assert "custom vocabulary" not in suspects(await rig.connect())
    assert len(rig.told) == 2


def test_what_was_stored_with_a_wrong_clock_does_not_last() -> None:
    now = VirtualClock().now()
    late = {"part": EVERY[0], "reason": "no", "until": (now + timedelta(days=900)).isoformat()}
    assert read_refused({"m": [late]}, "m", now) == {}


def test_odd_values_are_left_out() -> None:
    now = VirtualClock().now()
    good = {"part": EVERY[0], "reason": "no", "until": (now + timedelta(days=1)).isoformat()}
    odd = [good, {**good, "part": "unknown"}, {**good, "until": "soon"}, {"part": EVERY[1]}, 3]
    assert read_refused({"m": odd}, "m", now) == {EVERY[0]: RefusedPart(**good)}
    others: list[object] = [None, [], {"m": 3}, {"other": odd}]
    for stored in others:
        assert read_refused(stored, "m", now) == {}
