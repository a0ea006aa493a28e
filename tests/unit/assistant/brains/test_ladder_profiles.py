"""The brains that a profile's turns go to."""

from collections.abc import Callable

from assistant.brains.fallback import FallbackBrain
from assistant.domain.brain import BrainFault
from assistant.speech.catalogue import Catalogue
from tests.unit.assistant.brains.ladder_stage import DONE, LIVE, OFFLINE, ONCE, Stage, fault, served


def ladder_of(
    stage: Stage, next_profile: Callable[[], str] = str, **orders: tuple[str, ...]
) -> FallbackBrain:
    return FallbackBrain(
        (stage.live, stage.once, stage.offline),
        stage.house.toolbox,
        stage.budget,
        Catalogue(),
        stage.clock,
        orders=orders,
        next_profile=next_profile,
    )


async def test_a_profiles_turns_go_to_its_brains_in_its_order() -> None:
    stage = Stage()
    stage.offline.add(DONE)
    events = await stage.run(ladder_of(stage, quiet=(OFFLINE,)), profile="quiet")
    assert served(events) == [OFFLINE]


async def test_other_turns_go_to_all() -> None:
    stage = Stage()
    stage.live.add(DONE, DONE)
    ladder = ladder_of(stage, quiet=(OFFLINE,))
    for profile in ("", "other"):
        events = await stage.run(ladder, profile=profile)
        assert served(events) == [LIVE]


async def test_where_none_of_them_is_there_no_other_is_asked() -> None:
    stage = Stage()
    events = await stage.run(ladder_of(stage, quiet=("home-assistant",)), profile="quiet")
    [fault] = events
    assert isinstance(fault, BrainFault)
    assert fault.kind == "unreachable"


async def test_what_is_told_is_of_its_own_brains() -> None:
    """A budget that is spent is no reason where nothing was to go to the cloud."""
    stage = Stage()
    stage.spendings.usd = 2.0
    stage.offline.add([fault("broken")])
    events = await stage.run(ladder_of(stage, quiet=(OFFLINE,)), profile="quiet")
    told = events[-1]
    assert isinstance(told, BrainFault)
    assert told.kind == "broken"


def test_the_brain_that_will_be_asked_is_told_beforehand() -> None:
    stage = Stage()
    profile = [""]
    ladder = ladder_of(stage, lambda: profile[0], once=(ONCE,))
    ladder.anticipate()
    assert (stage.live.anticipated, stage.once.anticipated) == (1, 0)
    profile[0] = "once"
    ladder.anticipate()
    assert (stage.live.anticipated, stage.once.anticipated) == (1, 1)
