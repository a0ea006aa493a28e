"""Tests of `make understanding`, with a complete Hearth in the demo house."""

from pathlib import Path

import pytest

from tests.understanding.cases import LANGUAGES, parse, read_follow_ups
from tests.understanding.house import household
from tests.understanding.judge import GOOD, Outcome, Result

LOCKS = "[lock.front_door=unlocked] lock the front door => lock.front_door=locked"
UNLOCKS = "unlock the front door => ask >> {reply} => {right}"


async def test_dialogues_are_judged_by_the_house(tmp_path: Path) -> None:
    async with household("en", ["offline"], tmp_path) as home:

        async def held(line: str) -> Result:
            return await home.hold(parse(f"a-1 | {line}"))

        right = (
            "turn on the kitchen light => light.kitchen=on",
            LOCKS,
            "unlock the front door => ask",  # the next dialogue is not its answer
            UNLOCKS.format(reply="yes", right="lock.front_door=unlocked"),
            UNLOCKS.format(reply="no", right="same"),
            "add milk to the shopping list => list=milk",
            "set a timer for five minutes => timers=5m",
            "turn on the hall light in 10 minutes => same >> +11m => light.hall=on",
            "what is the temperature in the bedroom => say:/18/",
        )
        for line in right:
            assert (await held(line)).outcome in (Outcome.RIGHT, Outcome.ASKED), line
        wrong = (
            "turn on the kitchen light => light.kitchen=off",
            "turn on the kitchen light => same",
            "add milk to the shopping list => same",
            "set a timer for five minutes => same",
            UNLOCKS.format(reply="yes", right="same"),
            "what is the temperature in the bedroom => say:/25/",
        )
        for line in wrong:
            assert (await held(line)).outcome is Outcome.WRONG, line
        assert (await held("sing me a song => light.hall=on")).outcome is Outcome.MISSED
        assert (await held(right[0])).told == [
            ("turn on the kitchen light", "Turned on the kitchen light.")
        ]


ADDED_ONCE = (
    "add milk to the list => list=milk >> add Milk to my shopping list => same say:/already/",
    "put Leche, Leche on the list => list=leche",
    "add an apple to the list => list=an_apple >> add apples to it => same say:/already/",
    "add tomatoes => ask >> yes => list=tomatoes"
    " >> put a tomato and onions on the list => list=tomatoes,onions say:/already.* Added onions/",
    "add the milk and some eggs to the list => list=milk,eggs"
    " >> take the eggs and the milk off the list => list=none >> add eggs to the list => list=eggs",
    "add milk to the list => list=milk >> add oat milk to the list => list=milk,oat_milk",
)


async def test_items_that_are_on_a_list_are_not_added_again(tmp_path: Path) -> None:
    async with household("en", ["offline"], tmp_path) as home:
        for line in ADDED_ONCE:
            held = await home.hold(parse(f"a-1 | {line}"))
            assert held.outcome in (Outcome.RIGHT, Outcome.ASKED), held


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_conversation_continues(language: str, tmp_path: Path) -> None:
    async with household(language, ["offline"], tmp_path) as home:
        results = [await home.hold(case) for case in read_follow_ups(language)]
    assert [one for one in results if one.outcome not in GOOD] == []


SAID_IN_OTHER_WORDS = (
    # After a timer, "it" is the timer.
    "set a timer for ten minutes => timers=10m >> pause it => timers=paused"
    " >> carry on with the timer => timers=10m >> take two minutes off => timers=8m",
    "start a two minute timer and a seven minute timer => timers=2m,7m",
    "set a timer => ask >> an hour and a quarter => timers=1h15m",
    "in ten minutes turn the hall light on => same >> forget that => same >> +11m => same",
    # Times of day, and lengths.
    "shut off the dining room light at three => same >> +61m => light.dining_room=off",
    "run the ceiling fan for the next twenty minutes => fan.ceiling_fan=on"
    " >> +21m => fan.ceiling_fan=off",
    "I want a reminder next Thursday at noon to pay the rent => reminders=thu-12:00",
    "can you remind me on Friday evening at eight to ring Paul => reminders=fri-20:00",
    # A complaint beside a command is its reason.
    "I'm cold, turn the heating up to 22 => climate.living_room.temperature=22",
    # What is so already, and what can't be.
    "turn on the dining room light => same say:/is already on/",
    "play the living room speaker => same say:/is already playing/",
    "unmute the living room speaker => same say:/is already like that/",
    "set the lamp to blue => refuse",
    "set the bedroom light to 9000 kelvin => refuse say:/from 2000 to 6535/",
    "set the dining room light to 150 percent => refuse say:/hundred percent/",
    "close the window in the bathroom => refuse say:/bathroom/",
    "make the bedroom light warmer => light.bedroom.color=warm",
    "are any lights still on => same say:/yes/",
    "how far open are the living room blinds => same say:/100/",
    "is the bedroom shade up or down => same say:/closed/",
)


async def test_what_households_say_in_other_words(tmp_path: Path) -> None:
    async with household("en", ["offline"], tmp_path) as home:
        good = (Outcome.RIGHT, Outcome.ASKED, Outcome.REFUSED)
        for line in SAID_IN_OTHER_WORDS:
            held = await home.hold(parse(f"a-1 | {line}"))
            assert held.outcome in good, (held.told, held.why)
