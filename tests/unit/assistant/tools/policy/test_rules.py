"""Tests of the owner's rules: matching, and precedence."""

from dataclasses import replace
from datetime import time
from typing import Any

import pytest

from assistant.domain.tool_call import (
    CALLERS,
    READ_ONLY,
    TALK,
    Decision,
    Mode,
    PolicyContext,
    Program,
    Rights,
    Tier,
)
from assistant.speech.catalogue import Catalogue
from assistant.tools.policy.engine import judge
from assistant.tools.policy.rules import OwnerRule, Ruling, Rulings, called, naming
from tests.unit.assistant.tools.policy.test_verdicts import (
    HOUSE,
    OFF,
    ON,
    OPEN,
    OTHER,
    TOGGLE,
    entry,
)

ALLOW, CONFIRM, PIN, DENY = Ruling.ALLOW, Ruling.CONFIRM, Ruling.PIN, Ruling.DENY
DOOR, OVEN, BLINDS = {"name": "Front door"}, {"name": "Oven"}, {"name": "Blinds"}
LAMP, GARAGE = {"name": "Kitchen light"}, {"name": "Garage door"}
LABELS = ("front_doors", "Front doors", "[outer] doors", "outer doors")
LABELLED = replace(
    HOUSE,
    entities={
        **HOUSE.entities,
        "lock.front": replace(HOUSE.entities["lock.front"], labels=LABELS),
    },
)


def ruled(
    rule: OwnerRule, tool: str, arguments: dict[str, Any], moment: PolicyContext | None = None
) -> tuple[Ruling, str]:
    rulings = Rulings(rules=(rule,))
    verdict = judge(
        entry(tool), arguments, LABELLED, "x", "", rulings=rulings, moment=moment or PolicyContext()
    )
    return verdict.ruling, verdict.rule


# Columns: fields of the rule, the call, whether it matches.
MATCHES: list[tuple[dict[str, Any], str, dict[str, Any], bool]] = [
    ({"entity": "lock.front"}, OFF, DOOR, True),
    ({"entity": "lock.*"}, OFF, DOOR, True),
    ({"entity": "LOCK.fr?nt"}, OFF, DOOR, True),
    ({"entity": "lock.back"}, OFF, DOOR, False),
    ({"area": "hall"}, OFF, DOOR, True),
    ({"area": "HALL"}, OFF, DOOR, True),
    ({"area": "h*"}, OFF, DOOR, True),
    ({"area": "kitchen"}, OFF, DOOR, False),
    ({"area": "*"}, ON, {"name": "Siren"}, False),  # it has no place
    ({"label": "front_doors"}, OFF, DOOR, True),
    ({"label": "front doors"}, OFF, DOOR, True),
    ({"label": "front*"}, OFF, DOOR, True),
    ({"label": "windows"}, OFF, DOOR, False),
    ({"label": "[outer] doors"}, OFF, DOOR, True),
    ({"label": "[ou]uter doors"}, OFF, DOOR, False),
    ({"label": "*"}, ON, OVEN, False),
    ({"domain": "lock"}, OFF, DOOR, True),
    ({"domain": "light"}, OFF, DOOR, False),
    ({"tool": "HassTurnOff"}, "intent__HassTurnOff", DOOR, True),
    ({"tool": "intent__HassTurnOff"}, "intent__HassTurnOff", DOOR, True),
    ({"tool": "hassturn*"}, "intent__HassTurnOff", DOOR, True),
    ({"tool": "HassTurnOn"}, "intent__HassTurnOff", DOOR, False),
    ({"server": "home_assistant"}, OFF, DOOR, True),
    ({"server": "files"}, OFF, DOOR, False),
    ({"direction": "open"}, OFF, DOOR, True),
    ({"direction": "close"}, OFF, DOOR, False),
    ({"direction": "open"}, ON, OVEN, False),  # the oven has no direction
    ({"direction": "open"}, OPEN, BLINDS, True),
    ({"direction": "open"}, TOGGLE, GARAGE, True),
    ({"direction": "open", "domain": "cover"}, OFF, DOOR, False),
    ({"domain": "lock", "area": "hall", "direction": "open"}, OFF, DOOR, True),
    ({"domain": "lock", "area": "kitchen"}, OFF, DOOR, False),
    ({"satellite": "Hearth"}, OFF, DOOR, True),
    ({"satellite": "kitch*"}, OFF, DOOR, True),
    ({"satellite": "attic"}, OFF, DOOR, False),
    ({"begins": time(11), "ends": time(13)}, OFF, DOOR, True),
    ({"begins": time(12), "ends": time(13)}, OFF, DOOR, True),
    ({"begins": time(11), "ends": time(12)}, OFF, DOOR, False),
    ({"begins": time(22), "ends": time(7)}, OFF, DOOR, False),
    ({"begins": time(22), "ends": time(13)}, OFF, DOOR, True),
    ({"begins": time(12), "ends": time(12)}, OFF, DOOR, True),
    ({"begins": time(22), "ends": time(22)}, OFF, DOOR, True),
    ({}, OFF, DOOR, True),
]


@pytest.mark.parametrize(("fields", "tool", "arguments", "matches"), MATCHES)
def test_all_that_is_given_must_match(
    fields: dict[str, Any], tool: str, arguments: dict[str, Any], matches: bool
) -> None:
    moment = PolicyContext(now=time(12), satellite=("Hearth", "Kitchen"))
    ruling, rule = ruled(OwnerRule(DENY, **fields), tool, arguments, moment)
    assert (ruling is DENY, rule == "policy.rules[0]") == (matches, matches)


@pytest.mark.parametrize(
    ("now", "within"),
    [
        (time(21, 59), False),
        (time(22), True),
        (time(3), True),
        (time(6, 59), True),
        (time(7), False),
    ],
)
def test_a_night_wraps_around_midnight(now: time, within: bool) -> None:
    night = OwnerRule(PIN, domain="lock", begins=time(22), ends=time(7))
    assert (ruled(night, OFF, DOOR, PolicyContext(now=now))[0] is PIN) is within


def test_the_first_match_wins() -> None:
    rules = (
        OwnerRule(ALLOW, entity="lock.back"),
        OwnerRule(PIN, domain="lock"),
        OwnerRule(DENY, domain="*"),
    )
    rulings = Rulings(rules=rules)
    for arguments, wanted, number in (
        ({"name": "Back door"}, ALLOW, 0),
        (DOOR, PIN, 1),
        (OVEN, DENY, 2),
    ):
        verdict = judge(entry(OFF), arguments, HOUSE, "x", "", rulings=rulings)
        assert (verdict.ruling, verdict.rule) == (wanted, called(number))


def test_the_strictest_of_all_that_is_touched_holds() -> None:
    free = Rulings(rules=(OwnerRule(ALLOW, entity="lock.back"),))
    verdict = judge(entry(OFF), {"name": "Doors"}, HOUSE, "x", "", rulings=free)
    assert (verdict.ruling, verdict.rule) == (CONFIRM, "unlock")
    assert verdict.values["names"] == "Front door"
    strict = Rulings(rules=(OwnerRule(DENY, entity="lock.back"),))
    verdict = judge(entry(OFF), {"name": "Doors"}, HOUSE, "x", "", rulings=strict)
    assert (verdict.decision, verdict.values["names"]) == (Decision.DENIED, "Back door")


def test_a_rule_for_a_script_does_not_free_what_it_touches() -> None:
    free = Rulings(rules=(OwnerRule(ALLOW, entity="script.leave"),))
    verdict = judge(entry("script__leave"), {}, HOUSE, "x", "", rulings=free)
    assert (verdict.ruling, verdict.rule) == (CONFIRM, "open")
    unknown = Rulings(rules=(OwnerRule(ALLOW, entity="script.secret"),))
    verdict = judge(entry("script__secret"), {}, HOUSE, "x", "", rulings=unknown)
    assert (verdict.ruling, verdict.rule) == (ALLOW, "policy.rules[0]")


def test_letting_things_be_closed_does_not_let_them_be_toggled() -> None:
    closing = OwnerRule(ALLOW, direction="close")
    assert ruled(closing, TOGGLE, GARAGE) == (CONFIRM, "open")
    assert ruled(OwnerRule(DENY, direction="close"), TOGGLE, GARAGE)[0] is DENY


@pytest.mark.parametrize(
    ("rule", "tool", "arguments", "wanted"),
    [
        (OwnerRule(ALLOW, tool="homeassistant__call*"), "homeassistant__call_action", {}, ALLOW),
        (OwnerRule(DENY, tool="HassTimerStatus"), "HassTimerStatus", {}, DENY),
        # The call affects no entity and changes nothing.
        (OwnerRule(DENY), "HassTimerStatus", {}, ALLOW),
        (OwnerRule(DENY), "HassStartTimer", {}, DENY),
        (OwnerRule(DENY, domain="*"), "HassStartTimer", {}, ALLOW),
    ],
)
def test_rules_about_tools(
    rule: OwnerRule, tool: str, arguments: dict[str, Any], wanted: Ruling
) -> None:
    assert ruled(rule, tool, arguments)[0] is wanted


def test_a_rule_for_a_server_frees_its_tools() -> None:
    rulings = Rulings(rules=(OwnerRule(ALLOW, server="files"), OwnerRule(DENY, tool="rated")))
    assert judge(entry("write", OTHER), {}, HOUSE, "x", "", rulings=rulings).ruling is ALLOW
    assert naming(rulings.rules, ("rated",), "files") == 0
    assert naming(rulings.rules, ("rated",), "x") == 1
    assert naming(rulings.rules, ("other",), "x") is None


def test_no_rule_loosens_what_guests_may() -> None:
    free, guest = OwnerRule(ALLOW), PolicyContext(Mode.GUEST)
    assert ruled(free, OFF, DOOR, guest) == (DENY, "unlock")
    assert ruled(free, "HassListAddItem", {"item": "x"}, guest) == (DENY, "guest")
    assert ruled(OwnerRule(DENY, domain="light"), OFF, LAMP, guest)[0] is DENY


def test_a_rule_frees_a_thing_in_the_mode_that_asks() -> None:
    free, ask = OwnerRule(ALLOW, area="kitchen"), PolicyContext(Mode.ASK)
    assert ruled(free, OFF, LAMP, ask)[0] is ALLOW
    assert ruled(free, OFF, DOOR, ask)[0] is CONFIRM


LET_LOCKS = OwnerRule(ALLOW, domain="lock")
COSTLY = Rights(Tier.COSTLY, asks=False)
# Rights of a program's turn, the owner's rule, the call, the required confirmation, its rule
PROGRAMS: list[tuple[Rights, OwnerRule | None, str, dict[str, Any], Ruling, str]] = [
    (CALLERS, None, ON, LAMP, ALLOW, "comfort"),
    (CALLERS, None, OFF, DOOR, CONFIRM, "unlock"),
    (CALLERS, LET_LOCKS, OFF, DOOR, CONFIRM, "caller"),
    (CALLERS, replace(LET_LOCKS, satellite="hearth"), OFF, DOOR, CONFIRM, "caller"),
    (CALLERS, replace(LET_LOCKS, satellite="mcp:*"), OFF, DOOR, ALLOW, "policy.rules[0]"),
    (CALLERS, OwnerRule(DENY, domain="light"), ON, LAMP, DENY, "policy.rules[0]"),
    (TALK, LET_LOCKS, OFF, DOOR, CONFIRM, "caller"),
    (COSTLY, None, ON, OVEN, CONFIRM, "oven"),
    (COSTLY, None, OFF, DOOR, DENY, "caller"),
    (READ_ONLY, None, "HassTimerStatus", {}, ALLOW, "read"),
    (READ_ONLY, None, ON, LAMP, DENY, "caller"),
    (READ_ONLY, OwnerRule(ALLOW, satellite="mcp:*"), ON, LAMP, DENY, "caller"),
]


@pytest.mark.parametrize(("rights", "rule", "tool", "arguments", "ruling", "by"), PROGRAMS)
def test_what_is_free_for_people_is_free_for_a_program_only_by_name(
    rights: Rights,
    rule: OwnerRule | None,
    tool: str,
    arguments: dict[str, Any],
    ruling: Ruling,
    by: str,
) -> None:
    rulings = Rulings(rules=(rule,) if rule else ())
    moment = PolicyContext(satellite=("Hearth",)).asked_by(Program("mcp:kitchen", rights))
    verdict = judge(entry(tool), arguments, HOUSE, "x", "", rulings=rulings, moment=moment)
    assert (verdict.ruling, verdict.rule) == (ruling, by)
    if by == "caller" and ruling is DENY:
        said = Catalogue().say(verdict.key, "en", **verdict.values)
        assert said == "Programs aren't allowed to do that here."
