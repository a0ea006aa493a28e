"""Tests of the owner's ratings: what each leads to, which ones a device can have, and that none
makes anything looser than it says."""

from dataclasses import replace
from typing import Any

import pytest

from assistant.domain.tool_call import CALLERS, Demand, Mode, PolicyContext, Program, Tier
from assistant.tools.house.intents import Action
from assistant.tools.policy.ratings import Rating, Ratings, choices_of, read_ratings, strictest
from assistant.tools.policy.rules import Caller, OwnerRule, Ruled, Ruling, Rulings, rule_thing
from integrations.home_assistant.house import Entity, House
from tests.fakes.small_values import FakeValues

THINGS = (
    Entity("light.hall", "Hall light", "off"),
    Entity("lock.front", "Front door", "locked"),
    Entity("cover.blind", "Blind", "open", device_class="blind"),
    Entity("cover.garage", "Garage", "closed", device_class="garage"),
    Entity("cover.odd", "Roof", "closed"),
    Entity("vacuum.robbie", "Robbie", "docked"),
    Entity("switch.gate", "Gate relay", "off", platform="shelly"),
    Entity("switch.freezer", "Freezer", "on", platform="shelly"),
    Entity("script.film", "Film", "off"),
    Entity("scene.home", "Coming in", "unknown"),
)
HOUSE = House(
    entities={one.entity_id: one for one in THINGS},
    touches={"scene.home": frozenset({"lock.front"})},
    ways={"scene.home": {"lock.front": "off"}},
)
PLAIN, PIN = Rulings(), Rulings(has_pin=True)


def ruled(
    entity_id: str,
    action: Action,
    rating: Rating,
    rulings: Rulings = PIN,
    **moment: Any,
) -> Ruled:
    """Return the ruling on an action with an entity that has this rating."""
    ratings = read_ratings({entity_id: rating})
    demands: dict[str, Demand] = {"pin": "pin", "never": "deny"}
    context = PolicyContext(
        ratings={name: one.tier for name, one in ratings.items()},
        demands={name: demands[one] for name, one in ratings.items() if one in demands},
        **moment,
    )
    caller = Caller(("HassTurnOn",), "home_assistant", rulings, context)
    return rule_thing(entity_id, action, {}, HOUSE, caller)


@pytest.mark.parametrize(
    ("entity_id", "action", "rating", "ruling"),
    [
        ("light.hall", Action.ON, Rating.PIN, Ruling.PIN),
        ("light.hall", Action.OFF, Rating.NEVER, Ruling.DENY),
        ("lock.front", Action.OFF, Rating.PIN, Ruling.PIN),
        ("lock.front", Action.OFF, Rating.NEVER, Ruling.DENY),
        ("lock.front", Action.TOGGLE, Rating.NEVER, Ruling.DENY),
        ("lock.front", Action.ON, Rating.PIN, Ruling.ALLOW),  # it may always be locked
        ("lock.front", Action.ON, Rating.NEVER, Ruling.ALLOW),
        ("lock.front", Action.ON, Rating.SECURE, Ruling.ALLOW),
        ("cover.garage", Action.OFF, Rating.NEVER, Ruling.ALLOW),
        ("cover.garage", Action.ON, Rating.NEVER, Ruling.DENY),
        ("cover.blind", Action.OFF, Rating.NEVER, Ruling.DENY),  # it lets in nobody
        ("cover.blind", Action.STOP, Rating.NEVER, Ruling.ALLOW),  # stopping may prevent harm
        ("vacuum.robbie", Action.START, Rating.PIN, Ruling.PIN),
        ("switch.gate", Action.OFF, Rating.NEVER, Ruling.DENY),
        ("scene.home", Action.ON, Rating.NEVER, Ruling.DENY),
        ("lock.front", Action.OFF, Rating.COMFORT, Ruling.CONFIRM),  # a lock stays secure
    ],
)
def test_what_a_rating_leads_to(
    entity_id: str, action: Action, rating: Rating, ruling: Ruling
) -> None:
    assert ruled(entity_id, action, rating).ruling is ruling


def test_a_demand_is_never_looser_than_the_settings_and_rules() -> None:
    denies = replace(PIN, rules=(OwnerRule(Ruling.DENY, domain="lock"),))
    assert ruled("lock.front", Action.OFF, Rating.PIN, denies).ruling is Ruling.DENY
    allows = replace(PIN, rules=(OwnerRule(Ruling.ALLOW, domain="lock"),))
    assert ruled("lock.front", Action.OFF, Rating.PIN, allows).ruling is Ruling.PIN
    assert ruled("light.hall", Action.ON, Rating.PIN, mode=Mode.GUEST).ruling is Ruling.DENY
    free = Rulings(costly="allow", secure="allow", has_pin=True)
    assert ruled("light.hall", Action.ON, Rating.NEVER, free).ruling is Ruling.DENY
    program = Program("http:panel", CALLERS)
    for rating, ruling in ((Rating.PIN, Ruling.PIN), (Rating.NEVER, Ruling.DENY)):
        assert ruled("light.hall", Action.ON, rating, free, program=program).ruling is ruling


def hows(entity_id: str, rulings: Rulings, mode: Mode = Mode.NORMAL) -> dict[str, str]:
    found = choices_of(HOUSE.entities[entity_id], HOUSE, rulings, mode)
    return {str(rating): str(ruling) for rating, ruling in found}


EVERY = {"comfort": "allow", "costly": "confirm", "pin": "pin", "never": "deny"}
CLOSED = {"secure": "confirm", "pin": "pin", "never": "deny"}


@pytest.mark.parametrize(
    ("entity_id", "choices"),
    [
        ("light.hall", EVERY),
        ("lock.front", CLOSED),
        ("cover.garage", CLOSED),
        ("cover.odd", EVERY),  # Hearth doesn't know what it opens
        ("switch.gate", EVERY),
        ("switch.freezer", EVERY),
        ("script.film", EVERY),  # its effects are unknown
        ("vacuum.robbie", {"costly": "confirm", "pin": "pin", "never": "deny"}),
        ("scene.home", CLOSED),  # it unlocks the door
    ],
)
def test_which_ratings_a_device_can_have(entity_id: str, choices: dict[str, str]) -> None:
    assert hows(entity_id, PIN) == choices
    without = {key: value for key, value in choices.items() if key != "pin"}
    assert hows(entity_id, PLAIN) == without


def test_choices_with_the_same_result_are_shown_once() -> None:
    strict = Rulings(secure="pin", has_pin=True)
    assert hows("lock.front", strict) == {"pin": "pin", "never": "deny"}
    assert hows("light.hall", strict) == EVERY
    assert hows("light.hall", PIN, Mode.ASK) == {
        "comfort": "confirm",
        "pin": "pin",
        "never": "deny",
    }


async def test_demands_are_kept_and_survive_what_was_seen() -> None:
    store = FakeValues()
    ratings = Ratings(store)
    await ratings.rate({"light.a": Rating.PIN, "light.b": Rating.NEVER, "light.c": Tier.COMFORT})
    again = Ratings(store)
    await again.load()
    assert again.given == {
        "light.a": Rating.PIN,
        "light.b": Rating.NEVER,
        "light.c": Rating.COMFORT,
    }
    assert again.demands == {"light.a": "pin", "light.b": "deny"}
    assert again.tiers["light.a"] is Tier.SECURE
    await again.withdraw(["light.a", "light.b", "light.c"])  # each was seen to open a door
    assert set(again.given) == {"light.a", "light.b"}
    await again.rate({"light.b": Rating.COMFORT})
    assert again.demands == {"light.a": "pin"}


def test_of_two_boxes_the_stricter_demand_remains() -> None:
    here = read_ratings({"a": "pin", "b": "comfort", "c": "never", "d": "secure"})
    there = read_ratings({"a": "never", "b": "pin", "c": "comfort", "e": "comfort"})
    assert strictest(here, there) == {"a": "never", "b": "pin", "c": "never"}
