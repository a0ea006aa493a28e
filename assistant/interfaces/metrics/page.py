"""The measures in Prometheus' text format.

The client library writes the format. It is imported at the first look, since a box that nobody
watches should not have it in its memory.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Any

from assistant.interfaces.metrics.counts import Histogram, Tally
from assistant.interfaces.metrics.measures import Measures
from assistant.interfaces.metrics.standing import Standing, resident_bytes

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def page(measures: Measures, standing: Standing, version: str, began: float) -> bytes:
    """The whole page. `began`: when the process did, s since the epoch. Some milliseconds."""
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
    yield _counter("turns", "Turns that are over.", ("source", "brain", "outcome"), measures.turns)
    yield _histogram(
        "turn_stage_seconds", "How long each stage of a turn took.", "stage", measures.stages
    )
    yield _counter(
        "tokens",
        "Tokens that models were sent and gave.",
        ("brain", "model", "modality"),
        measures.tokens,
    )
    yield _counter("cost_usd", "What models cost, in USD.", ("brain", "model"), measures.costs)


def _sound(measures: Measures, standing: Standing) -> Iterator["Metric"]:
    yield _histogram("wake_score", "Scores of wake words that were heard.", "word", measures.wakes)
    yield _histogram(
        "near_miss_closeness",
        "Wake words that came near and were not taken for one, as a part of the threshold.",
        "word",
        measures.near_misses,
    )
    frames = Tally()
    for labels, count in standing.frames.items():
        frames.add(*labels, by=count)
    yield _counter("frames", "Frames of sound, by what became of them.", ("stage", "what"), frames)


def _house(measures: Measures, standing: Standing) -> Iterator["Metric"]:
    yield _counter("calls", "Tool calls.", ("tier", "decision", "status"), measures.calls)
    yield _histogram(
        "call_seconds", "How long tool calls took, by tier.", "tier", measures.call_times
    )
    opened = Tally()
    for peer, count in standing.connections.items():
        opened.add(peer, by=count)
    yield _counter("connections", "Connections that were opened.", ("to",), opened)
    yield _gauge(
        "connected",
        "Whether there is a connection now.",
        ("to",),
        {(peer,): float(there) for peer, there in standing.connected.items()},
    )
    if standing.timers is not None:
        to_come = {(): standing.timers}
        yield _gauge("timers", "Timers and the like that are to come.", (), to_come)


def _process(standing: Standing, version: str, began: float) -> Iterator["Metric"]:
    words = ("ok", "degraded", "dead")
    healths = {(word,): float(word == standing.health) for word in words}
    yield _gauge("health", "1 for the word that GET /healthz gives.", ("state",), healths)
    yield _gauge("info", "Which Hearth this is.", ("version",), {(version,): 1.0})
    queues = {(name,): float(depth) for name, depth in standing.queues.items()}
    yield _gauge("queue_depth", "What waits in each queue.", ("queue",), queues)
    yield _gauge(
        "loop_lag_seconds",
        "How late the event loop was at the worst in the last minute.",
        (),
        {(): standing.lag_s},
    )
    if standing.cost_today_usd is not None:
        today = {(): standing.cost_today_usd}
        yield _gauge("cost_today_usd", "What today has cost so far, in USD.", (), today)
    memory, uptime = {(): float(resident_bytes())}, {(): time.time() - began}
    yield _gauge("resident_memory_bytes", "Memory of this process.", (), memory)
    yield _gauge("uptime_seconds", "Since the start of this process.", (), uptime)


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
