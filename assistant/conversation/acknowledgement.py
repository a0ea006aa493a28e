"""Acknowledge a completed command with a short tone if a spoken reply would add nothing."""

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
# Characters per call. A longer answer says more than that the command is done.
LONGEST = 45
SHORT = 12  # characters; a sentence this short is no more than "Done." or "Okay!"
_QUESTION_MARKS = "?？؟"
_SENTENCE = re.compile(r"(?<=[.!…。！])\s*(?=\S)(?<!\d[.,])")
# These states don't prove that the command is done: the device is still moving or is unreachable.
# Of a scene, script or button, Hearth only knows that it was started.
_UNSETTLED = UNDER_WAY | {"unavailable", "unknown", "started", "pressed"}


@dataclass(frozen=True, slots=True)
class Acknowledging:
    """The acknowledgement setting (`voice.acknowledge`) and this device's area."""

    habit: Habit = "words"
    area: str = ""  # name, alias or id of this device's area; "" if unknown
    house: Callable[[], House] = House

    def suits(self, outcomes: Sequence[ToolOutcome]) -> bool:
        """Return True if a tone is enough to report the outcomes of all of a turn's calls."""
        if self.habit == "words" or not outcomes or not all(map(is_seen, outcomes)):
            return False
        return self.habit == "sound" or in_room(outcomes, self.house(), self.area)


IN_WORDS = Acknowledging()


def is_seen(outcome: ToolOutcome) -> bool:
    """Return True for a comfort-tier change that ran without confirmation and was verified in Home
    Assistant."""
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
    """Return True if every entity that the calls targeted or changed is in `area`, or False if the
    area is unknown."""
    own = find_area(house, area) if area else None
    if own is None:
        return False
    touched = {name for one in outcomes for name in one.entities}
    touched |= {seen.entity_id for one in outcomes for seen in one.observed}
    things = [house.entities.get(name) for name in touched]
    return all(thing is not None and thing.area_id == own.area_id for thing in things)


def tells_more(answer: str, heard: str | None, calls: int = 1) -> bool:
    """Return True if the answer says more than "done", or if the request or the answer contains a
    question mark. Each of the turn's `calls` allows another short sentence."""
    if any(mark in f"{answer}{heard or ''}" for mark in _QUESTION_MARKS):
        return True
    telling = [part for part in _SENTENCE.split(answer) if len(part.strip()) > SHORT]
    return len(telling) > calls or sum(map(len, telling)) > LONGEST * calls


def _is_settled(seen: Observed) -> bool:
    return seen.after is not None and seen.after.partition(" ")[0] not in _UNSETTLED


# The tone itself. Text is held back while a tone may still replace it.


# Seconds of real time after the last call has returned. If the brain answers within this time, its
# text is checked first, so that no tone precedes a question. A brain on the device always does; a
# model in the cloud takes a second or more, which is too long to wait for a tone.
TONE_AFTER_S = 0.3
HELD_MS = 10_000.0  # ms of the brain's own audio; longer audio says more than "done"


class _Stage(Enum):
    OPEN = auto()  # no call yet: text is spoken as it arrives
    HOLDING = auto()  # a call is running or has just finished: text is held back
    TOLD = auto()  # the tone has played; text is held back until the answer is complete
    OVER = auto()  # decided


class Toning:
    """Chooses between a tone and a spoken reply while a turn's calls and text arrive."""

    def __init__(self, rule: Acknowledging, turn: "Turn") -> None:
        self._rule = rule
        self._turn = turn
        self._calls = 0  # calls started so far
        self._stage = _Stage.OVER if rule.habit == "words" else _Stage.OPEN
        self._due: asyncio.TimerHandle | None = None

    def call_begins(self) -> None:
        """Hold back the text from now on, because a tool call has started. If part of the answer is
        already on its way to the loudspeaker, the whole reply is spoken."""
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
        """Choose between a tone and a spoken reply after a call has returned, if the choice is
        clear.

        `outcomes` contains every finished call of the turn, and `under_way` is the number of calls
        that are still running.
        """
        if self._stage not in (_Stage.HOLDING, _Stage.TOLD):
            return
        if not self._rule.suits(outcomes) or self._tells_more(""):
            self.give_way()
        elif not under_way and self._stage is _Stage.HOLDING:
            self._stay()
            self._due = asyncio.get_running_loop().call_later(TONE_AFTER_S, self._sound_or_speak)

    def words_come(self, answer: str) -> None:
        if self._holds and (self._tells_more(answer) or self._reply.held_ms > HELD_MS):
            self.give_way()

    def words_end(self, answer: str, outcomes: Sequence[ToolOutcome]) -> None:
        """Choose between a tone and a spoken reply once the answer is complete and no call is
        running."""
        if not self._holds:
            return
        if self._tells_more(answer) or not self._rule.suits(outcomes):
            self.give_way()
            return
        if self._stage is _Stage.HOLDING:
            self._sound()
        self._stage = _Stage.OVER  # the text held back is never spoken

    def give_way(self) -> None:
        """Choose the spoken reply, including the text that was held back."""
        self._stay()
        if self._holds:
            self._reply.release()
        self._stage = _Stage.OVER

    def close(self) -> None:
        self._stay()
        self._stage = _Stage.OVER

    @property
    def _reply(self) -> "SpokenReply":
        return self._turn.speech.reply

    @property
    def _holds(self) -> bool:
        return self._stage in (_Stage.HOLDING, _Stage.TOLD)

    def _tells_more(self, answer: str) -> bool:
        return tells_more(answer, self._turn.heard, max(1, self._calls))

    def _sound_or_speak(self) -> None:
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
