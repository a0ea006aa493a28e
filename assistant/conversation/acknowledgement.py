"""A short tone in place of words, where it says all that there is to say of a done command."""

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Literal

from assistant.domain.tool_call import Decision, Observed, Status, Tier, ToolOutcome
from assistant.tools.execution.verification import UNDER_WAY
from assistant.tools.house.targets import find_area
from integrations.home_assistant.house import House

if TYPE_CHECKING:
    from assistant.conversation.spoken_reply import SpokenReply
    from assistant.conversation.turn import Turn

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
    """The rule by which a done command is answered, and the room that the person is in."""

    habit: Habit = "words"
    area: str = ""  # name, alias or id of the room in which this box stands; "": nobody knows
    house: Callable[[], House] = House

    def suits(self, outcomes: Sequence[ToolOutcome]) -> bool:
        """Return True if a tone tells what came of the turn's calls, all of which have ended."""
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
    """Return True if all that the calls touch, also by what follows from them, is in that area."""
    own = find_area(house, area) if area else None
    if own is None:
        return False
    touched = {name for one in outcomes for name in one.entities}
    touched |= {seen.entity_id for one in outcomes for seen in one.observed}
    things = [house.entities.get(name) for name in touched]
    return all(thing is not None and thing.area_id == own.area_id for thing in things)


def tells_more(answer: str, heard: str | None, calls: int = 1) -> bool:
    """Return True if the words say or ask more than that so many calls are done, or answer a
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


# Keeps the words of an answer back while a tone may do in their place.


# Of real time after the last call has come back. Whoever has answered by then (a brain on the
# device always has) is heard out first, so that no tone comes before a question; a model in the
# cloud takes a second or more, and nobody waits so long for a tone.
TONE_AFTER_S = 0.3
HELD_MS = 10_000.0  # of the brain's own voice; what is longer tells more than that it is done


class _Stage(Enum):
    OPEN = auto()  # no call yet: words go to the mouth as they come
    HOLDING = auto()  # a call runs, or has done what was asked: the words wait
    TOLD = auto()  # the tone has sounded; the words wait for their end
    OVER = auto()  # it is decided


class Toning:
    """One turn's decision between a tone and words, as its calls and its words come in."""

    def __init__(self, rule: Acknowledging, turn: "Turn") -> None:
        self._rule = rule
        self._turn = turn
        self._calls = 0  # that have begun
        self._stage = _Stage.OVER if rule.habit == "words" else _Stage.OPEN
        self._due: asyncio.TimerHandle | None = None

    def call_begins(self) -> None:
        """A call is on its way. What was said before it stays said, and then words follow."""
        self._stay()
        self._calls += 1
        if self._stage is not _Stage.OPEN:
            return
        if self._reply.given:
            self._stage = _Stage.OVER
            return
        self._stage = _Stage.HOLDING
        self._reply.hold()

    def call_ends(self, outcomes: Sequence[ToolOutcome], under_way: int) -> None:
        """A call has come back. `outcomes`: of all that have; `under_way`: how many have not."""
        if self._stage not in (_Stage.HOLDING, _Stage.TOLD):
            return
        if not self._rule.suits(outcomes) or self._tells_more(""):
            self.give_way()
        elif not under_way and self._stage is _Stage.HOLDING:
            self._stay()
            self._due = asyncio.get_running_loop().call_later(TONE_AFTER_S, self._sound_or_speak)

    def words_come(self, answer: str) -> None:
        """A further piece of the answer, which may tell more than a tone can."""
        if self._holds and (self._tells_more(answer) or self._reply.held_ms > HELD_MS):
            self.give_way()

    def words_end(self, answer: str, outcomes: Sequence[ToolOutcome]) -> None:
        """The answer is whole, and no call runs."""
        if not self._holds:
            return
        if self._tells_more(answer) or not self._rule.suits(outcomes):
            self.give_way()
            return
        if self._stage is _Stage.HOLDING:
            self._sound()
        self._stage = _Stage.OVER  # what is held back is never said

    def give_way(self) -> None:
        """It takes words: those that wait are said, and all that come."""
        self._stay()
        if self._holds:
            self._reply.release()
        self._stage = _Stage.OVER

    def close(self) -> None:
        """The turn is over."""
        self._stay()
        self._stage = _Stage.OVER

    @property
    def _reply(self) -> "SpokenReply":
        """The stretch that is being made."""
        return self._turn.speech.reply

    @property
    def _holds(self) -> bool:
        return self._stage in (_Stage.HOLDING, _Stage.TOLD)

    def _tells_more(self, answer: str) -> bool:
        return tells_more(answer, self._turn.heard, max(1, self._calls))

    def _sound_or_speak(self) -> None:
        """A transcript may come late: whoever has asked a question gets words."""
        if self._tells_more(""):
            self.give_way()
        else:
            self._sound()

    def _sound(self) -> None:
        self._stay()
        self._stage = _Stage.TOLD
        self._turn.acknowledge()

    def _stay(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None
