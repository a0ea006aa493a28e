"""Tests of switching to another profile by voice."""

import pytest

from assistant.domain.records import StoreError
from assistant.domain.tool_call import Tier
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.box_settings import NONE, SwitchProfile, named
from assistant.tools.builtin.protocol import BuiltInRequest

REQUEST = BuiltInRequest("turn-1", "turn", "use the profile kids", "en")


class Live:
    """Keeps the active profile."""

    def __init__(self, present: str = NONE) -> None:
        self.present = present
        self.fails = False

    async def switch(self, name: str) -> None:
        self.present = name
        if self.fails:
            raise StoreError("The disk is full.")

    def tool(self, *names: str, widens: bool = False) -> SwitchProfile:
        return SwitchProfile(names, lambda wanted: widens, self.switch, Catalogue())


async def test_it_switches_and_says_so() -> None:
    live = Live()
    run = live.tool("kids", "late_night").tool().run
    result = await run({"profile": "late_night"}, REQUEST)
    assert (live.present, result.failed) == ("late_night", False)
    assert result.sentence == "I've switched to the late night profile."
    result = await run({"profile": NONE}, REQUEST)
    assert (live.present, result.sentence) == (NONE, "I've switched back to the normal profile.")


async def test_a_disk_that_is_full_is_told() -> None:
    live = Live()
    live.fails = True
    result = await live.tool("kids").tool().run({"profile": "kids"}, REQUEST)
    assert (live.present, result.failed) == ("kids", True)
    assert "restart" in result.sentence


@pytest.mark.parametrize(("widens", "tier"), [(True, Tier.SECURE), (False, Tier.COMFORT)])
def test_what_may_do_more_is_confirmed(widens: bool, tier: Tier) -> None:
    tool = Live("kids").tool("kids", widens=widens).tool()
    assert tool.stake is not None
    assert tool.stake({"profile": NONE}) is tier


def test_it_is_there_only_where_there_are_profiles() -> None:
    assert not Live().tool().tool().needed()
    assert Live().tool("kids").tool().needed()


@pytest.mark.parametrize(
    ("spoken", "name"),
    [("late night", "late-night"), ("Abuela", "abuela"), ("ABUÉLA", "abuela"), ("x", None)],
)
def test_a_name_as_it_is_spoken(spoken: str, name: str | None) -> None:
    assert named(spoken, ("late-night", "abuela")) == name
