"""Tells what happens in turns, for automations: wake, words, calls, confirmations and answers."""

from typing import TYPE_CHECKING

from assistant.conversation.listeners import TurnListener
from assistant.conversation.record import FinishedTurn
from assistant.domain.events import EventBus
from assistant.domain.outcome import ToolOutcome
from assistant.domain.records import UNASKED

if TYPE_CHECKING:
    from assistant.conversation.live import LiveTurn


class TurnTelling(TurnListener):
    """Give it to `Runner.follow`, and its `finished` to `TurnLog.follow`."""

    def __init__(self, happenings: EventBus) -> None:
        self._tell = happenings.tell

    def opened(self, turn: "LiveTurn") -> None:
        """A wake word, or who pressed."""
        wake = turn.opening.wake
        if wake is None:
            return
        if wake.pressed:
            self._tell("wake", turn.turn_id, word=wake.word, pressed=True, caller=wake.caller)
        else:
            self._tell("wake", turn.turn_id, word=wake.word, score=round(wake.score, 3))

    def understood(self, turn: "LiveTurn") -> None:
        """The person's words, or a program's; of an answer that is still being spoken."""
        if turn.heard and turn.asking is None:
            self._tell(
                "heard",
                turn.turn_id,
                {"heard": turn.heard},
                language=turn.language,
                source=turn.opening.source,
                caller=turn.opening.caller,
            )

    def asked(self, turn: "LiveTurn") -> None:
        """A call waits for the person's yes."""
        record = turn.confirmation
        asked = record.asked if record is not None else None
        self._tell("confirmation", turn.turn_id, {"asked": asked or ""}, waits=True)

    def called(self, turn: "LiveTurn", outcome: ToolOutcome) -> None:
        """A call of a brain, whatever became of it."""
        self._tell(
            "tool_call",
            turn.turn_id,
            name=outcome.name,
            status=str(outcome.status),
            decision=str(outcome.decision),
            tier=str(outcome.tier),
            entities=list(outcome.entities),
        )

    def finished(self, turn: FinishedTurn) -> None:
        """The answer, and what was said to a question of ours; words as they were kept."""
        record = turn.record
        if record.source in UNASKED:
            return
        if record.confirmation is not None:
            verdict = record.confirmation.verdict
            self._tell("confirmation", record.turn_id, waits=False, verdict=verdict)
        self._tell(
            "answer",
            record.turn_id,
            {"answer": record.answer} if record.answer else {},
            brain=record.brain,
            error=record.error.kind if record.error is not None else None,
            caller=record.caller,
        )
