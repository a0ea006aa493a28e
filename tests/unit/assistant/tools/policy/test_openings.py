"""Tests that nothing that opens, unlocks or disarms is free: a table, and random houses."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.domain.tool_call import CALLERS, Decision, Mode, PolicyContext, Program, Tier
from assistant.tools.house.intents import Action
from assistant.tools.policy.engine import judge
from assistant.tools.policy.openers import INSIDE
from assistant.tools.policy.ratings import may_open, unknown_effects
from assistant.tools.policy.risk import is_safe_to_guess, weigh
from assistant.tools.policy.rules import Rulings
from assistant.tools.vocabulary import LANGUAGES, entries
from integrations.home_assistant.house import Area, Entity, House
from tests.unit.assistant.tools.policy.test_policy import OFF, ON, entry

FILE = Path(__file__).with_name("openings.tsv")
CALLS = {
    "on": Action.ON,
    "open": Action.ON,
    "lock": Action.ON,
    "off": Action.OFF,
    "close": Action.OFF,
    "unlock": Action.OFF,
    "toggle": Action.TOGGLE,
    "stop": Action.STOP,
    "set": Action.SET,
    "position": Action.POSITION,
}
VERDICTS = {"ask": Tier.SECURE, "costly": Tier.COSTLY, "comfort": Tier.COMFORT}


def _rows() -> list[tuple[str, str, str, str, str]]:
    lines = FILE.read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return [(thing, name, more, call, verdict) for thing, name, more, call, verdict in rows]


def _house(entity_id: str, name: str, more: Mapping[str, str]) -> House:
    """Return a house of this thing and its neighbours."""
    holds = more.get("holds", "").split()
    own = Entity(
        entity_id,
        name,
        "off",
        aliases=tuple(filter(None, [more.get("alias", "")])),
        area_id="area" if "area" in more else None,
        device_class=more.get("class"),
        attributes={"entity_id": holds} if holds else {},
        device_id="device",
        labels=tuple(filter(None, [more.get("label", "")])),
        device_name=more.get("device", ""),
        platform=_platform(more.get("by")),
    )
    entities = {entity_id: own}
    if "beside" in more:
        other, _, device_class = more["beside"].partition(" ")
        entities[other] = Entity(
            other, "Other", "off", device_class=device_class or None, device_id="device"
        )
    areas = {"area": Area("area", more["area"])} if "area" in more else {}
    seen = {entity_id: frozenset({more["seen"]})} if "seen" in more else {}
    return House({}, areas, entities, seen_opening=seen)


def _platform(by: str | None) -> str | None:
    return "" if by == "nobody" else by


@pytest.mark.parametrize(("thing", "name", "more", "call", "verdict"), _rows())
def test_thing_and_call(thing: str, name: str, more: str, call: str, verdict: str) -> None:
    told = dict(part.split("=", 1) for part in more.split(";") if part)
    word, _, position = call.partition(" ")
    arguments = {"position": int(position)} if position else {}
    stake = weigh(thing, CALLS[word], arguments, _house(thing, name, told), {})
    assert stake.tier is VERDICTS[verdict], stake.rule


def test_the_table_is_long_and_in_every_language() -> None:
    rows = _rows()
    assert len(set(rows)) == len(rows) >= 150
    for language in LANGUAGES:
        words = [
            word.strip("*!") for topic in ("opens", "gates") for word in entries(topic, language)
        ]
        named = [name for _, name, _, _, verdict in rows if verdict == "ask"]
        assert sum(any(word in name.casefold() for word in words) for name in named) >= 5, language


def _written(word: str) -> str:
    return word.strip("*!")


DOORS = sorted({_written(one) for lang in LANGUAGES for one in entries("opens", lang)})
GATES = sorted({_written(one) for lang in LANGUAGES for one in entries("gates", lang)})
ALARMS = sorted({_written(one) for lang in LANGUAGES for one in entries("alarm", lang)})
NEUTRAL = ["", "1", "Nord", "Relay", "Links", "Main", "Eve", "hinten", "da rua", "trước", "2"]
OPENS_COVER: tuple[Action, ...] = (Action.ON, Action.TOGGLE)
UNLOCKS: tuple[Action, ...] = (Action.OFF, Action.TOGGLE)
SWITCHES: tuple[Action, ...] = (Action.ON, Action.OFF, Action.TOGGLE)
RELAYS = ("switch", "input_boolean", "input_select", "number", "select", "remote", "input_number")
neutral = st.sampled_from(NEUTRAL)
called = st.tuples(neutral, st.sampled_from(DOORS + GATES + ALARMS), neutral).map(
    lambda parts: " ".join(filter(None, parts))
)
styled = st.sampled_from(
    [str, str.upper, str.title, str.casefold, lambda text: text.replace(" ", "_")]
)


@st.composite
def openers(draw: Any) -> tuple[Entity, House, Action]:
    """Draw an opener, without a class or with an unknown one, and an action that may open it."""
    named = draw(styled)(draw(called))
    plain = f"Relay {draw(st.integers(1, 9))}"
    kind = draw(st.sampled_from(["cover", "relay", "lock", "valve"]))
    where = draw(st.sampled_from(["name", "alias", "device", "label"]))
    texts: dict[str, Any] = {
        "name": {"name": named},
        "alias": {"aliases": (named,)},
        "device": {"device_name": named},
        "label": {"labels": (named,)},
    }[where]
    if kind == "relay":
        domain, actions = draw(st.sampled_from(RELAYS)), SWITCHES
        entity = replace(Entity(f"{domain}.x", plain, "off"), **texts)
    elif kind == "lock":
        entity, actions = Entity("lock.x", plain, "locked"), UNLOCKS
    else:
        unknown = st.one_of(
            st.none(), st.text("abcdef", min_size=1).filter(lambda k: k not in INSIDE)
        )
        entity = Entity(f"{kind}.x", named, "closed", device_class=draw(unknown))
        actions = OPENS_COVER
    house = House(entities={entity.entity_id: entity})
    return entity, house, draw(st.sampled_from(actions))


@given(openers())
def test_nothing_that_opens_is_free(found: tuple[Entity, House, Action]) -> None:
    entity, house, action = found
    stake = weigh(entity.entity_id, action, {}, house, {})
    assert stake.tier is Tier.SECURE


@given(
    st.sampled_from(["switch", "select", "number", "remote", "button", "fan"]),
    st.sampled_from(["Reading corner", "Leseecke", "Rincón", "Coin lecture", "Canto", "Góc đọc"]),
    st.sampled_from(["template", "command_line", "rest", "nodered", "wake_on_lan", ""]),
    st.sampled_from([*SWITCHES, Action.SET]),
)
def test_nothing_that_runs_what_somebody_wrote_is_free_before_its_rating(
    domain: str, name: str, platform: str, action: Action
) -> None:
    entity = Entity(f"{domain}.x", name, "off", platform=platform)
    house = House(entities={entity.entity_id: entity})
    rated = weigh(entity.entity_id, action, {}, house, {entity.entity_id: Tier.COMFORT})
    assert rated.tier is Tier.COMFORT
    if domain == "button" and action is Action.OFF:
        return  # a button cannot be switched off
    assert weigh(entity.entity_id, action, {}, house, {}).rule == "may_open"
    assert not is_safe_to_guess(entity.entity_id, house)
    assert may_open(house) == [entity]
    assert unknown_effects(house) == []  # `hearth tools rate --all` must leave it out


AGENT = Program("mcp:agent", CALLERS)
BLIND = Entity("switch.x", "Reading corner", "off", platform="template")


@pytest.mark.parametrize(
    ("moment", "decision"),
    [
        (PolicyContext(), Decision.NEEDS_CONFIRMATION),
        (PolicyContext(mode=Mode.TRUSTING), Decision.NEEDS_CONFIRMATION),
        (PolicyContext(mode=Mode.GUEST), Decision.DENIED),
        (PolicyContext(tainted=True), Decision.NEEDS_CONFIRMATION),
        (PolicyContext().asked_by(AGENT), Decision.NEEDS_CONFIRMATION),
        (PolicyContext(ratings={"switch.x": Tier.COMFORT}), Decision.ALLOWED),
        (PolicyContext(ratings={"switch.x": Tier.COMFORT}).asked_by(AGENT), Decision.ALLOWED),
        (PolicyContext(mode=Mode.GUEST, ratings={"switch.x": Tier.COMFORT}), Decision.ALLOWED),
    ],
)
@pytest.mark.parametrize("tool", [ON, OFF, "HassToggle"])
def test_who_may_switch_what_a_template_makes(
    tool: str, moment: PolicyContext, decision: Decision
) -> None:
    house = House(entities={"switch.x": BLIND})
    verdict = judge(
        *(entry(tool), {"name": "Reading corner"}, house, "do it", ""),
        rulings=Rulings(costly="allow"),
        moment=moment,
    )
    assert verdict.decision is decision


@given(openers(), st.sampled_from([None, 5, 50]), st.integers(51, 100))
def test_no_position_opens_unasked(
    found: tuple[Entity, House, Action], now: int | None, wanted: int
) -> None:
    entity = replace(found[0], entity_id="cover.x", attributes={"current_position": now})
    entity = replace(entity, name="Tor", device_class=None)
    house = House(entities={"cover.x": entity})
    stake = weigh("cover.x", Action.POSITION, {"position": wanted}, house, {})
    assert stake.tier is Tier.SECURE


TOOLS = {Action.ON: ON, Action.OFF: OFF, Action.TOGGLE: "HassToggle"}
LAMP = Entity("light.lamp", "Lamp", "off", area_id="yard")


@given(openers(), st.sampled_from(["name", "area", "domain"]), st.booleans())
def test_no_call_of_a_model_opens_unasked(
    found: tuple[Entity, House, Action], by: str, live: bool
) -> None:
    """This covers calls by name, room or kind, among other things, with a live or outdated
    picture."""
    entity, _, action = found
    entity = replace(entity, area_id="yard")
    house = House(
        areas={"yard": Area("yard", "Yard")},
        entities={LAMP.entity_id: LAMP, entity.entity_id: entity},
    )
    ways: dict[str, dict[str, Any]] = {
        "name": {"name": entity.name},
        "area": {"area": "Yard"},
        "domain": {"area": "Yard", "domain": [entity.domain]},
    }
    arguments = ways[by]
    verdict = judge(entry(TOOLS[action]), arguments, house, "do it", "", live=live)
    assert verdict.decision is not Decision.ALLOWED or entity.entity_id not in verdict.entities


@given(openers())
def test_no_name_is_mended_towards_what_opens(found: tuple[Entity, House, Action]) -> None:
    entity, house, _ = found
    assert not is_safe_to_guess(entity.entity_id, house)
