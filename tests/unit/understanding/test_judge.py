"""Tests that the judge recognises right and wrong outcomes."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.understanding.cases import TALK, Case, Said, parse
from tests.understanding.judge import Outcome, Reaction, Timer, View, hold, judge

NOON = datetime(2026, 11, 24, 12)  # a Tuesday
LAMP, OTHER, SPEAKER = "light.lamp", "light.other", "media_player.box"
BEFORE = View(
    {LAMP: "off", OTHER: "on", SPEAKER: "playing", "scene.night": "unknown"},
    {LAMP: {"brightness": None}, OTHER: {"brightness": 128}, SPEAKER: {"volume_level": 0.4}},
)


def said(right: str) -> Said:
    return parse(f"a-1 | x => {right}").turns[0]


def after(answer: str = "Done.", **changes: Any) -> Reaction:
    """Return a reaction after which the house differs in the given fields of a view."""
    states = {**BEFORE.states, **changes.pop("states", {})}
    attributes = {**BEFORE.attributes, **changes.pop("attributes", {})}
    view = replace(BEFORE, states=states, attributes=attributes, **changes)
    return Reaction(BEFORE, view, answer)


def outcome(right: str, seen: Reaction, sort: str = "", *, leaps: bool = False) -> Outcome:
    return judge(said(right), seen, sort, leaps=leaps).outcome


ON = after(states={LAMP: "on"}, attributes={LAMP: {"brightness": 102}})
BOTH = after(states={LAMP: "on", OTHER: "off"})
NOTHING = after("I don't understand.")


def test_talk_in_a_conversation_need_not_be_understood() -> None:
    assert outcome("nothing", replace(NOTHING, understood=False)) is Outcome.RIGHT
    assert outcome("nothing", ON) is Outcome.WRONG


def test_what_was_wanted_is_right() -> None:
    assert outcome("light.lamp=on", ON) is Outcome.RIGHT
    assert outcome("light.lamp.brightness=40%", ON) is Outcome.RIGHT
    assert outcome("light.*=on", ON) is Outcome.RIGHT
    assert outcome("light.lamp=on ~light.*", BOTH) is Outcome.RIGHT


@pytest.mark.parametrize(
    ("right", "seen"),
    [
        ("light.lamp=on", BOTH),  # another thing, too
        ("light.lamp=on light.other=off", ON),  # only a part
        ("light.lamp.brightness=50%", ON),
        ("light.lamp.brightness=down", ON),
        ("same", ON),
        ("ask", ON),
        ("refuse", ON),
        ("light.lamp=on", after(states={LAMP: "on"}, items=("milk",))),
        ("light.lamp=on", after(states={LAMP: "on"}, later=("a",))),
    ],
)
def test_anything_else_that_changed_is_wrong(right: str, seen: Reaction) -> None:
    assert outcome(right, seen) is Outcome.WRONG


def test_a_fault_tells_what_changed() -> None:
    seen = after(
        states={LAMP: "on"},
        attributes={LAMP: {"brightness": 102}},
        items=("milk and eggs",),
        timers=(timer(10, "pasta"),),
        later=("a",),
    )
    told = judge(said("same"), seen, "").why
    assert told == (
        "changed later=1, light.lamp=on (brightness 102), list=milk and eggs, timers=pasta 12:10:00"
    )


def test_a_claim_without_a_change_is_wrong() -> None:
    assert outcome("light.lamp=on", after("Turned on the lamp.")) is Outcome.WRONG
    assert outcome("say:/off/", after("The lamp is on.")) is Outcome.WRONG
    assert outcome("refuse", after("Turned on the lamp.")) is Outcome.WRONG
    assert outcome("say:/already/ same", after("Turned off the lamp.")) is Outcome.MISSED


@pytest.mark.parametrize(
    "seen",
    [
        replace(NOTHING, understood=False),
        after("I couldn't find a lamp."),
        replace(after("Which one?"), asked=True),
        replace(after("The lamp failed."), refused=True),
        after(""),
    ],
)
def test_nothing_changed_and_nothing_false_is_missed(seen: Reaction) -> None:
    assert outcome("light.lamp=on", seen) is Outcome.MISSED


def test_questions_and_refusals_count_only_where_they_are_right() -> None:
    asked = replace(after("Which one?"), asked=True)
    assert outcome("light.lamp=on or ask", asked) is Outcome.ASKED
    assert outcome("same", asked) is Outcome.MISSED
    assert outcome("ask", after("I can't find it.")) is Outcome.MISSED
    half = replace(ON, answer="And the door?", asked=True)
    assert outcome("light.lamp=on ask", half) is Outcome.ASKED
    assert outcome("light.lamp=on", half) is Outcome.WRONG
    assert outcome("refuse", after("There is no lamp.")) is Outcome.REFUSED
    assert outcome("refuse", replace(after("No."), refused=True)) is Outcome.REFUSED
    assert outcome("refuse", replace(NOTHING, understood=False)) is Outcome.MISSED


def test_talk_must_not_be_acted_on() -> None:
    assert outcome("same", replace(NOTHING, understood=False), TALK) is Outcome.RIGHT
    assert outcome("same", ON, TALK) is Outcome.ACTED
    assert outcome("same", replace(NOTHING, acted=("set_mode",)), TALK) is Outcome.ACTED
    assert outcome("same", after(later=("a",)), TALK) is Outcome.ACTED


def test_the_answer_counts_where_something_was_asked() -> None:
    assert outcome("say:/19|nineteen/", after("It's nineteen degrees.")) is Outcome.RIGHT
    assert outcome("say:/a/ say:/b/", after("b")) is Outcome.WRONG
    assert outcome("say:/lamp/", replace(after("lamp"), understood=False)) is Outcome.MISSED


def test_values() -> None:
    quiet = after(attributes={SPEAKER: {"volume_level": 0.3, "is_volume_muted": True}})
    assert outcome(f"{SPEAKER}.volume=30", quiet) is Outcome.RIGHT
    assert outcome(f"{SPEAKER}.volume=down", quiet) is Outcome.RIGHT
    assert outcome(f"{SPEAKER}.volume=20|25..35", quiet) is Outcome.RIGHT
    assert outcome(f"{SPEAKER}.volume=up", quiet) is Outcome.WRONG
    assert outcome(f"{SPEAKER}.muted=yes", quiet) is Outcome.RIGHT
    assert outcome(f"{SPEAKER}.muted=no", quiet) is Outcome.WRONG
    assert outcome("scene.night=run", after(states={"scene.night": "now"})) is Outcome.RIGHT


@pytest.mark.parametrize(
    ("color", "attributes", "fits"),
    [
        ("red", {"rgb_color": [250, 20, 0]}, True),
        ("red", {"rgb_color": [0, 0, 255]}, False),
        ("green", {"rgb_color": [0, 255, 0]}, True),
        ("white", {"rgb_color": [255, 255, 250]}, True),
        ("white", {"rgb_color": [255, 0, 0]}, False),
        ("red", {"rgb_color": [255, 255, 255]}, False),
        ("warm", {"color_temp_kelvin": 2700}, True),
        ("cool", {"color_temp_kelvin": 2700}, False),
        ("warm", {"rgb_color": [255, 200, 100]}, False),
        ("red", {}, False),
    ],
)
def test_colours(color: str, attributes: dict[str, Any], *, fits: bool) -> None:
    seen = after(attributes={LAMP: attributes})
    right = outcome(f"light.lamp.color={color}", seen) is Outcome.RIGHT
    assert right is fits


@pytest.mark.parametrize(
    ("wanted", "items", "fits"),
    [
        ("milk,brown_bread", ("Brown bread", "milk"), True),
        ("milk", ("milk", "milk"), False),
        ("milk", ("milk and eggs",), False),
        ("two_litres|2_litres", ("2 litres",), True),
        ("none", (), True),
        ("none", ("milk",), False),
    ],
)
def test_the_list(wanted: str, items: tuple[str, ...], *, fits: bool) -> None:
    assert (outcome(f"list={wanted}", after(items=items)) is Outcome.RIGHT) is fits


def timer(minutes: float, name: str = "", *, paused: bool = False) -> Timer:
    return Timer(name, NOON + timedelta(minutes=minutes), minutes * 60, paused)


@pytest.mark.parametrize(
    ("wanted", "timers", "fits"),
    [
        ("10m", (timer(10),), True),
        ("10m", (timer(9),), False),
        ("10m", (timer(10), timer(10)), False),
        ("20m,pasta:1h30m", (timer(90, "Pasta"), timer(20)), True),
        ("pasta:10m", (timer(10),), False),
        ("paused", (timer(10, paused=True),), True),
        ("10m", (timer(10, paused=True),), False),
        ("none", (), True),
        ("none", (timer(10),), False),
    ],
)
def test_timers(wanted: str, timers: tuple[Timer, ...], *, fits: bool) -> None:
    assert (outcome(f"timers={wanted}", after(timers=timers)) is Outcome.RIGHT) is fits


def test_alarms() -> None:
    seven = after(alarms=(timer(19 * 60),))  # on Wednesday
    assert outcome("alarms=07:00", seven) is Outcome.RIGHT
    assert outcome("alarms=08:00|wed-07:00", seven) is Outcome.RIGHT
    assert outcome("alarms=tue-07:00", seven) is Outcome.WRONG
    assert outcome("alarms=07:30", seven) is Outcome.WRONG
    assert outcome("same", seven) is Outcome.WRONG
    assert outcome("reminders=07:00", seven) is Outcome.WRONG


def test_a_command_for_later_changes_nothing_yet() -> None:
    waits = after("OK, in ten minutes.", later=("a",))
    assert outcome("same", waits, leaps=True) is Outcome.RIGHT
    assert outcome("same", waits) is Outcome.WRONG
    late = judge(parse("a | +9m => light.lamp=on").turns[0], after(""), "", leaps=True)
    assert late.outcome is Outcome.MISSED


async def test_a_dialogue_ends_with_its_first_fault() -> None:
    case = parse("a-1 | on => light.lamp=on >> off => light.lamp=off >> more => same")
    result, told = await _held(case, ON, NOTHING)
    assert (result, told) == (Outcome.MISSED, ["on", "off"])


async def test_an_answer_is_typed_only_to_a_question() -> None:
    case = parse("a-1 | on => light.lamp=on or ask >> ?yes => light.lamp=on")
    assert await _held(case, ON) == (Outcome.RIGHT, ["on"])
    asks = replace(after("On?"), asked=True)
    assert await _held(case, asks, ON) == (Outcome.RIGHT, ["on", "yes"])
    assert await _held(case, asks, BOTH) == (Outcome.WRONG, ["on", "yes"])


async def _held(case: Case, *reactions: Reaction) -> tuple[Outcome, list[str]]:
    waiting = list(reactions)

    async def say(_: Said) -> tuple[Reaction, float]:
        return waiting.pop(0), 1.0

    result = await hold(case, say)
    return result.outcome, [sentence for sentence, _ in result.told]
