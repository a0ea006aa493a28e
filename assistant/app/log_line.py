"""Logs one line per turn, as key=value pairs, without what anybody said. docs/journal.md lists the
keys."""

import json
import logging
import re
from collections.abc import Callable, Iterator, Sequence

from assistant.conversation.record import FinishedTurn, TurnLog
from assistant.domain.records import TurnRecord
from assistant.domain.tool_call import Decision, ToolOutcome
from assistant.journal.trace import first_sound_ms, slowest, stages

_log = logging.getLogger(__name__)
_PLAIN = re.compile(r"[^\s\"'=]+")


def log_turns(turns: TurnLog) -> Callable[[], None]:
    """Log each turn at INFO, whatever the level of other loggers. Returns a function that stops
    this."""
    _log.setLevel(logging.INFO)
    return turns.follow(_say)


def log_line(record: TurnRecord, outcomes: Sequence[ToolOutcome] = ()) -> str:
    pairs = [*_who(record), *_how_long(record), *_what(record, outcomes), *_end(record)]
    return " ".join(["turn", *(f"{key}={_value(value)}" for key, value in pairs if value != "")])


def _say(finished: FinishedTurn) -> None:
    if finished.record.source != "job":  # a job is stored again whenever its cost grows
        _log.info("%s", log_line(finished.record, finished.outcomes))


def _who(record: TurnRecord) -> Iterator[tuple[str, str]]:
    yield "id", record.turn_id
    yield "source", record.source
    yield "language", record.language
    yield "caller", record.caller
    if record.wake is not None:
        yield "wake", record.wake.word
        yield "score", f"{record.wake.score:.2f}"
    yield "brain", record.brain or ""
    yield "model", record.model or ""


def _how_long(record: TurnRecord) -> Iterator[tuple[str, str]]:
    latency = first_sound_ms(record.timeline)
    yield "latency_ms", "" if latency is None else f"{latency:.0f}"
    found = stages(record.timeline)
    for stage in found:
        if not stage.instant:
            yield f"{stage.name.replace(' ', '_')}_ms", f"{stage.ms:.0f}"
    longest = slowest(found)
    yield "longest", longest.name if longest is not None else ""
    yield "audio_ms", f"{record.audio_ms:.0f}" if record.audio_ms else ""


def _what(record: TurnRecord, outcomes: Sequence[ToolOutcome]) -> Iterator[tuple[str, str]]:
    calls = ",".join(f"{one.name}:{_became(one)}:{one.ms:.0f}ms" for one in outcomes)
    yield "calls", calls
    yield "confirmation", record.confirmation.verdict if record.confirmation else ""
    if record.usage is not None:
        yield "tokens_in", str(record.usage.input_tokens)
        yield "tokens_out", str(record.usage.output_tokens)
        yield "tokens_estimated", "yes" if record.usage.estimated else ""
    yield "cost_usd", f"{record.cost_usd:.6f}" if record.cost_usd else "0"


def _became(outcome: ToolOutcome) -> str:
    gated = outcome.decision in (Decision.DENIED, Decision.NEEDS_CONFIRMATION)
    return str(outcome.decision if gated else outcome.status)


def _end(record: TurnRecord) -> Iterator[tuple[str, str]]:
    yield "cut", "yes" if record.cut_at is not None else ""
    yield "error", record.error.kind if record.error else ""


def _value(value: str) -> str:
    return value if _PLAIN.fullmatch(value) else json.dumps(value, ensure_ascii=False)
