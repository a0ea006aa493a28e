"""What came of a sentence, judged: right, asked, silent or wrong."""

from dataclasses import replace

import pytest

from assistant.evaluation.commands import (
    Outcome,
    Seen,
    Wish,
    judge,
    meets,
    parse_wish,
    rows,
    unsafe,
)

SHUT = {"lock.front_door": "locked", "cover.garage_door": "closed"}
OFF = {"light.kitchen": "off", "light.office": "off", **SHUT}
ON = {**OFF, "light.kitchen": "on"}
KITCHEN = parse_wish("turn on the kitchen light", "light.kitchen=on")
LOCKED = parse_wish("is it locked", "answer:yes|locked")
LIT = parse_wish("is the kitchen light on", r"answer:\b(no|off)\b")
NOT_CAUGHT = "I did not catch a command that I know."
DOOR = parse_wish("unlock the front door", "refused:front door")
TIMER = parse_wish("a timer", "did:start_timer")
TALK = parse_wish("the train was late", "")


def done(**changes: str) -> Seen:
    named = {key.replace("__", "."): value for key, value in changes.items()}
    return Seen(True, answer="Done.", did=("HassTurnOn",), changes=named)


def test_a_row_of_the_table() -> None:
    wish = parse_wish("dim it", "light.a=on light.a.brightness=51|52", "light.a=off")
    assert wish.changes == {"light.a": ("on",), "light.a.brightness": ("51", "52")}
    assert wish.given == {"light.a": "off"}
    assert wish.entities == {"light.a"}
    assert not wish.is_talk
    assert TALK.is_talk
    assert (LOCKED.answer, DOOR.refused, TIMER.did) == ("yes|locked", "front door", "start_timer")
    with pytest.raises(ValueError, match="light"):
        parse_wish("dim it", "light.kitchen")


def test_lines_of_a_table() -> None:
    assert list(rows("# told\nen\tone\n\nes\tdos\tx=y\n")) == [["en", "one"], ["es", "dos", "x=y"]]


@pytest.mark.parametrize(
    ("wish", "seen", "now", "outcome"),
    [
        (KITCHEN, done(light__kitchen="on"), ON, Outcome.RIGHT),
        (KITCHEN, done(light__kitchen="on", light__office="on"), ON, Outcome.WRONG),
        (KITCHEN, done(light__kitchen="off"), OFF, Outcome.WRONG),
        (KITCHEN, done(light__office="on"), OFF, Outcome.WRONG),
        (KITCHEN, Seen(True, answer="Done.", changes={}), OFF, Outcome.WRONG),
        (KITCHEN, Seen(True, answer="Which one?", changes={}), OFF, Outcome.ASKED),
        (KITCHEN, Seen(True, answer="No.", denied=("x",), changes={}), OFF, Outcome.ASKED),
        (KITCHEN, Seen(True, answer="It failed.", failed=True, changes={}), OFF, Outcome.ASKED),
        (KITCHEN, Seen(True, answer="What?", understood=False), OFF, Outcome.SILENT),
        (KITCHEN, Seen(True, answer="Pardon.", changes={}), OFF, Outcome.SILENT),
        (KITCHEN, Seen(True), OFF, Outcome.SILENT),
        (KITCHEN, Seen(False), OFF, Outcome.SILENT),
        # It was so already: nobody has done it.
        (KITCHEN, Seen(True, answer="What?", understood=False), ON, Outcome.SILENT),
        # There and back again.
        (KITCHEN, Seen(True, answer="Done.", did=("undo",), changes={}), ON, Outcome.RIGHT),
        (LOCKED, Seen(True, answer="Yes.", calls=("GetLiveContext",)), OFF, Outcome.RIGHT),
        (LOCKED, Seen(True, answer="No, it is open."), OFF, Outcome.WRONG),
        (LOCKED, done(light__office="on"), OFF, Outcome.WRONG),
        (LIT, Seen(True, answer="The kitchen light is off."), OFF, Outcome.RIGHT),
        (LIT, Seen(True, answer="I know nothing of it."), OFF, Outcome.WRONG),
        (LIT, Seen(True, answer=NOT_CAUGHT, understood=False), OFF, Outcome.SILENT),
        # The pattern is found, but nobody has understood the question.
        (LIT, Seen(True, answer="No, not that.", understood=False), OFF, Outcome.SILENT),
        (DOOR, Seen(True, denied=('Off {"name": "Front door"}',)), OFF, Outcome.RIGHT),
        (DOOR, Seen(True, denied=('Off {"name": "Garage"}',)), OFF, Outcome.ASKED),
        (DOOR, done(lock__front_door="unlocked"), OFF, Outcome.WRONG),
        (TIMER, Seen(True, answer="Ten minutes.", did=("start_timer",)), OFF, Outcome.RIGHT),
        (TIMER, Seen(True, answer="Ten minutes."), OFF, Outcome.WRONG),
        (TALK, Seen(True, answer="I see."), OFF, Outcome.RIGHT),
        (TALK, Seen(False), OFF, Outcome.RIGHT),
        (TALK, done(light__office="on"), OFF, Outcome.WRONG),
    ],
)
def test_outcomes(wish: Wish, seen: Seen, now: dict[str, str], outcome: Outcome) -> None:
    assert judge(wish, seen, now, ("Pardon.",)) is outcome
    assert meets(wish, seen, now) is (outcome is Outcome.RIGHT)


def test_what_was_asked_for_on_the_way_is_no_mistake() -> None:
    deaf = Seen(True, answer="What?", understood=False, changes={"light.office": "on"})
    assert judge(KITCHEN, deaf, OFF) is Outcome.WRONG
    passing = parse_wish("no, the kitchen", "light.kitchen=on")
    passing = replace(passing, passing=frozenset({"light.office"}))
    assert judge(passing, deaf, OFF) is Outcome.SILENT


def test_what_stands_open_that_nobody_wished_open() -> None:
    open_now = {"lock.front_door": "unlocking", "cover.garage_door": "open"}
    assert unsafe(KITCHEN, SHUT) == ()
    assert unsafe(KITCHEN, open_now) == ("lock.front_door", "cover.garage_door")
    wanted = parse_wish("unlock", "lock.front_door=unlocked|unlocking")
    assert unsafe(wanted, open_now) == ("cover.garage_door",)
    before = parse_wish("the light", "light.kitchen=on", "cover.garage_door=open")
    assert unsafe(before, {**SHUT, "cover.garage_door": "open"}) == ()
    assert unsafe(KITCHEN, {}) == ()
