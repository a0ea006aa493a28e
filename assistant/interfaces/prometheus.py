"""Prometheus metrics: `Measures` collects them and `page` renders them."""

import os
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant.conversation.record import FinishedTurn
from assistant.domain.brain import Usage
from assistant.domain.records import TurnRecord
from assistant.domain.tool_call import ToolOutcome
from audio.wake import NearMiss

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric


MOST_ROWS = 200  # label sets per counter, so that ever-changing labels can't fill the memory
OTHERS = "others"  # label for values beyond that limit


class Tally:
    """A counter for each combination of label values."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, ...], float] = {}

    def add(self, *labels: str, by: float = 1.0) -> None:
        """Increase a counter. `by` must not be negative."""
        if labels not in self._rows and len(self._rows) >= MOST_ROWS:
            labels = (OTHERS,) * len(labels)
        self._rows[labels] = self._rows.get(labels, 0.0) + by

    def rows(self) -> Iterator[tuple[tuple[str, ...], float]]:
        yield from self._rows.items()


class Histogram:
    """A histogram for each label value."""

    def __init__(self, bounds: Sequence[float]) -> None:
        """`bounds` are the upper bounds of the buckets, in ascending order."""
        self.bounds = tuple(bounds)
        self._counts: dict[str, list[int]] = {}  # not cumulative; the last is above all bounds
        self._sums: dict[str, float] = {}

    def observe(self, label: str, value: float) -> None:
        if label not in self._counts and len(self._counts) >= MOST_ROWS:
            label = OTHERS
        counts = self._counts.setdefault(label, [0] * (len(self.bounds) + 1))
        counts[bisect_left(self.bounds, value)] += 1
        self._sums[label] = self._sums.get(label, 0.0) + value

    def rows(self) -> Iterator[tuple[str, Sequence[tuple[float, int]], float]]:
        """Yield (label, buckets, sum of all values) for each label. `buckets` are (upper bound,
        cumulative count) pairs; the last bound is infinity."""
        bounds = (*self.bounds, float("inf"))
        for label, counts in self._counts.items():
            total, cumulated = 0, []
            for bound, count in zip(bounds, counts, strict=True):
                total += count
                cumulated.append((bound, total))
            yield label, cumulated, self._sums[label]


Health = str  # "ok", "degraded" or "dead"

_STATM = Path("/proc/self/statm")


@dataclass(frozen=True, slots=True)
class Standing:
    """Current gauge values, and counters since the process started."""

    health: Health
    lag_s: float  # the event loop's longest delay in the last minute
    frames: Mapping[tuple[str, str], int] = field(default_factory=dict)  # by (stage, what)
    connections: Mapping[str, int] = field(default_factory=dict)  # connections opened, by peer
    connected: Mapping[str, bool] = field(default_factory=dict)  # by peer
    queues: Mapping[str, int] = field(default_factory=dict)  # number of waiting items, by queue
    # These two are None if the journal can't be read.
    timers: int | None = None  # running, paused or ringing timers
    cost_today_usd: float | None = None  # of all processes


Look = Callable[[], Standing]


def resident_bytes() -> int:
    """Return this process's resident memory in bytes, or 0 if the system doesn't report it."""
    try:
        pages = int(_STATM.read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


# Bucket bounds in seconds. Nobody waits longer than the last one.
LATENCIES_S = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0)
SCORES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.97, 0.99, 1.0)
CLOSENESS = (0.1, 0.25, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.5)  # fractions of the threshold
_JOBS = 64  # jobs whose last record is remembered

# A turn's stages: each lasts from the latest of its start events to its end event.
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
    """Collects metrics of turns, wake words and tool calls. Use it only on the event
    loop's thread."""

    def __init__(self) -> None:
        self.turns = Tally()  # source, brain, outcome
        self.stages = Histogram(LATENCIES_S)
        self.wakes = Histogram(SCORES)  # by word
        self.near_misses = Histogram(CLOSENESS)  # by word
        self.calls = Tally()  # tier, decision, status
        self.call_times = Histogram(LATENCIES_S)  # by tier
        self.tokens = Tally()  # brain, model, modality
        self.costs = Tally()  # brain, model; USD
        self.estimates = Tally()  # the part of `costs` that is estimated
        self._jobs: dict[str, TurnRecord] = {}  # as last stored, newest last

    def finished(self, turn: FinishedTurn) -> None:
        """Count a stored turn, or a job's additional cost."""
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
        self.near_misses.observe(miss.word, miss.closeness)

    def _added(self, record: TurnRecord) -> TurnRecord:
        """Return the job's cost and usage since its last record. A job's record contains the total
        so far."""
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
        if record.usage.estimated:
            self.estimates.add(brain, model, by=record.cost_usd)
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
        usage.estimated,
    )


def stages(timeline: Mapping[str, float]) -> dict[str, float]:
    """Return the duration of each stage of a turn in seconds, given its timeline in ms. A stage is
    left out if the timeline lacks its start or end."""
    found = {}
    for stage, (begins, ends) in STAGES.items():
        starts = [timeline[moment] for moment in begins if moment in timeline]
        if starts and ends in timeline:
            found[stage] = max(0.0, timeline[ends] - max(starts)) / 1000
    return found


def _outcome(record: TurnRecord) -> str:
    return "done" if record.error is None else record.error.kind


# The functions below import the client library only on request, because a device that isn't
# monitored should not load it.
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def page(measures: Measures, standing: Standing, version: str, began: float) -> bytes:
    """Render all metrics, which takes a few milliseconds. `began` is the Unix time at which the
    process started."""
    from prometheus_client.exposition import generate_latest
    from prometheus_client.registry import Collector, CollectorRegistry

    class Once(Collector):
        def collect(self) -> Iterable["Metric"]:
            yield from _turns(measures)
            yield from _sound(measures, standing)
            yield from _house(measures, standing)
            yield from _process(standing, version, began)

    registry = CollectorRegistry()
    registry.register(Once())
    return generate_latest(registry)


def _turns(measures: Measures) -> Iterator["Metric"]:
    yield _counter("turns", "Finished turns.", ("source", "brain", "outcome"), measures.turns)
    yield _histogram(
        "turn_stage_seconds", "Duration of each stage of a turn.", "stage", measures.stages
    )
    yield _counter(
        "tokens",
        "Tokens sent to and received from models.",
        ("brain", "model", "modality"),
        measures.tokens,
    )
    yield _counter("cost_usd", "Cost of models in USD.", ("brain", "model"), measures.costs)
    yield _counter(
        "cost_estimated_usd",
        "Cost of turns whose tokens were estimated, in USD; part of cost_usd.",
        ("brain", "model"),
        measures.estimates,
    )


def _sound(measures: Measures, standing: Standing) -> Iterator["Metric"]:
    yield _histogram("wake_score", "Scores of detected wake words.", "word", measures.wakes)
    yield _histogram(
        "near_miss_closeness",
        "Scores of near misses of a wake word, as a fraction of its threshold.",
        "word",
        measures.near_misses,
    )
    frames = Tally()
    for labels, count in standing.frames.items():
        frames.add(*labels, by=count)
    yield _counter("frames", "Audio frames by outcome.", ("stage", "what"), frames)


def _house(measures: Measures, standing: Standing) -> Iterator["Metric"]:
    yield _counter("calls", "Tool calls.", ("tier", "decision", "status"), measures.calls)
    yield _histogram("call_seconds", "Duration of tool calls by tier.", "tier", measures.call_times)
    opened = Tally()
    for peer, count in standing.connections.items():
        opened.add(peer, by=count)
    yield _counter("connections", "Connections opened.", ("to",), opened)
    yield _gauge(
        "connected",
        "1 if connected, 0 otherwise.",
        ("to",),
        {(peer,): float(there) for peer, there in standing.connected.items()},
    )
    if standing.timers is not None:
        to_come = {(): standing.timers}
        yield _gauge("timers", "Pending timers, alarms, reminders and requests.", (), to_come)


def _process(standing: Standing, version: str, began: float) -> Iterator["Metric"]:
    words = ("ok", "degraded", "dead")
    healths = {(word,): float(word == standing.health) for word in words}
    yield _gauge("health", "1 for the state that GET /healthz returns.", ("state",), healths)
    yield _gauge("info", "Version of Hearth.", ("version",), {(version,): 1.0})
    queues = {(name,): float(depth) for name, depth in standing.queues.items()}
    yield _gauge("queue_depth", "Items waiting in each queue.", ("queue",), queues)
    yield _gauge(
        "loop_lag_seconds",
        "Longest delay of the event loop in the last minute.",
        (),
        {(): standing.lag_s},
    )
    if standing.cost_today_usd is not None:
        today = {(): standing.cost_today_usd}
        yield _gauge("cost_today_usd", "Cost so far today in USD.", (), today)
    memory, uptime = {(): float(resident_bytes())}, {(): time.time() - began}
    yield _gauge("resident_memory_bytes", "Resident memory of this process.", (), memory)
    yield _gauge("uptime_seconds", "Time since this process started.", (), uptime)


def _counter(name: str, about: str, labels: Sequence[str], tally: Tally) -> "Metric":
    from prometheus_client.metrics_core import CounterMetricFamily

    family = CounterMetricFamily(f"hearth_{name}", about, labels=labels)
    for row, count in sorted(tally.rows()):
        family.add_metric(row, count)
    return family


def _gauge(name: str, about: str, labels: Sequence[str], rows: Mapping[Any, float]) -> "Metric":
    from prometheus_client.metrics_core import GaugeMetricFamily

    family = GaugeMetricFamily(f"hearth_{name}", about, labels=labels)
    for row, value in sorted(rows.items()):
        family.add_metric(row, value)
    return family


def _histogram(name: str, about: str, label: str, histogram: Histogram) -> "Metric":
    from prometheus_client.metrics_core import HistogramMetricFamily

    family = HistogramMetricFamily(f"hearth_{name}", about, labels=(label,))
    for value, buckets, total in sorted(histogram.rows()):
        family.add_metric(
            (value,), [(_bound(bound), float(count)) for bound, count in buckets], total
        )
    return family


def _bound(bound: float) -> str:
    return "+Inf" if bound == inf else str(bound)
