"""Whether one short tone says all that there is to say of a done command. Pure."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from assistant.domain.outcome import Decision, Observed, Status, Tier, ToolOutcome
from assistant.tools.resolve import find_area
from assistant.tools.verify import UNDER_WAY
from integrations.home_assistant.house import House

Habit = Literal["auto", "sound", "words"]  # as `voice.acknowledge`
# An answer that is longer tells more than that it is done. Characters for each call.
LONGEST = 45
SHORT = 12  # characters of a sentence that is no more than "Done." or "Okay!"
_QUESTION_MARKS = "?？؟"
_SENTENCE = re.compile(r"(?<=[.!…。！])\s*(?=\S)(?<!\d[.,])")
# What is on its way is not done yet, and of these states nobody can tell what became of the thing;
# of a scene, script or button no more is known than that it was set off.
_UNSETTLED = UNDER_WAY | {"unavailable", "unknown", "started", "pressed"}


@dataclass(frozen=True, slots=True)
class Acknowledging:
    """How a done command is answered, and in which room the person is."""

    habit: Habit = "words"
    area: str = ""  # name, alias or id of the room in which this box stands; "": nobody knows
    house: Callable[[], House] = House

    def suits(self, outcomes: Sequence[ToolOutcome]) -> bool:
        """Whether a tone tells what came of the turn's calls, all of which have ended."""
        if self.habit == "words" or not outcomes or not all(map(is_seen, outcomes)):
            return False
        return self.habit == "sound" or in_room(outcomes, self.house(), self.area)


IN_WORDS = Acknowledging()


def is_seen(outcome: ToolOutcome) -> bool:
    """A small change that was made unasked, and that the house shows."""
    return (
        outcome.decision is Decision.ALLOWED
        and outcome.tier is Tier.COMFORT
        and outcome.status is Status.DONE
        and not outcome.running
        and outcome.as_asked
        and bool(outcome.observed)
        and all(map(_is_settled, outcome.observed))
    )


def in_room(outcomes: Sequence[ToolOutcome], house: House, area: str) -> bool:
    """Whether everything that the calls touch, also by what follows from them, is in that area."""
    own = find_area(house, area) if area else None
    if own is None:
        return False
    touched = {name for one in outcomes for name in one.entities}
    touched |= {seen.entity_id for one in outcomes for seen in one.observed}
    things = [house.entities.get(name) for name in touched]
    return all(thing is not None and thing.area_id == own.area_id for thing in things)


def tells_more(answer: str, heard: str | None, calls: int = 1) -> bool:
    """Whether the words say or ask something beside that so many calls are done, or answer a
    question.

    A question of the person's counts as one even where a command was meant by it ("Can you turn on
    the light?"): nobody who asked is left without a word.
    """
    if any(mark in f"{answer}{heard or ''}" for mark in _QUESTION_MARKS):
        return True
    telling = [part for part in _SENTENCE.split(answer) if len(part.strip()) > SHORT]
    return len(telling) > calls or sum(map(len, telling)) > LONGEST * calls


def _is_settled(seen: Observed) -> bool:
    return seen.after is not None and seen.after.partition(" ")[0] not in _UNSETTLED
