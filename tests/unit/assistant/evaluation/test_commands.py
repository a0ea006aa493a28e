"""Tests of the sixty sentences of `hearth eval`."""

import re
import shutil
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest

from assistant.evaluation.commands import (
    Outcome,
    Seen,
    Wish,
    judge,
    make_recording,
    meets,
    parse_wish,
    rows,
    sentences,
    unsafe,
)
from assistant.speech.catalogue import Catalogue
from audio.errors import InputUnusable
from audio.frames import SAMPLE_RATE
from audio.sound_files import read_wav
from integrations.demo_home.catalogue import THINGS

needs_voices = pytest.mark.skipif(
    not (shutil.which("flite") and shutil.which("espeak-ng")), reason="no flite or espeak-ng"
)


def test_the_table_is_whole() -> None:
    every = sentences()
    assert [one.number for one in every] == list(range(1, 61))
    assert len({one.words for one in every}) == 60
    assert sum(one.language == "en" for one in every) == 40
    assert sum(one.language == "es" for one in every) == 20
    known = {thing.entity_id for thing in THINGS}
    for one in every:
        assert one.wish.entities <= known, one.words
        assert set(one.wish.given) <= known, one.words


def test_nothing_is_wished_that_opens() -> None:
    for one in sentences():
        assert one.wish.changes.get("lock.front_door", ("locked",)) == ("locked",)
        assert one.wish.changes.get("cover.garage_door", ("closed",)) == ("closed",)


@pytest.mark.parametrize("key", ["not_caught", "cannot", "only_english", "too_long"])
def test_no_answer_is_found_in_what_hearth_says_where_it_understood_nothing(key: str) -> None:
    told = Catalogue()
    asked = [one for one in sentences() if one.wish.answer]
    assert len(asked) == 8
    for one in asked:
        said = told.say(f"offline.{key}", one.language)
        assert not re.search(one.wish.answer, said, re.IGNORECASE), (one.words, said)


@needs_voices
def test_a_recording_in_each_language(tmp_path: Path) -> None:
    every = sentences()
    for language in ("en", "es"):
        one = next(one for one in every if one.language == language)
        sound = read_wav(make_recording(one, tmp_path))
        assert 2.0 < len(sound) / 2 / SAMPLE_RATE < 8.0


@needs_voices
def test_what_is_secure_does_not_follow_our_own_voice(tmp_path: Path) -> None:
    door = next(one for one in sentences() if one.wish.refused)
    sound = read_wav(make_recording(door, tmp_path))
    assert not any(sound[: 2 * 2 * SAMPLE_RATE])


@needs_voices
def test_without_espeak_it_says_what_to_install(tmp_path: Path) -> None:
    spanish = next(one for one in sentences() if one.language == "es")
    with (
        patch("assistant.evaluation.commands.make_clip", lambda *_: tmp_path / "none.wav"),
        patch("subprocess.run", side_effect=FileNotFoundError),
        pytest.raises(InputUnusable, match="apt install espeak-ng"),
    ):
        make_recording(spanish, tmp_path)


SHUT = {"lock.front_door": "locked", "cover.garage_door": "closed"}


OFF = {"light.kitchen": "off", "light.office": "off", **SHUT}


ON = {**OFF, "light.kitchen": "on"}


KITCHEN = parse_wish("turn on the kitchen light", "light.kitchen=on")


LOCKED = parse_wish("is it locked", "answer:yes|locked")


LIT = parse_wish("is the kitchen light on", r"answer:\b(no|off)\b")


NOT_CAUGHT = "Sorry, I didn't catch that. Please say the command again."


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
        # It was so already, so the sentence did not do it.
        (KITCHEN, Seen(True, answer="What?", understood=False), ON, Outcome.SILENT),
        # There and back again.
        (KITCHEN, Seen(True, answer="Done.", did=("undo",), changes={}), ON, Outcome.RIGHT),
        (LOCKED, Seen(True, answer="Yes.", calls=("GetLiveContext",)), OFF, Outcome.RIGHT),
        (LOCKED, Seen(True, answer="No, it is open."), OFF, Outcome.WRONG),
        (LOCKED, done(light__office="on"), OFF, Outcome.WRONG),
        (LIT, Seen(True, answer="The kitchen light is off."), OFF, Outcome.RIGHT),
        (LIT, Seen(True, answer="I know nothing of it."), OFF, Outcome.WRONG),
        (LIT, Seen(True, answer=NOT_CAUGHT, understood=False), OFF, Outcome.SILENT),
        # The pattern is found, but the question was not understood.
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
