"""Table-driven tests of calls that run a script."""

from dataclasses import replace
from typing import Any

import pytest

from assistant.domain.tool_call import Decision, Tier
from assistant.speech.catalogue import Catalogue
from assistant.tools.policy.engine import judge
from integrations.home_assistant.house import Entity, House
from tests.unit.assistant.tools.policy.test_policy import OFF, ON, OTHER, entry

# Things that the script is known to touch, the tool, its arguments; rule, tier, allowed.
SCRIPTS: list[tuple[frozenset[str], str, dict[str, Any], str, str, bool]] = [
    (frozenset({"light.kitchen"}), "script__movie_night", {}, "comfort", "comfort", True),
    (frozenset({"light.kitchen"}), "movie_night", {}, "comfort", "comfort", True),
    (frozenset({"light.kitchen"}), ON, {"name": "Movie Night"}, "comfort", "comfort", True),
    (frozenset({"light.kitchen"}), ON, {"area": "Living Room"}, "comfort", "comfort", True),
    (frozenset(), "script__movie_night", {}, "script", "costly", False),
    (frozenset(), ON, {"area": "Living Room"}, "script", "costly", False),
    (frozenset({"lock.front"}), "script__movie_night", {}, "unlock", "secure", False),
    (frozenset({"lock.front"}), ON, {"name": "Movie Night"}, "unlock", "secure", False),
    (frozenset({"lock.front"}), ON, {"area": "Living Room"}, "unlock", "secure", False),
    (frozenset({"lock.front"}), ON, {"floor": "downstairs"}, "open", "secure", False),
    (frozenset({"lock.front"}), ON, {"area": "Kitchen"}, "comfort", "comfort", True),
    (frozenset({"cover.garage"}), OFF, {"name": "Movie Night"}, "open", "secure", False),
    (frozenset({"group.outer"}), "script__movie_night", {}, "unlock", "secure", False),
    (frozenset({"lock.gone"}), "script__movie_night", {}, "unlock", "secure", False),
    (frozenset({"light.gone"}), "script__movie_night", {}, "comfort", "comfort", True),
    (frozenset({"script.other"}), "script__movie_night", {}, "script", "costly", False),
    (frozenset({"scene.leave"}), "script__movie_night", {}, "unlock", "secure", False),
    (
        frozenset({"light.kitchen"}),
        "script__movie_night",
        {"things": ["lock.front"]},
        "unlock",
        "secure",
        False,
    ),
    (
        frozenset({"light.kitchen"}),
        "script__movie_night",
        {"target": {"area_id": ["hall"]}},
        "unlock",
        "secure",
        False,
    ),
    (
        frozenset({"light.kitchen"}),
        "script__movie_night",
        {"rooms": ["Bedroom", "cocina"]},
        "comfort",
        "comfort",
        True,
    ),
    (frozenset({"vacuum.robbie"}), "script__movie_night", {}, "runs-on", "costly", False),
    # A thing that is only read does not show what is done.
    (frozenset({"sun.sun", "sensor.x"}), "script__movie_night", {}, "script", "costly", False),
    (
        frozenset({"sun.sun", "light.kitchen"}),
        "script__movie_night",
        {},
        "comfort",
        "comfort",
        True,
    ),
    # Home Assistant accepts ids in any case, several ids in one text, devices, and "all".
    *(
        (frozenset({"light.kitchen"}), "script__movie_night", given, "unlock", "secure", False)
        for given in (
            {"thing": "LOCK.Front "},
            {"things": "light.hall, lock.front"},
            {"device": "front-door-device"},
            {"target": {"device_id": ["front-door-device"]}},
        )
    ),
    (
        frozenset({"light.kitchen"}),
        "script__movie_night",
        {"which": "all"},
        "open",
        "secure",
        False,
    ),
]


@pytest.mark.parametrize(("touches", "tool", "arguments", "rule", "tier", "allowed"), SCRIPTS)
def test_a_script_is_judged_by_what_it_touches(
    house: House,
    touches: frozenset[str],
    tool: str,
    arguments: dict[str, Any],
    rule: str,
    tier: str,
    allowed: bool,
) -> None:
    told = replace(house, touches={"script.movie_night": touches})
    verdict = judge(entry(tool), arguments, told, "do it", "Kitchen")
    assert (verdict.rule, verdict.tier, verdict.decision is Decision.ALLOWED) == (
        rule,
        tier,
        allowed,
    )


def test_what_a_script_touches_is_an_effect_of_it(house: House) -> None:
    told = replace(house, touches={"script.movie_night": frozenset({"group.doors"})})
    verdict = judge(entry("script__movie_night"), {}, told, "do it", "")
    assert verdict.entities == ("script.movie_night",)
    assert verdict.effects == ("group.doors", "lock.front")
    # It is unknown in which direction it moves the door.
    told_of = {"plans": "Movie Night", "names": "Front Door"}
    assert (verdict.ask, verdict.values) == ("confirm.ask_plan_unlock", told_of)


@pytest.mark.parametrize(
    ("tool", "arguments", "rule"),
    [
        ("script__movie_night", {}, "unread"),
        (ON, {"name": "Movie Night"}, "unread"),
        (ON, {"name": "Cosy"}, "unread"),
    ],
)
def test_an_old_picture_does_not_tell_what_scripts_and_scenes_touch(
    house: House, tool: str, arguments: dict[str, Any], rule: str
) -> None:
    told = replace(house, touches={"script.movie_night": frozenset({"light.kitchen"})})
    assert judge(entry(tool), arguments, told, "do it", "").decision is Decision.ALLOWED
    verdict = judge(entry(tool), arguments, told, "do it", "", live=False)
    assert (verdict.decision, verdict.rule) == (Decision.NEEDS_CONFIRMATION, rule)


def test_no_other_servers_tool_passes_for_a_script_of_the_home(house: House) -> None:
    told = replace(house, touches={"script.movie_night": frozenset({"light.kitchen"})})
    verdict = judge(entry("script__movie_night", OTHER), {}, told, "do it", "")
    assert (verdict.decision, verdict.rule) == (Decision.NEEDS_CONFIRMATION, "unknown_tool")


@pytest.mark.parametrize(
    ("name", "gated"),
    [
        ("Unlock everything", True),
        ("Abrir portón", True),
        ("Open the garage", True),
        ("Desarmar la alarma", True),
        ("Open the blinds", False),
        ("Movie Night", False),
        ("Doorbell light", False),
    ],
)
def test_a_script_that_is_called_an_opener_is_none_of_comfort(
    house: House, name: str, gated: bool
) -> None:
    script = replace(house.entities["script.movie_night"], name=name)
    known = replace(
        house,
        entities={**house.entities, script.entity_id: script},
        touches={script.entity_id: frozenset({"light.kitchen"})},
    )
    verdict = judge(entry("script__movie_night"), {}, known, None, "")
    assert verdict.tier is (Tier.SECURE if gated else Tier.COMFORT)


DOORS = {
    "lock.front": ("on", "off", "unlock"),
    "cover.garage": ("off", "on", "open"),
    "alarm_control_panel.home": ("on", "off", "disarm"),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("known", [True, False])
def test_a_scene_is_asked_about_in_words_for_what_it_does(door: str, known: bool) -> None:
    """A scene that locks or closes is free, if the states that it sets are known."""
    shuts, opens, rule = DOORS[door]
    things = [
        Entity(door, "Front", "x", device_class="garage"),
        Entity("scene.in", "Coming in", "unknown", attributes={"entity_id": [door, "light.x"]}),
        Entity("light.x", "Lamp", "off"),
    ]
    there = House(entities={one.entity_id: one for one in things})
    for way, ask in ((shuts, None), (opens, f"confirm.ask_plan_will_{rule}")):
        ways: Any = {"scene.in": {door: way, "light.x": "either"}} if known else {}
        verdict = judge(entry(ON), {"name": "Coming in"}, replace(there, ways=ways), "x", "")
        if not known:
            assert verdict.ask == f"confirm.ask_plan_{rule}"
        elif ask is None:
            assert (verdict.decision, verdict.tier) == (Decision.ALLOWED, "comfort")
        else:
            assert (verdict.ask, verdict.tier) == (ask, "secure")
            asked = Catalogue().say(verdict.ask, "en", **verdict.values)
            assert asked.startswith("Start Coming in? That will")


def test_what_a_script_may_do_is_not_said_to_be_sure(house: House) -> None:
    """The script may have conditions."""
    touched = {"script.movie_night": frozenset({"lock.front"})}
    read = replace(house, touches=touched, ways={"script.movie_night": {"lock.front": "off"}})
    verdict = judge(entry("script__movie_night"), {}, read, "do it", "")
    assert verdict.ask == "confirm.ask_plan_unlock"


def test_a_scene_with_a_lock_and_a_gate_is_asked_about_both() -> None:
    held = ["lock.a", "cover.b"]
    things = [
        Entity("lock.a", "Front", "locked"),
        Entity("cover.b", "Gate", "closed"),
        Entity("scene.in", "Coming in", "unknown", attributes={"entity_id": held}),
    ]
    ways: Any = {"scene.in": {"lock.a": "off", "cover.b": "on"}}
    there = House(entities={one.entity_id: one for one in things}, ways=ways)
    verdict = judge(entry(ON), {"name": "Coming in"}, there, "x", "")
    assert verdict.ask == "confirm.ask_plan_several"
