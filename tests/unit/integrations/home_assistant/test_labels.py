"""Labels from the registries to the picture, and where they are not told."""

from collections.abc import Mapping
from typing import Any

from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.house import House
from tests.unit.integrations.home_assistant.fake_home import FakeHome


def _labels(house: House) -> Mapping[str, tuple[str, ...]]:
    return {name: one.labels for name, one in house.entities.items()}


def _home() -> FakeHome:
    fake = FakeHome()
    fake.labels = [{"label_id": "night", "name": "At night"}]
    fake.entity("light.hall", "Hall", entry={"labels": ["night"]})
    return fake


async def test_ids_and_names_of_labels_are_known() -> None:
    async with _home().serve() as url, HomeAssistant(url, "t") as home:
        assert _labels(home.house) == {"light.hall": ("At night", "night")}


async def test_a_home_that_knows_no_labels_hurts_nobody() -> None:
    fake = _home()
    fake.refused = {"config/label_registry/list", "label_registry_updated"}
    async with fake.serve() as url, HomeAssistant(url, "t") as home:
        assert home.connected
        assert _labels(home.house) == {"light.hall": ("night",)}


async def test_odd_answers_hurt_nobody() -> None:
    answers: list[Any] = [{"no": "list"}, None, [5], [{"label_id": 3}]]
    for answer in answers:
        fake = _home()
        fake.labels = answer
        async with fake.serve() as url, HomeAssistant(url, "t") as home:
            assert home.connected
            assert _labels(home.house) == {"light.hall": ("night",)}
