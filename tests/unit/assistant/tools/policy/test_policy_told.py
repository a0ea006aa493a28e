"""Tests of the texts of questions, refusals and the audit: complete, and nothing else."""

from dataclasses import replace
from typing import Any

import pytest

from assistant.domain.tool_call import Decision, Mode, PolicyContext, SentenceMatch, Tier
from assistant.speech.catalogue import Catalogue
from assistant.tools.policy.engine import judge, judge_sentence
from assistant.tools.policy.rules import STRICT, OwnerRule, PolicyDecision, Ruling, Rulings
from integrations.home_assistant.house import Area, Entity, House
from tests.unit.assistant.tools.policy.test_verdicts import HOUSE, LIGHT, NO, OFF, ON, entry

ASK, GUEST = PolicyContext(Mode.ASK), PolicyContext(Mode.GUEST)
UNLOCK_HALL = "Unlock the front door and the back door, and change the hall light too?"
BACK_TOO = replace(HOUSE.entities["lock.back"], area_id="hall")
CAMERA = Entity("camera.attic", "Eye", "idle", (), "attic")
ATTIC = House({}, {"attic": Area("attic", "Attic")}, {CAMERA.entity_id: CAMERA})
LAMP = Entity("light.cellar", "Cellar light", "on", (), "cellar")
FAN = Entity("fan.cellar", "Fan", "on", (), "cellar")
YALE = Entity("lock.yale", "Yale", "locked", (), "cellar")
OVEN = Entity("switch.x", "Oven", "off", (), "cellar")
TAP = Entity("valve.cellar", "Tap", "closed", (), "cellar", "water")
GATE = Entity("cover.gate", "Gate", "closed", (), "cellar", "gate")


def with_things(*things: Entity) -> House:
    """Return the house with these in it too."""
    return replace(HOUSE, entities={**HOUSE.entities, **{one.entity_id: one for one in things}})


def said(verdict: PolicyDecision) -> tuple[str, str]:
    """Return the question or refusal, and the sentence after a no."""
    say = Catalogue().say
    left = say(verdict.left, "en", **verdict.values) if verdict.left else ""
    return say(verdict.key, "en", **verdict.values), left


@pytest.mark.parametrize(
    ("rulings", "moment", "sentence", "left"),
    [
        (
            STRICT,
            ASK,
            "I can't find the flux capacitor in your home. Try it anyway?",
            "OK, I didn't try the flux capacitor.",
        ),
        (
            Rulings(rules=(OwnerRule(Ruling.DENY, tool=ON),)),
            PolicyContext(),
            "I'm not allowed to do that with the flux capacitor.",
            "",
        ),
    ],
)
def test_of_a_thing_that_is_not_seen_it_is_said_that_it_is_not(
    rulings: Rulings, moment: PolicyContext, sentence: str, left: str
) -> None:
    arguments = {"name": "Flux capacitor", **LIGHT}
    verdict = judge(entry(ON), arguments, HOUSE, "x", "", rulings=rulings, moment=moment)
    assert verdict.decision is not Decision.ALLOWED
    assert said(verdict) == (sentence, left)
    assert (verdict.tier, verdict.arguments) == (Tier.COMFORT, arguments)
    assert (verdict.entities, verdict.effects) == ((), ())


@pytest.mark.parametrize(
    ("arguments", "heard", "moment", "sentence"),
    [
        # The question names both doors of the hall, and there is nothing else to name.
        (
            {"area": "Hall", "domain": ["lock"]},
            "x",
            PolicyContext(),
            "Unlock the front door and the back door?",
        ),
        # Even if a lamp needs confirmation, a lock is still more than was meant.
        ({"area": "Hall"}, "turn off the hall", ASK, "Change the hall light?"),
        ({"area": "Hall"}, "unlock the hall", ASK, UNLOCK_HALL),
    ],
)
def test_a_question_is_about_what_was_meant(
    arguments: dict[str, Any], heard: str, moment: PolicyContext, sentence: str
) -> None:
    verdict = judge(entry(OFF), arguments, with_things(BACK_TOO), heard, "", moment=moment)
    assert said(verdict)[0] == sentence


def test_a_thing_whose_name_cannot_be_said_goes_by_its_id() -> None:
    silent = Entity("lock.back_door", "\u200b\u202e", "locked")
    asked = judge(entry(OFF), {"name": "lock.back_door"}, with_things(silent), "x", "")
    assert said(asked)[0] == "Unlock the back door?"


def test_a_guest_is_told_so_of_a_room_with_a_camera() -> None:
    refused = judge(entry(ON), {"area": "Attic"}, ATTIC, "x", "", moment=GUEST)
    assert said(refused)[0] == "I can't do that in guest mode."


@pytest.mark.parametrize("secure", ["confirm", "deny"])
def test_what_is_not_done_is_noted_whole(secure: str) -> None:
    verdict = judge(entry(ON), {"name": "Party"}, HOUSE, "x", "", rulings=Rulings(secure=secure))
    assert verdict.decision is not Decision.ALLOWED
    assert (verdict.tier, verdict.rule, verdict.arguments) == (
        Tier.SECURE,
        "unlock",
        {"name": "Party"},
    )
    assert verdict.entities == ("scene.party",)
    assert verdict.effects == ("light.lounge", "lock.front")


def test_a_question_about_the_whole_house_is_noted_with_what_follows() -> None:
    inner = Entity("light.inner", "Inner", "on", exposed=False)
    wall = Entity("light.wall", "Wall", "on", attributes={"entity_id": ["light.inner"]})
    asked = judge(entry(OFF), LIGHT, with_things(inner, wall), None, "")
    assert (asked.rule, asked.effects) == ("whole_house", ("light.inner",))


@pytest.mark.parametrize(
    ("tool", "title", "asked", "touched"),
    [
        (
            "script__movie",
            "The Movie",
            "I don't know yet what The Movie does. Should I go ahead anyway?",
            ("script.movie",),
        ),
        (
            "script__movie",
            "",
            "I don't know yet what movie does. Should I go ahead anyway?",
            ("script.movie",),
        ),
        ("intent_script__party", "Party", "Run the script Party?", ()),
    ],
)
def test_of_a_script_in_an_old_picture_its_title_is_told(
    tool: str, title: str, asked: str, touched: tuple[str, ...]
) -> None:
    script = entry(tool)
    script = replace(script, tool=replace(script.tool, title=title))
    verdict = judge(script, {}, HOUSE, "x", "", live=False)
    assert (said(verdict)[0], verdict.entities, verdict.tier) == (asked, touched, Tier.COSTLY)


def test_a_kind_of_thing_is_enough_to_go_by() -> None:
    plug = Entity("switch.plug", "Plug", "on", (), "hall", "outlet")
    other = Entity("switch.other", "Other plug", "on", (), "lounge", "outlet")
    arguments = {"device_class": ["outlet"]}
    verdict = judge(entry(OFF), arguments, with_things(plug, other), "outlets off", "Hall")
    assert (verdict.decision, verdict.entities) == (Decision.ALLOWED, ("switch.plug",))


@pytest.mark.parametrize(
    ("things", "tool", "heard", "mode", "sent"),
    [
        # The lock may have any name: "door" means it too.
        ((LAMP, YALE), OFF, "the door of the cellar", Mode.NORMAL, {"domain": ["lock"]}),
        ((LAMP, YALE), OFF, "the cellar off", Mode.NORMAL, LIGHT),
        # All of it was meant.
        ((LAMP, YALE), OFF, "the light and the lock", Mode.NORMAL, {}),
        # None or all of it is free, so the question names everything.
        ((TAP, GATE), ON, "open the cellar", Mode.NORMAL, {}),
        # One kind was named, and the other is not involved.
        ((TAP, GATE), ON, "open the gate", Mode.NORMAL, {"domain": ["cover"]}),
        ((LAMP, FAN), OFF, "the light in the cellar", Mode.ASK, LIGHT),
    ],
)
def test_only_what_is_mixed_is_cut(
    things: tuple[Entity, ...], tool: str, heard: str, mode: Mode, sent: dict[str, Any]
) -> None:
    cellar = House({}, {"cellar": Area("cellar", "Cellar")}, {one.entity_id: one for one in things})
    arguments = {"area": "Cellar"}
    verdict = judge(entry(tool), arguments, cellar, heard, "", moment=PolicyContext(mode))
    assert verdict.arguments == {**arguments, **sent}
    assert verdict.narrowed is bool(sent)


@pytest.mark.parametrize(
    ("live", "sent", "asked"),
    [(True, LIGHT, ""), (False, {}, "Turn on the oven, and change the cellar light too?")],
)
def test_an_old_picture_does_not_tell_what_to_leave_out(
    live: bool, sent: dict[str, Any], asked: str
) -> None:
    arguments = {"area": "Cellar", "domain": ["light", "switch"]}
    cellar = House(
        {}, {"cellar": Area("cellar", "Cellar")}, {"light.cellar": LAMP, "switch.x": OVEN}
    )
    verdict = judge(entry(ON), arguments, cellar, "turn on the cellar", "", live=live)
    assert verdict.arguments == {**arguments, **sent}
    assert verdict.narrowed is bool(sent)
    assert verdict.decision is (Decision.NEEDS_CONFIRMATION if asked else Decision.ALLOWED)
    assert not asked or said(verdict)[0] == asked


def test_it_is_said_of_which_room_that_nothing_of_the_kind_is_there() -> None:
    verdict = judge(entry(OFF), {"domain": ["fan", "climate"]}, HOUSE, "x", "Hall")
    assert (verdict.decision, verdict.rule, verdict.tier) == (NO, "none_here", Tier.COMFORT)
    assert said(verdict)[0] == (
        "I can't find that in the hall, but I found the thermostat, the air conditioner, the sauna "
        "and the fan elsewhere. Which one do you mean?"
    )
    assert verdict.arguments == {"domain": ["fan", "climate"], "area": "Hall"}


@pytest.mark.parametrize(
    ("classes", "sentence"),
    [
        (["blind"], "There are no blinds in the bedroom."),
        (["garage"], "I can't find anything like that in the bedroom."),
    ],
)
def test_the_kind_is_named_that_is_not_there(classes: list[str], sentence: str) -> None:
    wanted = {"area": "Bedroom", "domain": ["cover"], "device_class": classes}
    verdict = judge(entry(OFF), wanted, HOUSE, "x", "")
    assert said(verdict)[0] == sentence


def test_what_was_mended_is_told_of_a_refusal_too() -> None:
    verdict = judge(entry(OFF), {"area": "Bedrom", "domain": ["lock"]}, HOUSE, "x", "")
    assert (verdict.decision, verdict.rule) == (NO, "none_here")
    assert [(one.given, one.meant) for one in verdict.mended] == [("Bedrom", "Bedroom")]


@pytest.mark.parametrize(
    ("place", "live", "sentence"),
    [
        ({"area": "bedroom"}, True, "There are no locks in the bedroom."),
        ({"floor": "upstairs"}, True, "There are no locks upstairs."),
        (
            {"area": "Attic"},
            True,
            "I can't find the attic in your home, so I didn't do anything. Try another name.",
        ),
        (
            {"floor": "Attic"},
            True,
            "I can't find the attic in your home, so I didn't do anything. Try another name.",
        ),
        (
            {"area": "Bedroom"},
            False,
            "I can't find the bedroom in your home, so I didn't do anything. Try another name.",
        ),
        (
            {"name": "Hatch", "area": "Bedroom"},
            True,
            "I can't find the hatch in your home, so I didn't do anything. Try another name.",
        ),
    ],
)
def test_a_refusal_says_what_is_not_there(place: dict[str, str], live: bool, sentence: str) -> None:
    slots = {**place, "domain": ["lock"]}
    by_words = SentenceMatch("unlock", "en", "builtin", OFF, slots, ())
    for verdict in (
        judge(entry(OFF), slots, HOUSE, "x", "", live=live),
        judge_sentence(by_words, HOUSE, "x", "", live=live),
    ):
        assert (verdict.decision, verdict.tier, verdict.arguments) == (NO, Tier.COMFORT, slots)
        assert said(verdict)[0] == sentence


NIGHT = Entity("scene.night", "Good night", "unknown", attributes={"entity_id": ["lock.front"]})
OUT = Entity("scene.out", "Going out", "unknown", attributes={"entity_id": ["cover.garage"]})
BOTH = Entity(
    "scene.both", "Both", "unknown", attributes={"entity_id": ["lock.front", "cover.garage"]}
)
LEAVE = Entity("script.leaving", "Off to work", "off")
OPENER = Entity("script.x", "Unlock it all", "off")
ALARM = Entity("alarm_control_panel.home", "Alarm", "armed_away")
AWAY = Entity("scene.away", "Away", "unknown", attributes={"entity_id": [ALARM.entity_id]})
ALL_PLANS = Entity("group.plans", "Plans", "off", attributes={"entity_id": ["scene.night"]})


@pytest.mark.parametrize(
    ("things", "tool", "name", "sentence", "left"),
    [
        (
            [NIGHT],
            ON,
            "Good night",
            "Start Good night? That could lock or unlock the front door.",
            "OK, I left Good night alone.",
        ),
        (
            [OUT],
            ON,
            "Going out",
            "Start Going out? That could open or close the garage door.",
            None,
        ),
        ([AWAY, ALARM], ON, "Away", "Start Away? That could arm or disarm the alarm.", None),
        (
            [BOTH],
            ON,
            "Both",
            "Start Both? That could unlock, open or change the front door and the garage door.",
            None,
        ),
        (
            [LEAVE],
            ON,
            "Off to work",
            "Start Off to work? That could lock or unlock the front door.",
            None,
        ),
        ([LEAVE], OFF, "Off to work", "Stop Off to work? That affects the front door.", None),
        (
            [NIGHT, ALL_PLANS],
            ON,
            "Plans",
            "Start Good night? That could lock or unlock the front door.",
            None,
        ),
        (
            [OPENER],
            ON,
            "Unlock it all",
            "Start Unlock it all? That could open or unlock something.",
            None,
        ),
        ([OPENER], OFF, "Unlock it all", "Stop Unlock it all?", None),
        # Entities that are switched directly are asked about as before.
        ([], OFF, "Front door", "Unlock the front door?", "OK, I left the front door locked."),
    ],
)
def test_a_question_says_what_would_really_happen(
    things: list[Entity], tool: str, name: str, sentence: str, left: str | None
) -> None:
    house = replace(with_things(*things), touches={"script.leaving": frozenset({"lock.front"})})
    verdict = judge(entry(tool), {"name": name}, house, "x", "")
    assert verdict.decision is Decision.NEEDS_CONFIRMATION
    assert said(verdict)[0] == sentence
    assert left is None or said(verdict)[1] == left


@pytest.mark.parametrize("scene", [NIGHT, OUT, BOTH, AWAY])
def test_nothing_comes_of_switching_a_scene_off(scene: Entity) -> None:
    verdict = judge(entry(OFF), {"name": scene.name}, with_things(scene, ALARM), "x", "")
    assert (verdict.decision, verdict.effects) == (Decision.ALLOWED, ())


def test_a_script_of_which_nothing_is_known_is_asked_about_as_what_it_is() -> None:
    verdict = judge(entry(ON), {"name": "Off to work"}, with_things(LEAVE), "x", "")
    assert said(verdict)[0] == "Run the script Off to work?"
    verdict = judge(entry(OFF), {"name": "Off to work"}, with_things(LEAVE), "x", "")
    assert said(verdict)[0] == "Stop Off to work?"


def test_a_refusal_does_not_say_that_a_scene_unlocks() -> None:
    no = Rulings(secure="deny")
    verdict = judge(entry(ON), {"name": "Good night"}, with_things(NIGHT), "x", "", rulings=no)
    sentence = "I'm not allowed to start Good night, because that could affect the front door."
    assert said(verdict)[0] == sentence
    guest = judge(entry(ON), {"name": "Good night"}, with_things(NIGHT), "x", "", moment=GUEST)
    assert said(guest)[0] == sentence


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (
            "light",
            "Change the porch? I mean the light. "
            "Another device has the same name, and I'll leave that one alone.",
        ),
        (
            "switch",
            "Change the porch? Another device has the same name, and I'll leave that one alone.",
        ),
    ],
)
def test_a_lamp_that_shares_its_name_with_a_lock_is_not_a_door(kind: str, sentence: str) -> None:
    here = Entity(f"{kind}.porch", "Porch", "on", (), "hall")
    lock = Entity("lock.porch", "Porch\u200b", "locked", (), "lounge")
    verdict = judge(entry(OFF), {"name": "Porch"}, with_things(here, lock), "x", "Hall")
    assert verdict.decision is Decision.NEEDS_CONFIRMATION
    assert verdict.entities == (f"{kind}.porch",)
    assert said(verdict) == (sentence, "OK, I left the porch as it was.")
