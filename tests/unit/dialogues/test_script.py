"""Tests of the parsing of dialogues, and that the day is complete."""

import re
from collections import Counter

import pytest

from assistant.speech.catalogue import Catalogue
from integrations.demo_home.catalogue import THINGS
from tests.dialogues.script import Deed, all_dialogues, parse, read

TEXT = """\
# a comment
## Morning
![door, yes]
given: light.hall=on
room: pink 20
before: good morning
say: unlock the front door
do: HassTurnOff name="Front door" domain=["lock"]
tell: Done.
after: who is there
reply: yes
do: HassTurnOn name=Lamp brightness=40
passing: light.lamp
want: lock.front_door=unlocked

[is it on]
say: is it on
do: GetLiveContext name="Lamp" -> off
tell: No: it is off.
want: answer:no
"""


def test_a_dialogue() -> None:
    door, lamp = parse(TEXT, "en")
    assert (door.name, door.safety) == ("door, yes", True)
    assert (door.room, door.wish.given) == ("pink 20", {"light.hall": "on"})
    assert door.wish.passing == {"light.lamp"}
    [turn] = door.turns
    assert (turn.before, turn.after, turn.over) == ("good morning", "who is there", "")
    assert turn.line.deeds == (Deed("HassTurnOff", {"name": "Front door", "domain": ["lock"]}),)
    assert turn.line.told == "Done."
    [reply] = turn.replies
    assert reply.words == "yes"
    assert reply.deeds == (Deed("HassTurnOn", {"name": "Lamp", "brightness": 40}),)
    assert (lamp.safety, lamp.sort, door.sort) == (False, "plain", "two speakers")
    assert lamp.turns[0].line.deeds == (Deed("GetLiveContext", {"name": "Lamp"}, "off"),)
    assert lamp.turns[0].line.told == "No: it is off."


@pytest.mark.parametrize(
    "text",
    ["say: hello", "[one]\ndo: X", "[one]\nwant: answer:x", "[one]\nsay: x\nshout: y", "[one]\nx"],
)
def test_what_is_no_dialogue(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        list(parse(text, "en"))


def test_the_day_is_whole() -> None:
    day = all_dialogues()
    assert len(day) == 150
    assert Counter(one.language for one in day) == {"en": 75, "es": 75}
    for language in ("en", "es"):
        mine = read(language)
        assert len({one.name for one in mine}) == 75
        sorts = Counter(one.sort for one in mine)
        assert min(sorts[sort] for sort in ("correction", "noise", "two speakers")) >= 8
        assert sum(one.safety for one in mine) >= 20
    known = {thing.entity_id for thing in THINGS}
    for one in day:
        assert one.wish.entities | one.wish.passing | set(one.wish.given) <= known, one.name


@pytest.mark.parametrize("key", ["not_caught", "cannot", "only_english", "too_long"])
def test_no_answer_is_found_in_what_hearth_says_where_it_understood_nothing(key: str) -> None:
    told = Catalogue()
    asked = [one for one in all_dialogues() if one.wish.answer]
    assert len(asked) == 14
    for one in asked:
        said = told.say(f"offline.{key}", one.language)
        assert not re.search(one.wish.answer, said, re.IGNORECASE), (one.name, said)
