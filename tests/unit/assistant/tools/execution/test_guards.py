"""Tests of the limits of calls in one turn and over time."""

from dataclasses import dataclass

import pytest

from assistant.config.tools import Limits
from assistant.domain.clock import VirtualClock
from assistant.domain.tool_call import Tier
from assistant.speech.catalogue import Catalogue
from assistant.tools.execution.guards import BURSTS, PROBE_S, TURNS_KEPT, Breakers, Guards, likeness

READ, COMFORT, COSTLY, SECURE = Tier.READ, Tier.COMFORT, Tier.COSTLY, Tier.SECURE


@dataclass(slots=True)
class Watch:
    """Guards with a clock that the test moves."""

    guards: Guards
    clock: VirtualClock

    def run(self, turn: str, key: str, tier: Tier, alike: str = "", failed: bool = False) -> str:
        """Run one call from begin to end, and return the objection to it."""
        refusal = self.guards.begin(turn, key, tier, alike)
        self.guards.end(turn, key, failed)
        return refusal or ""


def watch(**limits: int) -> Watch:
    clock = VirtualClock()
    return Watch(Guards(Limits(**limits), clock), clock)


def test_the_settings() -> None:
    limits = Limits()
    assert (limits.calls_per_turn, limits.mutations_per_turn, limits.rounds_per_turn) == (24, 8, 4)
    per_while = (limits.comfort_per_minute, limits.costly_per_hour, limits.secure_per_hour)
    assert per_while == (60, 12, 6)


def test_calls_of_one_turn() -> None:
    watched = watch()
    for number in range(24):
        assert watched.run("t1", f"c{number}", READ) == ""
    assert watched.run("t1", "c24", READ) == "too_many_calls"
    assert watched.run("t1", "c25", COMFORT) == "too_many_calls"
    assert watched.run("t2", "c0", READ) == ""


def test_refused_calls_count_as_calls() -> None:
    watched = watch(calls_per_turn=5, mutations_per_turn=1)
    assert watched.run("t", "c0", COMFORT) == ""
    for number in range(1, 5):
        assert watched.run("t", f"c{number}", COMFORT) == "too_many_mutations"
    assert watched.run("t", "c5", READ) == "too_many_calls"


def test_mutations_of_one_turn_asked_at_once_are_one_round() -> None:
    watched = watch()
    for number in range(8):
        assert watched.guards.begin("t", f"c{number}", COMFORT) is None
    assert watched.guards.begin("t", "c8", COMFORT) == "too_many_mutations"
    assert watched.guards.begin("t", "c9", READ) is None
    for number in range(10):
        watched.guards.end("t", f"c{number}")
    assert watched.guards.begin("other", "c1", COMFORT) is None


def test_rounds_of_one_turn() -> None:
    watched = watch()
    for number in range(4):
        assert watched.run("t", f"c{number}", COMFORT) == ""
        assert watched.run("t", f"r{number}", READ) == ""
    assert watched.run("t", "c4", COMFORT) == "too_many_rounds"
    assert watched.run("t", "r4", READ) == ""


def test_calls_asked_while_another_is_open_are_of_its_round() -> None:
    watched = watch(rounds_per_turn=2)
    begin, end = watched.guards.begin, watched.guards.end
    assert begin("t", "a", COMFORT) is None  # first round
    assert begin("t", "b", COMFORT) is None
    end("t", "a")
    assert begin("t", "c", COMFORT) is None
    end("t", "b")
    end("t", "c")
    assert begin("t", "read", READ) is None
    assert begin("t", "d", COMFORT) is None  # made beside a read, so still in the first round
    end("t", "read")
    end("t", "d")
    assert begin("t", "e", COMFORT) is None  # second
    end("t", "e")
    assert begin("t", "f", COMFORT) == "too_many_rounds"
    assert begin("t", "read2", READ) is None
    assert begin("t", "g", COMFORT) is None  # made beside an open read, so in no round of its own


def test_a_reading_in_front_does_not_swallow_the_first_round() -> None:
    watched = watch(rounds_per_turn=1)
    assert watched.guards.begin("t", "read", READ) is None
    assert watched.run("t", "a", COMFORT) == ""
    watched.guards.end("t", "read")
    assert watched.run("t", "b", COMFORT) == "too_many_rounds"


@pytest.mark.parametrize(
    ("tier", "burst", "seconds"), [(COMFORT, 30, 1.0), (COSTLY, 4, 300.0), (SECURE, 3, 600.0)]
)
def test_each_tier_has_its_pace(tier: Tier, burst: int, seconds: float) -> None:
    watched = watch()
    for number in range(burst):
        assert watched.run(f"t{number}", "c", tier) == ""
    assert watched.run("a", "c", tier) == "too_fast"
    watched.clock.advance(seconds - 0.5)
    assert watched.run("b", "c", tier) == "too_fast"
    watched.clock.advance(0.5)
    assert watched.run("c", "c", tier) == ""
    assert watched.run("d", "c", tier) == "too_fast"
    watched.clock.advance(7 * 86_400)
    for number in range(burst):
        assert watched.run(f"u{number}", "c", tier) == ""
    assert watched.run("e", "c", tier) == "too_fast"


def test_tiers_do_not_share_their_pace_and_reading_has_none() -> None:
    watched = watch()
    for number in range(3):
        assert watched.run(f"t{number}", "c", SECURE) == ""
    assert watched.run("t", "c1", SECURE) == "too_fast"
    assert watched.run("t", "c2", COSTLY) == ""
    assert watched.run("t", "c3", COMFORT) == ""
    for number in range(1_000):
        assert watched.run(f"r{number}", "c", READ) == ""


def test_the_most_in_an_hour_is_also_the_most_at_once() -> None:
    watched = watch(secure_per_hour=1)
    assert watched.run("a", "c", SECURE) == ""
    assert watched.run("b", "c", SECURE) == "too_fast"
    watched.clock.advance(3_600)
    assert watched.run("c", "c", SECURE) == ""


def test_a_refused_call_uses_nothing_up() -> None:
    watched = watch(mutations_per_turn=1)
    assert watched.run("t", "c0", SECURE) == ""
    for number in range(5):
        assert watched.run("t", f"d{number}", SECURE) == "too_many_mutations"
    assert watched.run("u", "c", SECURE) == ""


def test_what_failed_three_times_is_not_tried_again_in_this_turn() -> None:
    watched = watch()
    lamp = likeness("HassTurnOn", {"name": "Lamp", "area": "Kitchen"})
    for number in range(3):
        assert watched.run("t", f"c{number}", READ, lamp, failed=True) == ""
    same = likeness("HassTurnOn", {"area": "Kitchen", "name": "Lamp"})
    assert watched.run("t", "c3", READ, same, failed=True) == "too_alike"
    other = likeness("HassTurnOn", {"area": "Kitchen", "name": "Fan"})
    assert watched.run("t", "c4", READ, other, failed=True) == ""
    assert watched.run("u", "c0", READ, lamp) == ""


def test_what_succeeds_may_be_repeated() -> None:
    watched = watch(rounds_per_turn=8)
    toggle = likeness("HassToggle", {"name": "Lamp"})
    for number in range(8):
        assert watched.run("t", f"c{number}", COMFORT, toggle) == ""


def test_ends_of_unknown_calls_change_nothing() -> None:
    watched = watch()
    watched.guards.end("t", "c")
    assert watched.run("t", "c", READ) == ""
    watched.guards.end("t", "c", failed=True)
    watched.guards.end("t", "other")
    assert watched.run("t", "d", READ) == ""


def test_old_turns_are_forgotten() -> None:
    watched = watch(calls_per_turn=1)
    assert watched.run("old", "c", READ) == ""
    assert watched.run("old", "d", READ) == "too_many_calls"
    for number in range(TURNS_KEPT):
        assert watched.run(f"t{number}", "c", READ) == ""
    assert watched.run("old", "e", READ) == ""


def test_arguments_of_any_kind_can_be_compared() -> None:
    assert likeness("a", {"x": {1}}) == likeness("a", {"x": {1}})  # JSON has no sets
    assert likeness("a", {}) != likeness("b", {})


@pytest.mark.parametrize("language", ["en", "es"])
def test_each_rule_has_a_sentence(language: str) -> None:
    rules = "too_many_calls too_many_mutations too_many_rounds too_fast too_alike".split()
    catalogue = Catalogue()
    for rule in rules:
        assert catalogue.say(f"guards.{rule}", language)
    assert "Search" in catalogue.say("guards.server_down", language, names="Search")
    assert set(BURSTS) == {COMFORT, COSTLY, SECURE}


def give(watched: Watch, key: str, alike: str, gave: str, tier: Tier = READ) -> str:
    """Run one call that is done, with its result."""
    refusal = watched.guards.begin("t", key, tier, alike)
    if refusal is None:
        watched.guards.end("t", key, gave=gave, changed=tier is not READ)
    return refusal or ""


def test_the_same_call_with_the_same_result_is_a_loop_after_three() -> None:
    watched = watch()
    assert [give(watched, f"c{number}", "a", "same") for number in range(3)] == [""] * 3
    assert give(watched, "c3", "a", "same") == "repeated"
    assert give(watched, "c4", "b", "same") == ""  # another call


def test_what_gives_something_new_is_no_loop() -> None:
    watched = watch()
    assert {give(watched, f"c{number}", "a", f"{number}") for number in range(6)} == {""}


def test_a_change_in_between_makes_a_reading_new() -> None:
    watched = watch(rounds_per_turn=9)
    for number in range(3):
        assert give(watched, f"r{number}", "read", "off") == ""
        assert give(watched, f"m{number}", f"switch {number}", "done", COMFORT) == ""
    assert give(watched, "r3", "read", "off") == ""


def test_a_change_that_is_made_again_and_again_is_a_loop() -> None:
    watched = watch(rounds_per_turn=9)
    for number in range(3):
        assert give(watched, f"m{number}", "switch", "done", COMFORT) == ""
    assert give(watched, "m3", "switch", "done", COMFORT) == "repeated"


def test_what_is_not_compared_never_repeats() -> None:
    watched = watch()
    for number in range(5):
        assert give(watched, f"c{number}", "a", "") == ""
        assert give(watched, f"d{number}", "", "x") == ""


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def breakers(clock: VirtualClock) -> Breakers:
    return Breakers(clock)


def fail(breakers: Breakers, times: int) -> None:
    for _ in range(times):
        assert breakers.admits("search")
        breakers.failed("search")


def is_open_for(breakers: Breakers, clock: VirtualClock, seconds: float) -> None:
    """Check that nothing is let through for `seconds`, then one call."""
    assert not breakers.admits("search")
    clock.advance(seconds - 0.1)
    assert not breakers.admits("search")
    clock.advance(0.1)
    assert breakers.admits("search")
    assert not breakers.admits("search")


def test_three_failures_in_a_row_open_it(breakers: Breakers, clock: VirtualClock) -> None:
    fail(breakers, 2)
    fail(breakers, 1)
    is_open_for(breakers, clock, 30)


def test_a_success_in_between_is_no_row(breakers: Breakers) -> None:
    fail(breakers, 2)
    breakers.succeeded("search")
    fail(breakers, 2)
    assert breakers.admits("search")


def test_the_pause_doubles_up_to_ten_minutes(breakers: Breakers, clock: VirtualClock) -> None:
    fail(breakers, 3)
    for seconds in (30, 60, 120, 240, 480, 600, 600):
        is_open_for(breakers, clock, seconds)
        breakers.failed("search")


def test_a_probe_that_succeeds_closes_it(breakers: Breakers, clock: VirtualClock) -> None:
    fail(breakers, 3)
    is_open_for(breakers, clock, 30)
    breakers.succeeded("search")
    fail(breakers, 3)
    is_open_for(breakers, clock, 30)


def test_a_probe_of_which_nothing_is_heard_is_given_up(
    breakers: Breakers, clock: VirtualClock
) -> None:
    fail(breakers, 3)
    is_open_for(breakers, clock, 30)
    clock.advance(PROBE_S - 0.1)
    assert not breakers.admits("search")
    clock.advance(0.1)
    assert breakers.admits("search")


def test_calls_that_were_under_way_when_it_opened_do_not_lengthen_the_pause(
    breakers: Breakers, clock: VirtualClock
) -> None:
    fail(breakers, 3)
    for _ in range(5):
        breakers.failed("search")
    is_open_for(breakers, clock, 30)


def test_servers_do_not_hurt_each_other(breakers: Breakers) -> None:
    fail(breakers, 3)
    assert not breakers.admits("search")
    assert breakers.admits("house")
