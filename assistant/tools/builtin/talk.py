"""`start_over`, `forget_what_i_said` and `end_conversation`: the talk itself."""

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Protocol

from assistant.domain.clock import Clock
from assistant.domain.outcome import Tier
from assistant.domain.records import Mark, StoreError, TurnRecord
from assistant.journal.reports import MARKING
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.protocol import NO_ARGUMENTS, BuiltIn, BuiltInRequest, BuiltInResult

START_OVER, END = "start_over", "end_conversation"
FORGET_WHAT_I_SAID = "forget_what_i_said"
MAX_TURNS = 20  # that one sentence may erase

_log = logging.getLogger(__name__)


class Talk(Protocol):
    """The talk (`assistant.interfaces.controls.Controls`)."""

    def start_over(self) -> None:
        """What was said so far is not known from the next turn on."""
        ...

    async def forget_words(self, turns: int, turn_id: str) -> int:
        """Erase the words of that many turns and of this one; how many there were.

        Raises StoreError.
        """
        ...

    def end(self) -> None:
        """Nobody is listened to after this answer without the wake word."""
        ...


class TalkTools:
    """The three tools."""

    def __init__(self, talk: Talk, catalogue: Catalogue) -> None:
        self._talk = talk
        self._catalogue = catalogue

    def tools(self) -> tuple[BuiltIn, ...]:
        """The tools for the menu."""
        over = BuiltIn(
            name=START_OVER,
            description="Begins a new conversation: what was said so far counts no more. Call it "
            'for "start over", "new topic" or "forget this conversation".',
            schema=NO_ARGUMENTS,
            tier=Tier.COMFORT,
            run=self._start_over,
            programs=False,
        )
        forget = BuiltIn(
            name=FORGET_WHAT_I_SAID,
            description="Erases what the person said and what you answered, in the last turn or "
            'in several, from everything that was written down here. Call it for "forget what I '
            'just said" or "delete that recording". Not for a fact that was to be remembered.',
            schema={
                "type": "object",
                "properties": {
                    "turns": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": MAX_TURNS,
                        "description": "How many sentences before this one; one, unless the "
                        "person means more.",
                    }
                },
            },
            tier=Tier.COMFORT,
            run=self._forget,
            programs=False,
        )
        end = BuiltIn(
            name=END,
            description="Ends the conversation: after your answer you do not go on listening. Call "
            'it when the person is done with you: "that is all", "thanks, goodbye", "never mind".',
            schema=NO_ARGUMENTS,
            tier=Tier.COMFORT,
            run=self._end,
            programs=False,
        )
        return over, forget, end

    async def _start_over(
        self, arguments: Mapping[str, Any], request: BuiltInRequest
    ) -> BuiltInResult:
        self._talk.start_over()
        return self._said("talk.over", request)

    async def _forget(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        try:
            found = await self._talk.forget_words(arguments.get("turns", 1), request.turn_id)
        except StoreError as error:
            _log.error("words could not be erased: %s", error)
            return self._said("talk.not_forgotten", request, failed=True)
        return self._said("talk.forgotten" if found else "talk.nothing", request)

    async def _end(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        self._talk.end()
        return self._said("talk.ended", request)

    def _said(self, key: str, request: BuiltInRequest, *, failed: bool = False) -> BuiltInResult:
        return BuiltInResult(self._catalogue.say(key, request.language), failed=failed)


# `that_was_wrong`: the person says that the turn before went wrong, or that they were misheard.


THAT_WAS_WRONG = MARKING
WITHIN = timedelta(minutes=10)  # after that nobody knows what is meant


class Marks(Protocol):
    """Where turns are marked (`assistant.journal.reports.Reports`). Each raises StoreError."""

    async def last_command(self, since: datetime) -> TurnRecord | None:
        """What a person asked for last."""
        ...

    async def mark(self, turn_id: str, mark: Mark) -> bool:
        """Say of a turn how it was. False: no such turn."""
        ...


class Marking:
    """The tool. It changes nothing in the home; it is counted (`hearth trace --list`)."""

    def __init__(self, marks: Marks, catalogue: Catalogue, clock: Clock) -> None:
        self._marks = marks
        self._catalogue = catalogue
        self._clock = clock

    def tool(self) -> BuiltIn:
        """For the menu."""
        return BuiltIn(
            name=THAT_WAS_WRONG,
            description="Notes that what you did or answered before was wrong. Call it when the "
            'person says so: "that was wrong", "you misheard me". It undoes nothing: where the '
            "person says what they meant, do that too, by correct_last or undo if that fits.",
            schema={
                "type": "object",
                "properties": {
                    "misheard": {
                        "type": "boolean",
                        "description": "True where the person says that you misheard or "
                        "misunderstood their words.",
                    }
                },
            },
            tier=Tier.COMFORT,
            run=self._mark,
            programs=False,
        )

    async def _mark(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        mark: Mark = "misheard" if arguments.get("misheard") else "wrong"
        say = self._catalogue.say
        try:
            meant = await self._marks.last_command(self._clock.now() - WITHIN)
            marked = meant is not None and await self._marks.mark(meant.turn_id, mark)
        except StoreError as error:
            if not error.told:
                _log.error("a turn could not be marked: %s", error)
            return BuiltInResult(say("wrong.not_noted", request.language), failed=True)
        if not marked:
            return BuiltInResult(say("wrong.nothing", request.language), failed=True)
        return BuiltInResult(say(f"wrong.{mark}", request.language))
