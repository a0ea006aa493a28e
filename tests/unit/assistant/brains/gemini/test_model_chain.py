"""Tests of `gemini.model` with models that are gone."""

from typing import cast

import pytest

from assistant.brains.gemini.model_chain import KEPT, KEPT_UNCERTAIN, NAME, ModelChain
from assistant.domain.clock import VirtualClock
from assistant.journal.store import Store
from integrations.errors import Retired
from integrations.gemini.models import model_row
from tests.fakes.small_values import FakeValues

FIRST, SECOND, THIRD = (model_row(name)[0] for name in ("gemini-a", "gemini-b", "gemini-c"))
GONE = Retired("Gemini has no model of that name.")
GONE.told = "1008 models/gemini-a is not found"


class Rig:
    def __init__(self) -> None:
        self.values, self.clock = FakeValues(), VirtualClock()
        self.told: list[str] = []

    async def chain(self, version: str = "v1beta") -> ModelChain:
        store = cast(Store, self.values)
        rows = (FIRST, SECOND, THIRD)
        made = ModelChain(rows, store, self.clock, version, self.told.append)
        await made.load()
        return made


async def test_the_next_model_is_used_and_told_once() -> None:
    rig = Rig()
    models = await rig.chain()
    assert models.row == FIRST
    assert await models.give_up(FIRST, GONE)
    assert models.row == SECOND
    assert await models.give_up(FIRST, GONE), "another conversation found the same"
    assert models.row == SECOND
    assert rig.told == [
        "Google does not offer the model gemini-a for Gemini Live, so gemini-b is used. "
        "1008 models/gemini-a is not found"
    ]


async def test_the_last_model_is_never_given_up() -> None:
    rig = Rig()
    models = await rig.chain()
    assert await models.give_up(FIRST, GONE)
    assert await models.give_up(SECOND, GONE)
    assert not await models.give_up(THIRD, GONE)
    assert models.row == THIRD
    assert list(models.gone) == ["gemini-a", "gemini-b"]


async def test_a_restart_remembers_until_the_time_is_over() -> None:
    rig = Rig()
    await (await rig.chain()).give_up(FIRST, GONE)
    models = await rig.chain()
    assert models.row == SECOND
    rig.clock.advance(KEPT.total_seconds() - 1)
    assert models.row == SECOND
    rig.clock.advance(1)
    assert models.row == FIRST
    assert (await rig.chain()).row == FIRST


async def test_a_model_without_access_is_tried_again_every_hour_and_told_once() -> None:
    rig, uncertain = Rig(), Retired("No such model, or no access to it.", certain=False)
    models = await rig.chain()
    for _ in range(3):
        assert models.row == FIRST
        assert await models.give_up(FIRST, uncertain)
        assert models.row == SECOND
        rig.clock.advance(KEPT_UNCERTAIN.total_seconds())
    assert len(rig.told) == 1


async def test_another_version_of_the_api_has_its_own_models() -> None:
    rig = Rig()
    await (await rig.chain()).give_up(FIRST, GONE)
    other = await rig.chain("v1")
    assert other.row == FIRST
    await other.give_up(FIRST, GONE)
    assert list(rig.values.values[NAME]) == ["gemini-a v1beta", "gemini-a v1"]


@pytest.mark.parametrize("stored", [[], {"gemini-a v1beta": {"until": 5}}, {"gemini-a v1beta": 1}])
async def test_what_cannot_be_understood_is_ignored(stored: object) -> None:
    rig = Rig()
    rig.values.values[NAME] = stored
    models = await rig.chain()
    assert models.row == FIRST
    assert await models.give_up(FIRST, GONE)
    assert (await rig.chain()).row == SECOND


async def test_a_full_disk_changes_nothing_before_the_restart() -> None:
    rig = Rig()
    models = await rig.chain()
    rig.values.writable = rig.values.readable = False
    assert await models.give_up(FIRST, GONE)
    assert models.row == SECOND
    assert (await rig.chain()).row == FIRST
