"""What does not work, told when it lasts and when it is over."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from assistant.domain.clock import VirtualClock
from assistant.domain.events import EventBus, Happening
from assistant.interfaces.status import HEALTH_S, HealthMonitor

DEAF = "The microphone is gone."
AWAY = "Home Assistant does not answer."


@dataclass
class Stage:
    clock: VirtualClock = field(default_factory=VirtualClock)
    now: dict[str, str] = field(default_factory=dict)
    told: list[Happening] = field(default_factory=list)
    changes: int = 0
    troubles: HealthMonitor = field(init=False)

    def __post_init__(self) -> None:
        happenings = EventBus()
        happenings.follow(self.told.append)
        self.troubles = HealthMonitor(lambda: self.now, happenings, self.clock)

    def changed(self) -> None:
        self.changes += 1


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    made = Stage()
    made.troubles.follow(made.changed)
    async with made.troubles:
        await made.clock.run(HEALTH_S)
        yield made


async def test_a_trouble_that_lasts_is_told_once_and_its_end_once(stage: Stage) -> None:
    stage.now = {"microphone": DEAF}
    await stage.clock.run(5 * HEALTH_S)
    assert list(stage.troubles.sentences) == [DEAF]
    stage.now = {}
    await stage.clock.run(3 * HEALTH_S)
    assert list(stage.troubles.sentences) == []
    assert [one.data for one in stage.told] == [
        {"what": "microphone", "on": True, "problem": DEAF},
        {"what": "microphone", "on": False},
    ]
    assert {one.kind for one in stage.told} == {"fault"}
    assert stage.changes == 2


async def test_what_is_over_at_once_is_no_trouble(stage: Stage) -> None:
    stage.now = {"home_assistant": AWAY}
    await stage.clock.run(HEALTH_S)
    stage.now = {}
    await stage.clock.run(HEALTH_S)
    stage.now = {"home_assistant": AWAY}
    await stage.clock.run(HEALTH_S)
    assert (stage.told, stage.changes, stage.troubles.sentences) == ([], 0, ())


async def test_another_sentence_about_the_same_thing_is_no_new_fault(stage: Stage) -> None:
    stage.now = {"home_assistant": AWAY}
    await stage.clock.run(4 * HEALTH_S)
    stage.now = {"home_assistant": "The token is refused.", "microphone": DEAF}
    await stage.clock.run(HEALTH_S)
    assert stage.troubles.sentences == ("The token is refused.",)
    assert (len(stage.told), stage.changes) == (1, 2)
