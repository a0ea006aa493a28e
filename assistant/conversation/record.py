"""Records of finished turns: their contents, the `--json` output, and the log that stores them."""

import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from assistant.conversation.rules.effects import CloseTurn
from assistant.conversation.tool_calls import undone
from assistant.domain.events import EventBus, Listeners
from assistant.domain.records import (
    UNASKED,
    ConfirmationRecord,
    ErrorRecord,
    StoreError,
    TurnRecord,
    WakeRecord,
)
from assistant.domain.tool_call import ToolOutcome
from assistant.journal.store import Store

if TYPE_CHECKING:
    from assistant.conversation.turn import Turn


def record_of(turn: "Turn", closing: CloseTurn) -> TurnRecord:
    wake = turn.opening.wake
    timeline = turn.timeline.as_dict()
    # An internal error says more than the interruption that followed it.
    error = turn.error or ((closing.error, closing.message) if closing.error else None)
    return TurnRecord(
        turn_id=turn.turn_id,
        started_at=turn.started_at,
        source=turn.opening.source,
        language=turn.language,
        brain=turn.brain,
        wake=WakeRecord(wake.word, round(wake.score, 3), timeline["wake"]) if wake else None,
        heard=turn.heard,
        answer=turn.answer or None,
        clauses=turn.spoken.clauses,
        cut_at=turn.sounded.cut_at,
        sound=turn.sound,
        audio_ms=round(turn.spoken.audio_ms, 1),
        timeline=timeline,
        usage=turn.bill.usage,
        cost_usd=turn.bill.cost_usd,
        error=ErrorRecord(*error) if error else None,
        confirmation=turn.confirmation,
        caller=turn.opening.caller,
        model=turn.bill.model,
        understood=turn.understood,
    )


def wordless(record: TurnRecord) -> TurnRecord:
    """Return the record without transcripts, answers and error messages."""
    error, asked = record.error, record.confirmation
    return replace(
        record,
        heard=None,
        answer=None,
        clauses=(),
        cut_at=None,
        error=ErrorRecord(error.kind, None) if error else None,
        confirmation=ConfirmationRecord(None, None, asked.verdict) if asked else None,
    )


def as_json(record: TurnRecord, outcomes: Iterable[ToolOutcome]) -> dict[str, Any]:
    """Return the object that `hear` and `ask` print with `--json`."""
    outcomes = list(outcomes)
    return {
        "turn_id": record.turn_id,
        "brain": record.brain,
        "wake": asdict(record.wake) if record.wake else None,
        "heard": record.heard,
        "answer": record.answer,
        "spoken": _spoken(record),
        "tool_calls": [_call(outcome) for outcome in outcomes],
        "not_done": [_not_done(outcome) for outcome in undone(outcomes)],
        "confirmation": asdict(record.confirmation) if record.confirmation else None,
        "timeline": record.timeline,
        "usage": asdict(record.usage) if record.usage else None,
        "cost_usd": record.cost_usd,
        "error": asdict(record.error) if record.error else None,
    }


def no_wake() -> dict[str, Any]:
    """Return the `--json` object for audio without a wake word."""
    return {**no_turn(), "error": {"kind": "no_wake", "message": NO_WAKE}}


def no_turn() -> dict[str, Any]:
    """Return the JSON object for a sentence that made no turn, such as "stop"."""
    return {
        "turn_id": None,
        "brain": None,
        "wake": None,
        "heard": None,
        "answer": None,
        "spoken": {"clauses": [], "audio_ms": 0.0},
        "tool_calls": [],
        "not_done": [],
        "confirmation": None,
        "timeline": {},
        "usage": None,
        "cost_usd": 0.0,
        "error": None,
    }


NO_WAKE = "The wake word was not heard"


def _spoken(record: TurnRecord) -> dict[str, Any]:
    spoken: dict[str, Any] = {"clauses": list(record.clauses), "audio_ms": record.audio_ms}
    if record.cut_at is not None:
        spoken["heard"] = record.cut_at
    if record.sound:
        spoken["sound"] = record.sound
    return spoken


def _call(outcome: ToolOutcome) -> dict[str, Any]:
    return {
        "id": outcome.id,
        "server": outcome.server,
        "name": outcome.name,
        "arguments": outcome.arguments,
        "decision": outcome.decision,
        "tier": outcome.tier,
        "status": outcome.status,
        "observed": [asdict(seen) for seen in outcome.observed],
        "ms": round(outcome.ms, 1),
        "rule": outcome.rule,
        "entities": list(outcome.entities),
        "confirmed_by": outcome.confirmed_by,
    }


def _not_done(outcome: ToolOutcome) -> dict[str, Any]:
    return {
        "id": outcome.id,
        "name": outcome.name,
        "decision": outcome.decision,
        "status": outcome.status,
        "sentence": outcome.sentence,
    }


# Finished turns are stored; the latest are also kept in memory.


_log = logging.getLogger(__name__)

_KEPT = 20


@dataclass(frozen=True, slots=True)
class FinishedTurn:
    record: TurnRecord
    outcomes: tuple[ToolOutcome, ...]


def joined(given: Iterable[FinishedTurn]) -> FinishedTurn:
    """Return the last turn. If it is a new command that answered a confirmation, it is merged with
    the turn that asked."""
    turns = list(given)
    whole = turns[-1]
    for before in reversed(turns[:-1]):
        asked = before.record.confirmation
        if asked is None or asked.verdict != "new_command":
            break
        first, last = before.record, whole.record
        both = first.usage + last.usage if first.usage and last.usage else None
        record = replace(
            last,
            wake=first.wake,
            clauses=(*first.clauses, *last.clauses),
            cut_at=None if last.cut_at is None else f"{_heard(first)} {last.cut_at}".strip(),
            audio_ms=first.audio_ms + last.audio_ms,
            usage=both or last.usage or first.usage,
            cost_usd=first.cost_usd + last.cost_usd,
            confirmation=last.confirmation or asked,
            model=last.model or first.model,
        )
        whole = FinishedTurn(record, (*before.outcomes, *whole.outcomes))
    return whole


def _heard(record: TurnRecord) -> str:
    return " ".join(record.clauses) if record.cut_at is None else record.cut_at


async def _nothing(record: TurnRecord) -> None:
    """Do nothing."""


class TurnLog:
    """Stores each finished turn and notifies listeners."""

    def __init__(
        self,
        store: Store,
        keeps_words: Callable[[], bool] = lambda: True,
        after_writing: Callable[[TurnRecord], Awaitable[None]] = _nothing,
    ) -> None:
        """`keeps_words` returns True if a turn's text can be stored. `after_writing` is awaited
        after each turn has been stored."""
        self._store = store
        self._keeps_words = keeps_words
        self._after_writing = after_writing
        self._printers: list[Callable[[FinishedTurn], None]] = []
        # Latest turns without announcements, newest last.
        self.turns: deque[FinishedTurn] = deque(maxlen=_KEPT)
        self.count = 0  # number of turns so far
        self._followers: Listeners[[FinishedTurn]] = Listeners("turns")

    def follow(self, follower: Callable[[FinishedTurn], None]) -> Callable[[], None]:
        """Register a callback for every finished turn or job, and return a function that
        unregisters it.

        The callback doesn't receive text that isn't stored or was deleted on request. It must not
        block.
        """
        return self._followers.add(follower)

    def on_turn(self, show: Callable[[FinishedTurn], None], *, from_start: bool = False) -> None:
        """Call `show` with the full text of each turn, even if that text is not stored. `show` must
        not block. With `from_start`, it is also called for turns that are already over."""
        self._printers.append(show)
        if from_start:
            for turn in tuple(self.turns):
                show(turn)

    async def record(self, turn: "Turn", closing: CloseTurn) -> None:
        finished = FinishedTurn(record_of(turn, closing), tuple(turn.outcomes))
        if finished.record.source not in UNASKED:
            self.turns.append(finished)
            self.count += 1
        kept = await self._write(finished.record)
        await self._after_writing(finished.record)
        for show in self._printers:
            show(finished)
        known = {turn.record.turn_id: turn for turn in self.turns}
        present = known.get(kept.turn_id, finished)  # without text that was deleted on request
        record = kept if present is finished else present.record
        self._followers.tell(FinishedTurn(record, present.outcomes))

    async def keep(self, record: TurnRecord) -> None:
        """Store a record, without its text if `keeps_words` returns False. If the store fails, the
        error is only logged."""
        self._followers.tell(FinishedTurn(await self._write(record), ()))

    async def _write(self, record: TurnRecord) -> TurnRecord:
        kept = record if self._keeps_words() else wordless(record)
        try:
            await self._store.record_turn(kept)
        except StoreError as error:
            if not error.told:
                _log.error("the turn could not be saved: %s", error)
        return kept


class TurnListener:
    """Callbacks for every turn, called on the loop's thread. Overrides must not block."""

    def opened(self, turn: "Turn") -> None:
        """Handle the start of a turn."""

    def heard(self, turn: "Turn") -> None:
        """Handle words that a brain has recognised. They can still change."""

    def whole(self, turn: "Turn") -> None:
        """Handle the end of the person's sentence."""

    def understood(self, turn: "Turn") -> None:
        """Handle the end of the brain's part, when the transcript is final."""

    def asked(self, turn: "Turn") -> None:
        """Handle a call that is waiting for confirmation."""

    def called(self, turn: "Turn", outcome: ToolOutcome) -> None:
        """Handle a finished call."""


class TurnListeners(TurnListener):
    """A group of turn listeners, called in the order in which they were added."""

    def __init__(self) -> None:
        self._all: list[TurnListener] = []

    def add(self, follower: TurnListener) -> None:
        self._all.append(follower)

    def opened(self, turn: "Turn") -> None:
        for one in self._all:
            one.opened(turn)

    def heard(self, turn: "Turn") -> None:
        for one in self._all:
            one.heard(turn)

    def whole(self, turn: "Turn") -> None:
        for one in self._all:
            one.whole(turn)

    def understood(self, turn: "Turn") -> None:
        for one in self._all:
            one.understood(turn)

    def asked(self, turn: "Turn") -> None:
        for one in self._all:
            one.asked(turn)

    def called(self, turn: "Turn", outcome: ToolOutcome) -> None:
        for one in self._all:
            one.called(turn, outcome)


class TurnTelling(TurnListener):
    """Publishes turns on the event bus. Pass the instance to `ConversationLoop.follow`, and its
    method `finished` to `TurnLog.follow`."""

    def __init__(self, bus: EventBus) -> None:
        self._tell = bus.publish

    def opened(self, turn: "Turn") -> None:
        wake = turn.opening.wake
        if wake is None:
            return
        if wake.pressed:
            self._tell("wake", turn.turn_id, word=wake.word, pressed=True, caller=wake.caller)
        else:
            self._tell("wake", turn.turn_id, word=wake.word, score=round(wake.score, 3))

    def understood(self, turn: "Turn") -> None:
        if turn.heard and turn.asking is None:
            self._tell(
                "heard",
                turn.turn_id,
                {"heard": turn.heard},
                language=turn.language,
                source=turn.opening.source,
                caller=turn.opening.caller,
            )

    def asked(self, turn: "Turn") -> None:
        record = turn.confirmation
        asked = record.asked if record is not None else None
        self._tell("confirmation", turn.turn_id, {"asked": asked or ""}, waits=True)

    def called(self, turn: "Turn", outcome: ToolOutcome) -> None:
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
        """Publish the answer and the verdict of a confirmation."""
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
