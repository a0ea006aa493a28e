"""A house with two lamps."""

import pytest

from tests.unit.integrations.home_assistant.fake_home import FakeHome


@pytest.fixture
def fake() -> FakeHome:
    made = FakeHome()
    made.area("k", "Kitchen")
    made.entity("light.lamp", "Lamp", entry={"area_id": "k", "aliases": [None]})
    made.entity("light.old", "Old lamp")
    return made
