"""Openings caused by switches, lamps and buttons, from contexts and times."""

from collections.abc import Mapping

import pytest

from integrations.home_assistant.picture import Picture
from integrations.home_assistant.registry import Registries
from integrations.home_assistant.runs import MAX_RUNS

LOCK = frozenset({"lock.front"})
STANDING = {
    "switch.hall": "off",
    "switch.plug": "off",
    "input_boolean.guests": "off",
    "light.lamp": "off",
    "fan.loft": "off",
    "button.push": "unknown",
    "lock.front": "locked",
    "cover.gate": "closed",
    "valve.main": "closed",
    "alarm_control_panel.house": "armed_away",
    "switch.away": "unavailable",
}


class Seen:
    """A picture that gets one change after another."""

    def __init__(self) -> None:
        self.picture = Picture()
        self.picture.begin_load()
        states = [{"entity_id": name, "state": state} for name, state in STANDING.items()]
        self.picture.end_load(Registries(), states)

    def tell(
        self,
        entity_id: str,
        state: str,
        context: str = "",
        parent: str = "",
        s: float = 0,
        **more: str,
    ) -> None:
        """Report a change of state; `s` is seconds past the hour by Home Assistant's clock."""
        new = {
            "entity_id": entity_id,
            "state": state,
            "last_changed": f"2026-11-26T12:00:{s:09.6f}+00:00",
            "context": {"id": context, "parent_id": parent or None, **more},
        }
        self.picture.change({"data": {"entity_id": entity_id, "new_state": new}})

    @property
    def opening(self) -> Mapping[str, frozenset[str]]:
        return self.picture.house.seen_opening


@pytest.fixture
def seen() -> Seen:
    return Seen()


def test_a_template_switch_and_its_lock_share_a_context(seen: Seen) -> None:
    """The lock moves first; the switch's state follows from it."""
    seen.tell("lock.front", "unlocked", "call", user_id="somebody")
    seen.tell("switch.hall", "on", "call", user_id="somebody")
    assert seen.opening == {"switch.hall": LOCK}


def test_in_the_other_order_too(seen: Seen) -> None:
    seen.tell("light.lamp", "on", "call", user_id="somebody")
    seen.tell("lock.front", "unlocking", "call", user_id="somebody", s=7)
    assert seen.opening == {"light.lamp": LOCK}


def test_an_automation_acts_below_what_has_set_it_off(seen: Seen) -> None:
    """A helper triggers an automation, which runs a script, which opens the gate much later."""
    seen.tell("input_boolean.guests", "on", "helper")
    seen.tell("automation.gate", "on", "automation", "helper")
    seen.tell("script.gate", "on", "script", "automation")
    seen.tell("cover.gate", "opening", "script", "automation", s=40)
    assert seen.opening == {"input_boolean.guests": frozenset({"cover.gate"})}


@pytest.mark.parametrize(
    ("switched", "state"),
    [("switch.hall", "on"), ("button.push", "2026-11-26T12:00:00+00:00"), ("fan.loft", "on")],
)
@pytest.mark.parametrize(
    ("opened", "way"),
    [
        ("lock.front", "unlocked"),
        ("cover.gate", "opening"),
        ("valve.main", "open"),
        ("alarm_control_panel.house", "disarmed"),
    ],
)
def test_a_relay_that_is_wired_to_the_door_leaves_the_time_alone(
    seen: Seen, switched: str, state: str, opened: str, way: str
) -> None:
    seen.tell(switched, state, "call", s=10, user_id="somebody")
    seen.tell(opened, way, "its own", s=10.9)
    assert seen.opening == {switched: frozenset({opened})}


def test_what_comes_too_late_or_before_is_no_effect(seen: Seen) -> None:
    seen.tell("switch.hall", "on", "call", s=10)
    seen.tell("lock.front", "unlocked", "its own", s=11.1)
    seen.tell("cover.gate", "opening", "its own too", s=20)
    seen.tell("switch.plug", "on", "another call", s=20.2)
    assert seen.opening == {}


def test_what_somebody_unlocks_is_no_switchs_doing(seen: Seen) -> None:
    seen.tell("light.lamp", "on", "motion", s=10)
    seen.tell("lock.front", "unlocked", "by the app", s=10.2, user_id="somebody")
    assert seen.opening == {}


@pytest.mark.parametrize("carrier", ["scene.home", "script.home", "automation.home"])
def test_what_a_scene_or_script_does_beside_is_not_its_lamps_doing(
    seen: Seen, carrier: str
) -> None:
    seen.tell(carrier, "on", "run")
    seen.tell("switch.plug", "on", "run", s=10)
    seen.tell("lock.front", "unlocked", "run", s=10.1)
    seen.tell("switch.hall", "on", "run", s=10.2)
    assert seen.opening == {}


def test_of_several_the_lamps_are_not_suspected(seen: Seen) -> None:
    seen.tell("light.lamp", "on", "one", s=10)
    seen.tell("fan.loft", "on", "two", s=10.1)
    seen.tell("switch.hall", "on", "three", s=10.2)
    seen.tell("lock.front", "unlocked", "its own", s=10.5)
    assert seen.opening == {"switch.hall": LOCK}


def test_what_a_call_of_ours_names_was_opened_by_it(seen: Seen) -> None:
    """ "Turn on the hall" affects a plug and a gate in one context."""
    seen.picture.switches.expect(["switch.plug", "cover.gate"])
    seen.tell("switch.plug", "on", "call", user_id="hearth", s=10)
    seen.tell("cover.gate", "opening", "call", user_id="hearth", s=10.1)
    assert seen.opening == {}
    seen.picture.switches.expect(())
    seen.tell("lock.front", "unlocked", "its own", s=10.3)
    assert seen.opening == {"switch.plug": LOCK}


@pytest.mark.parametrize(
    ("entity_id", "states"),
    [
        ("switch.hall", ("off", "unavailable")),
        ("switch.away", ("on",)),
        ("light.lamp", ("off",)),
        ("sensor.noise", ("1", "2")),
    ],
)
def test_no_switching_no_effect(seen: Seen, entity_id: str, states: tuple[str, ...]) -> None:
    for state in states:
        seen.tell(entity_id, state, "call", s=10)
    seen.tell("lock.front", "unlocked", "its own", s=10.5)
    assert seen.opening == {}


@pytest.mark.parametrize(
    ("before", "after"), [("unknown", "unlocked"), ("unlocked", "open"), ("unlocked", "locked")]
)
def test_only_what_begins_to_open_counts(seen: Seen, before: str, after: str) -> None:
    seen.tell("lock.front", before, "long ago", s=1)
    seen.tell("switch.hall", "on", "call", s=10)
    seen.tell("lock.front", after, "its own", s=10.5)
    assert seen.opening == {}


@pytest.mark.parametrize("parent", ["", "an automation's"])
def test_templates_that_told_no_state_until_they_were_used(seen: Seen, parent: str) -> None:
    user = "" if parent else "somebody"
    seen.tell("fan.loft", "unknown", "start")
    seen.tell("lock.front", "unknown", "start")
    seen.tell("lock.front", "unlocked", "call", parent, user_id=user)
    seen.tell("fan.loft", "on", "call", parent, user_id=user)
    assert seen.opening == {"fan.loft": LOCK}


def test_the_start_of_home_assistant_switches_nothing(seen: Seen) -> None:
    seen.tell("switch.hall", "unknown", "start", s=9)
    seen.tell("switch.hall", "on", "restored", s=10)
    seen.tell("lock.front", "unlocked", "its own", s=10.5)
    assert seen.opening == {}


def test_a_change_without_context_or_time_tells_nothing(seen: Seen) -> None:
    seen.tell("switch.hall", "on", "")
    change = {"entity_id": "lock.front", "state": "unlocked", "context": {"id": "own"}}
    seen.picture.change({"data": {"entity_id": "lock.front", "new_state": change}})
    assert seen.opening == {}


def test_contexts_are_forgotten(seen: Seen) -> None:
    seen.tell("switch.hall", "on", "first", s=1)
    for number in range(MAX_RUNS):
        seen.tell("script.other", "on", f"run {number}")
    seen.tell("lock.front", "unlocked", "late", "first", s=50)
    assert seen.opening == {}


def test_what_was_seen_before_is_recalled_and_told_once(seen: Seen) -> None:
    seen.picture.recall({"switch.hall": frozenset({"cover.gate"})})
    assert seen.opening == {"switch.hall": frozenset({"cover.gate"})}
    assert seen.picture.switches.take_fresh() == {}
    for state in ("unlocked", "locked", "unlocked"):
        seen.tell("lock.front", state, f"call {state}")
        seen.tell("switch.hall", "on" if state == "unlocked" else "off", f"call {state}")
    assert seen.opening == {"switch.hall": LOCK | {"cover.gate"}}
    assert seen.picture.switches.take_fresh() == {"switch.hall": LOCK}
    assert seen.picture.switches.take_fresh() == {}
