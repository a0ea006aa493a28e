"""Tests of the policy for a sentence for the home's own engine."""

from dataclasses import replace
from typing import Any, Literal

import pytest

from assistant.domain.tool_call import (
    CALLERS,
    TALK,
    Decision,
    Mode,
    PolicyContext,
    Program,
    Rights,
    SentenceMatch,
)
from assistant.speech.catalogue import Catalogue
from assistant.tools.policy.engine import judge_sentence
from assistant.tools.policy.rules import OwnerRule, PolicyDecision, Ruling, Rulings
from integrations.home_assistant.house import House


def said(verdict: PolicyDecision) -> str:
    return Catalogue().say(verdict.key, "en", **verdict.values)


LIGHTS = ("light.kitchen", "light.lamp_living", "light.lamp_bed", "light.hall")


def match(
    intent: str,
    slots: dict[str, Any] | None = None,
    *targets: str,
    text: str = "do it",
    source: Literal["builtin", "custom", "trigger"] = "builtin",
) -> SentenceMatch:
    return SentenceMatch(text, "en", source, intent, slots or {}, targets)


DOOR, GARAGE = {"name": "front door"}, {"name": "garage door"}
# Columns: sentence, rule, tier, allowed.
ROWS: list[tuple[SentenceMatch, str, str, bool]] = [
    (match("HassGetState", {"name": "front door"}), "read", "read", True),
    (match("HassGetWeather"), "read", "read", True),
    (match("HassGetCurrentTime"), "read", "read", True),
    (match("HassClimateGetTemperature"), "read", "read", True),
    (match("HassNevermind"), "read", "read", True),
    (match("HassRespond"), "read", "read", True),
    (match("HassStartTimer", {"minutes": 5}), "note", "comfort", True),
    (
        match("HassListAddItem", {"name": "shopping list"}, "todo.shopping"),
        "comfort",
        "comfort",
        True,
    ),
    (match("HassShoppingListAddItem", {"item": "milk"}), "note", "comfort", True),
    (
        match("HassStartTimer", {"minutes": 5, "conversation_command": "open the garage"}),
        "later",
        "secure",
        False,
    ),
    (match("HassTurnOn", {"name": "kitchen light"}, "light.kitchen"), "comfort", "comfort", True),
    (match("HassTurnOff", DOOR, "lock.front"), "unlock", "secure", False),
    (match("HassTurnOff", DOOR), "unlock", "secure", False),  # recognised by the policy
    # Recognised by the engine.
    (match("HassTurnOff", {"name": "x"}, "lock.front"), "unlock", "secure", False),
    (match("HassTurnOn", DOOR, "lock.front"), "comfort", "comfort", True),
    (match("HassOpenCover", GARAGE, "cover.garage"), "open", "secure", False),
    (match("HassTurnOn", GARAGE, "cover.garage"), "open", "secure", False),
    (match("HassCloseCover", GARAGE, "cover.garage"), "comfort", "comfort", True),
    (match("HassSetPosition", {**GARAGE, "position": 20}, "cover.garage"), "open", "secure", False),
    (match("HassTurnOff", {"area": "hall"}, "light.hall", "lock.front"), "unlock", "secure", False),
    (match("HassTurnOn", {"name": "movie night"}, "script.movie_night"), "script", "costly", False),
    (match("HassTurnOn", {"name": "leave"}, "scene.leave"), "unlock", "secure", False),
    (match("HassTurnOff", {"name": "nobody"}), "unseen", "comfort", False),
    (match("HassTurnOff", {"area": "attic", "domain": "lock"}), "unseen", "comfort", False),
    (match("HassTurnOn", {"name": "lamp", "domain": "light"}), "comfort", "comfort", True),
    (match("HassVacuumStart", {}, "vacuum.robbie"), "runs-on", "costly", False),
    (match("", source="trigger"), "sentence", "costly", False),
    (match("HassTurnOn", {"name": "lamp"}, source="trigger"), "sentence", "costly", False),
    (match("PartyMode", source="custom"), "sentence", "costly", False),
    (match("HassBrandNew"), "sentence", "costly", False),
    (
        match("HassTurnOn", {"name": "kitchen light"}, "light.kitchen", source="custom"),
        "comfort",
        "comfort",
        True,
    ),
]


@pytest.mark.parametrize(("sentence", "rule", "tier", "allowed"), ROWS)
def test_by_intent_and_targets(
    house: House, sentence: SentenceMatch, rule: str, tier: str, allowed: bool
) -> None:
    verdict = judge_sentence(sentence, house, "do it", "")
    assert (verdict.rule, verdict.tier, verdict.decision is Decision.ALLOWED) == (
        rule,
        tier,
        allowed,
    )
    if not allowed:
        for language in ("en", "es"):
            assert Catalogue().say(verdict.key, language, **verdict.values)


OFF = {"domain": "light"}


@pytest.mark.parametrize(
    ("targets", "heard", "area", "allowed"),
    [
        (LIGHTS, "turn off the lights", "Kitchen", False),
        (LIGHTS, "turn off the lights", "", False),
        (LIGHTS, "turn off all the lights", "", True),
        # The engine would switch more than was meant.
        (LIGHTS, "turn off the lights in the kitchen", "", False),
        (("light.kitchen",), "turn off the lights in the kitchen", "", True),
        (LIGHTS, None, "Kitchen", False),
        ((), "turn off the lights", "Kitchen", False),
        (("light.kitchen", "light.gone"), "turn off the lights", "Kitchen", False),
    ],
)
def test_without_a_place_only_this_room_or_what_was_said(
    house: House, targets: tuple[str, ...], heard: str | None, area: str, allowed: bool
) -> None:
    sentence = match("HassTurnOff", OFF, *targets, text="turn off the lights")
    verdict = judge_sentence(sentence, house, heard, area)
    assert (verdict.decision is Decision.ALLOWED) is allowed
    if not allowed:
        assert (verdict.rule, verdict.tier, verdict.arguments) == ("which_room", "comfort", OFF)
        assert verdict.entities == (targets or LIGHTS)
        assert said(verdict) == "Which room do you mean?"


def test_all_that_was_said_counts_though_nobody_heard_it(house: House) -> None:
    typed = match("HassTurnOff", OFF, *LIGHTS, text="turn off all the lights")
    assert judge_sentence(typed, house, None, "").decision is Decision.ALLOWED


def test_lights_are_not_meant_for_the_whole_house(house: House) -> None:
    sentence = match("HassTurnOn", OFF, *LIGHTS, text="the lights")
    assert judge_sentence(sentence, house, "the lights", "Kitchen").rule == "which_room"


@pytest.mark.parametrize(
    ("area", "touched"), [("Bedroom", ("light.lamp_bed",)), ("Kitchen", ("light.lamp_living",))]
)
def test_of_things_of_one_name_the_one_near_the_box_is_told(
    house: House, area: str, touched: tuple[str, ...]
) -> None:
    verdict = judge_sentence(match("HassTurnOn", {"name": "lamp"}), house, "lamp on", area)
    assert (verdict.decision, verdict.entities) == (Decision.ALLOWED, touched)


@pytest.mark.parametrize(("intent", "allowed"), [("HassTurnOn", True), ("HassTurnOff", False)])
def test_doors_are_locked_in_every_room_and_unlocked_in_none(
    house: House, intent: str, allowed: bool
) -> None:
    back = replace(house.entities["lock.front"], entity_id="lock.back", area_id="kitchen")
    house = replace(house, entities={**house.entities, "lock.back": back})
    locks = ("lock.front", "lock.back")
    sentence = match(intent, {"domain": "lock"}, *locks, text="the doors")
    verdict = judge_sentence(sentence, house, "the doors", "Kitchen")
    assert verdict.rule == ("comfort" if allowed else "which_room")
    assert (verdict.decision is Decision.ALLOWED) is allowed


def test_a_room_that_the_engine_took_from_the_device_is_a_place(house: House) -> None:
    sentence = match("HassTurnOff", {**OFF, "area": "Kitchen"}, "light.kitchen")
    verdict = judge_sentence(sentence, house, "turn off the lights", "Kitchen")
    assert verdict.decision is Decision.ALLOWED
    assert verdict.entities == ("light.kitchen",)


def test_what_the_dry_run_tells_is_held_to_the_kind_of_the_intent(house: House) -> None:
    room = ("light.kitchen", "switch.kettle", "lock.front", "media_player.kitchen")
    sentence = match("HassSetVolume", {"volume_level": "20", "area": "Kitchen"}, *room)
    verdict = judge_sentence(sentence, house, "set the volume", "Kitchen")
    assert (verdict.decision, verdict.entities) == (Decision.ALLOWED, ("media_player.kitchen",))
    off = match("HassTurnOff", {"area": "Kitchen"}, *room)
    assert judge_sentence(off, house, "do", "Kitchen").rule == "unlock"


def test_a_thing_whose_name_looks_the_same_is_judged_too(house: House) -> None:
    false = replace(house.entities["lock.front"], entity_id="lock.false", name="Lounge\u200b Radio")
    radio = replace(house.entities["media_player.kitchen"], name="Lounge Radio")
    things = {**house.entities, "lock.false": false, "media_player.kitchen": radio}
    sentence = match("HassTurnOff", {"name": "lounge radio"}, "media_player.kitchen")
    verdict = judge_sentence(sentence, replace(house, entities=things), "radio off", "")
    assert (verdict.decision, verdict.rule) == (Decision.NEEDS_CONFIRMATION, "unlock")


def test_an_old_picture_opens_nothing(house: House) -> None:
    half = match("HassSetPosition", {"name": "back gate", "position": 20}, "cover.half")
    assert judge_sentence(half, house, "do", "").decision is Decision.ALLOWED
    assert judge_sentence(half, house, "do", "", live=False).rule == "open"
    doors = match("HassTurnOff", {"name": "outer"})
    assert judge_sentence(doors, house, "do", "", live=False).rule == "unlock"
    area = match("HassTurnOff", {"area": "kitchen"}, "light.kitchen")
    assert judge_sentence(area, house, "do", "", live=False).rule == "unseen"


def test_the_settings_let_a_tier_through(house: House) -> None:
    door, trigger = match("HassTurnOff", DOOR, "lock.front"), match("", source="trigger")
    costly, secure = Rulings(costly="allow"), Rulings(secure="allow")
    for sentence, rulings, allowed in (
        (door, costly, False),
        (door, secure, True),
        (trigger, secure, False),
        (trigger, costly, False),  # it is unknown what it triggers
    ):
        verdict = judge_sentence(sentence, house, "do", "", rulings=rulings)
        assert (verdict.decision is Decision.ALLOWED) is allowed


def test_a_script_of_known_effect_may_be_asked_for(house: House) -> None:
    told = replace(house, touches={"script.movie_night": frozenset({"light.kitchen"})})
    sentence = match("HassTurnOn", {"name": "movie night"}, "script.movie_night")
    verdict = judge_sentence(sentence, told, "do", "")
    assert (verdict.decision, verdict.effects) == (Decision.ALLOWED, ("light.kitchen",))
    old = judge_sentence(sentence, told, "do", "", live=False)
    assert (old.decision, old.rule) == (Decision.NEEDS_CONFIRMATION, "unread")


@pytest.mark.parametrize(
    ("sentence", "allowed"),
    [
        (match("HassTurnOn", {"name": "kitchen light"}, "light.kitchen"), True),
        (match("HassStartTimer", {"minutes": 5}), True),
        (match("HassGetState", {"name": "kitchen light"}), True),
        (match("HassGetState", {"domain": "todo"}), False),
        (match("HassListAddItem", {"name": "shopping list"}, "todo.shopping"), False),
        (match("HassShoppingListAddItem", {"item": "milk"}), False),
        (match("HassTurnOff", DOOR, "lock.front"), False),
        (match("HassVacuumStart", {}, "vacuum.robbie"), False),
        (match("", source="trigger"), False),
    ],
)
def test_guests(house: House, sentence: SentenceMatch, allowed: bool) -> None:
    verdict = judge_sentence(sentence, house, "do", "", moment=PolicyContext(Mode.GUEST))
    assert (verdict.decision is Decision.ALLOWED) is allowed
    assert allowed or verdict.decision is Decision.DENIED


def test_to_guests_it_is_said_that_it_is_not_for_them(house: House) -> None:
    slots = {"domain": "todo"}
    asked = match("HassGetState", slots)
    verdict = judge_sentence(asked, house, "do", "", moment=PolicyContext(Mode.GUEST))
    assert (verdict.rule, verdict.tier, verdict.arguments) == ("guest", "read", slots)
    assert said(verdict) == "I can't do that in guest mode."


BROADCAST, LAMP = match("HassBroadcast", {"message": "tea"}), {"name": "kitchen light"}


@pytest.mark.parametrize(
    ("sentence", "rights", "rule"),
    [
        (BROADCAST, None, "note"),
        (BROADCAST, CALLERS, "caller"),
        (BROADCAST, TALK, "in_talk"),
        (match("HassTurnOn", LAMP), CALLERS, "comfort"),
    ],
)
def test_programs_say_nothing_aloud(
    house: House, sentence: SentenceMatch, rights: Rights | None, rule: str
) -> None:
    program = Program("mcp:kitchen", rights) if rights else None
    moment = PolicyContext().asked_by(program)
    verdict = judge_sentence(sentence, house, "do", "", moment=moment)
    assert (verdict.rule, verdict.tier, verdict.arguments) == (rule, "comfort", sentence.slots)


@pytest.mark.parametrize(
    "of",
    [
        {"domain": "lock"},
        {"tool": "HassTurnOff"},
        {"tool": "conversation.process"},
        {"server": "home_assistant"},
    ],
)
def test_the_owners_rules_hold_for_sentences_too(house: House, of: dict[str, Any]) -> None:
    rulings = Rulings(rules=(OwnerRule(Ruling.PIN, **of),))
    door = match("HassTurnOff", DOOR, "lock.front")
    verdict = judge_sentence(door, house, "do", "", rulings=rulings)
    assert (verdict.ruling, verdict.rule) == (Ruling.PIN, "policy.rules[0]")
