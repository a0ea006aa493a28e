"""What a question, a refusal and the audit tell of a call: all of it, and nothing else."""

from dataclasses import replace
from typing import Any

import pytest

from assistant.speech.catalogue import Catalogue
from assistant.tools.moment import Mode, Moment
from assistant.tools.outcome import Decision, Tier
from assistant.tools.policy import judge
from assistant.tools.rules import OwnerRule
from assistant.tools.verdict import STRICT, Ruling, Rulings, Verdict
from integrations.home_assistant.house import Area, Entity, House
from tests.unit.assistant.tools.test_verdicts import HOUSE, LIGHT, OFF, ON, entry

ASK, GUEST = Moment(Mode.ASK), Moment(Mode.GUEST)
UNLOCK_HALL = "Unlock Front door, Back door, and also switch Hall light?"
BACK_TOO = replace(HOUSE.entities["lock.back"], area_id="hall")
CAMERA = Entity("camera.attic", "Eye", "idle", (), "attic")
ATTIC = House({}, {"attic": Area("attic", "Attic")}, {CAMERA.entity_id: CAMERA})


def with_things(*things: Entity) -> House:
    """The house with these in it too."""
    return replace(HOUSE, entities={**HOUSE.entities, **{one.entity_id: one for one in things}})


def said(verdict: Verdict) -> tuple[str, str]:
    """The question or refusal, and what is said after a no."""
    say = Catalogue().say
    left = say(verdict.left, "en", **verdict.values) if verdict.left else ""
    return say(verdict.key, "en", **verdict.values), left


@pytest.mark.parametrize(
    ("rulings", "moment", "sentence", "left"),
    [
        (
            STRICT,
            ASK,
            "I do not see Flux capacitor in the house. Try it all the same?",
            "I did not try Flux capacitor.",
        ),
        (
            Rulings(rules=(OwnerRule(Ruling.DENY, tool=ON),)),
            Moment(),
            "I am not allowed to do that with Flux capacitor.",
            "",
        ),
    ],
)
def test_of_a_thing_that_is_not_seen_it_is_said_that_it_is_not(
    rulings: Rulings, moment: Moment, sentence: str, left: str
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
        # Both doors of the hall are what is asked about, and nothing else is there to tell.
        ({"area": "Hall", "domain": ["lock"]}, "x", Moment(), "Unlock Front door, Back door?"),
        # Where even a lamp is asked about, a lock is still more than what was meant.
        ({"area": "Hall"}, "turn off the hall", ASK, "Change Hall light?"),
        ({"area": "Hall"}, "unlock the hall", ASK, UNLOCK_HALL),
    ],
)
def test_a_question_is_about_what_was_meant(
    arguments: dict[str, Any], heard: str, moment: Moment, sentence: str
) -> None:
    verdict = judge(entry(OFF), arguments, with_things(BACK_TOO), heard, "", moment=moment)
    assert said(verdict)[0] == sentence


def test_a_thing_whose_name_cannot_be_said_goes_by_its_id() -> None:
    silent = Entity("lock.back_door", "\u200b\u202e", "locked")
    asked = judge(entry(OFF), {"name": "lock.back_door"}, with_things(silent), "x", "")
    assert said(asked)[0] == "Unlock back door?"


def test_a_guest_is_told_so_of_a_room_with_a_camera() -> None:
    refused = judge(entry(ON), {"area": "Attic"}, ATTIC, "x", "", moment=GUEST)
    assert said(refused)[0] == "That is not for guests."


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
