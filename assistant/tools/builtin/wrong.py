"""`that_was_wrong`: the person says that the turn before went wrong, or that they were misheard."""

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Protocol

from assistant.domain.clock import Clock
from assistant.domain.outcome import Tier
from assistant.domain.records import Mark, StoreError, TurnRecord
from assistant.journal.mark_rows import MARKING
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.protocol import BuiltIn, BuiltInRequest, BuiltInResult

THAT_WAS_WRONG = MARKING
WITHIN = timedelta(minutes=10)  # after that nobody knows what is meant

_log = logging.getLogger(__name__)


class Marks(Protocol):
    """Where turns are marked (`assistant.journal.audit.Reports`). Each raises StoreError."""

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
