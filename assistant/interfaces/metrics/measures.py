"""What is measured of turns, wake words and calls since the start. Nobody's words are in it."""

from collections.abc import Mapping
from dataclasses import replace

from assistant.conversation.log import FinishedTurn
from assistant.domain.brain import Usage
from assistant.domain.outcome import ToolOutcome
from assistant.domain.records import TurnRecord
from assistant.interfaces.metrics.counts import Histogram, Tally
from audio.wake.protocol import NearMiss

# Seconds. A person waits for none of it longer than the last one.
LATENCIES_S = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0)
SCORES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.97, 0.99, 1.0)
CLOSENESS = (0.1, 0.25, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.5)  # of the threshold
_JOBS = 64  # of which it is known what they have cost so far

# The stages of a turn: from the latest of the moments that may begin it to the one that ends it.
STAGES: Mapping[str, tuple[tuple[str, ...], str]] = {
    "pause": (("speech_end",), "end_of_turn"),
    "upload": (("first_upload",), "upload_done"),
    "recognition": (("end_of_turn",), "heard"),
    "first_words": (("end_of_turn",), "first_reply_text"),
    "house": (("first_tool_call",), "last_tool_result"),
    "voice": (("first_reply_text", "last_tool_result"), "first_audio_out"),
    "first_sound": (("speech_end",), "first_audio_out"),
    "answer": (("first_audio_out",), "answer_done"),
}


class Measures:
    """Told of what happens, on the loop's thread; each takes microseconds."""

    def __init__(self) -> None:
        self.turns = Tally()  # source, brain, outcome
        self.stages = Histogram(LATENCIES_S)
        self.wakes = Histogram(SCORES)  # by word
        self.near_misses = Histogram(CLOSENESS)  # by word
        self.calls = Tally()  # tier, decision, status
        self.call_times = Histogram(LATENCIES_S)  # by tier
        self.tokens = Tally()  # brain, model, modality
        self.costs = Tally()  # brain, model; USD
        self._jobs: dict[str, TurnRecord] = {}  # as last written down, the newest last

    def finished(self, turn: FinishedTurn) -> None:
        """A turn was written down, or what a job has cost (see `assistant.conversation.log`)."""
        record = turn.record
        if record.source == "job":
            self._spent(self._added(record))
            return
        self.turns.add(record.source, record.brain or "none", _outcome(record))
        for stage, seconds in stages(record.timeline).items():
            self.stages.observe(stage, seconds)
        if record.wake is not None:
            self.wakes.observe(record.wake.word, record.wake.score)
        for outcome in turn.outcomes:
            self._called(outcome)
        self._spent(record)

    def missed(self, miss: NearMiss) -> None:
        """A wake word came near and was not taken for one."""
        self.near_misses.observe(miss.word, miss.closeness)

    def _added(self, record: TurnRecord) -> TurnRecord:
        """What is new: a job's row is written down again with each piece that it costs."""
        known = self._jobs.pop(record.turn_id, None)
        self._jobs[record.turn_id] = record
        if len(self._jobs) > _JOBS:
            del self._jobs[next(iter(self._jobs))]
        if known is None:
            return record
        usage = record.usage if known.usage is None else _less(record.usage, known.usage)
        return replace(record, cost_usd=max(0.0, record.cost_usd - known.cost_usd), usage=usage)

    def _called(self, outcome: ToolOutcome) -> None:
        self.calls.add(outcome.tier, outcome.decision, outcome.status)
        self.call_times.observe(outcome.tier, outcome.ms / 1000)

    def _spent(self, record: TurnRecord) -> None:
        brain, model = record.brain or "none", record.model or "none"
        if record.cost_usd:
            self.costs.add(brain, model, by=record.cost_usd)
        if record.usage is None:
            return
        by_modality = record.usage.by_modality or {
            "input": record.usage.input_tokens,
            "output": record.usage.output_tokens,
        }
        for modality, tokens in by_modality.items():
            self.tokens.add(brain, model, modality, by=tokens)


def _less(usage: Usage | None, known: Usage) -> Usage | None:
    if usage is None:
        return None
    return Usage(
        max(0, usage.input_tokens - known.input_tokens),
        max(0, usage.output_tokens - known.output_tokens),
        {
            modality: max(0, tokens - known.by_modality.get(modality, 0))
            for modality, tokens in usage.by_modality.items()
        },
    )


def stages(timeline: Mapping[str, float]) -> dict[str, float]:
    """Each stage that a turn went through, in seconds. `timeline`: ms, see `hearth hear --json`."""
    found = {}
    for stage, (begins, ends) in STAGES.items():
        starts = [timeline[moment] for moment in begins if moment in timeline]
        if starts and ends in timeline:
            found[stage] = max(0.0, timeline[ends] - max(starts)) / 1000
    return found


def _outcome(record: TurnRecord) -> str:
    """In a word: "done", or the kind of its error."""
    return "done" if record.error is None else record.error.kind
